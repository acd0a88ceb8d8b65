"""The bundled font: one face for every script, so that Chinese is drawn on every machine."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo
from PySide6.QtWidgets import QApplication

FILE_NAME = "NotoSansSC-gb2312.otf"
BASE_POINTS = 10.0
SYSTEM_FALLBACKS = ("Microsoft YaHei", "PingFang SC", "Noto Sans CJK SC", "DejaVu Sans")

# The type scale, as multiples of the widget's own font.
SMALL, NORMAL, LARGE, TITLE = 0.84, 1.0, 1.12, 1.35


def install_fonts(
    app: QApplication, path: Path, points: float = BASE_POINTS, exact: bool = False
) -> QFont:
    """Load the font file at `path` and make it the application's font.

    exact: no hinting and no subpixel smoothing, so that screenshots are the same on every machine
    """
    identifier = QFontDatabase.addApplicationFont(str(path))
    if identifier < 0:
        raise RuntimeError(f"the font file cannot be read: {path}")
    font = QFont()
    families = QFontDatabase.applicationFontFamilies(identifier)
    font.setFamilies([*families, *SYSTEM_FALLBACKS])
    font.setPointSizeF(points)
    if exact:
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        font.setStyleStrategy(QFont.StyleStrategy.NoSubpixelAntialias)
    app.setFont(font)
    return font


def resize(app: QApplication, scale: float) -> None:
    """The application's font at another size, 1 as designed."""
    font = app.font()
    if font.pointSizeF() != BASE_POINTS * scale:
        font.setPointSizeF(BASE_POINTS * scale)
        app.setFont(font)


def scaled(font: QFont, factor: float, bold: bool = False) -> QFont:
    """The same face at another step of the type scale."""
    copy = QFont(font)
    if font.pointSizeF() > 0:
        copy.setPointSizeF(max(font.pointSizeF() * factor, 1.0))
    else:
        copy.setPixelSize(max(round(font.pixelSize() * factor), 1))
    copy.setBold(bold)
    return copy


def em(font: QFont) -> float:
    """The font's size in logical pixels; every distance on screen is a multiple of it."""
    return float(QFontInfo(font).pixelSize())
