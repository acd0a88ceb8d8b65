"""One training step against PyTorch eager with its fused Adam, and whether both learn alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle, islice

import numpy as np

from model_core.training import tasks
from model_core.training.batching import Example
from model_core.training.loop import Recipe, train
from tests.benchmarks import peer
from tests.benchmarks.figures import Figure, LeftOut, ratio
from tests.benchmarks.sizes import DEMO, NO_TORCH, Size, has_torch, random_model, sentences
from tests.benchmarks.turns import Contestant, race
from tests.core.training_curves import examples_of, first_model, our_losses, short_recipe

BATCH, LENGTH, THREADS = 32, 20, 2
# Recipes of the built-in models, their dropout included: a small one and the largest translator.
TASKS = ("en-zh", "dates")
CURVES = ("en-zh", "reverse")
STEPS = 100
LARGEST_DIFFERENCE = 1e-3


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


def our_recipe(task: str) -> Callable[[], object]:
    """The steps of a built-in model's training, batch after batch as they come."""
    model = first_model(task)
    steps = train(model, examples_of(task, model), tasks.task(task).recipe.RECIPE)
    return lambda: next(steps)


def eager_recipe(task: str, threads: int) -> Callable[[], object]:
    """The same steps on the same batches in PyTorch."""
    import torch

    from tests.benchmarks import torch_training

    model = first_model(task)
    torch.set_num_threads(threads)
    recipe = tasks.task(task).recipe.RECIPE
    steps = torch_training.train(model, examples_of(task, model), recipe)
    return lambda: next(steps)


def run() -> Iterator[Figure | LeftOut]:
    name = f"training step / PyTorch eager with fused Adam, demo size, batch {BATCH}×{LENGTH}"
    if not has_torch():
        yield LeftOut(name, NO_TORCH)
        return
    contestants = {"ours": Contestant(ours, (DEMO,), THREADS)}
    for threads in (1, THREADS):
        contestants[f"eager {threads}"] = Contestant(eager, (DEMO,), threads)
    yield from _ratios(name, contestants)
    for task in TASKS:
        size = tasks.task(task).recipe.RECIPE.batch_size
        name = f"training step / PyTorch eager with fused Adam, {task} by its recipe, batch {size}"
        contestants = {"ours": Contestant(our_recipe, (task,), THREADS)}
        for threads in (1, THREADS):
            contestants[f"eager {threads}"] = Contestant(eager_recipe, (task, threads), threads)
        yield from _ratios(name, contestants)
    for task in CURVES:
        yield curve(task)


def _ratios(name: str, contestants: Mapping[str, Contestant]) -> Iterator[Figure]:
    times = race(contestants, 25, 4)
    for threads in (1, THREADS):
        note = f"PyTorch on {threads} thread{'s' * (threads > 1)}."
        yield ratio(name, times["ours"], times[f"eager {threads}"], 1.2, note)


def curve(task: str) -> Figure:
    """How far the two runs of a recipe come apart, without dropout, in float32."""
    from tests.benchmarks import torch_training

    recipe, model = short_recipe(task, STEPS), first_model(task)
    examples = examples_of(task, model)
    # first PyTorch, which takes a copy of the parameters; the project's loop changes them
    theirs = list(islice(torch_training.train(model, examples, recipe), STEPS))
    ours = our_losses(model, examples, recipe, STEPS)
    off = max(abs(a.loss - b.loss) for a, b in zip(ours, theirs, strict=True))
    name = f"largest difference of the losses over {STEPS} steps from PyTorch's, {task} undropped"
    note = f"From {theirs[0].loss:.3f} down to {theirs[-1].loss:.3f}."
    return Figure(name, [off], "nats", LARGEST_DIFFERENCE, note)
