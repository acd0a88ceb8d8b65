"""How one weight gets its new value: each formula from the gradient to the update, with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from model_core.ops.base import Index, Origin, Term, number
from model_core.tape import checked_index
from model_core.training.step import NORM_GUARD, AdamCells, GlassStep


class UpdateStep(NamedTuple):
    """One formula of the update at one weight.

    name: "gradient", "clipped", "first", "second", "first_corrected", "second_corrected",
    "update" or "weight"    formula: LaTeX    filled: the same with the numbers in place
    text: evaluates to value, in float64 (EVALUATION_NAMES)
    """

    name: str
    formula: str
    filled: str
    text: str
    value: float
    terms: tuple[Term, ...]


def explain_update(
    step: GlassStep, name: str, index: Sequence[int], digits: int = 4
) -> list[UpdateStep]:
    """From the gradient of one weight to its new value, a formula at a time.

    Each is reckoned in float64 from what the step recorded before it. The gradient itself is the
    one that the step used; its terms are its arithmetic in float64, which a gradient of rounding
    alone does not agree with. digits: of the numbers in
    `filled`. KeyError or IndexError where there is no such weight.
    """
    cells = step.cells(name)
    place = checked_index(name, index, cells.before.shape)
    steps = [
        _gradient(step, cells, name, place, digits),
        _clipped(step, cells, name, place, digits),
    ]
    steps += _moments(step, cells, name, place, digits)
    steps += _corrected(step, cells, name, place, digits)
    return steps + _change(step, cells, name, place, digits)


def _gradient(
    step: GlassStep, cells: AdamCells, name: str, place: Index, digits: int
) -> UpdateStep:
    told, used = step.gradients.explain_parameter(name, place), float(cells.gradient[place])
    formula = r"g = \partial L / \partial w"
    return UpdateStep(
        "gradient", formula, f"g = {latex(used, digits)}", number(used), used, told.terms
    )


def _clipped(step: GlassStep, cells: AdamCells, name: str, place: Index, digits: int) -> UpdateStep:
    g, norm, most = float(cells.gradient[place]), step.optimised.norm, step.recipe.max_norm
    coefficient = min(1.0, most / (norm + NORM_GUARD))
    formula = r"g' = g \cdot \min\left(1, c / (\| g \| + 10^{-6})\right)"
    filled = rf"g' = {latex(g, digits)} \cdot \min\left(1, {latex(most, digits)} / "
    filled += rf"({latex(norm, digits)} + 10^{{-6}})\right)"
    text = f"{number(g)} * min(1.0, {number(most)} / ({number(norm)} + {NORM_GUARD!r}))"
    value = g * coefficient
    origins = (Origin(name, place, "gradient"), None)
    term = Term("g * c", name, place, value, (g, coefficient), origins)
    return UpdateStep("clipped", formula, filled, text, value, (term,))


def _moments(
    step: GlassStep, cells: AdamCells, name: str, place: Index, digits: int
) -> list[UpdateStep]:
    g, found = float(cells.clipped[place]), []
    for letter, title, beta, before, power in (
        ("m", "first", step.recipe.beta1, cells.first_before, 1),
        ("v", "second", step.recipe.beta2, cells.second_before, 2),
    ):
        old, n = float(before[place]), 1 if power == 1 else 2
        square = "^2" if power == 2 else ""
        formula = rf"{letter} = \beta_{n} {letter}_{{t-1}} + (1 - \beta_{n}) \, g'{square}"
        grown = rf"({latex(g, digits)})^2" if power == 2 else _bracketed(g, digits)
        filled = (
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
        found.append(UpdateStep(title, formula, filled, text, kept + new, terms))
    return found


def _corrected(
    step: GlassStep, cells: AdamCells, name: str, place: Index, digits: int
) -> list[UpdateStep]:
    count, found = step.optimised.count, []
    for letter, title, beta, moment, share, n in (
        ("m", "first", step.recipe.beta1, cells.first, step.optimised.corrections[0], 1),
        ("v", "second", step.recipe.beta2, cells.second, step.optimised.corrections[1], 2),
    ):
        own = float(moment[place])
        if share == 1.0:
            formula, text = rf"\hat{{{letter}}} = {letter}", number(own)
            filled = rf"\hat{{{letter}}} = {latex(own, digits)}"
        else:
            formula = rf"\hat{{{letter}}} = {letter} / (1 - \beta_{n}^{{t}})"
            share_text = f"(1 - {latex(beta, digits)}^{{{count}}})"
            filled = rf"\hat{{{letter}}} = {latex(own, digits)} / {share_text}"
            text = f"{number(own)} / (1.0 - {number(beta)} ** {count})"
        value = own / share
        term = Term(f"{letter} / share", name, place, value, (own, 1.0 / share), (None, None))
        found.append(UpdateStep(f"{title}_corrected", formula, filled, text, value, (term,)))
    return found


def _change(
    step: GlassStep, cells: AdamCells, name: str, place: Index, digits: int
) -> list[UpdateStep]:
    rate, epsilon = step.optimised.learning_rate, step.recipe.epsilon
    m, v = float(cells.first_corrected[place]), float(cells.second_corrected[place])
    size = v**0.5 + epsilon
    update = rate * m / size
    factors, nowhere = (rate, m, 1.0 / size), (None, None, None)
    taken = UpdateStep(
        "update",
        r"\Delta w = \eta \, \hat{m} / (\sqrt{\hat{v}} + \epsilon)",
        rf"\Delta w = {latex(rate, digits)} \cdot {_bracketed(m, digits)} / "
        rf"(\sqrt{{{latex(v, digits)}}} + {latex(epsilon, digits)})",
        f"{number(rate)} * {number(m)} / (sqrt({number(v)}) + {number(epsilon)})",
        update,
        (Term("rate * m / (sqrt(v) + epsilon)", name, place, update, factors, nowhere),),
    )
    w, off = float(cells.before[place]), float(cells.update[place])
    new = UpdateStep(
        "weight",
        r"w' = w - \Delta w",
        rf"w' = {latex(w, digits)} - {_bracketed(off, digits)}",
        f"{number(w)} - {number(off)}",
        w - off,
        (
            Term("w", name, place, w, (), (Origin(name, place),)),
            Term("-update", name, place, -off, (-1.0, off), (None, None)),
        ),
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
