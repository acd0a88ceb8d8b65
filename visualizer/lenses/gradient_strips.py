"""The gradients of a sublayer's records as strips, in the order of the computation.

What flows back comes in at the bottom and leaves at the top.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from model_core import curves
from model_core.gradients import GradientTape
from visualizer.i18n import tr
from visualizer.lenses import add_norm
from visualizer.lenses.caption import sublayer_title
from visualizer.lenses.feed_forward import CURVE_POINTS, op_name
from visualizer.lenses.gradient_words import target_words
from visualizer.lenses.matrix import Range
from visualizer.lenses.strips import Colour, Curves, Figures, Line, Stack, Strip, View

# The letters of the records, as the formulas of the way forward have them.
FEED_FORWARD = (("hidden", "h", "strip.hidden"), ("activation", "a", "strip.active"))
EMBEDDING = (
    ("tokens", "", "strip.table_row"),
    ("scaled", "", "strip.scaled"),
    ("position", "", "strip.position"),
    ("out", "", "strip.sum"),
)


def gradient_strips(view: View) -> Stack | None:
    """The stack of a sublayer that has one; None where a heatmap says it all."""
    if view.place.kind in add_norm.KINDS:
        return _add_norm(view)
    if view.place.sublayer == "embed":
        return _embedding(view)
    if view.place.kind == "ffn":
        return _feed_forward(view)
    return None


def gradients_on(view: View) -> GradientTape:
    """The gradients that the view is of."""
    return cast(GradientTape, view.tape)


def _stack(
    view: View,
    strips: list[Strip],
    figures: tuple[Figures, ...] = (),
    curves: Curves | None = None,
) -> Stack | None:
    if not strips:
        return None
    said = tr("gradient.legend", target=target_words(view.state, gradients_on(view).target))
    return view.stack(tuple(strips), figures=figures, curves=curves, legend=said)


def _roles(view: View) -> dict[str, str]:
    return {site.rsplit(".", 1)[-1]: site for site in view.sites()}


def _add_norm(view: View) -> Stack | None:
    sites = view.sites()
    residual = next((site for site in sites if view.tape[site].op == "residual"), None)
    roles = {role: site for role, site in _roles(view).items() if site != residual}
    read = residual
    strips = []
    if residual is not None:
        stream, added = view.tape[residual].inputs
        colours = view.common_range(stream, added, residual)
        strips += [
            _from(view, stream, "x", tr("strip.stream"), colours),
            _from(view, added, "s", tr("strip.sublayer", name=_name(view, added)), colours),
            view.strip(residual, "r", tr("strip.sum"), colours=colours),
        ]
    elif "mean" in roles:
        read = view.tape[roles["mean"]].inputs[0]
        strips.append(_from(view, read, "x", tr("strip.stream")))
    measured = len(strips) - 1
    hat = add_norm.hat_letter(residual)
    if "normalised" in roles:
        strips.append(view.strip(roles["normalised"], hat, tr("strip.normalised")))
    if "out" in roles:
        strips.append(view.strip(roles["out"], "y", tr("strip.scaled_shifted")))
    unit = strips[measured].matrix.unit if strips else 1.0
    figures = _figures(view, roles, measured, unit)
    return _stack(view, strips, figures, _profile(view, roles, read, hat))


def _name(view: View, added: str) -> str:
    return sublayer_title(view.place_of(added))


def _from(view: View, site: str, sign: str, title: str, colours: Range | None = None) -> Strip:
    """A record of another sublayer: its gradient adds up all who read it."""
    readers = len(gradients_on(view).shares_of(site))
    note = tr("strip.readers", n=readers) if readers > 1 else ""
    return view.strip(site, sign, title, note, colours=colours)


def _figures(view: View, roles: dict[str, str], strip: int, unit: float) -> tuple[Figures, ...]:
    """The gradients of μ and σ²: one number per token, beside the strip they are made of."""
    rows = view.matrix.values.shape[0]
    found = []
    for role, key in (("mean", "gradient.mean"), ("variance", "gradient.variance")):
        if role in roles:
            site = roles[role]
            values = view.tape[site].value[0, :rows, 0]
            found.append(Figures(strip, site, tr(key), values, site == view.place.site, unit))
    return tuple(found)


def _profile(view: View, roles: dict[str, str], read: str | None, hat: str) -> Curves | None:
    """One token's gradients across d_model, where they come in and where they leave."""
    if view.cell is None or read is None:
        return None
    row, here = view.cell[0], view.place.site
    looks: list[tuple[str, str, Colour]] = [(read, "x" if hat == "x̂" else "r", "decoder")]
    if "normalised" in roles:
        looks.append((roles["normalised"], hat, "accent"))
    if "out" in roles:
        looks.append((roles["out"], "y", "output"))
    sites = [site for site, _, _ in looks]
    # the record that is looked at, and the one that its gradient comes from
    at = sites.index(here) if here in sites else 0
    first = min(at, max(len(looks) - 2, 0))
    lines = tuple(
        add_norm.profile(view, site, row, letter, colour)
        for site, letter, colour in looks[first : first + 2]
    )
    title = tr("curve.profile.gradient", token=view.matrix.row_labels[row])
    return Curves(title, lines, aligned=True, share=0.19)


def _embedding(view: View) -> Stack | None:
    roles = {role: site for role, site in _roles(view).items() if view.place_of(site).role == role}
    shown = [(roles[role], sign, tr(key)) for role, sign, key in EMBEDDING if role in roles]
    if "tokens" not in roles or "out" not in roles:
        return None
    alike = [site for site, _, _ in shown if site != roles["tokens"] or "scaled" not in roles]
    colours = view.common_range(*alike)
    return _stack(
        view,
        [
            view.strip(site, sign, title, colours=colours if site in alike else None)
            for site, sign, title in shown
        ],
    )


def _feed_forward(view: View) -> Stack | None:
    roles = _roles(view)
    if "hidden" not in roles or "activation" not in roles:
        return None
    colours = view.common_range(roles["hidden"], roles["activation"])
    read = view.tape[roles["hidden"]].inputs[0]
    readers = len(gradients_on(view).shares_of(read))
    strips = [
        view.strip(
            read,
            "x",
            tr("strip.read"),
            tr("strip.readers", n=readers) if readers > 1 else "",
            lane="read",
        )
    ]
    for role, sign, key in FEED_FORWARD:
        strips.append(view.strip(roles[role], sign, tr(key), colours=colours, lane="F"))
    if "out" in roles:
        strips.append(view.strip(roles["out"], "y", tr("strip.out"), lane="out"))
    return _stack(view, strips, curves=_slopes(view, roles["hidden"], roles["activation"]))


def _slopes(view: View, hidden: str, active: str) -> Curves | None:
    """The activation's slope, which a gradient is multiplied with, and each hidden unit on it."""
    if view.cell is None:
        return None
    row, op = view.cell[0], view.tape[active].kind
    before = np.asarray(gradients_on(view).value_of(hidden))[0, row]
    x = np.linspace(min(float(before.min()), -1.0), max(float(before.max()), 1.0), CURVE_POINTS)
    x = x.astype(before.dtype)
    curve, dots = (curves.slopes(op, points) for points in (x, before))
    cells = np.stack([np.full(before.size, row), np.arange(before.size)], axis=1)
    token = view.matrix.row_labels[row]
    return Curves(
        tr("curve.slope", name=op_name(view, active), token=token),
        (
            Line("", "muted", x, curve, style="thin"),
            Line("", "accent", before, dots, hidden, cells, "dots"),
        ),
        x_title=tr("curve.before"),
        y_title=tr("curve.slope.axis"),
        share=0.36,
    )
