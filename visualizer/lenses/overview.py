"""The map of the model and the timeline: the whole walk at a glance, and where we are in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from visualizer.i18n import tr
from visualizer.lenses.numbers import round_step
from visualizer.lenses.token_labels import token_label
from visualizer.navigation import current_index, current_place, current_walk
from visualizer.state import ViewState, current_tape, current_token
from visualizer.walkthrough import Block, Segment, Side, Walk, WalkBack, route

Status = Literal["done", "current", "todo"]
# More tokens than these have no stretch of the timeline each, but about so many together.
MOST_TOKENS, STRETCHES = 64, 24


@dataclass(frozen=True)
class MapBlock:
    """One box; `id` is what navigation.go_to_block takes."""

    id: str
    title: str
    kind: str
    status: Status


@dataclass(frozen=True)
class MapGroup:
    """A frame around boxes, in the order of the computation (the map is drawn bottom to top)."""

    id: str
    title: str
    blocks: tuple[MapBlock, ...]


@dataclass(frozen=True)
class ModelMap:
    """Two columns of groups and the output on top; the notes stand below the columns."""

    encoder: tuple[MapGroup, ...]
    decoder: tuple[MapGroup, ...]
    output: tuple[MapGroup, ...]
    source_note: str
    target_note: str


@dataclass(frozen=True)
class TimelineSegment:
    """A stretch of the timeline; `start` and `count` are steps from 0."""

    side: Side
    label: str
    start: int
    count: int
    current: bool


@dataclass(frozen=True)
class Timeline:
    """All stretches; `index` is the current step from 0, `total` the number of steps."""

    segments: tuple[TimelineSegment, ...]
    index: int
    total: int
    text: str


def model_map(state: ViewState) -> ModelMap | None:
    """The map with every box done, current or still to do at the cursor.

    Without a run every box is still to do; None without a model.
    """
    along, place, tape = current_walk(state), current_place(state), current_tape(state)
    if along is None or place is None or tape is None:
        if state.model is None:
            return None
        blocks = route(tuple(state.model.model.sites)).blocks
        return _map(state, [(block, "todo") for block in blocks], "", "")
    token = current_token(state)
    here = along.index(place.site, token)
    source = "map.source" if "encoder.embed.tokens" in tape else "map.rows"
    return _map(
        state,
        [(block, _status(along, block, token, here)) for block in along.route.blocks],
        tr(source, n=len(tape.source_tokens)),
        tr("map.target", n=token + 1) if along.rows else "",
    )


def _map(
    state: ViewState, blocks: list[tuple[Block, Status]], source_note: str, target_note: str
) -> ModelMap:
    columns: dict[Side, dict[str, list[MapBlock]]] = {"encoder": {}, "decoder": {}, "output": {}}
    for block, status in blocks:
        box = MapBlock(block.id, block_title(block), block.kind, status)
        columns[block.side].setdefault(block.group, []).append(box)
    groups = {
        side: tuple(
            MapGroup(group, _group_title(group, state.count_from), tuple(boxes))
            for group, boxes in column.items()
        )
        for side, column in columns.items()
    }
    return ModelMap(
        encoder=groups["encoder"],
        decoder=groups["decoder"],
        output=groups["output"],
        source_note=source_note,
        target_note=target_note,
    )


def block_title(block: Block) -> str:
    """The short name on a box of the map."""
    return tr(f"block.{block.kind}")


def timeline(state: ViewState) -> Timeline | None:
    """The walk as stretches; a token's stretch is named once decoding has come to it.

    Of many tokens so many share a stretch that the bar stays one that can be read.
    """
    along, index, tape = current_walk(state), current_index(state), current_tape(state)
    if along is None or index is None or tape is None:
        return None
    place = current_place(state)
    reached = -1 if place is None or place.side == "encoder" else current_token(state)
    segments = tuple(
        TimelineSegment(
            _segment_side(segment),
            label,
            segment.start,
            segment.count,
            segment.start <= index < segment.start + segment.count,
        )
        for segment, label in _stretches(along, reached, tape.predicted_tokens, state.count_from)
    )
    total = len(along)
    return Timeline(segments, index, total, tr("timeline.step", n=index + 1, total=total))


def _segment_side(segment: Segment) -> Side:
    if segment.kind in ("target", "loss", "output"):
        return "output"
    return "decoder" if segment.kind.startswith(("token", "decoder")) else "encoder"


def _stretches(
    along: Walk, reached: int, tokens: list[str], count_from: int
) -> list[tuple[Segment, str]]:
    """The segments of the walk with their labels, tokens in equal groups where they are many."""
    together = round_step(along.rows / STRETCHES)
    if along.rows <= MOST_TOKENS or isinstance(along, WalkBack):
        return [
            (segment, _segment_label(segment, reached, tokens, count_from))
            for segment in along.segments()
        ]
    found = [
        (segment, _segment_label(segment, reached, tokens, count_from))
        for segment in along.route.encoder_segments
    ]
    start, steps = len(along.route.encoder), len(along.route.decoder)
    for first in range(0, along.rows, together):
        last = min(first + together, along.rows) - 1
        label = tr("timeline.tokens", first=first + count_from, last=last + count_from)
        count = (last - first + 1) * steps
        found.append((Segment("token", first, start + first * steps, count), label))
    return found


def _status(along: Walk, block: Block, token: int, here: int) -> Status:
    """Of the current token: passed already, here, or still to come."""
    ends = along.index(block.sites[0], token), along.index(block.sites[-1], token)
    first, last = min(ends), max(ends)
    if first <= here <= last:
        return "current"
    return "done" if last < here else "todo"


def _group_title(group: str, count_from: int) -> str:
    side, _, rest = group.partition(".")
    if rest.isdigit():
        return tr(f"map.{side}", n=int(rest) + count_from)
    return ""


def _segment_label(segment: Segment, reached: int, tokens: list[str], count_from: int) -> str:
    number = segment.number + count_from
    if segment.kind == "embed" or segment.kind == "input":
        return tr(f"timeline.{segment.kind}")
    if segment.kind == "memory":
        return tr("timeline.memory")
    if segment.kind in ("encoder", "decoder"):
        return tr(f"timeline.{segment.kind}", n=number)
    if segment.kind != "token":
        return tr(f"timeline.{segment.kind}")
    token = token_label(tokens[segment.number]) if segment.number <= reached else ""
    return tr("timeline.token", n=number, token=token).rstrip()
