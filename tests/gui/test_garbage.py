"""Reference cycles are collected by the window's thread alone."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.long.process_memory import memory_of
from visualizer import garbage
from visualizer.garbage import GarbageCollector

ROOT = Path(__file__).parents[2]


class Knot:
    """An object that only a collection can free; it notes which thread did."""

    def __init__(self, freed_by: list[int]) -> None:
        self.itself = self
        self.freed_by = freed_by

    def __del__(self) -> None:
        self.freed_by.append(threading.get_ident())


def test_cycles_are_freed_in_the_windows_thread(qtbot, monkeypatch):
    monkeypatch.setattr(garbage, "EVERY", 10)
    collector = GarbageCollector()
    try:
        freed_by: list[int] = []

        def allocate() -> None:
            Knot(freed_by)
            # far more than sets off Python's own collections
            kept = [[] for _ in range(50_000)]
            assert kept and not gc.isenabled()

        worker = threading.Thread(target=allocate)
        worker.start()
        worker.join()
        assert freed_by == []
        qtbot.waitUntil(lambda: bool(freed_by), timeout=5000)
        assert freed_by == [threading.get_ident()]
    finally:
        collector.stop()
        gc.disable()  # as it was: see conftest


def test_python_collects_again_once_it_is_stopped(qtbot):
    collector = GarbageCollector()
    assert not gc.isenabled()
    collector.stop()
    try:
        assert gc.isenabled()
    finally:
        gc.disable()


def test_only_what_was_there_at_the_start_is_set_aside(qtbot, monkeypatch):
    monkeypatch.setattr(garbage, "EVERY", 5)
    monkeypatch.setattr(garbage, "WHOLE_EVERY", 2)
    collector = GarbageCollector()
    try:
        qtbot.waitUntil(lambda: gc.get_freeze_count() > 0, timeout=5000)
        freed_by: list[int] = []
        Knot(freed_by)
        qtbot.waitUntil(lambda: bool(freed_by), timeout=5000)
    finally:
        collector.stop()
        gc.disable()
    assert gc.get_freeze_count() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_is_free_between_things_in_use_is_given_back():
    give_back = garbage.giver_back()
    if give_back is garbage._nothing:
        pytest.skip("this C library keeps nothing back")
    # too small to be mapped on their own: every second one keeps the heap as large as it is
    blocks = [np.ones(12_000) for _ in range(1000)]
    del blocks[::2]
    before = memory_of("self").resident
    give_back()
    # 500 blocks of 94 KB
    assert before - memory_of("self").resident > 30


# In a process of its own: where the heap has a gap that is large enough, the array lies there.
LARGE = """
import numpy as np
from tests.long.process_memory import memory_of
from visualizer import garbage
if garbage.giver_back() is garbage._nothing:
    raise SystemExit
# the library alone would take the next ones into its heap after these
for _ in range(3):
    np.ones(2**20)
large = np.ones(2**20)
small = [np.ones(100) for _ in range(1000)]
before = memory_of("self").resident
del large
print(before - memory_of("self").resident)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_large_array_goes_back_at_once_however_many_came_before():
    ran = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True, cwd=ROOT
    )
    if not ran.stdout:
        pytest.skip("this C library keeps nothing back")
    # 8 MB
    assert float(ran.stdout) > 7
