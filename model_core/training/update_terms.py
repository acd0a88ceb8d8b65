"""How one weight gets its new value: each formula from the gradient to the update, with numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from model_core.ops.base import Index, Origin, Term, number
from model_core.tape import checked_index
from model_core.training.step import NORM_GUARD, AdamCells, GlassStep

# What a formula's result is written with at least; the operands may take more.
DIGITS = 4
# So many tell two numbers of float64 apart.
MOST_DIGITS = 17
# How much nearer than the half of its last digit a written result is to what is written before it:
# what lies in the middle could be rounded to either side.
NEARER = 1e-6

# A number as it is written with some digits, read again.
Near = Callable[[float], float]


class UpdateStep(NamedTuple):
    """One formula of the update at one weight.

    name: "gradient", "clipped", "first", "second", "first_corrected", "second_corrected",
    "update" or "weight"    formula: LaTeX    filled: the same with the numbers in place
    text: evaluates to value, in float64 (EVALUATION_NAMES)    result: value in LaTeX, as what the
    numbers of `filled` come to; empty where `filled` is that number
    """

    name: str
    formula: str
    filled: str
    text: str
    value: float
    terms: tuple[Term, ...]
    result: str = ""


def explain_update(step: GlassStep, name: str, index: Sequence[int]) -> list[UpdateStep]:
    """From the gradient of one weight to its new value, a formula at a time.

    Each is reckoned in float64 from what the step recorded before it. The gradient itself is the
    one that the step used; its terms are its arithmetic in float64, which a gradient of rounding
    alone does not agree with. KeyError or IndexError where there is no such weight.
    """
    cells = step.cells(name)
    place = checked_index(name, index, cells.before.shape)
    steps = [_gradient(step, cells, name, place), _clipped(step, cells, name, place)]
    steps += _moments(step, cells, name, place)
    steps += _corrected(step, cells, name, place)
    return steps + _change(step, cells, name, place)


def written(
    value: float,
    fill: Callable[[int], str],
    reckon: Callable[[Near], float],
    least: int = DIGITS,
) -> tuple[str, str]:
    """A formula with numbers and its result, both in as few digits as make it hold as written.

    value: what comes out in full precision    fill: the formula in so many digits
    reckon: the formula's value where each number is read as it is written    least: digits
    returns: LaTeX of both, the result in `least` digits or more where it lies between two
    """
    if not math.isfinite(value):
        return fill(least), latex(value, least)
    for shown in range(least, MOST_DIGITS):
        result = float(f"{value:.{shown}g}")
        unit = 10.0 ** (_exponent(result) - shown + 1)
        # more than a handful of digits beyond the result's are not read any more
        for digits in range(shown, min(shown + 6, MOST_DIGITS)):
            found = reckon(lambda x, digits=digits: float(f"{x:.{digits}g}"))  # type: ignore[misc]
            if abs(found - result) <= (0.5 - NEARER) * unit:
                return fill(digits), latex(value, shown)
    return fill(MOST_DIGITS), latex(value, MOST_DIGITS)


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def _gradient(step: GlassStep, cells: AdamCells, name: str, place: Index) -> UpdateStep:
    told, used = step.gradients.explain_parameter(name, place), float(cells.gradient[place])
    formula = r"g = \partial L / \partial w"
    filled = f"g = {latex(used, DIGITS)}"
    return UpdateStep("gradient", formula, filled, number(used), used, told.terms)


def _clipped(step: GlassStep, cells: AdamCells, name: str, place: Index) -> UpdateStep:
    g, norm, most = float(cells.gradient[place]), step.optimised.norm, step.recipe.max_norm
    coefficient = min(1.0, most / (norm + NORM_GUARD))
    formula = r"g' = g \cdot \min\left(1, c / (\| g \| + 10^{-6})\right)"

    def fill(digits: int) -> str:
        return rf"g' = {latex(g, digits)} \cdot {factor_text(norm, most, digits)}"

    text = f"{number(g)} * min(1.0, {number(most)} / ({number(norm)} + {NORM_GUARD!r}))"
    value = g * coefficient
    filled, result = written(value, fill, lambda near: near(g) * read_factor(norm, most, near))
    origins = (Origin(name, place, "gradient"), None)
    term = Term("g * c", name, place, value, (g, coefficient), origins)
    return UpdateStep("clipped", formula, filled, text, value, (term,), result)


def factor_text(norm: float, most: float, digits: int) -> str:
    """LaTeX of the factor of clipping, with numbers."""
    return rf"\min\left(1, {latex(most, digits)} / ({latex(norm, digits)} + 10^{{-6}})\right)"


def read_factor(norm: float, most: float, near: Near) -> float:
    """What `factor_text` comes to as it is written."""
    return min(1.0, near(most) / (near(norm) + NORM_GUARD))


def _moments(step: GlassStep, cells: AdamCells, name: str, place: Index) -> list[UpdateStep]:
    first, second = step.recipe.beta1, step.recipe.beta2
    return [
        _moment(cells, name, place, "m", "first", first, float(cells.first_before[place]), 1),
        _moment(cells, name, place, "v", "second", second, float(cells.second_before[place]), 2),
    ]


def _moment(
    cells: AdamCells,
    name: str,
    place: Index,
    letter: str,
    title: str,
    beta: float,
    old: float,
    power: int,
) -> UpdateStep:
    """power: of the gradient, and the number of the beta"""
    g = float(cells.clipped[place])
    square = "^2" if power == 2 else ""
    formula = rf"{letter} = \beta_{power} {letter}_{{t-1}} + (1 - \beta_{power}) \, g'{square}"

    def fill(digits: int) -> str:
        grown = rf"({latex(g, digits)})^2" if power == 2 else _bracketed(g, digits)
        return (
            rf"{letter} = {latex(beta, digits)} \cdot {_bracketed(old, digits)} + "
            rf"{latex(1.0 - beta, digits)} \cdot {grown}"
        )

    times = " * ".join([f"({number(g)})"] * power)
    text = f"{number(beta)} * {number(old)} + (1.0 - {number(beta)}) * {times}"
    kept, new = beta * old, (1.0 - beta) * g**power
    read = Origin(name, place, "gradient")
    terms = (
        Term(f"beta * {letter}", name, place, kept, (beta, old), (None, None)),
        Term(
            f"(1 - beta) * g{square}",
            name,
            place,
            new,
            (1.0 - beta, *[g] * power),
            (None, *[read] * power),
        ),
    )
    filled, result = written(
        kept + new,
        fill,
        lambda near: near(beta) * near(old) + near(1.0 - beta) * near(g) ** power,
    )
    return UpdateStep(title, formula, filled, text, kept + new, terms, result)


def _corrected(step: GlassStep, cells: AdamCells, name: str, place: Index) -> list[UpdateStep]:
    recipe, shares, count = step.recipe, step.optimised.corrections, step.optimised.count
    first, second = float(cells.first[place]), float(cells.second[place])
    return [
        _correction(name, place, "m", 1, recipe.beta1, first, shares[0], count),
        _correction(name, place, "v", 2, recipe.beta2, second, shares[1], count),
    ]


def _correction(
    name: str,
    place: Index,
    letter: str,
    n: int,
    beta: float,
    own: float,
    share: float,
    count: int,
) -> UpdateStep:
    """n: the number of the beta    own: the moment    share: what it is divided by"""
    title = "first_corrected" if n == 1 else "second_corrected"
    value = own / share
    term = Term(f"{letter} / share", name, place, value, (own, 1.0 / share), (None, None))
    if share == 1.0:
        formula, filled = rf"\hat{{{letter}}} = {letter}", latex(own, DIGITS)
        filled = rf"\hat{{{letter}}} = {filled}"
        return UpdateStep(title, formula, filled, number(own), value, (term,))
    formula = rf"\hat{{{letter}}} = {letter} / (1 - \beta_{n}^{{t}})"

    def fill(digits: int) -> str:
        below = f"(1 - {latex(beta, digits)}^{{{count}}})"
        return rf"\hat{{{letter}}} = {latex(own, digits)} / {below}"

    text = f"{number(own)} / (1.0 - {number(beta)} ** {count})"
    filled, result = written(value, fill, lambda near: near(own) / (1.0 - near(beta) ** count))
    return UpdateStep(title, formula, filled, text, value, (term,), result)


def _change(step: GlassStep, cells: AdamCells, name: str, place: Index) -> list[UpdateStep]:
    rate, epsilon = step.optimised.learning_rate, step.recipe.epsilon
    m, v = float(cells.first_corrected[place]), float(cells.second_corrected[place])
    update = rate * m / (v**0.5 + epsilon)
    factors, nowhere = (rate, m, 1.0 / (v**0.5 + epsilon)), (None, None, None)

    def fill(digits: int) -> str:
        return (
            rf"\Delta w = {latex(rate, digits)} \cdot {_bracketed(m, digits)} / "
            rf"(\sqrt{{{latex(v, digits)}}} + {latex(epsilon, digits)})"
        )

    filled, result = written(
        update, fill, lambda near: near(rate) * near(m) / (near(v) ** 0.5 + near(epsilon))
    )
    taken = UpdateStep(
        "update",
        r"\Delta w = \eta \, \hat{m} / (\sqrt{\hat{v}} + \epsilon)",
        filled,
        f"{number(rate)} * {number(m)} / (sqrt({number(v)}) + {number(epsilon)})",
        update,
        (Term("rate * m / (sqrt(v) + epsilon)", name, place, update, factors, nowhere),),
        result,
    )
    w, off = float(cells.before[place]), float(cells.update[place])

    def difference(digits: int) -> str:
        return rf"w' = {latex(w, digits)} - {_bracketed(off, digits)}"

    # in fewer digits a small update would not show
    apart = _exponent(w - off) - _exponent(off) if off and w != off else 0
    filled, result = written(
        w - off, difference, lambda near: near(w) - near(off), max(DIGITS, min(apart + 3, 9))
    )
    new = UpdateStep(
        "weight",
        r"w' = w - \Delta w",
        filled,
        f"{number(w)} - {number(off)}",
        w - off,
        (
            Term("w", name, place, w, (), (Origin(name, place),)),
            Term("-update", name, place, -off, (-1.0, off), (None, None)),
        ),
        result,
    )
    return [taken, new]


def latex(value: float, digits: int) -> str:
    """A number in LaTeX with so many significant digits, powers of ten written out."""
    if value == 0.0:
        return "0"
    # in braces a minus is a sign and no operation, and takes no room to both sides
    sign = "{-}" if value < 0 else ""
    plain = f"{abs(value):.{digits}g}"
    if "e" not in plain:
        return sign + plain
    factor, exponent = plain.split("e")
    return rf"{sign}{factor} \cdot 10^{{{int(exponent)}}}"


def _bracketed(value: float, digits: int) -> str:
    text = latex(value, digits)
    return rf"\left({text}\right)" if value < 0 else text
