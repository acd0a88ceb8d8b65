"""From the logits of a large vocabulary to all stages on show, as a slider moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from model_core.stages import Pipeline
from tests.benchmarks.figures import Figure

VOCABULARY, ROUNDS = 60_000, 60
TARGET = 8.0  # ms, half of what a repaint may take
SETTINGS: dict[str, dict[str, Any]] = {
    "temperature": {"temperature": 0.8},
    "top-k 50": {"temperature": 0.8, "top_k": 50},
    "top-p 0.95": {"temperature": 0.8, "top_p": 0.95},
    "all three": {"temperature": 1.2, "top_k": 40_000, "top_p": 0.99},
}


def milliseconds(work: Callable[[], object]) -> list[float]:
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def run() -> Iterator[Figure]:
    # Opening a model frees arrays as large as this. From then on the C library keeps smaller ones
    # at hand; before, each would be new memory, page by page.
    np.ones(2_000_000)
    logits = np.random.default_rng(1).normal(0, 3, VOCABULARY).astype(np.float32)
    pipeline = Pipeline(logits)
    pipeline.staged(top_p=0.5)  # ranked once for all that follow
    what = f"vocabulary of {VOCABULARY}"
    for name, settings in SETTINGS.items():
        moved = milliseconds(lambda s=settings: pipeline.staged(**s).draw(0.3))  # type: ignore[misc]
        yield Figure(f"a slider moved, {name}, {what}", moved, "ms", TARGET, "With a draw.")
    fresh = milliseconds(lambda: Pipeline(logits).staged(0.8, None, 0.95).draw(0.3))
    yield Figure(f"new logits, all stages, {what}", fresh, "ms", note="The ranking included.")
    ordered = milliseconds(lambda: Pipeline(logits).order)
    yield Figure(f"new logits sorted for show, {what}", ordered, "ms")
