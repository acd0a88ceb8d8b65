"""Masks as records: padding, look-ahead and what both allow, side by side."""

from __future__ import annotations

from visualizer.lenses.matrix import op_title
from visualizer.lenses.strips import Stack, View


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
        strips.append(view.strip(site, sign, op_title(place), lane=lane))
    return view.stack(tuple(strips), across=True)
