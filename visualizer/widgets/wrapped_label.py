"""Labels of several lines, as high as their words are at a width."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel

# Qt's own largest height; no name of it reaches Python.
UNBOUNDED = 16_777_215


def fit_height(label: QLabel, width: int) -> None:
    """Give a label that wraps the height of its words at this width, and no other.

    A layout would reckon with a narrower place, and a label itself never asks for less than its
    least height: that is taken away before.
    """
    key = (label.text(), width, label.font().toString())
    if label.property("fitted") == key:
        return
    label.setProperty("fitted", key)
    label.setMinimumHeight(0)
    label.setMaximumHeight(UNBOUNDED)
    label.setFixedHeight(max(label.heightForWidth(width), 1))
