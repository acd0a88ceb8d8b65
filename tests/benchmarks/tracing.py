"""What keeping every record costs: the same pass, with values dropped once nobody reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from model_core.capture import Captured
from model_core.plan import Step, Values
from model_core.replay import Replay
from model_core.runner import POSITIONS, Runner
from tests.benchmarks.figures import Figure, ratio
from tests.benchmarks.sizes import DEMO, MARIAN, SMALL, Size, random_model, sentences
from tests.benchmarks.turns import Contestant, race

THREADS = 2


def traced(size: Size) -> Callable[[], object]:
    runner, inputs = _runner(size)
    given = [inputs[name] for name in ("source_ids", "target_ids", "source_mask", "target_mask")]
    return lambda: runner.trace(*given)


def untraced(size: Size) -> Callable[[], object]:
    """The same calls in the same order, but what is read no more makes room for what comes."""
    runner, inputs = _runner(size)
    given = runner._given(inputs)
    replay = Replay(_dropping(runner), given)
    return lambda: replay.run(given.inputs)


def _runner(size: Size) -> tuple[Runner, dict[str, Any]]:
    source, target = sentences(size)
    positions = np.arange(size.length)
    inputs = {
        "source_ids": source,
        "target_ids": target,
        "source_mask": np.ones(source.shape, bool),
        "target_mask": np.ones(target.shape, bool),
    }
    return random_model(size)._runner, inputs | dict.fromkeys(POSITIONS, positions)


def _dropping(runner: Runner) -> list[Step]:
    """The runner's steps, each followed by one that forgets what nobody will read again."""
    plan = runner.plan
    groups = {group[0]: group for group in plan.together}
    sites = plan.sites
    last_read = {name: i for i, line in enumerate(plan.instructions) for name in line.inputs}
    # where several records are computed as one, the runner keeps the whole in a slot of its own
    wholes = set(range(plan.n_slots, len(runner._template))) - set(runner._bounds.values())
    steps: list[Step] = []
    done = 0
    forgotten: set[str] = {"log_probs"}
    while done < len(sites):
        wanted = groups.get(sites[done], (sites[done],))
        # a group may be spread over the plan: what lies between is computed on the way
        stop = max(sites.index(site) for site in wanted) + 1
        steps += runner._compile(sites[done:stop])
        done = stop
        gone = [s for s in sites[:done] if s not in forgotten and last_read.get(s, 0) < done]
        forgotten.update(gone)
        steps.append(_forget([*(plan.slots[site] for site in gone), *wholes]))
    return steps


def _forget(slots: list[int]) -> Step:
    def forget(values: Values) -> None:
        for slot in slots:
            # what is made of constants is computed once and stays
            if isinstance(values[slot], Captured):
                values[slot] = None

    return forget


def run() -> Iterator[Figure]:
    for label, size, rounds, repeats in (
        ("demo", DEMO, 60, 20),
        ("small", SMALL, 25, 4),
        ("Marian-base", MARIAN, 15, 3),
    ):
        times = race(
            {
                "traced": Contestant(traced, (size,), THREADS),
                "untraced": Contestant(untraced, (size,), THREADS),
            },
            rounds,
            repeats,
        )
        yield ratio(
            f"traced / untraced forward, {label} size", times["traced"], times["untraced"], 1.15
        )
