"""Every single number of every parameter of every built-in model, against central differences.

    python -m tests.long gradients                       all models, in one process
    python -m tests.long gradients dates reverse --processes 2

In float64, of the loss that the model is trained on, with the weights that its training starts
from, once without dropout and once with the recipe's and the same masks (0.1 where a recipe has
none). The worked examples have no loss: theirs is the sum of their last record with fixed weights.

A gradient agrees if it is no further off than 1e-6 of the tensor's largest entry or of a thousandth
of the largest of all, whichever is more. A line for each run: how many numbers, the worst share and
where. The exit status is 1 if one of them is above 1e-6. Takes about ten minutes of one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

import model_core
from model_core.model import Model
from model_core.parameters import initialise
from model_core.runner import Runner
from model_core.tape import Tape
from model_core.training import tasks
from model_core.training.batching import Example, collate
from model_core.training.loop import forward, record_losses
from model_core.transformer import Dropout
from tests.core.task_data import some_examples
from tests.long.many_steps import ManySteps

Array = np.ndarray[Any, Any]

TOLERANCE, LEAST_SHARE = 1e-6, 1e-3
STEP = 1e-5
# What the plain difference leaves open, because it drowns in rounding or bends, is tried again:
# Richardson's extrapolation of two differences with longer steps.
FINER_STEPS = (1e-4, 1e-3)
# Of a model whose recipe has none.
SOME_DROPOUT = Dropout(0.1, 0.1, 0.1)
COPIES = 48
# Cells that one task of a process has.
LOT = 4800
WORKED = {"self-attention": (None, "multi_head"), "encoder-layer": (None,)}
# Among so many examples the two are looked for.
LOOKED_AT = 60


class Case(NamedTuple):
    """A model, with the masks of dropout or without; of a worked example, which of its forms."""

    name: str
    dropped: bool = False
    variant: str | None = None

    def __str__(self) -> str:
        kind = self.variant or ("the same masks" if self.dropped else "no dropout")
        return f"{self.name:14} {kind:14}"


class Found(NamedTuple):
    """What came of some cells of a parameter: how many, those tried again, the worst one."""

    count: int
    again: int
    worst: float
    where: str


def cases(names: Sequence[str]) -> list[Case]:
    """What there is to check of these models."""
    found = []
    for name in names:
        if name in WORKED:
            found += [Case(name, variant=variant) for variant in WORKED[name]]
        else:
            found += [Case(name, dropped) for dropped in (False, True)]
    return found


def short_pairs(examples: Sequence[Example]) -> list[Example]:
    """The two shortest that differ in length on both sides, so that there is padding; on one side
    where the other is always as long.
    """

    def order(pair: tuple[Example, Example]) -> tuple[int, int]:
        a, b = pair
        alike = (len(a.source) == len(b.source)) + (len(a.target) == len(b.target))
        return alike, sum(len(e.source) + len(e.target) for e in pair)

    return list(min(combinations(examples, 2), key=order))


class Run(NamedTuple):
    """A run in float64, its gradients, and how its number is reckoned at the end."""

    tape: Tape
    end: str
    measure: Callable[[Array], float]
    gradients: dict[str, Array]
    largest: float


@lru_cache(maxsize=2)
def run_of(case: Case) -> Run:
    """The run whose gradients are checked."""
    return worked_run(case) if case.name in WORKED else trained_run(case)


def trained_run(case: Case) -> Run:
    opened = model_core.open_checkpoint(case.name)
    fresh = initialise(opened.config, np.random.default_rng(4), "float64")
    model = Model(opened.config, fresh, opened.tokenizer)
    batch = collate(short_pairs(some_examples(case.name, model, LOOKED_AT)), 0, 1, 2)
    recipe = tasks.TASKS[case.name].recipe.RECIPE
    dropout = Dropout()
    if case.dropped:
        dropout = recipe.dropout if recipe.dropout != dropout else SOME_DROPOUT
    runner = Runner(model.config, model.parameters, model.dtype, dropout)
    tape = forward(runner, batch, np.random.default_rng(9))
    end = record_losses(tape, batch, recipe, 0)
    return with_gradients(tape, end, float, tape.parameter_gradients(end))


def worked_run(case: Case) -> Run:
    model = model_core.open_checkpoint(case.name, dtype="float64", variant=case.variant)
    tape = model.trace()
    end = tape.sites[-1]
    weights = np.random.default_rng(4).normal(size=tape[end].value.shape)
    gradients = tape.backward(end, weights).parameters
    return with_gradients(tape, end, partial(weighted, weights), gradients)


def weighted(weights: Array, value: Array) -> float:
    return float(np.vdot(weights, value))


def with_gradients(tape: Tape, end: str, measure: Any, found: Any) -> Run:
    gradients = {name: np.asarray(found[name]) for name in tape.parameters}
    assert set(found) == set(gradients)
    assert all(g.dtype == np.float64 for g in gradients.values())
    return Run(
        tape, end, measure, gradients, max(float(np.abs(g).max()) for g in gradients.values())
    )


def check_cells(case: Case, name: str, first: int, last: int) -> Found:
    """These cells of a parameter, one after the other."""
    run = run_of(case)
    gradient = run.gradients[name]
    scale = max(float(np.abs(gradient).max()), LEAST_SHARE * run.largest)
    flat = gradient.reshape(-1)
    again, worst, where = 0, 0.0, name
    many = ManySteps(run.tape, run.end, name, run.measure)
    for start in range(first, last, COPIES):
        cells = np.arange(start, min(start + COPIES, last))
        errors = np.abs(many.slopes(cells, STEP) - flat[cells]) / scale
        open_cells = np.flatnonzero(~(errors <= TOLERANCE / 2))
        again += len(open_cells)
        for place in open_cells:
            errors[place] = min(errors[place], finer(many, cells[place], flat, scale))
        if not errors.max() <= worst:
            place = int(errors.argmax())
            index = np.unravel_index(int(cells[place]), gradient.shape)
            worst, where = float(errors[place]), f"{name}[{', '.join(map(str, index))}]"
    return Found(last - first, again, worst, where)


def finer(many: ManySteps, cell: int, flat: Array, scale: float) -> float:
    """The smallest error of the differences with longer steps."""
    errors = []
    for step in FINER_STEPS:
        single, double = (many.slopes([cell], s)[0] for s in (step, 2.0 * step))
        errors.append(abs((4.0 * single - double) / 3.0 - flat[cell]) / scale)
    return float(min(errors))


def lots(case: Case) -> Iterator[tuple[Case, str, int, int]]:
    """All cells of all parameters, in pieces of a few seconds."""
    for name, gradient in run_of(case).gradients.items():
        for first in range(0, gradient.size, LOT):
            yield case, name, first, min(first + LOT, gradient.size)


def together(found: Sequence[Found]) -> Found:
    worst = max(found, key=lambda f: f.worst)
    return Found(sum(f.count for f in found), sum(f.again for f in found), worst.worst, worst.where)


def check(case: Case, pool: ProcessPoolExecutor | None) -> bool:
    """One run with all its parameters, and a line about it."""
    start = time.perf_counter()
    columns = list(zip(*lots(case), strict=True))
    results = list((pool.map if pool else map)(check_cells, *columns))
    found = together(results)
    whole = sum(value.size for value in run_of(case).tape.parameters.values())
    good = found.count == whole and found.worst <= TOLERANCE
    print(
        f"{case} {'good' if good else 'MISSED'}  {found.count:,} of {whole:,} numbers in "
        f"{len(run_of(case).gradients)} parameters, worst {found.worst:.1e} at {found.where}, "
        f"{found.again} tried by a finer difference, {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    return good


def run(arguments: Sequence[str]) -> int:
    """The check with its options; the exit status."""
    everything = [*WORKED, *sorted(tasks.TASKS)]
    parser = argparse.ArgumentParser(prog="python -m tests.long gradients")
    parser.add_argument("names", nargs="*", choices=[*everything, []], help="all if none is named")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args(arguments)
    pool = ProcessPoolExecutor(options.processes) if options.processes > 1 else None
    try:
        good = [check(case, pool) for case in cases(options.names or everything)]
    finally:
        if pool is not None:
            pool.shutdown()
    return 0 if all(good) else 1
