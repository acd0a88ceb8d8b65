"""A button that tells which layer is on show, with a menu of them all."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QWidget


class LayerChoice(QPushButton):
    """chosen(place in the menu) when the user takes one; 0 is to follow the cursor."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._options: tuple[str, ...] = ()
        self._current = 0
        self.clicked.connect(self._open)

    def set_layers(self, follow: str, layers: tuple[str, ...], shown: int, current: int) -> None:
        """follow: what stands for the cursor's layer    shown: the place of the layer on show
        current: the option that is chosen, 0 where the cursor is followed
        """
        self._options, self._current = (follow, *layers), current
        if not layers:
            return
        self.setText(f"{layers[shown]} ▾")
        self.setAccessibleName(layers[shown])

    def made_menu(self) -> QMenu:
        """The options, the chosen one ticked."""
        menu = QMenu(self)
        for place, text in enumerate(self._options):
            action = QAction(text, menu, checkable=True, checked=place == self._current)
            action.triggered.connect(lambda _=False, place=place: self.chosen.emit(place))
            menu.addAction(action)
            if not place:
                menu.addSeparator()
        return menu

    def _open(self) -> None:
        menu = self.made_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # above the button: it stands at the lower end of the window
        menu.popup(self.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
