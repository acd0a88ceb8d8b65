"""Embedding: the table's row, scaled, the position, their sum; and the waves of the positions."""

from __future__ import annotations

import numpy as np

from model_core.ops.embedding import SinusoidalPosition
from visualizer.i18n import tr
from visualizer.lenses.strips import Colour, Curves, Line, Stack, Strip, View

# So far the waves are drawn, even of a short sentence; the fastest takes six positions a round.
LEAST_POSITIONS, POINTS_BETWEEN = 24, 8
COLOURS: tuple[Colour, ...] = ("encoder", "decoder", "output", "text")


def embedding(view: View) -> Stack | None:
    """The stack of the steps from token ids to what the first layer reads."""
    roles = {
        site.rsplit(".", 1)[-1]: site
        for site in view.sites()
        if view.place_of(site).sublayer == "embed"
    }
    if "tokens" not in roles or "out" not in roles:
        return None
    colours = view.common_range(roles.get("scaled", roles["tokens"]), roles["out"])
    table = view.tape[roles["tokens"]].inputs[0]
    own = None if "scaled" in roles else colours
    strips = [
        view.strip(
            roles["tokens"], "", tr("strip.table_row"), tr("strip.from", place=table), colours=own
        )
    ]
    if "scaled" in roles:
        strips.append(view.strip(roles["scaled"], "×", tr("strip.scaled"), colours=colours))
    if "position" in roles:
        strips.append(_position(view, roles["position"]))
    strips.append(view.strip(roles["out"], "=", tr("strip.sum"), colours=colours))
    curves = _waves(view, roles["position"]) if "position" in roles else None
    return view.stack(tuple(strips), curves=curves)


def _position(view: View, site: str) -> Strip:
    """On its own scale: beside the numbers of the tokens the waves would be all pale."""
    return view.strip(site, "+", tr("strip.position"), tr("strip.position.note"))


def waves_of(width: int, marked: int | None) -> tuple[int, ...]:
    """The channels whose waves are drawn: from fast to slow, and the one that is looked at."""
    chosen = [2 * (share // 2) for share in (0, width // 8, width // 4, width // 2)]
    if marked is not None and marked < width:
        chosen.append(marked)
    return tuple(dict.fromkeys(chosen))


def _waves(view: View, site: str) -> Curves:
    """Cells of a few channels against the position; a sinusoid's curve comes from its op."""
    record = view.tape[site]
    rows, width = view.matrix.values.shape[0], record.value.shape[-1]
    marked = view.cell[1] if view.cell is not None else None
    first = view.words.count_from
    channels = waves_of(width, marked)
    curves = None
    if isinstance(record.kind, SinusoidalPosition):
        # the first position is 0 to the op, whatever the reader calls it
        fine = np.arange((max(rows, LEAST_POSITIONS) - 1) * POINTS_BETWEEN + 1) / POINTS_BETWEEN
        curves = record.kind.waves(fine, channels)
    lines = []
    positions = np.arange(rows)
    for number, channel in enumerate(channels):
        colour: Colour = "accent" if channel == marked else COLOURS[number % len(COLOURS)]
        label = tr("curve.channel", n=channel + first)
        if curves is not None:
            lines.append(Line(label, colour, fine + first, curves[:, number], style="thin"))
            label = ""
        cells = np.stack([positions, np.full(rows, channel)], axis=1)
        values = record.value[:rows, channel]
        lines.append(Line(label, colour, positions + first, values, site, cells, "dots"))
    x_title = tr("curve.position", n=first)
    return Curves(tr("curve.waves"), tuple(lines), x_title=x_title, share=0.34)
