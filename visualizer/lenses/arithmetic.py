"""How one cell was reckoned, as a line: its operands, what they give on the way, the result.

Nothing is computed here but sums of what is left out: every number is one that the op's own
explanation gives (its factors, its terms, its steps).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from model_core.ops.base import Explanation, Term
from model_core.tape import Record
from visualizer.i18n import tr
from visualizer.lenses.numbers import as_factor, figure, large

# So many terms of a long sum are written out where there is room.
MOST_TERMS = 5
_CURVES = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU", "silu": "SiLU"}


@dataclass(frozen=True)
class Piece:
    """A stretch of the line that is never cut; a glued one stays beside the one before it.

    kind: "chip" for a number that came out, "muted" for words
    """

    text: str
    kind: Literal["plain", "muted", "chip"] = "plain"
    glued: bool = False


Line = tuple[Piece, ...]
# The same line with fewer and fewer of its terms, for less and less room.
Lines = tuple[Line, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """One cell of a record: what its op says about it, and how numbers are to be written."""

    record: Record
    index: tuple[int, ...]
    told: Explanation
    decimals: int
    count_from: int

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.told.terms

    def step(self, name: str) -> float:
        return self.told.steps[name]

    def figure(self, value: float) -> str:
        return figure(value, self.decimals)

    def factor(self, value: float) -> str:
        return as_factor(value, self.decimals)


def calculation(question: Question, result: str) -> Lines:
    """The line of a cell whose value is written `result`, its longest form first."""
    way = _WAYS.get(question.record.op, _anything)
    sign = "→" if question.record.value.dtype.kind == "b" else "="
    return tuple(
        (*line, *([Piece(sign, "muted")] if line else []), Piece(result, "chip", glued=bool(line)))
        for line in way(question)
    )


def plain_text(line: Line) -> str:
    """The line as text."""
    return " ".join(piece.text for piece in line)


# Sums.


def _sum(
    question: Question,
    terms: Sequence[Term],
    text: Callable[[Term, Callable[[float, int], str]], str],
    size: Callable[[Term], float],
) -> Lines:
    """A sum with its largest terms first, and what the others add up to.

    text: a term written out, given how its first number is written
    size: the number it stands for
    """
    count = len(terms)
    falling = sorted(terms, key=lambda term: -abs(size(term)))
    # terms that the result's last digit does not feel are not worth a place of their own
    felt = sum(abs(size(term)) >= 0.5 * 10**-question.decimals for term in terms)
    lines = []
    for shown in range(max(min(felt, MOST_TERMS), 1), 0, -1):
        chosen = terms if shown == count else falling[:shown]
        pieces = [Piece(text(chosen[0], figure))]
        pieces += [Piece(f"+ {text(term, as_factor)}") for term in chosen[1:]]
        if shown < count:
            rest = math.fsum(map(size, falling[shown:]))
            more = tr("line.rest", n=count - shown, sum=question.figure(rest))
            pieces.append(Piece(more))
        lines.append(tuple(pieces))
    return tuple(lines)


def _products(question: Question, terms: Sequence[Term], size: Callable[[Term], float]) -> Lines:
    # many factors stand in a line: they are as coarse as the numbers in the cells
    decimals = max(question.decimals - 1, 1)
    return _sum(
        question,
        terms,
        lambda term, write: (
            f"{write(term.factors[0], decimals)}·{as_factor(term.factors[1], decimals)}"
        ),
        size,
    )


def _enclosed(lines: Lines, before: str, after: str) -> Lines:
    """Words before the first piece and behind the last one, without a space."""
    found = []
    for first, *others in lines:
        pieces = [Piece(before + first.text), *others]
        pieces[-1] = Piece(pieces[-1].text + after)
        found.append(tuple(pieces))
    return tuple(found)


def _linear(question: Question) -> Lines:
    products = [term for term in question.terms if term.factors]
    bias = [term.value for term in question.terms if not term.factors]
    lines = _products(question, products, lambda term: term.value)
    if not bias:
        return lines
    sign = "-" if bias[0] < 0 else "+"
    last = (
        Piece(f"{sign} {question.figure(abs(bias[0]))}"),
        Piece(tr("line.bias"), "muted", glued=True),
    )
    return tuple((*line, *last) for line in lines)


def _context(question: Question) -> Lines:
    return _products(question, question.terms, lambda term: term.value)


def _scores(question: Question) -> Lines:
    lines = _products(question, question.terms, lambda term: term.factors[0] * term.factors[1])
    lines = tuple((Piece("q·k =", "muted"), *line) for line in lines)
    scale, width = question.step("scale"), question.step("width")
    if scale == 1.0:
        return lines
    root = math.isclose(scale * math.sqrt(width), 1.0, rel_tol=1e-9)
    after = f"÷ √{width:.0f}" if root else f"· {question.factor(scale)}"
    product = question.figure(question.step("product"))
    made = (Piece("=", "muted"), Piece(product, "chip", glued=True), Piece(after, glued=True))
    return tuple((*line, *made) for line in lines)


def _mean(question: Question) -> Lines:
    lines = _sum(
        question,
        question.terms,
        lambda term, write: write(term.factors[0], question.decimals),
        lambda term: term.factors[0],
    )
    return _enclosed(lines, "(", f") / {question.step('width'):.0f}")


def _variance(question: Question) -> Lines:
    numbers, mean = question.record.operands[0].value, question.factor(question.step("mean"))
    lines = _sum(
        question,
        question.terms,
        lambda term, write: f"({question.figure(numbers[term.index])} - {mean})^2",
        lambda term: term.factors[0] * term.factors[1],
    )
    return _enclosed(lines, "(", f") / {question.step('width'):.0f}")


# One formula.


def _added(question: Question) -> Lines:
    names = [_addend(term.site) for term in question.terms]
    first, *others = (term.value for term in question.terms)
    line = (
        Piece(question.figure(first)),
        *(Piece(f"+ {question.factor(number)}") for number in others),
    )
    return ((Piece(f"{' + '.join(names)} =", "muted"), *line), line)


def _addend(site: str) -> str:
    """What one side of a sum is, in words: x, the sublayer's output, a token, its position."""
    rest = site.partition(".")[2]
    role = rest.rsplit(".", 1)[-1]
    if rest.startswith("embed.") and role in ("tokens", "scaled", "position"):
        return tr(f"line.addend.{role}")
    for sublayer in ("self_attn", "cross_attn", "ffn"):
        if rest.endswith(f".{sublayer}.out"):
            return f"{tr(f'line.addend.{sublayer}')}(x)"
    return "x"


def _normalise(question: Question) -> Lines:
    own = question.figure(question.terms[0].factors[0])
    mean, variance = question.factor(question.step("mean")), question.step("variance")
    below = f"√({question.figure(variance)} + {figure(question.step('eps'), 1)})"
    return ((Piece(f"({own} - {mean})"), Piece(f"/ {below}")),)


def _scale_shift(question: Question) -> Lines:
    scaled, shift = question.terms
    own, gamma = scaled.factors
    sign = "-" if shift.value < 0 else "+"
    product = f"{question.figure(gamma)} · {question.factor(own)}"
    return ((Piece(product), Piece(f"{sign} {question.figure(abs(shift.value))}")),)


def _scale(question: Question) -> Lines:
    x, factor = question.terms[0].factors
    return ((Piece(f"{question.figure(x)} · {factor:.6g}"),),)


def _curve(question: Question) -> Lines:
    name = _CURVES[question.record.op]
    return ((Piece(f"{name}({question.figure(question.terms[0].value)})"),),)


def _wave(question: Question) -> Lines:
    name = question.told.text.split("(", 1)[0]
    place, power, width = (question.step(step) for step in ("position", "power", "width"))
    return ((Piece(f"{name}({place:.0f} / 10000^({power:.0f}/{width:.0f}))"),),)


def _softmax(question: Question) -> Lines:
    # term i is the share of the key i, the cell's own one stands at the cell's last index
    place = question.terms[question.index[-1]].index
    score, shift = float(question.record.operands[0].value[place]), question.step("shift")
    minus = f" - {question.factor(shift)}" if shift else ""
    own = question.figure(score) + minus
    power = f"e^({own})" if minus or own.startswith("-") else f"e^{own}"
    row = tr("line.score") + minus
    below = f"Σ e^({row})" if minus else f"Σ e^{row}"
    top, total = large(question.step("power"), question.decimals), question.step("sum")
    made = Piece(f"= {top} / {large(total, question.decimals)}")
    if not total:
        return ((),)
    return ((Piece(f"{power} / {below}"), made), (Piece(f"{power} / {below}"),))


def _log_softmax(question: Question) -> Lines:
    own, log_sum = question.terms[0].value, question.told.steps.get("log_sum", math.inf)
    value = abs(question.told.value)
    decimals = question.decimals
    if 0 < value < 1:
        # the two are nearly equal: as many digits as tell them apart
        decimals = min(max(decimals, 1 - math.floor(math.log10(value))), 9)
    a, b = figure(own, decimals), as_factor(log_sum, decimals)
    short = Piece(f"{question.figure(own)} - log Σ e^x")
    return ((short, Piece(f"= {a} - {b}")), (Piece(f"{a} - {b}"),))


# Copies and masks.


def _table_row(question: Question) -> Lines:
    key = "line.position_row" if question.record.op == "learned_position" else "line.table_row"
    return ((Piece(tr(key, n=question.terms[0].index[0]), "muted"),),)


def _heads(question: Question) -> Lines:
    term = question.terms[0]
    role, first = term.site.rsplit(".", 1)[-1], question.count_from
    values = {"name": tr(f"chip.attn.{role}"), "n": term.index[-1] + first}
    if question.record.op == "merge_heads":
        said = tr("line.dim_of_head", head=term.index[-3] + first, **values)
    else:
        said = tr("line.dim", **values)
    return ((Piece(said, "muted"),),)


def _allowed_score(question: Question) -> Lines:
    return ((Piece(tr("line.mask_allows"), "muted"),),)


def _padding(question: Question) -> Lines:
    real = question.terms[0].value
    return ((Piece(tr("line.real" if real else "line.padding")),),)


def _look_ahead(question: Question) -> Lines:
    key, query = (round(term.value) + question.count_from for term in question.terms)
    said = tr("line.earlier" if key <= query else "line.later", key_at=key, query_at=query)
    return ((Piece(said),),)


def _both(question: Question) -> Lines:
    said = []
    for term in question.terms:
        role = term.site.rsplit(".", 1)[-1]
        said.append(tr(f"line.{role}.{'allows' if term.value else 'forbids'}"))
    return (tuple(Piece(words if not i else f"· {words}") for i, words in enumerate(said)),)


def _given(question: Question) -> Lines:
    return ((),)


def _anything(question: Question) -> Lines:
    """What the op calls its terms, and their shares."""
    lines = []
    for shown in range(min(len(question.terms), MOST_TERMS), 0, -1):
        terms = sorted(question.terms, key=lambda term: -abs(term.value))[:shown]
        pieces = [Piece(f"{term.label}: {question.figure(term.value)}") for term in terms]
        left = question.terms[shown:]
        if left:
            pieces.append(Piece(tr("explain.more", n=len(left)), "muted"))
        lines.append(tuple(pieces))
    return tuple(lines) or ((),)


_WAYS: dict[str, Callable[[Question], Lines]] = {
    "linear": _linear,
    "tied_linear": _linear,
    "scores": _scores,
    "masked_scores": _allowed_score,
    "softmax": _softmax,
    "context": _context,
    "split_heads": _heads,
    "merge_heads": _heads,
    "add": _added,
    "residual": _added,
    "mean": _mean,
    "variance": _variance,
    "normalise": _normalise,
    "scale_shift": _scale_shift,
    "scale": _scale,
    "sinusoidal_position": _wave,
    "learned_position": _table_row,
    "embedding_rows": _table_row,
    "log_softmax": _log_softmax,
    "padding_mask": _padding,
    "look_ahead_mask": _look_ahead,
    "both_masks": _both,
    "given": _given,
    **dict.fromkeys(_CURVES, _curve),
}
