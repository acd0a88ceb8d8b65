"""What every test of the window leaves behind: nothing."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_window_is_left():
    """Delete the windows that a test made: a change of the look would restyle all that are left."""
    yield
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    if QApplication.instance() is None:
        return
    for window in QApplication.topLevelWidgets():
        window.close()
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
