"""Add & Norm: the residual stream, what the sublayer adds, and LayerNorm, token by token."""

from __future__ import annotations

import numpy as np

from visualizer.i18n import tr
from visualizer.lenses.caption import layer_title, sublayer_title
from visualizer.lenses.reductions import deviations, row_norms
from visualizer.lenses.strips import (
    Colour,
    Curves,
    Figures,
    Line,
    Stack,
    Strip,
    Style,
    View,
)
from visualizer.walkthrough import Place

MOST_BARS = 4
KINDS = ("add_norm", "add", "norm", "final_norm")


def add_norm(view: View) -> Stack | None:
    """The stack of a residual, of a norm, or of both where the one follows the other."""
    sites = view.sites()
    residual = next((site for site in sites if view.tape[site].op == "residual"), None)
    roles = {site.rsplit(".", 1)[-1]: site for site in sites if site != residual}
    strips: list[Strip] = []
    if residual is not None:
        strips += _sum(view, residual)
    read = residual
    if "mean" in roles:
        read = view.tape[roles["mean"]].inputs[0]
        if residual is None:
            strips.append(_stream(view, read, "x"))
    measured = len(strips) - 1
    hat = hat_letter(residual)
    if "normalised" in roles:
        title, note = tr("strip.normalised"), tr("strip.normalised.note")
        strips.append(view.strip(roles["normalised"], f"→ {hat}", title, note))
    if "out" in roles:
        title = tr("strip.scaled_shifted")
        strips.append(view.strip(roles["out"], "→ y", title, f"γ ⊙ {hat} + β"))
    if not strips:
        return None
    return view.stack(
        tuple(strips),
        figures=_figures(view, roles, measured),
        curves=_profile(view, read, roles, residual),
    )


def hat_letter(residual: str | None) -> str:
    """What was normalised, in the letters of the formula: the sum r, or the stream x itself."""
    return "x̂" if residual is None else "r̂"


def _sum(view: View, residual: str) -> list[Strip]:
    stream, added = view.tape[residual].inputs
    colours = view.common_range(stream, added, residual)
    place = view.place_of(added)
    title = tr("strip.sublayer", name=sublayer_title(place))
    return [
        _stream(view, stream, "x", colours),
        view.strip(added, "+ s", title, _ratio(view, stream, added), colours=colours),
        view.strip(residual, "= r", tr("strip.sum"), colours=colours),
    ]


def _stream(view: View, site: str, sign: str, colours: object = None) -> Strip:
    note = tr("strip.from", place=whereabouts(view, view.place_of(site)))
    title = tr("strip.stream")
    return view.strip(site, sign, title, note, colours=colours)  # type: ignore[arg-type]


def whereabouts(view: View, place: Place) -> str:
    """ "layer 1 · Cross-attention · Add & Norm"; the layer only where it is another one."""
    parts = [layer_title(place, view.state.count_from) if place.group != view.place.group else ""]
    block = view.along.route.block(place.block)
    for site in block.sites if block is not None and place.kind in ("add_norm", "add") else ():
        if view.tape[site].op == "residual":
            parts.append(sublayer_title(view.place_of(view.tape[site].inputs[1])))
    return " · ".join(part for part in (*parts, sublayer_title(place)) if part)


def _ratio(view: View, stream: str, added: str) -> str:
    """How long the added vector is against the stream's, for the token that is looked at."""
    if view.cell is None:
        return ""
    row = view.cell[0]
    x, s = (row_norms(view.tape[site], row + 1)[row] for site in (stream, added))
    if not x > 0:
        return ""
    token = view.matrix.row_labels[row]
    return tr("strip.ratio", ratio=f"{s / x:.{max(view.state.decimals, 1)}f}", token=token)


def _figures(view: View, roles: dict[str, str], strip: int) -> tuple[Figures, ...]:
    """μ and σ beside the strip that the norm reads; the variance while the cursor stands on it."""
    found = []
    if "mean" in roles:
        site = roles["mean"]
        values = view.tape[site].value[0, : view.matrix.values.shape[0], 0]
        found.append(Figures(strip, site, "μ", values, site == view.place.site))
    if "variance" in roles:
        site = roles["variance"]
        rows = view.matrix.values.shape[0]
        if site == view.place.site:
            values = view.tape[site].value[0, :rows, 0]
            found.append(Figures(strip, site, tr("strip.variance"), values, True))
        else:
            values = deviations(view.tape, site, rows)
            found.append(Figures(strip, site, "σ", values))
    return tuple(found)


def _profile(
    view: View, read: str | None, roles: dict[str, str], residual: str | None
) -> Curves | None:
    """The numbers of one token across d_model: those that this step reads and writes."""
    if view.cell is None or read is None:
        return None
    row, role = view.cell[0], view.place.site.rsplit(".", 1)[-1]
    lines = []
    if role != "out":
        lines.append(profile(view, read, row, "r" if residual is not None else "x", "decoder"))
    if role in ("mean", "variance") and "mean" in roles:
        lines.append(_mean_line(view, roles["mean"], row))
    if role in ("normalised", "out") and "normalised" in roles:
        lines.append(profile(view, roles["normalised"], row, hat_letter(residual), "accent"))
    if role == "out" and view.place.sublayer.startswith("norm"):
        site = roles["out"]
        lines.append(profile(view, site, row, "y", "output"))
        # neither colour nor dash alone: the two are told apart in grey and by anybody's eyes
        looks: tuple[tuple[str, Colour, Style], ...] = (
            ("γ", "decoder", "thin"),
            ("β", "encoder", "dashed"),
        )
        for name, (letter, colour, style) in zip(view.tape[site].inputs[1:], looks, strict=True):
            values = np.asarray(view.tape.value_of(name))
            lines.append(
                Line(letter, colour, _counted(values), values, style=_style(values, style))
            )
    if role not in ("mean", "variance", "normalised", "out"):
        stream, added = view.tape[read].inputs[:2]
        lines.append(profile(view, stream, row, "x", "encoder", thin=True))
        lines.append(profile(view, added, row, "s", "accent", thin=True))
    title = tr("curve.profile", token=view.matrix.row_labels[row])
    return Curves(title, tuple(lines), aligned=True, share=0.19)


def profile(
    view: View, site: str, row: int, label: str, colour: Colour, thin: bool = False
) -> Line:
    values = view.tape[site].value[0, row]
    cells = np.stack([np.full(values.size, row), np.arange(values.size)], axis=1)
    style = _style(values, "thin" if thin else "line")
    return Line(label, colour, _counted(values), values, site, cells, style)


def _style(values: np.ndarray, style: Style) -> Style:
    """A line through fewer numbers would look like a course that they do not have."""
    return "bars" if values.size <= MOST_BARS else style


def _mean_line(view: View, site: str, row: int) -> Line:
    mean = view.tape[site].value[0, row]
    width = view.tape[view.tape[site].inputs[0]].value.shape[-1]
    ends = np.array([0, width - 1])
    return Line("μ", "accent", ends, np.repeat(mean, 2), site, np.array([[row, 0], [row, 0]]))


def _counted(values: np.ndarray) -> np.ndarray:
    return np.arange(len(values))
