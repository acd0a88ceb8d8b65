"""What every test of the window leaves behind: nothing."""

from __future__ import annotations

import pytest

from tests.gui.lab_bench import bench, bundled_font, lab_window  # noqa: F401 (fixtures)
from visualizer import i18n
from visualizer.qt_words import translate_qt


@pytest.fixture(autouse=True)
def no_trace_is_left(qapp):
    """Delete the windows that a test made, and put back font, style and words of the program.

    A change of the look would restyle all windows that are left, and the next test would measure
    its texts in the type of this one.
    """
    from PySide6.QtCore import QCoreApplication, QEvent

    font, style = qapp.font(), qapp.styleSheet()
    yield
    for window in qapp.topLevelWidgets():
        window.close()
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if qapp.styleSheet() != style:
        qapp.setStyleSheet(style)
    if qapp.font() != font:
        qapp.setFont(font)
    translate_qt(qapp, "en")


@pytest.fixture(autouse=True)
def english():
    """Every test begins in English, whatever the one before it has chosen."""
    i18n.set_language("en")
    yield
    i18n.set_language("en")
