"""How one cell was reckoned, as a line: its operands, what they give on the way, the result.

Nothing is computed here but sums of what is left out: every number is one that the op's own
explanation gives (its factors, its terms, its steps).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from model_core.ops.base import Explanation, Origin, Term
from model_core.tape import Record
from visualizer.i18n import tr
from visualizer.lenses.line import Lines, Marked, Piece, enclosed, mark, piece
from visualizer.lenses.numbers import as_factor, brief, figure, large

# So many terms of a long sum are written out where there is room.
MOST_TERMS = 5
_CURVES = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU", "silu": "SiLU"}


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

    def operand(self, which: int, index: tuple[int, ...]) -> Origin:
        """Where a cell of an input was read."""
        return Origin(self.record.inputs[which], index)

    @property
    def row(self) -> tuple[int, ...]:
        """The cell of this row in a record with one number per row."""
        return (*self.index[:-1], 0)


def origin_of(term: Term, number: int = 0) -> Origin | None:
    """Where a factor of a term was read, or its own number where it has no factors."""
    if term.origins:
        return term.origins[number]
    return Origin(term.site, term.index) if number == 0 else None


def product(term: Term, write: Callable[[float, int], str], decimals: int) -> Marked:
    """A term's first two factors, both links."""
    first, second = term.factors[:2]
    left = mark(write(first, decimals), origin_of(term, 0))
    return left + "·" + mark(as_factor(second, decimals), origin_of(term, 1))


def calculation(question: Question, result: str) -> Lines:
    """The line of a cell whose value is written `result`, its longest form first."""
    way = _WAYS.get(question.record.op, _anything)
    sign = "→" if question.record.value.dtype.kind == "b" else "="
    return tuple(
        (*line, *([Piece(sign, "muted")] if line else []), Piece(result, "chip", glued=bool(line)))
        for line in way(question)
    )


# Sums.


def summed(
    question: Question,
    terms: Sequence[Term],
    text: Callable[[Term, Callable[[float, int], str]], Marked],
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
        pieces = [piece(text(chosen[0], figure))]
        pieces += [piece("+ " + text(term, as_factor)) for term in chosen[1:]]
        if shown < count:
            rest = math.fsum(map(size, falling[shown:]))
            more = tr("line.rest", n=count - shown, sum=question.figure(rest))
            pieces.append(Piece(more))
        lines.append(tuple(pieces))
    return tuple(lines)


def products(question: Question, terms: Sequence[Term], size: Callable[[Term], float]) -> Lines:
    # many factors stand in a line: they are as coarse as the numbers in the cells
    decimals = max(question.decimals - 1, 1)
    return summed(question, terms, lambda term, write: product(term, write, decimals), size)


def _linear(question: Question) -> Lines:
    weighted = [term for term in question.terms if term.factors]
    bias = [term for term in question.terms if not term.factors]
    lines = products(question, weighted, lambda term: term.value)
    if not bias:
        return lines
    sign, size = "-" if bias[0].value < 0 else "+", question.figure(abs(bias[0].value))
    last = (
        piece(f"{sign} " + mark(size, origin_of(bias[0]))),
        Piece(tr("line.bias"), "muted", glued=True),
    )
    return tuple((*line, *last) for line in lines)


def _context(question: Question) -> Lines:
    return products(question, question.terms, lambda term: term.value)


def _scores(question: Question) -> Lines:
    lines = products(question, question.terms, lambda term: term.factors[0] * term.factors[1])
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
    lines = summed(
        question,
        question.terms,
        lambda term, write: mark(write(term.factors[0], question.decimals), origin_of(term)),
        lambda term: term.factors[0],
    )
    return enclosed(lines, "(", f") / {question.step('width'):.0f}")


def _variance(question: Question) -> Lines:
    numbers = question.record.operands[0].value
    mean = mark(question.factor(question.step("mean")), question.operand(1, question.row))

    def square(term: Term, write: Callable[[float, int], str]) -> Marked:
        own = mark(question.figure(numbers[term.index]), Origin(term.site, term.index))
        return "(" + own + " - " + mean + ")^2"

    lines = summed(question, question.terms, square, lambda term: term.factors[0] * term.factors[1])
    return enclosed(lines, "(", f") / {question.step('width'):.0f}")


# One formula.


def _added(question: Question) -> Lines:
    names = [_addend(term.site) for term in question.terms]
    first, *others = question.terms
    line = (
        piece(mark(question.figure(first.value), origin_of(first))),
        *(piece("+ " + mark(question.factor(t.value), origin_of(t))) for t in others),
    )
    return ((Piece(f"{' + '.join(names)} =", "muted"), *line), line)


def _addend(site: str) -> str:
    """What one side of a sum is, in words: x, the sublayer's output, a token, its position."""
    if site.endswith(".dropped"):
        # in training alone
        return f"dropout({_addend(site.removesuffix('.dropped'))})"
    rest = site.partition(".")[2]
    role = rest.rsplit(".", 1)[-1]
    if rest.startswith("embed.") and role in ("tokens", "scaled", "position"):
        return tr(f"line.addend.{role}")
    for sublayer in ("self_attn", "cross_attn", "ffn"):
        if rest.endswith(f".{sublayer}.out"):
            return f"{tr(f'line.addend.{sublayer}')}(x)"
    return "x"


def _normalise(question: Question) -> Lines:
    own = mark(question.figure(question.terms[0].factors[0]), question.operand(0, question.index))
    mean = mark(question.factor(question.step("mean")), question.operand(1, question.row))
    spread = mark(question.figure(question.step("variance")), question.operand(2, question.row))
    below = "/ √(" + spread + f" + {figure(question.step('eps'), 1)})"
    return ((piece("(" + own + " - " + mean + ")"), piece(below)),)


def _scale_shift(question: Question) -> Lines:
    scaled, shift = question.terms
    own = mark(question.factor(scaled.factors[0]), question.operand(0, question.index))
    gamma = mark(question.figure(scaled.factors[1]), question.operand(1, question.index[-1:]))
    beta = mark(question.figure(abs(shift.value)), question.operand(2, question.index[-1:]))
    sign = "-" if shift.value < 0 else "+"
    return ((piece(gamma + " · " + own), piece(f"{sign} " + beta)),)


def _scale(question: Question) -> Lines:
    x, factor = question.terms[0].factors
    own = mark(question.figure(x), question.operand(0, question.index))
    return ((piece(own + f" · {brief(factor)}"),),)


def _curve(question: Question) -> Lines:
    name = _CURVES[question.record.op]
    own = mark(question.figure(question.terms[0].value), question.operand(0, question.index))
    return ((piece(f"{name}(" + own + ")"),),)


def _wave(question: Question) -> Lines:
    name = question.told.text.split("(", 1)[0]
    place, power, width = (question.step(step) for step in ("position", "power", "width"))
    said = f"{name}({place:.0f} / 10000^({power:.0f}/{width:.0f}))"
    at = tr("line.wave.tip", place=f"{place:.0f}", n=f"{place + question.count_from:.0f}")
    return ((Piece(said, tip=at),),)


def _softmax(question: Question) -> Lines:
    # term i is the share of the key i, the cell's own one stands at the cell's last index
    place = question.terms[question.index[-1]].index
    score, shift = float(question.record.operands[0].value[place]), question.step("shift")
    minus = f" - {question.factor(shift)}" if shift else ""
    score_text = question.figure(score)
    own = mark(score_text, Origin(question.record.inputs[0], place)) + minus
    power = "e^(" + own + ")" if minus or score_text.startswith("-") else "e^" + own
    row = tr("line.score") + minus
    below = f"Σ e^({row})" if minus else f"Σ e^{row}"
    top, total = large(question.step("power"), question.decimals), question.step("sum")
    made = Piece(f"= {top} / {large(total, question.decimals)}")
    if not total:
        return ((),)
    quotient = piece(power + f" / {below}")
    return ((quotient, made), (quotient,))


def _log_softmax(question: Question) -> Lines:
    own, log_sum = question.terms[0].value, question.told.steps.get("log_sum", math.inf)
    value = abs(question.told.value)
    decimals = question.decimals
    if 0 < value < 1:
        # the two are nearly equal: as many digits as tell them apart
        decimals = min(max(decimals, 1 - math.floor(math.log10(value))), 9)
    a, b = figure(own, decimals), as_factor(log_sum, decimals)
    origin = question.operand(0, question.index)
    short = piece(mark(question.figure(own), origin) + " - log Σ e^x")
    return ((short, Piece(f"= {a} - {b}")), (piece(mark(a, origin) + f" - {b}"),))


# Copies and masks.


def _table_row(question: Question) -> Lines:
    term = question.terms[0]
    row = term.index[0]
    if question.record.op == "learned_position":
        said = tr("line.position_row", n=row + question.count_from)
    else:
        said = tr("line.table_row", n=row)
    return ((piece(mark(said, origin_of(term)), "muted"),),)


def _heads(question: Question) -> Lines:
    term = question.terms[0]
    role, first = term.site.rsplit(".", 1)[-1], question.count_from
    values = {"name": tr(f"chip.attn.{role}"), "n": term.index[-1] + first}
    if question.record.op == "merge_heads":
        said = tr("line.dim_of_head", head=term.index[-3] + first, **values)
    else:
        said = tr("line.dim", **values)
    return ((piece(mark(said, Origin(term.site, term.index)), "muted"),),)


def _allowed_score(question: Question) -> Lines:
    said = mark(tr("line.mask_allows"), question.operand(0, question.index))
    return ((piece(said, "muted"),),)


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
        words = tr(f"line.{role}.{'allows' if term.value else 'forbids'}")
        said.append(mark(words, Origin(term.site, term.index)))
    return (tuple(piece(words if not i else "· " + words) for i, words in enumerate(said)),)


def _given(question: Question) -> Lines:
    return ((),)


def _anything(question: Question) -> Lines:
    """What the op calls its terms, and their shares."""
    lines = []
    for shown in range(min(len(question.terms), MOST_TERMS), 0, -1):
        terms = sorted(question.terms, key=lambda term: -abs(term.value))[:shown]
        pieces = [
            piece(f"{term.label}: " + mark(question.figure(term.value), origin_of(term)))
            for term in terms
        ]
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
