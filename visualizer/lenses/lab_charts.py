"""The three charts of a training: loss, exact matches, learning rate and gradient norm. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from model_core.training.history import COLUMNS
from visualizer.i18n import tr
from visualizer.lab import Lab, Training, shown_step
from visualizer.lenses.lab_picture import Chart, ChartLine
from visualizer.lenses.numbers import power_of_ten

if TYPE_CHECKING:
    from model_core.training.held_out import Evaluation

# The least range of the axis of the losses, as a ratio.
LEAST_RATIO = 10.0
TICKS = 5
# The loss of a batch depends on how long its sentences are: so many are averaged.
SMOOTHED = 25
# Numbers outside are written with their power of ten.
SMALLEST, LARGEST = 1e-4, 1e5


def column(training: Training, name: str) -> np.ndarray:
    """A column of the history (n,), a view: a long training's is drawn several times a second."""
    return training.steps[:, COLUMNS.index(name)]


def charts(training: Training, looked: int | None = None) -> tuple[Chart, Chart, Chart]:
    """Loss on a logarithmic axis, exact matches, learning rate and gradient norms.

    looked: the earlier step that is looked at, whose values are said; None for the newest ones
    """
    exact = exact_chart(training, looked)
    return loss_chart(training, looked), exact, rate_chart(training, looked)


def looked_step(lab: Lab) -> int | None:
    """The step of the snapshot that is looked at, where it is earlier than the training."""
    shown = None if lab.shown is None else shown_step(lab)
    return shown if shown is not None and lab.training and shown < lab.training.step else None


def last_step(training: Training) -> int:
    """Where the axis of the steps ends: one may go on beyond the end, batch by batch."""
    return max(training.total, training.step, 1)


def _measured(training: Training, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of what is not measured at every step."""
    values = column(training, name)
    known = np.isfinite(values)
    return column(training, "step")[known], values[known]


def loss_chart(training: Training, looked: int | None = None) -> Chart:
    x, loss = column(training, "step"), column(training, "loss")
    held_x, held = _measured(training, "held_out_loss")
    mean = running_mean(loss, SMOOTHED)
    guided_x, guided = _measured(training, "alignment_loss")
    guided = running_mean(guided, SMOOTHED)
    low, high, ticks = log_axis(np.concatenate([loss, held, guided]))
    lines = [
        ChartLine(tr("lab.curve.train"), "encoder", x, loss, _said(x, loss, 3, looked), faint=True),
        ChartLine(
            tr("lab.curve.mean", n=SMOOTHED),
            "encoder",
            x,
            mean,
            _said(x, mean, 3, looked),
            brief=tr("lab.curve.mean.brief"),
        ),
        ChartLine(
            tr("lab.curve.held_out"),
            "decoder",
            held_x,
            held,
            _said(held_x, held, 3, looked),
            brief=tr("lab.curve.held_out.brief"),
            dots=len(held) < 30,
        ),
    ]
    if guided.size:
        lines.append(
            ChartLine(
                tr("lab.curve.alignment", n=SMOOTHED),
                "accent",
                guided_x,
                guided,
                _said(guided_x, guided, 3, looked),
                brief=tr("lab.curve.alignment.brief"),
            )
        )
    return Chart(
        tr("lab.chart.loss"),
        tuple(lines),
        ticks,
        low,
        high,
        last_step(training),
        training.step,
        log=True,
        axis=tr("lab.chart.log"),
        looked=looked,
        notes=_notes(looked),
        key=("loss", *_key(training, looked)),
    )


def exact_chart(training: Training, looked: int | None = None) -> Chart:
    x, share = _measured(training, "exact_share")
    now = ""
    if looked is not None:
        now = _last(x, share, looked, lambda at: _matches(training, int(x[at]), float(share[at])))
    elif training.evaluation is not None:
        now = _counted(training.evaluation)
    line = ChartLine(tr("lab.curve.exact"), "output", x, share, now, dots=len(share) < 30)
    ticks = tuple((n / 4, f"{25 * n}%") for n in range(5))
    every, waiting = training.evaluate_every, ""
    if training.n_held_out != 0 and every:
        first = training.began - training.began % every + every
        # at the end in any case
        first = min(first, max(training.total, 1))
        waiting = tr("lab.chart.exact.waiting", step=f"{first:,}")
    return Chart(
        tr("lab.chart.exact.none" if training.n_held_out == 0 else "lab.chart.exact"),
        (line,),
        ticks,
        0.0,
        1.0,
        last_step(training),
        training.step,
        looked=looked,
        notes=_notes(looked),
        waiting=waiting,
        key=("exact", *_key(training, looked)),
    )


def rate_chart(training: Training, looked: int | None = None) -> Chart:
    x, norm = column(training, "step"), column(training, "gradient_norm")
    clipped, rate = column(training, "clipped_norm"), column(training, "learning_rate")
    finite = norm[np.isfinite(norm)]
    # a rare spike would press all else to the ground; it is cut off at the top
    high = nice(1.1 * float(np.percentile(finite, 99))) if finite.size else 1.0
    top = float(finite.max()) if finite.size else 0.0
    most = nice(float(rate.max())) if rate.size else 1.0
    lines = (
        ChartLine(
            tr("lab.curve.norm"),
            "encoder",
            x,
            norm,
            _said(x, norm, 2, looked),
            brief=tr("lab.curve.norm.brief"),
        ),
        ChartLine(tr("lab.curve.clipped"), "decoder", x, clipped, _said(x, clipped, 2, looked)),
        ChartLine(
            tr("lab.curve.rate"),
            "accent",
            x,
            rate,
            _last(x, rate, looked, lambda at: scientific(float(rate[at]), 2)),
            most,
            tr("lab.curve.rate.brief"),
        ),
    )
    right = tuple((n / 4, three_digits(most * n / 4)) for n in range(5)) if rate.size else ()
    ticks = tuple((high * n / 4, three_digits(high * n / 4)) for n in range(5))
    return Chart(
        tr("lab.chart.rate"),
        lines,
        ticks,
        0.0,
        high,
        last_step(training),
        training.step,
        right=right,
        colours=("encoder", "accent"),
        looked=looked,
        notes=_notes(looked, three_digits(top) if top > high else ""),
        key=("rate", *_key(training, looked)),
    )


def _key(training: Training, looked: int | None) -> tuple[object, ...]:
    # the axis shows step and total, the words their language
    shown = training.number, len(training.steps), training.total, training.step
    return *shown, looked, tr("lab.chart.loss")


def _said(x: np.ndarray, values: np.ndarray, places: int, looked: int | None) -> str:
    return _last(x, values, looked, lambda at: fitting(float(values[at]), places))


def _last(
    x: np.ndarray, values: np.ndarray, looked: int | None, write: Callable[[int], str]
) -> str:
    """The newest value, or the last one up to a step; with its own step where it is older."""
    if looked is None:
        return write(-1) if len(values) else ""
    at = int(np.searchsorted(x, looked, side="right")) - 1
    if at < 0:
        return ""
    text, step = write(at), int(x[at])
    return text if step == looked else tr("lab.curve.older", value=text, step=f"{step:,}")


def _matches(training: Training, step: int, share: float) -> str:
    """How many matched at a step; their share where the examples were not kept."""
    kept = (*training.evaluations, training.evaluation)
    found = next((one for one in kept if one is not None and one.step == step), None)
    return f"{100 * share:.1f}%" if found is None else _counted(found)


def _counted(evaluation: Evaluation) -> str:
    return tr("lab.curve.of", right=evaluation.exact, all=evaluation.decoded)


def _notes(looked: int | None, top: str = "") -> tuple[str, ...]:
    """What stands beside a heading, the longest wording first: of which step the values are, and
    how high the values go that the axis cuts off.
    """
    at: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    if looked is not None:
        step = f"{looked:,}"
        at = tr("lab.chart.at", step=step), tr("lab.chart.at.brief", step=step)
    if top:
        most = tr("lab.chart.top", value=top), tr("lab.chart.top.brief", value=top)
    if not at or not most:
        return at or most
    both = ((most[0], at[0]), (most[1], at[0]), (most[1], at[1]))
    return *(" · ".join(parts) for parts in both), *at


def log_axis(values: np.ndarray) -> tuple[float, float, tuple[tuple[float, str], ...]]:
    """Low and high end and the ticks of a logarithmic axis that has all numbers above 0."""
    usable = values[np.isfinite(values) & (values > 0)]
    if not usable.size:
        return 0.1, 10.0, ((0.1, "0.1"), (1.0, "1.0"), (10.0, "10"))
    low, high = float(usable.min()), float(usable.max())
    if high / low < LEAST_RATIO:
        low = high / LEAST_RATIO
    high *= 1.08
    low /= 1.08
    ratio = (high / low) ** (1 / (TICKS - 1))
    values_at = [low * ratio**n for n in range(TICKS)]
    return low, high, tuple((value, short(value)) for value in values_at)


def short(value: float) -> str:
    """Two digits that tell: "4.0", "0.11", "0.0034", "6.2e11"."""
    if not SMALLEST <= value < LARGEST:
        return scientific(value)
    if value >= 9.95:
        return f"{value:,.0f}"
    places = max(1, 1 - math.floor(math.log10(value)))
    return f"{value:.{places if value < 0.995 else 1}f}"


def three_digits(value: float) -> str:
    """A number with three digits that tell, and of larger ones all of those before the point,
    as far as there is room for them.
    """
    if value and not SMALLEST <= abs(value) < LARGEST:
        return scientific(value, 2)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def fitting(value: float, places: int) -> str:
    """A number with so many places behind the point, more of them where it takes that for two
    digits that tell: "0.384", "0.0053", "1.2e-4", "6.2e11".
    """
    if value and not 1e-3 <= abs(value) < LARGEST:
        return scientific(value)
    if value and abs(value) < 10.0 ** (1 - places):
        places = 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{places if abs(value) < 1000 else 0}f}"


def scientific(value: float, places: int = 1) -> str:
    """ "1.3e-3": digits and the power of ten; without zeros at the end if there are two places."""
    if not math.isfinite(value):
        return f"{value}"
    return power_of_ten(f"{value:.{places}e}", bare=places > 1)


def running_mean(values: np.ndarray, count: int) -> np.ndarray:
    """(n,) the mean of each number and up to so many before it."""
    sums = np.cumsum(values, dtype=np.float64)
    before = np.concatenate([np.zeros(min(count, len(values))), sums[:-count]])
    means = (sums - before) / np.minimum(np.arange(1, len(values) + 1), count)
    return means.astype(values.dtype)


def nice(value: float) -> float:
    """A round number at or above this one, divisible by 4 in a few digits."""
    if not value > 0 or not math.isfinite(value):
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= value)
