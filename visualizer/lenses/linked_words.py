"""All attention at once in words: the heading, and what is said of a token or an edge."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from visualizer.i18n import tr
from visualizer.lenses.attentions import Kind
from visualizer.lenses.caption import Caption
from visualizer.lenses.linked import Array, LinkedTokens, Token
from visualizer.lenses.numbers import exact, short
from visualizer.lenses.reductions import strongest_head
from visualizer.state import ViewState, guided_head

# A sentence names so many tokens, and none that gets less.
MOST_NAMED, LEAST_NAMED = 3, 0.05


@dataclass(frozen=True)
class Said:
    """A stretch of a sentence; "chip" stands on a tint and is never cut."""

    text: str
    kind: Literal["plain", "bold", "chip"] = "plain"


Sentence = tuple[Said, ...]


@dataclass(frozen=True)
class Weight:
    """Where an edge's number stands: the record, the head it is most of, query and key."""

    site: str
    head: int
    row: int
    column: int


def linked_caption(state: ViewState, picture: LinkedTokens) -> Caption:
    """The words around the picture, in place of a record's."""
    return Caption(
        side="accent",
        side_title=tr("linked.badge"),
        layer_title="",
        title=tr("linked.title"),
        op_title="",
        site=tr("linked.site", n=len(picture.attentions)) if len(picture.attentions) > 1 else "",
        shape=" · ".join(chosen_words(state, picture)),
        formula="",
        sentence=tr("linked.sentence")
        if picture.row is not None
        else tr("linked.sentence.encoder"),
        why=tr("linked.values_only") if state.showing == "gradients" else tr("linked.why"),
    )


def chosen_words(state: ViewState, picture: LinkedTokens) -> tuple[str, ...]:
    """Which layers and heads are on show: "encoder layer 2", "mean of 4 heads"."""
    said = []
    found = picture.attentions
    if "encoder" in found:
        said.append(tr("linked.encoder_layer", n=found["encoder"].layer + state.count_from))
    decoder = found.get("cross") or found.get("decoder")
    if decoder is not None:
        said.append(tr("linked.decoder_layer", n=decoder.layer + state.count_from))
    if found:
        said.append(heads_words(state, max(one.heads for one in found.values())))
    return tuple(said)


def part_titles(state: ViewState, picture: LinkedTokens) -> dict[Kind, str]:
    """What stands below each part; of a guided head also that it is one."""
    found = {}
    guided, heads = guided_head(state.model), state.linked.heads
    for kind, one in picture.attentions.items():
        title = tr(f"linked.kind.{kind}")
        head = min(heads, one.heads - 1) if isinstance(heads, int) else None
        found[kind] = tr("linked.guided", title=title) if guided == (one.site, head) else title
    return found


def heads_words(state: ViewState, count: int) -> str:
    """ "head 2", "mean of 4 heads"."""
    heads = state.linked.heads
    if isinstance(heads, int) or count == 1:
        head = min(heads, count - 1) if isinstance(heads, int) else 0
        return tr("head.plain", n=head + state.count_from)
    return tr(f"linked.{heads}_of", n=count)


def told(picture: LinkedTokens, token: Token | None) -> Sentence:
    """What a token reads and who reads it; without one, of the current target row.

    Where there is none either, what one can do here.
    """
    if token is not None and token[0] == "encoder":
        return _source_told(picture, token[1])
    row = picture.row if token is None else token[1]
    return (Said(tr("linked.why")),) if row is None else _row_told(picture, row)


def edge_told(state: ViewState, picture: LinkedTokens, kind: Kind, row: int, key: int) -> Sentence:
    """Who reads whom along an edge, how much exactly, and where that number stands."""
    reader = picture.sources[row] if kind == "encoder" else picture.targets[row]
    read = picture.targets[key] if kind == "decoder" else picture.sources[key]
    one = picture.attentions[kind]
    value = exact(picture.weights[kind][row, key])
    weight = weight_of(state, picture, kind, row, key)
    place = f"{weight.site}[0, {weight.head}, {row}, {key}]"
    if one.heads > 1 and not isinstance(state.linked.heads, int):
        how = heads_words(state, one.heads)
        place = tr("linked.edge.reduced", how=how, head=weight.head + state.count_from, place=place)
    return _filled("linked.edge", reader=reader, read=read, value=(value,), place=place)


def weight_of(state: ViewState, picture: LinkedTokens, kind: Kind, row: int, key: int) -> Weight:
    """The record's cell behind an edge: of reduced heads that of the head with the most."""
    one = picture.attentions[kind]
    heads = state.linked.heads
    assert picture.run.tape is not None
    if isinstance(heads, int):
        return Weight(one.site, min(heads, one.heads - 1), row, key)
    return Weight(one.site, strongest_head(picture.run.tape[one.site], row, key), row, key)


def hidden_words(picture: LinkedTokens) -> str:
    """What the picture leaves out beside the weights below the threshold."""
    if not picture.missing:
        return ""
    drawn = sum(len(edges.weights) for edges in picture.edges)
    return tr("linked.hidden", drawn=drawn, missing=picture.missing)


def plain(sentence: Sentence) -> str:
    return "".join(said.text for said in sentence)


def _row_told(picture: LinkedTokens, row: int) -> Sentence:
    token = picture.targets[row]
    predicted = picture.target_notes[row].removeprefix("→ ") if picture.target_notes else ""
    across, own = picture.weights.get("cross"), picture.weights.get("decoder")
    key = "linked.row" if across is not None and own is not None else "linked.row.own"
    if across is not None and own is None:
        key = "linked.row.across"
    return _filled(
        key,
        predicted=predicted,
        token=token,
        across=_named(across[row], picture.sources) if across is not None else (),
        own=_named(own[row], picture.targets) if own is not None else (),
    )


def _source_told(picture: LinkedTokens, place: int) -> Sentence:
    token = picture.sources[place]
    inside, across = picture.weights.get("encoder"), picture.weights.get("cross")
    said: Sentence = ()
    if inside is not None:
        readers = _named(inside[:, place], picture.sources, but=place)
        said = _filled(
            "linked.source" if readers else "linked.source.unread",
            token=token,
            read=_named(inside[place], picture.sources),
            readers=readers,
        )
    if across is None:
        return said
    key = "linked.source.across" if max(across[:, place]) >= LEAST_NAMED else "linked.source.no"
    readers = _named(across[:, place], picture.targets)
    through = _filled(key, token=token, readers=readers)
    return _filled("linked.both", first=said, second=through) if said else through


def _named(shares: Array, tokens: tuple[str, ...], but: int | None = None) -> tuple[str, ...]:
    """The tokens with the largest shares, "on 0.74", the largest first.

    shares: (tokens,)    but: a token that is not named; of all tokens at least one is
    """
    order = [place for place in np.argsort(-shares, kind="stable").tolist() if place != but]
    named = [place for place in order[:MOST_NAMED] if shares[place] >= LEAST_NAMED]
    if not named and but is None:
        named = order[:1]
    return tuple(f"{tokens[place]} {short(float(shares[place]), 2)}" for place in named)


def _filled(key: str, **values: str | Sequence[str | Said]) -> Sentence:
    """The sentence of a key: a plain value is set in bold, a list of texts as chips."""
    said: list[Said] = []
    for text, name, _, _ in string.Formatter().parse(tr(key)):
        if text:
            said.append(Said(text))
        if name is None:
            continue
        value = values[name]
        if isinstance(value, str):
            said.append(Said(value, "plain" if name == "place" else "bold"))
            continue
        for number, part in enumerate(value):
            if isinstance(part, Said):
                said.append(part)
                continue
            said += [Said(" ")] if number else []
            said.append(Said(part, "chip"))
    return tuple(said)
