"""The virtual screen of the end-to-end test shows what a program draws and passes on keys."""

from __future__ import annotations

import sys

import numpy as np

ORANGE_WINDOW = """
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

class Window(QWidget):
    def keyPressEvent(self, event):
        print("key", event.key(), flush=True)

app = QApplication([])
window = Window()
window.setWindowTitle("An orange window")
window.setStyleSheet("background: #ff8000")
window.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
window.setFixedSize(320, 240)
window.show()
app.exec()
"""


def orange_pixels(picture) -> int:
    return int(np.all(picture == (0xFF, 0x80, 0x00), axis=-1).sum())


def test_the_virtual_screen_shows_a_window_and_types_into_it(real_screen):
    assert real_screen.picture().shape == (1000, 1600, 3)
    assert orange_pixels(real_screen.picture()) == 0
    program = real_screen.start(sys.executable, "-c", ORANGE_WINDOW)
    real_screen.window("An orange window")
    real_screen.until(lambda: orange_pixels(real_screen.picture()) == 320 * 240, 30, "orange")
    real_screen.xdotool("key", "a")
    real_screen.until(lambda: "key 65" in program.log.read_text(), 30, "the key to arrive")
