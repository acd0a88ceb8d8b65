"""One training step against PyTorch eager with its fused Adam."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle

import numpy as np

from model_core.training.batching import Example
from model_core.training.loop import Recipe, train
from tests.benchmarks import peer
from tests.benchmarks.figures import Figure, LeftOut, ratio
from tests.benchmarks.sizes import DEMO, NO_TORCH, Size, has_torch, random_model, sentences
from tests.benchmarks.turns import Contestant, race

BATCH, LENGTH, THREADS = 32, 20, 2


def ours(size: Size) -> Callable[[], object]:
    """A step of the project's own loop: forward, loss, backward, clipping, Adam."""
    model = random_model(size)
    source, target = sentences(size._replace(length=LENGTH), 10 * BATCH)
    # the loop puts the start token before the target and the end token behind it
    examples = [Example(s, t[:-1]) for s, t in zip(source.tolist(), target.tolist(), strict=True)]
    recipe = Recipe(10**9, 1e-3, 10, batch_size=BATCH)
    steps = train(model, examples, recipe)
    return lambda: next(steps)


def eager(size: Size) -> Callable[[], object]:
    model = random_model(size, limit_threads=False)
    step = peer.build_training(model.config, model.parameters)
    source, target = sentences(size._replace(length=LENGTH), 10 * BATCH)
    start = np.full((10 * BATCH, 1), 1)
    read = np.concatenate([start, target[:, :-1]], axis=1)
    batches = cycle(range(0, 10 * BATCH, BATCH))

    def work() -> None:
        rows = slice(i := next(batches), i + BATCH)
        step(source[rows], read[rows], target[rows])

    return work


def run() -> Iterator[Figure | LeftOut]:
    name = f"training step / PyTorch eager with fused Adam, demo size, batch {BATCH}×{LENGTH}"
    if not has_torch():
        yield LeftOut(name, NO_TORCH)
        return
    contestants = {"ours": Contestant(ours, (DEMO,), THREADS)}
    for threads in (1, THREADS):
        contestants[f"eager {threads}"] = Contestant(eager, (DEMO,), threads)
    times = race(contestants, 25, 4)
    for threads in (1, THREADS):
        note = f"PyTorch on {threads} thread{'s' * (threads > 1)}."
        yield ratio(name, times["ours"], times[f"eager {threads}"], 1.2, note)
