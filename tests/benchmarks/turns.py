"""Contestants in processes of their own, woken in turn: what else the machine does hits all alike.

Each has its own number of threads, its own memory and its own libraries; while one runs, the
others sleep.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# PyTorch's threads go on spinning for a moment after their last work.
REST = 0.004


@dataclass(frozen=True)
class Contestant:
    """`make(*arguments)`, called in the new process, gives the work to be timed."""

    make: Callable[..., Callable[[], object]]
    arguments: tuple[Any, ...]
    threads: int


def _serve(contestant: Contestant, connection: Connection) -> None:
    work = contestant.make(*contestant.arguments)
    work()
    connection.send("ready")
    while (repeats := connection.recv()) is not None:
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        connection.send(statistics.median(times))


class _Process:
    def __init__(self, contestant: Contestant) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(contestant, theirs), daemon=True)
        # the libraries read these when they are imported
        kept = {name: os.environ.get(name) for name in THREAD_VARIABLES}
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(contestant.threads)))
        try:
            self._process.start()
        finally:
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        theirs.close()

    def wait(self) -> Any:
        return self._connection.recv()

    def turn(self, repeats: int) -> float:
        self._connection.send(repeats)
        return float(self._connection.recv())

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


def race(
    contestants: Mapping[str, Contestant],
    rounds: int,
    repeats: int,
    warm_up: int = 2,
    patience: float = 8.0,
) -> dict[str, list[float]]:
    """The seconds that each took, round by round: the median of `repeats` in each.

    After `patience` seconds there are no more rounds than have been, but at least 5.
    """
    found: dict[str, list[float]] = {name: [] for name in contestants}
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(_Process(contestant))
            for name, contestant in contestants.items()
        }
        for process in running.values():
            process.wait()
        order = list(running)
        end = time.monotonic() + patience
        for number in range(-warm_up, rounds):
            for name in order:
                seconds = running[name].turn(repeats)
                time.sleep(REST)
                if number >= 0:
                    found[name].append(seconds)
            if number >= 5 and time.monotonic() > end:
                break
            # whoever ran first runs last the next time
            order.append(order.pop(0))
    return found
