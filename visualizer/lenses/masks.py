"""Masks as records: padding, look-ahead and what both allow, side by side."""

from __future__ import annotations

from dataclasses import replace

from visualizer.i18n import tr
from visualizer.lenses.matrix import op_title
from visualizer.lenses.picture import Matrix
from visualizer.lenses.strips import Stack, Strip, View


def masks(view: View) -> Stack | None:
    """The masks that a side prepares; a lone one needs no comparing."""
    sites = [site for site in view.sites() if view.place_of(site).sublayer == "mask"]
    if len(sites) < 2:
        return None
    combined = [site for site in sites if view.tape[site].op == "both_masks"]
    strips = []
    for number, site in enumerate(sites):
        sign = "=" if site in combined else "∧" if number else ""
        place = view.place_of(site)
        lane = "mask" if view.tape[site].value.shape[-2] > 1 else "row"
        strips.append(_titled(view.strip(site, sign, op_title(place), lane=lane)))
    said = legend(*(strip.matrix for strip in strips))
    return view.stack(tuple(strips), across=True, legend=said)


def legend(*shown: Matrix) -> str:
    """What 1 and 0 mean; of 0 nothing where nothing is hidden."""
    closed = not all(matrix.values.all() for matrix in shown)
    return tr("mask.legend") if closed else tr("mask.legend.open")


def _titled(strip: Strip) -> Strip:
    """With the names of the axes; a row that stands for all says so itself."""
    rows = tr("axis.query") if strip.matrix.values.shape[0] > 1 else ""
    matrix = replace(strip.matrix, row_title=rows, column_title=tr("axis.key"))
    return replace(strip, matrix=matrix)
