"""The gradients of a training step against finite differences, parameter by parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from model_core.finite_difference import Replay
from model_core.model import Model
from model_core.ops.base import Array, Index
from model_core.training.step import GlassStep, glass_step

# How far a gradient may be off, as a share of the tensor's largest entry or of a thousandth of the
# largest of all.
TOLERANCE = 1e-6
LEAST_SHARE = 1e-3
STEP = 1e-5
# A gradient that one way of differencing does not bear out is tried by finer ones, the longer steps
# of which drown less in rounding: a model that has learned its pairs hardly has any gradient left.
FINER_STEPS = (1e-4, 1e-3)
# So many cells of a parameter are tried one by one: half of them with the largest gradients.
CELLS = 8


class CheckedParameter(NamedTuple):
    """What a finite difference says of the gradient of one parameter.

    worst: the largest error found, by the yardstick    index: of the cell that had it; None where
    it was the direction that all cells are moved in at once, which does not count where a cell
    that can be named is wrong already    gradient, difference: there
    cells: how many were tried one by one, of `size`    done, total: how far the check has come
    """

    name: str
    worst: float
    index: Index | None  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    gradient: float
    difference: float
    cells: int
    size: int
    done: int
    total: int

    @property
    def holds(self) -> bool:
        """Whether the gradient is right, as far as was tried."""
        return self.worst <= TOLERANCE


def check_step(
    step: GlassStep,
    names: Sequence[str] | None = None,
    cells: int | None = CELLS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[CheckedParameter]:
    """Check one parameter after the other; ends early once `cancelled` says so.

    The step is taken again in float64, with the same weights, dropout masks and mistakes. Beside
    the chosen cells all cells of a parameter are moved at once in a random direction, which sees
    an error anywhere. cells: how many are tried one by one, None for every one
    """
    twin = in_float64(step)
    chosen = list(step.parameters) if names is None else list(names)
    for number, name in enumerate(chosen, 1):
        found = check_parameter(twin, name, cells, cancelled)
        if found is None:
            return
        yield found._replace(done=number, total=len(chosen))


def in_float64(step: GlassStep) -> GlassStep:
    """The same step, taken in float64."""
    if step.model.dtype == "float64":
        return step
    wide = {name: value.astype(np.float64) for name, value in step.parameters.items()}
    model = Model(step.model.config, wide, step.model.tokenizer, step.model.card)
    return glass_step(model, step.batch, step.recipe, step.seed, step.mistakes, step=step.step)


def check_parameter(
    twin: GlassStep,
    name: str,
    cells: int | None = CELLS,
    cancelled: Callable[[], bool] = lambda: False,
) -> CheckedParameter | None:
    """The gradient of one parameter; None once `cancelled` says so.

    twin: the step in float64
    """
    own = np.asarray(twin.optimised.gradients[name], np.float64)
    scale = max(_largest(own), LEAST_SHARE * largest_of_all(twin))
    replay = Replay(twin.tape, twin.target, name) if name in twin.tape.plan.slots else None
    places = _places(own, cells)
    # of length 1, so that as little is moved as with one cell
    everywhere = np.random.default_rng(own.size).choice((-1.0, 1.0), own.shape) / own.size**0.5
    worst: tuple[float, Index | None, float, float] = (-1.0, None, 0.0, 0.0)
    for place in (*places, None):
        if place is None and worst[0] > TOLERANCE:
            break
        direction = everywhere if place is None else _unit(own.shape, place)
        gradient = float(np.vdot(own, direction))
        found = 0.0
        if replay is not None:
            slope = _nearest_slope(replay, direction, gradient, 0.5 * TOLERANCE * scale, cancelled)
            if slope is None:
                return None
            found = slope
        error = abs(gradient - found) / scale if scale else 0.0
        if not error <= worst[0]:
            worst = (error, place, gradient, found)
    return CheckedParameter(name, *worst, len(places), own.size, 1, 1)


def _nearest_slope(
    replay: Replay,
    direction: Array,
    gradient: float,
    enough: float,
    cancelled: Callable[[], bool],
) -> float | None:
    """Of several difference quotients the one nearest to the gradient, the plain one if it is near.

    The finer ones are Richardson's extrapolation of two central differences.
    """
    found = replay.slope(direction, STEP, cancelled)
    if found is None:
        return None
    best = found.value
    for step in FINER_STEPS:
        if abs(best - gradient) <= enough:
            break
        single = replay.slope(direction, step, cancelled)
        double = replay.slope(direction, 2.0 * step, cancelled)
        if single is None or double is None:
            return None
        finer = (4.0 * single.value - double.value) / 3.0
        if abs(finer - gradient) < abs(best - gradient):
            best = finer
    return best


def largest_of_all(step: GlassStep) -> float:
    """The largest entry of all gradients of the step."""
    return max(_largest(np.asarray(g)) for g in step.optimised.gradients.values())


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


def _unit(shape: tuple[int, ...], place: Index) -> Array:
    direction = np.zeros(shape)
    direction[place] = 1.0
    return direction


def _places(gradient: Array, count: int | None) -> list[Index]:
    """The cells to try: those with the largest gradients, and some drawn from the others."""
    flat = np.abs(gradient).reshape(-1)
    if count is None or flat.size <= count:
        chosen = np.arange(flat.size)
    else:
        falling = np.argsort(-flat, kind="stable")
        first, rest = falling[: (count + 1) // 2], falling[(count + 1) // 2 :]
        drawn = np.random.default_rng(flat.size).choice(rest, count - len(first), replace=False)
        chosen = np.concatenate([first, drawn])
    return [tuple(int(i) for i in np.unravel_index(int(n), gradient.shape)) for n in chosen]
