"""Reference cycles are collected by the window's thread alone."""

from __future__ import annotations

import gc
import threading

from visualizer import garbage
from visualizer.garbage import GarbageCollector


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
