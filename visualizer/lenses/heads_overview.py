"""Every head of every layer at a glance, and what each of them does in a few numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from model_core.attention_facts import HeadFacts, RowFacts, most_bits, row_facts, summed_up
from model_core.tape import Tape
from visualizer.i18n import tr
from visualizer.lenses.attentions import Attention, allowed_cells, attentions
from visualizer.lenses.caption import Caption
from visualizer.lenses.labels import axis_labels
from visualizer.lenses.numbers import hundredths
from visualizer.lenses.stage import shown_rows, words
from visualizer.state import Run, ViewState, guided_head, shown_site

Array = np.ndarray[Any, Any]
# What can be told of a head, in the order of the table.
FACTS = ("entropy", "diagonal", "previous", "first", "last", "sink", "sharpness")
Head = tuple[str, int]


@dataclass(frozen=True, eq=False)
class HeadGroup:
    """The heads of one attention.

    values: (heads, queries, keys), the record's own    hidden: (queries, keys) bool or None
    reached: so many of the queries are on show        facts: one per head, over these
    """

    attention: Attention
    title: str
    values: Array
    hidden: Array | None
    reached: int
    facts: tuple[HeadFacts, ...]

    @property
    def site(self) -> str:
        return self.attention.site


@dataclass(frozen=True, eq=False)
class HeadsOverview:
    """All heads, those of one kind of attention together.

    key: what the pictures and their words depend on; equal keys of one run show the same
    titles: of the kinds that there are    guided, selected: site and number of a head
    fact: which number stands below each head
    """

    run: Run
    key: Hashable
    groups: tuple[HeadGroup, ...]
    titles: tuple[str, ...]
    guided: Head | None
    selected: Head | None
    fact: str
    count_from: int

    def group(self, site: str) -> HeadGroup:
        return next(group for group in self.groups if group.site == site)


@dataclass(frozen=True)
class FactColumn:
    """One fact of a head: its name, its number, and how far that is on the way to the most."""

    name: str
    text: str
    part: float | None
    explained: str


def heads_overview(state: ViewState) -> HeadsOverview | None:
    """All heads of the run, as far as decoding has come; None where nothing was computed."""
    run = state.run
    if run is None or run.tape is None:
        return None
    found = attentions(run.tape)
    rows = shown_rows(state)
    groups = tuple(_group(state, run.tape, one, rows) for one in found)
    site, guided = shown_site(state), guided_head(state.model)
    heads = {one.site: one.heads for one in found}
    selected = (site, min(state.head, heads[site] - 1)) if site in heads else None
    if selected is None and guided is not None and guided[0] in heads:
        selected = guided
    return HeadsOverview(
        run=run,
        key=(rows, state.linked.fact, state.count_from, tuple(group.title for group in groups)),
        groups=groups,
        titles=tuple(tr(f"linked.kind.{kind}") for kind in dict.fromkeys(o.kind for o in found)),
        guided=guided if guided is not None and guided[0] in heads else None,
        selected=selected,
        fact=state.linked.fact,
        count_from=state.count_from,
    )


def overview_caption(state: ViewState, whole: HeadsOverview) -> Caption:
    """The words around the picture, in place of a record's."""
    count = sum(len(group.values) for group in whole.groups)
    return Caption(
        side="accent",
        side_title=tr("linked.badge"),
        layer_title="",
        title=tr("heads.title"),
        op_title="",
        site="",
        shape=_counted(count, len(whole.groups)),
        formula="",
        sentence=tr("heads.sentence"),
        why=tr("linked.values_only") if state.showing == "gradients" else tr("heads.why"),
    )


def overview_label(tape: Tape | None) -> str:
    """ "overview 2 × 3 × 4 heads": layers, attentions and heads of a run."""
    found = attentions(tape) if tape is not None else ()
    layers = max((one.layer + 1 for one in found), default=0)
    heads = max((one.heads for one in found), default=0)
    kinds = len({one.kind for one in found})
    if layers * kinds <= 1:
        return tr("linked.overview.one", heads=heads)
    return tr("linked.overview", layers=layers, kinds=kinds, heads=heads)


def head_name(whole: HeadsOverview, head: Head) -> str:
    """ "decoder layer 1 · cross-attention · head 1 · guided"."""
    group = whole.group(head[0])
    side = "encoder" if group.attention.kind == "encoder" else "decoder"
    key = "head.guided" if head == whole.guided else "head.plain"
    return " · ".join(
        (
            tr(f"linked.{side}_layer", n=group.attention.layer + whole.count_from),
            tr(f"heads.kind.{group.attention.kind}"),
            tr(key, n=head[1] + whole.count_from),
        )
    )


def fact_columns(state: ViewState, whole: HeadsOverview, head: Head) -> tuple[FactColumn, ...]:
    """The facts of one head, in the order of FACTS; those that it cannot have are dashes."""
    group = whole.group(head[0])
    facts = group.facts[head[1]]
    assert whole.run.tape is not None
    letter = "T" if group.attention.kind == "decoder" else "S"
    keys = group.values.shape[2]
    tokens = axis_labels(letter, keys, whole.run.tape, words(state), "")
    columns = []
    for name in FACTS:
        value = getattr(facts, name)
        text = fact_text(value)
        if name == "sink" and facts.sink_key >= 0:
            text = tr("heads.sink_at", value=text, token=tokens[facts.sink_key])
        elif name == "entropy" and np.isfinite(value):
            text = tr("heads.bits", value=text)
        columns.append(
            FactColumn(
                tr(f"heads.fact.{name}"),
                text,
                fact_part(name, value, group),
                tr(f"heads.fact.{name}.tip"),
            )
        )
    return tuple(columns)


def _counted(heads: int, records: int) -> str:
    key = "heads.shape" if records > 1 else "heads.shape.one" if heads > 1 else "heads.shape.only"
    return tr(key, heads=heads, records=records)


def fact_text(value: float) -> str:
    """Two decimals; a dash where a head has no such thing."""
    return hundredths(value) if np.isfinite(value) else "–"


def fact_part(name: str, value: float, group: HeadGroup) -> float | None:
    """A fact between 0 and 1: of an entropy the part of the most that there can be."""
    if not np.isfinite(value):
        return None
    most = most_bits(group.values.shape[2]) if name == "entropy" else 1.0
    return min(value / most, 1.0) if most else 0.0


def _group(state: ViewState, tape: Tape, one: Attention, rows: int) -> HeadGroup:
    side = "encoder" if one.kind == "encoder" else "decoder"
    values = tape[one.site].value[0]
    reached = values.shape[1] if side == "encoder" else rows
    kept = _kept(tape, one, values)
    if reached not in kept.facts:
        kept.facts[reached] = summed_up(values, kept.rows, reached)
    return HeadGroup(
        attention=one,
        title=tr(f"linked.{side}_layer", n=one.layer + state.count_from),
        values=values,
        hidden=kept.hidden,
        reached=reached,
        facts=kept.facts[reached],
    )


@dataclass(eq=False)
class _Kept:
    """What was found out about the heads of one attention, and by how many rows it was told."""

    hidden: Array | None
    rows: RowFacts
    facts: dict[int, tuple[HeadFacts, ...]]


# Logarithms of all weights take longer than a step may.
_KEPT: WeakKeyDictionary[Tape, dict[str, _Kept]] = WeakKeyDictionary()


def _kept(tape: Tape, one: Attention, values: Array) -> _Kept:
    known = _KEPT.setdefault(tape, {})
    if one.site not in known:
        allowed = allowed_cells(tape, one.site)
        found = row_facts(values, allowed, own_tokens=one.kind != "cross")
        known[one.site] = _Kept(None if allowed is None else ~allowed, found, {})
    return known[one.site]
