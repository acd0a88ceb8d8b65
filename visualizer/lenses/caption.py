"""The words around the picture: where we are, what is done there, the op chips, the notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from visualizer.cards import about
from visualizer.i18n import has, tr
from visualizer.lenses.formulas import formula
from visualizer.lenses.gradient_words import gradient_formula, gradient_sentences
from visualizer.lenses.labels import shape_text
from visualizer.lenses.matrix import op_title
from visualizer.lenses.stage import shown_rows
from visualizer.navigation import current_place, current_walk
from visualizer.state import Run, ViewState, current_tape, shown_gradients
from visualizer.walkthrough import Place, Side


@dataclass(frozen=True)
class Caption:
    """The heading of the stage and the plain words below it.

    `sentence` says what this op does in this place, `why` what such an op does anywhere (empty
    where the two are one).
    """

    side: Side | Literal["accent"]
    side_title: str
    layer_title: str
    title: str
    op_title: str
    site: str
    shape: str
    formula: str
    sentence: str
    why: str


@dataclass(frozen=True)
class Chip:
    """One op of the current sublayer. A click goes to `site`.

    The three views of an attention's heads share a chip, and a click goes to the next of them.
    """

    label: str
    site: str
    sites: tuple[str, ...]
    current: bool


def caption(state: ViewState) -> Caption | None:
    """The words about the record on show."""
    place, tape = current_place(state), current_tape(state)
    if place is None or tape is None:
        return None
    record = tape[place.site]
    if shown_gradients(state) is not None:
        return _of_gradient(state, place, shape_text(place, record, shown_rows(state)))
    sentence, why = sentences(place, record.op, record.sentence)
    if place.kind == "input":
        why = about(state.model)
    return Caption(
        side=place.side,
        side_title=tr(f"side.{place.side}"),
        layer_title=way(state, place),
        title=sublayer_title(place),
        op_title=op_title(place),
        site=place.site,
        shape=shape_text(place, record, shown_rows(state)),
        formula=formula(place, record.formula),
        sentence=sentence,
        why=why,
    )


def _of_gradient(state: ViewState, place: Place, shape: str) -> Caption:
    """The words about the gradient of the record on show."""
    name = op_title(place)
    sentence, why = gradient_sentences(state, place, name)
    return Caption(
        side=place.side,
        side_title=tr(f"side.{place.side}"),
        layer_title=way(state, place),
        title=sublayer_title(place),
        op_title=tr("gradient.of", name=name),
        site=place.site,
        shape=shape,
        formula=gradient_formula(state, place),
        sentence=sentence,
        why=why,
    )


def sentences(place: Place, op: str, english: str) -> tuple[str, str]:
    """What the op does here and what it does anywhere, the second empty where that is all."""
    key = f"op.{op}.sentence"
    general = tr(key) if has(key) else english
    kind = place.sublayer.rstrip("0123456789")
    for role in (f"role.{place.side}.{kind}.{place.role}", f"role.{kind}.{place.role}"):
        if has(role):
            return tr(role), general
    return general, ""


def way(state: ViewState, place: Place) -> str:
    """ "layer 1 › cross-attention", the second where its output is added here."""
    parts = (layer_title(place, state.count_from), added_title(state, place))
    return " › ".join(part for part in parts if part)


def layer_title(place: Place, count_from: int) -> str:
    """ "layer 1", empty outside the layers."""
    return "" if place.layer is None else tr("layer", n=place.layer + count_from)


def added_title(state: ViewState, place: Place) -> str:
    """Which sublayer's output a residual connection adds: "cross-attention"; else empty."""
    along, tape = current_walk(state), current_tape(state)
    block = along.route.block(place.block) if along is not None else None
    if tape is None or block is None or place.kind not in ("add_norm", "add"):
        return ""
    for site in block.sites:
        if tape[site].op == "residual" and along is not None:
            return tr(f"flow.{along.route.place(tape[site].inputs[1]).kind}")
    return ""


def sublayer_title(place: Place) -> str:
    """The name of the sublayer at full length."""
    if place.sublayer == "mask":
        return tr("sublayer.mask")
    if place.kind == "self_attn" and place.side == "decoder":
        return tr("sublayer.masked_self_attn")
    return tr(f"sublayer.{place.kind}")


def chips(state: ViewState) -> tuple[Chip, ...]:
    """The ops of the current sublayer in order."""
    place, along = current_place(state), current_walk(state)
    if place is None or along is None:
        return ()
    block = along.route.block(place.block)
    assert block is not None
    found: list[Chip] = []
    heads = tuple(site for site in block.sites if site.endswith("_heads"))
    for site in block.sites:
        if site in heads:
            if site == heads[0]:
                found.append(_heads_chip(heads, place.site))
            continue
        label = op_title(along.route.place(site))
        found.append(Chip(label, site, (site,), site == place.site))
    return tuple(_flow_order(found))


def _heads_chip(heads: tuple[str, ...], current: str) -> Chip:
    here = current in heads
    target = heads[(heads.index(current) + 1) % len(heads)] if here else heads[0]
    return Chip(tr("chip.heads"), target, heads, here)


def _flow_order(found: list[Chip]) -> list[Chip]:
    """q k v stand together and their heads behind them, though the tape interleaves them."""
    letters = [chip for chip in found if chip.site.rsplit(".", 1)[-1] in ("q", "k", "v")]
    views = [chip for chip in found if len(chip.sites) > 1]
    rest = [chip for chip in found if chip not in letters and chip not in views]
    return [*letters, *views, *rest]


def run_message(run: Run | None) -> str:
    """The one sentence about a run that has no picture, or that is over before it began."""
    if run is None:
        return ""
    if run.outcome == "ok":
        key = "state.cut_off.one" if run.rows == 1 else "state.cut_off"
        return tr(key, n=run.rows) if is_cut_off(run) else ""
    if run.outcome == "empty":
        return tr("state.empty")
    if run.outcome == "too_long":
        key = "forcing.too_long" if run.target_too_long else "state.too_long"
        return tr(key, n=run.length, limit=run.limit)
    return tr("state.immediate_end")


def nothing_to_show(run: Run | None) -> tuple[str, str]:
    """Heading and sentence in place of what has no run to show; empty where there is one."""
    if run is None:
        return tr("state.loading"), ""
    if run.tape is not None:
        return "", ""
    return tr(f"state.{run.outcome}.title"), run_message(run)


def is_cut_off(run: Run) -> bool:
    """Whether decoding came to the length limit before the model said that it is done."""
    forced = run.inputs.target is not None or (
        run.search is not None and run.inputs.pinned is not None
    )
    return bool(run.chosen) and not run.finished and not forced


def unknown_reason(text: str) -> str:
    """Why a word became <UNK>."""
    return tr("unknown.reason", word=text)
