"""The tape as a walk: token > layer > sublayer > op, one step per record and decoder token.

The encoder is walked once, then the decoder and the output once for every target token. The
order and the grouping come from the tape's own list of sites, so that post-norm and pre-norm
models need no rule of their own. Steps are numbered, not stored: a walk costs nothing to make.
Gradients are walked from the target back, every record once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

Side = Literal["encoder", "decoder", "output"]


@dataclass(frozen=True)
class Place:
    """Where one site belongs. `layer` is None outside the layers; `role` is what the op does there.

    `group` is one stop of a layer walk: "encoder.embed", "encoder.0", "decoder.norm", "output".
    `block` is one box of the map: "encoder.embed", "encoder.0.self_attn", "output".
    """

    site: str
    side: Side
    layer: int | None
    sublayer: str
    role: str
    group: str
    block: str
    kind: str


@dataclass(frozen=True)
class Block:
    """One box of the map and its sites in order; kind "add_norm" is a residual and its norm."""

    id: str
    side: Side
    layer: int | None
    group: str
    kind: str
    sites: tuple[str, ...]


@dataclass(frozen=True)
class Segment:
    """A stretch of the timeline: the embedding, a layer, what ends the encoder, one token.

    Of a walk back also the target, the output and the decoder's parts.
    `number` counts layers or tokens from 0.
    """

    kind: Literal[
        "input", "embed", "encoder", "memory", "token",
        "target", "loss", "output", "decoder_norm", "decoder", "decoder_embed",
    ]  # fmt: skip
    number: int
    start: int
    count: int


@dataclass(frozen=True)
class Step:
    """One stop of the walk; `token` is None where it is walked once, in the encoder and back."""

    place: Place
    token: int | None


@dataclass(frozen=True)
class Route:
    """What the walk of every sentence of one model has in common."""

    encoder: tuple[Place, ...]
    decoder: tuple[Place, ...]
    blocks: tuple[Block, ...]
    numbers: dict[str, int]
    encoder_segments: tuple[Segment, ...]
    segments_back: tuple[Segment, ...]

    def place(self, site: str) -> Place:
        """The place of a recorded site."""
        number = self.numbers[site]
        if number < len(self.encoder):
            return self.encoder[number]
        return self.decoder[number - len(self.encoder)]

    def block(self, block_id: str) -> Block | None:
        return next((block for block in self.blocks if block.id == block_id), None)


@dataclass(frozen=True)
class Walk:
    """The walk along one run: `rows` decoder tokens."""

    route: Route
    rows: int

    def __len__(self) -> int:
        return len(self.route.encoder) + self.rows * len(self.route.decoder)

    def step(self, index: int) -> Step:
        """The step with this number; beyond an end, the end."""
        index = min(max(index, 0), len(self) - 1)
        start = len(self.route.encoder)
        if index < start:
            return Step(self.route.encoder[index], None)
        token, number = divmod(index - start, len(self.route.decoder))
        return Step(self.route.decoder[number], token)

    def index(self, site: str, token: int) -> int:
        """The number of the step at a recorded site; encoder sites have one, whatever the token."""
        number = self.route.numbers[site]
        if number < len(self.route.encoder):
            return number
        return number + min(max(token, 0), self.rows - 1) * len(self.route.decoder)

    def segments(self) -> tuple[Segment, ...]:
        """The timeline, left to right; the counts add up to the length of the walk."""
        start, count = len(self.route.encoder), len(self.route.decoder)
        tokens = (Segment("token", t, start + t * count, count) for t in range(self.rows))
        return (*self.route.encoder_segments, *tokens)

    def next_block(self, index: int) -> int:
        """The first step of the sublayer after this step's; at the last one, the last step."""
        here = self.step(index)
        for later in range(index + 1, len(self)):
            step = self.step(later)
            if (step.place.block, step.token) != (here.place.block, here.token):
                return later
        return len(self) - 1

    def previous_block(self, index: int) -> int:
        """The first step of the sublayer before this step's; in the first one, the first step."""
        before = self._start(index, "block") - 1
        return 0 if before < 0 else self._start(before, "block")

    def next_group(self, index: int) -> int:
        """One layer on: the same op there if it has it, else its first step."""
        here = self.step(index)
        for later in range(index + 1, len(self)):
            step = self.step(later)
            if (step.place.group, step.token) != (here.place.group, here.token):
                return self._same_op(here.place, later)
        return len(self) - 1

    def previous_group(self, index: int) -> int:
        """One layer back: the same op there if it has it, else its first step."""
        before = self._start(index, "group") - 1
        if before < 0:
            return 0
        return self._same_op(self.step(index).place, self._start(before, "group"))

    def _start(self, index: int, unit: Literal["block", "group"]) -> int:
        """The first step of the block or group that this step lies in."""
        here = self.step(index)
        wanted = (getattr(here.place, unit), here.token)
        while index > 0:
            step = self.step(index - 1)
            if (getattr(step.place, unit), step.token) != wanted:
                break
            index -= 1
        return index

    def _same_op(self, here: Place, start: int) -> int:
        """The step of the group at `start` that does what `here` does; `start` if none does."""
        first = self.step(start)
        if here.layer is None or first.place.layer is None:
            return start
        for index in range(start, len(self)):
            step = self.step(index)
            if (step.place.group, step.token) != (first.place.group, first.token):
                break
            if (step.place.sublayer, step.place.role) == (here.sublayer, here.role):
                return index
        return start


@dataclass(frozen=True)
class WalkBack(Walk):
    """The walk along gradients: from the target to what its gradient reaches next, once each."""

    def __len__(self) -> int:
        return len(self.route.encoder) + len(self.route.decoder)

    def step(self, index: int) -> Step:
        index = len(self) - 1 - min(max(index, 0), len(self) - 1)
        start = len(self.route.encoder)
        places = self.route.encoder if index < start else self.route.decoder
        return Step(places[index if index < start else index - start], None)

    def index(self, site: str, token: int) -> int:
        return len(self) - 1 - self.route.numbers[site]

    def segments(self) -> tuple[Segment, ...]:
        return self.route.segments_back


def walk_back(sites: Sequence[str], rows: int) -> WalkBack:
    """The walk along the gradients of a run with these sites, the target's own the last."""
    return WalkBack(route(tuple(sites)), rows)


def walk(sites: Sequence[str], rows: int) -> Walk:
    """The walk along a run with these sites and this many decoder rows."""
    return Walk(route(tuple(sites)), rows)


@lru_cache(maxsize=32)
def route(sites: tuple[str, ...]) -> Route:
    """Sort the sites of a tape into places, blocks and stretches of the timeline."""
    bare = [_read(site) for site in sites]
    if "encoder.embed.tokens" not in sites:
        # nothing is embedded: the walk starts at a matrix that was given
        bare = [replace(p, kind="input") if p.sublayer == "embed" else p for p in bare]
    encoder = [place for place in bare if place.side == "encoder"]
    decoder = [place for place in bare if place.side != "encoder"]
    walked = _joined([*encoder, *decoder])
    encoder, decoder = walked[: len(encoder)], walked[len(encoder) :]
    return Route(
        encoder=tuple(encoder),
        decoder=tuple(decoder),
        blocks=_blocks(walked),
        numbers={place.site: number for number, place in enumerate(walked)},
        encoder_segments=_segments(encoder),
        segments_back=_segments_back(walked[::-1]),
    )


def _read(site: str) -> Place:
    """What a site's name says (design: names of sites)."""
    words = site.split(".")
    if words[0] == "encoder" or words[0] == "decoder":
        side: Side = "encoder" if words[0] == "encoder" else "decoder"
        if words[1] == "layers" and len(words) > 3:
            layer, sublayer, role = int(words[2]), words[3], ".".join(words[4:])
            group = f"{side}.{layer}"
            return Place(
                site, side, layer, sublayer, role, group, f"{group}.{sublayer}", _kind(sublayer)
            )
        if len(words) > 2:
            sublayer, role = words[1], ".".join(words[2:])
            kind = "final_norm" if sublayer == "norm" else _kind(sublayer)
            block = f"{side}.{sublayer}"
            return Place(site, side, None, sublayer, role, block, block, kind)
        # the masks: what a side prepares before its layers
        block = f"{side}.embed"
        return Place(site, side, None, "mask", words[1], block, block, "embed")
    return Place(site, "output", None, "output", site, "output", "output", "output")


def _segments_back(places: list[Place]) -> tuple[Segment, ...]:
    """The stretches of a walk back, given its places in that order."""
    found: list[Segment] = []
    for index, place in enumerate(places):
        kind, number = _stretch_back(place), place.layer or 0
        if found and (found[-1].kind, found[-1].number) == (kind, number):
            found[-1] = replace(found[-1], count=found[-1].count + 1)
        else:
            found.append(Segment(kind, number, index, 1))
    return tuple(found)


def _stretch_back(
    place: Place,
) -> Literal[
    "target", "loss", "output", "decoder", "decoder_embed", "decoder_norm",
    "encoder", "embed", "memory", "input",
]:  # fmt: skip
    """Which stretch of a walk back a place lies in."""
    if place.side == "output":
        if place.site == "loss":
            return "loss"
        return "target" if place.site == "target" else "output"
    if place.layer is not None:
        return "decoder" if place.side == "decoder" else "encoder"
    if place.group.endswith(".embed"):
        if place.side == "decoder":
            return "decoder_embed"
        return "input" if place.kind == "input" else "embed"
    return "decoder_norm" if place.side == "decoder" else "memory"


def _kind(sublayer: str) -> str:
    """A sublayer's name without its number; a lone residual is "add"."""
    kind = sublayer.rstrip("0123456789")
    return "add" if kind == "residual" else kind


def _joined(places: list[Place]) -> list[Place]:
    """Join a residual with the norm of the same number where that follows it: Add & Norm."""
    joined = list(places)
    for number, place in enumerate(joined[:-1]):
        following = joined[number + 1]
        if place.kind != "add" or following.group != place.group:
            continue
        if following.sublayer != place.sublayer.replace("residual", "norm"):
            continue
        for later in range(number, len(joined)):
            member = joined[later]
            if member.block not in (place.block, following.block):
                break
            joined[later] = Place(
                member.site,
                member.side,
                member.layer,
                member.sublayer,
                member.role,
                member.group,
                following.block,
                "add_norm",
            )
    return joined


def _blocks(places: list[Place]) -> tuple[Block, ...]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place.block, []).append(place)
    return tuple(
        Block(
            block,
            members[0].side,
            members[0].layer,
            members[0].group,
            members[0].kind,
            tuple(member.site for member in members),
        )
        for block, members in found.items()
    )


def _segments(encoder: list[Place]) -> tuple[Segment, ...]:
    """The encoder's stretches: what comes before its layers, each layer, what comes after."""
    segments: list[Segment] = []
    groups = [place.group for place in encoder]
    last_layer = max((n for n, place in enumerate(encoder) if place.layer is not None), default=-1)
    start = 0
    for number in range(1, len(groups) + 1):
        if number < len(groups) and groups[number] == groups[start]:
            continue
        place = encoder[start]
        if place.layer is not None:
            segments.append(Segment("encoder", place.layer, start, number - start))
        else:
            kind: Literal["input", "embed", "memory"] = "memory"
            if start < last_layer:
                kind = "input" if place.kind == "input" else "embed"
            segments.append(Segment(kind, 0, start, number - start))
        start = number
    return tuple(segments)
