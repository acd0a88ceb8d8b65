"""How one cell of a gradient was reckoned: which records it comes back from, and by what rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from model_core.gradients import GradientTape
from model_core.ops.base import Explanation, Origin, Term
from model_core.shares import Share
from visualizer.i18n import tr
from visualizer.lenses.arithmetic import MOST_TERMS, origin_of
from visualizer.lenses.line import Line, Lines, Marked, Piece, mark, piece
from visualizer.lenses.matrix import op_title
from visualizer.lenses.numbers import as_factor, figure
from visualizer.walkthrough import route

# What a click on the name of the share that is spelled out asks for: all of them again.
ALL_SHARES = -1


@dataclass(frozen=True, eq=False)
class Part:
    """One share in the gradient of a cell, and how its op says that it comes about.

    name: of the record that reads the cell
    """

    share: Share
    index: tuple[int, ...]
    told: Explanation
    decimals: int
    name: str

    def figure(self, value: float) -> str:
        return figure(value, self.decimals)

    def factor(self, value: float) -> str:
        return as_factor(value, self.decimals)


def gradient_lines(
    tape: GradientTape,
    name: str,
    index: tuple[int, ...],
    result: str,
    decimals: int,
    chosen: int | None = None,
    count_from: int = 1,
) -> Lines:
    """The line of the gradient of a site's or parameter's cell, its longest form first.

    chosen: the share that is spelled out, where there are several
    count_from: the number of the first layer
    """
    end = (Piece("=", "muted"), Piece(result, "chip", glued=True))
    if tape.plan.aliases.get(name, name) == tape.target_site:
        return ((Piece(tr("gradient.target"), "muted"), *end),)
    shares = tape.shares_of(name)
    if not shares:
        return ((Piece(tr("gradient.unread"), "muted"), *end),)
    told = [tape.explain_parameter(name, index, share=i) for i in range(len(shares))]
    names = [reader_name(tape, share.consumer_site, count_from) for share in shares]
    parts = [
        Part(share, index, explanation, decimals, named)
        for share, explanation, named in zip(shares, told, names, strict=True)
    ]
    if len(parts) == 1:
        return tuple((*_via(parts[0]), *line, *end) for line in _spelled_out(parts[0]))
    if chosen is not None and 0 <= chosen < len(parts):
        part = parts[chosen]
        head = Piece(tr("gradient.part", n=chosen + 1, count=len(parts), name=part.name), "chip")
        back = Piece(head.text, "chip", share=ALL_SHARES)
        own = (Piece("=", "muted"), Piece(part.figure(part.told.value), "chip", glued=True))
        return tuple((back, *line, *own) for line in _spelled_out(part))
    return ((*_added(parts), *end),)


def reader_name(tape: GradientTape, site: str, count_from: int) -> str:
    """A record by its layer and its op, as headings and chips have them: "layer 2 · residual"."""
    place = route(tuple(tape.sites)).place(site)
    said = tr("line.residual") if tape.tape[site].op == "residual" else op_title(place)
    if place.kind.endswith("_attn"):
        said = tr("back.reader", op=said, sublayer=tr(f"block.{place.kind}"))
    if place.layer is None:
        return said
    return f"{tr('layer', n=place.layer + count_from)} · {said}"


def _added(parts: Sequence[Part]) -> Line:
    """All shares as numbers, each of which can be spelled out."""
    pieces = []
    for number, part in enumerate(parts):
        plus = "+ " if number else ""
        pieces.append(Piece(f"{plus}{part.name}", "muted"))
        said = (part.factor if number else part.figure)(part.told.value)
        pieces.append(Piece(said, "chip", glued=True, share=number))
    return tuple(pieces)


def _via(part: Part) -> Line:
    return (Piece(tr("gradient.via", name=part.name), "muted"),)


def _spelled_out(part: Part) -> Lines:
    return _WAYS.get(part.share.op.name, _sum)(part)


def _sum(part: Part) -> Lines:
    """The largest terms, each as its factors, and what the others come to."""
    terms = part.told.terms
    if not terms:
        return ((Piece(tr("gradient.nothing"), "muted"),),)
    falling = sorted(terms, key=lambda term: -abs(term.value))
    felt = sum(abs(t.value) >= 0.5 * 10**-part.decimals for t in terms)
    lines = []
    for shown in range(max(min(felt, MOST_TERMS), 1), 0, -1):
        chosen = list(terms) if shown == len(terms) else falling[:shown]
        pieces = [
            piece(("+ " if number else "") + _written(part, term, bool(number)))
            for number, term in enumerate(chosen)
        ]
        if shown < len(terms):
            rest = math.fsum(term.value for term in falling[shown:])
            pieces.append(Piece(tr("line.rest", n=len(terms) - shown, sum=part.figure(rest))))
        lines.append(tuple(pieces))
    return tuple(lines)


def _written(part: Part, term: Term, behind_a_sign: bool) -> Marked:
    first = part.factor if behind_a_sign else part.figure
    if not term.factors:
        return mark(first(term.value), origin_of(term))
    text = mark(first(term.factors[0]), origin_of(term, 0))
    for number, factor in enumerate(term.factors[1:], 1):
        origin = term.origins[number] if number < len(term.origins) else None
        text = text + "·" + mark(part.factor(factor), origin)
    return text


def _own_gradient(part: Part) -> Marked:
    origin = Origin(part.share.d_out.name, part.index, "gradient")
    return mark(part.factor(part.told.steps["own"]), origin)


def _softmax(part: Part) -> Lines:
    steps = part.told.steps
    share = mark(part.figure(steps["share"]), Origin(part.share.out.name, part.index))
    inside = "(" + _counted(part) + f" - {part.factor(steps['along'])})"
    rule = "y·(dy·(1 - y) - (Σ dy·y - dy·y)) =" if "rest" in steps else "y·(dy - Σ dy·y) ="
    return ((Piece(rule, "muted"), piece(share + "·" + inside)), (piece(share + "·" + inside),))


def _log_softmax(part: Part) -> Lines:
    steps = part.told.steps
    share, along = part.figure(steps["share"]), part.factor(steps["along"])
    line = piece(_counted(part) + f" - {share}·{along}")
    rule = "dy·(1 - e^y) - e^y·(Σ dy - dy) =" if "rest" in steps else "dy - e^y·Σ dy ="
    return ((Piece(rule, "muted"), line), (line,))


def _counted(part: Part) -> Marked:
    """The cell's own gradient; at the largest share of a row, times what the others come to."""
    rest = part.told.steps.get("rest")
    own = _own_gradient(part)
    return own if rest is None else own + f"·{part.factor(rest)}"


_WAYS: dict[str, Callable[[Part], Lines]] = {"softmax": _softmax, "log_softmax": _log_softmax}
