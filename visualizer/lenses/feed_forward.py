"""Feed-forward: the hidden numbers before and after the activation, and its curve."""

from __future__ import annotations

import numpy as np

from model_core import curves
from visualizer.i18n import tr
from visualizer.lenses.add_norm import whereabouts
from visualizer.lenses.strips import Array, Curves, Line, Stack, View

CURVE_POINTS = 161
NAMES = {"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU (tanh)", "silu": "SiLU"}


def feed_forward(view: View) -> Stack | None:
    """The stack of one feed-forward: what it reads, hidden, activation, what it gives."""
    roles = {site.rsplit(".", 1)[-1]: site for site in view.sites()}
    if "hidden" not in roles or "activation" not in roles:
        return None
    hidden, active = roles["hidden"], roles["activation"]
    read = view.tape[hidden].inputs[0]
    colours = view.common_range(hidden, active)
    from_where = tr("strip.from", place=whereabouts(view, view.place_of(read)))
    strips = [
        view.strip(read, "x", tr("strip.read"), from_where, lane="read"),
        view.strip(hidden, "→", tr("strip.hidden"), "x W1 + b1", colours=colours, lane="F"),
        view.strip(
            active, "→", tr("strip.active"), op_name(view, active), colours=colours, lane="F"
        ),
    ]
    if "out" in roles:
        strips.append(view.strip(roles["out"], "→", tr("strip.out"), "a W2 + b2", lane="out"))
    return view.stack(tuple(strips), curves=_curve(view, hidden, active))


def op_name(view: View, site: str) -> str:
    """The activation's name, as papers write it."""
    op = view.tape[site].op
    return NAMES.get(op, op)


def activation_curve(view: View, active: str, low: float, high: float) -> tuple[Array, Array]:
    """The op of the record `active` itself, evaluated between two numbers."""
    record = view.tape[active]
    x = np.linspace(low, high, CURVE_POINTS).astype(record.value.dtype)
    return x, curves.values(record.kind, x)


def _curve(view: View, hidden: str, active: str) -> Curves | None:
    if view.cell is None:
        return None
    row = view.cell[0]
    rows = view.matrix.values.shape[0]
    before, after = (view.tape[site].value[0, :rows] for site in (hidden, active))
    low, high = min(float(before.min()), -1.0), max(float(before.max()), 1.0)
    x, y = activation_curve(view, active, low, high)
    cells = np.stack([np.full(before.shape[1], row), np.arange(before.shape[1])], axis=1)
    token = view.matrix.row_labels[row]
    return Curves(
        tr("curve.activation", name=op_name(view, active), token=token),
        (
            Line("", "muted", x, y, style="thin"),
            Line("", "accent", before[row], after[row], active, cells, "dots"),
        ),
        x_title=tr("curve.before"),
        y_title=tr("curve.after"),
        share=0.36,
    )
