"""What is shown faint after a while: it belongs to inputs that are over, and others are coming."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from visualizer.widgets.pointing import PointedCanvas

# Milliseconds: what comes sooner is not announced, so that nothing flickers while one types.
PATIENCE = 250
FAINT = 0.45


class LateCanvas(PointedCanvas):
    """`late` says that what is shown is faint."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.late = False
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self._on_late)

    def set_waiting(self, waiting: bool) -> None:
        """Whether something else is on its way."""
        if not waiting:
            self._patience.stop()
            if self.late:
                self.late = False
                self.update()
        elif not self.late and not self._patience.isActive():
            self._patience.start()

    def _on_late(self) -> None:
        self.late = True
        self.update()

    def dim(self, painter: QPainter) -> None:
        """To be called before anything is painted."""
        painter.setOpacity(FAINT if self.late else 1.0)
