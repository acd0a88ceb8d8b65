"""Light and dark: every colour of the window, the palette tables, QPalette and style sheet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from visualizer import palettes
from visualizer.state import ViewState


@dataclass(frozen=True)
class Theme:
    """Colours as "#rrggbb".

    For each of accent, encoder, decoder, output: `X` draws bars and frames, `X_fill` lies under
    text in `on_X`, `X_tint` is a quiet background and `X_soft` a stronger one under plain `text`.
    """

    name: str
    dark: bool
    page: str
    surface: str
    sunken: str
    border: str
    border_strong: str
    text: str
    muted: str
    chip: str
    bar_off: str
    hatch: str
    hatch_line: str
    accent: str
    accent_fill: str
    on_accent: str
    accent_tint: str
    accent_soft: str
    encoder: str
    encoder_fill: str
    on_encoder: str
    encoder_tint: str
    encoder_soft: str
    decoder: str
    decoder_fill: str
    on_decoder: str
    decoder_tint: str
    decoder_soft: str
    output: str
    output_fill: str
    on_output: str
    output_tint: str
    output_soft: str
    warning: str
    warning_text: str
    warning_tint: str
    error: str
    error_text: str
    error_tint: str
    diverging: tuple[str, ...]
    sequential: str = "viridis"

    def color(self, role: str) -> QColor:
        """The colour named by a field, for a role put together from parts ("encoder" + "_tint")."""
        return QColor(getattr(self, role))

    def table(self, palette: str) -> np.ndarray:
        """(256, 3) uint8: the colours of a picture's palette."""
        if palette == "sequential":
            return palettes.sequential(self.sequential)
        if palette == "mask":
            return palettes.two_tone(self.hatch, self.accent_soft)
        return palettes.diverging(self.diverging)

    def packed_table(self, palette: str) -> np.ndarray:
        """(256,) uint32, the same colours ready for QImage.Format_RGB32."""
        return _packed(self, palette)

    def ink(self, palette: str) -> np.ndarray:
        """(256,) bool: True where white text reads better than dark text on that colour."""
        return _white_reads_better(self, palette)


# Text on a cell of a heatmap, whatever the theme; only with full black one of the two always
# reaches 4.5:1.
INK_DARK = "#000000"
INK_LIGHT = "#ffffff"


@cache
def _packed(theme: Theme, palette: str) -> np.ndarray:
    return palettes.packed(theme.table(palette))


@cache
def _white_reads_better(theme: Theme, palette: str) -> np.ndarray:
    cells = palettes.luminance(theme.table(palette))
    dark = palettes.luminance(np.array([int(INK_DARK[i : i + 2], 16) for i in (1, 3, 5)], np.uint8))
    return 1.05 / (cells + 0.05) > (cells + 0.05) / (dark + 0.05)


LIGHT = Theme(
    name="light",
    dark=False,
    page="#f5f7fa",
    surface="#ffffff",
    sunken="#f6f7f9",
    border="#e2e6ec",
    border_strong="#c5ccd8",
    text="#1c2430",
    muted="#5b6679",
    chip="#eef2f8",
    bar_off="#cfd5df",
    hatch="#eceff4",
    hatch_line="#b4bcc9",
    accent="#7a4fd0",
    accent_fill="#7a4fd0",
    on_accent="#ffffff",
    accent_tint="#efe9fb",
    accent_soft="#d2c3ef",
    encoder="#2f6fed",
    encoder_fill="#2b69e3",
    on_encoder="#ffffff",
    encoder_tint="#e6eefd",
    encoder_soft="#dee8fc",
    decoder="#e07b1a",
    decoder_fill="#b85c08",
    on_decoder="#ffffff",
    decoder_tint="#fbefe4",
    decoder_soft="#faeada",
    output="#1f9d6b",
    output_fill="#178055",
    on_output="#ffffff",
    output_tint="#e3f5ed",
    output_soft="#cdecdd",
    warning="#d97706",
    warning_text="#8a4b00",
    warning_tint="#fff3dc",
    error="#d1344b",
    error_text="#a81c33",
    error_tint="#fdeaed",
    diverging=("#1f57d6", "#5f93f2", "#b4cdfa", "#f7f7f8", "#f8bcc0", "#e9666f", "#c4202f"),
)

DARK = Theme(
    name="dark",
    dark=True,
    page="#12161c",
    surface="#1a2029",
    sunken="#12161c",
    border="#2a3340",
    border_strong="#44505f",
    text="#e8edf4",
    muted="#93a0b2",
    chip="#232c38",
    bar_off="#3d4958",
    hatch="#232b36",
    hatch_line="#556273",
    accent="#b08cff",
    accent_fill="#b08cff",
    on_accent="#12161c",
    accent_tint="#2e2a46",
    accent_soft="#4d4572",
    encoder="#6aa0ff",
    encoder_fill="#6aa0ff",
    on_encoder="#12161c",
    encoder_tint="#242f43",
    encoder_soft="#27344b",
    decoder="#f2a254",
    decoder_fill="#f2a254",
    on_decoder="#12161c",
    decoder_tint="#34302e",
    decoder_soft="#3d3530",
    output="#4fd09b",
    output_fill="#4fd09b",
    on_output="#12161c",
    output_tint="#1f362f",
    output_soft="#254439",
    warning="#f5b544",
    warning_text="#f5c46b",
    warning_tint="#3a3121",
    error="#ff7a8a",
    error_text="#ff9aa6",
    error_tint="#40252b",
    diverging=("#9cc2ff", "#5b95ff", "#2b4f94", "#1d232c", "#8c343d", "#f0616b", "#ffb3b3"),
)

THEMES = {theme.name: theme for theme in (LIGHT, DARK)}

# Signed numbers in other colours, for the light theme and for the dark one.
OTHER_DIVERGING = {
    "purple_green": {
        "light": ("#5b1a6e", "#9160a8", "#cfb5da", "#f7f7f8", "#b3deb0", "#55a860", "#14692f"),
        "dark": ("#e3b9f2", "#b57fd0", "#623a78", "#1d232c", "#2f6b40", "#57b86c", "#bdf0c3"),
    },
}


@cache
def themed(name: str, sequential: str = "viridis", diverging: str = "blue_red") -> Theme:
    """A theme with the palettes that were chosen."""
    theme = THEMES[name]
    signed = OTHER_DIVERGING.get(diverging, {}).get(name, theme.diverging)
    return replace(theme, sequential=sequential, diverging=signed)


def theme_of(state: ViewState) -> Theme:
    """How the window looks in this state."""
    return themed(state.theme, state.sequential, state.diverging)


def system_theme() -> Literal["light", "dark"]:
    """How the system looks, light where it does not say."""
    scheme = QGuiApplication.styleHints().colorScheme()
    return "dark" if scheme == Qt.ColorScheme.Dark else "light"


# (text colour, background) as they meet on screen; a test measures every one.
TEXT_PAIRS = (
    ("text", "page"),
    ("text", "surface"),
    ("text", "sunken"),
    ("text", "chip"),
    ("muted", "page"),
    ("muted", "surface"),
    ("muted", "sunken"),
    ("muted", "chip"),
    ("accent", "surface"),
    ("accent", "page"),
    ("on_accent", "accent_fill"),
    ("on_encoder", "encoder_fill"),
    ("on_decoder", "decoder_fill"),
    ("on_output", "output_fill"),
    ("text", "accent_tint"),
    ("text", "accent_soft"),
    ("text", "encoder_tint"),
    ("text", "encoder_soft"),
    ("text", "decoder_tint"),
    ("text", "decoder_soft"),
    ("text", "output_tint"),
    ("text", "output_soft"),
    ("warning_text", "warning_tint"),
    ("error_text", "error_tint"),
    ("text", "warning_tint"),
    ("text", "error_tint"),
)


def qpalette(theme: Theme) -> QPalette:
    """Every role set by hand: Qt derives unreadable ones from a dark window colour."""
    roles = QPalette.ColorRole
    palette = QPalette()
    colours = {
        roles.Window: theme.page,
        roles.WindowText: theme.text,
        roles.Base: theme.surface,
        roles.AlternateBase: theme.sunken,
        roles.Text: theme.text,
        roles.PlaceholderText: theme.muted,
        roles.Button: theme.surface,
        roles.ButtonText: theme.text,
        roles.BrightText: theme.on_accent,
        roles.ToolTipBase: theme.surface,
        roles.ToolTipText: theme.text,
        roles.Highlight: theme.encoder_fill,
        roles.HighlightedText: theme.on_encoder,
        roles.Link: theme.accent,
        roles.LinkVisited: theme.accent,
        roles.Light: theme.surface,
        roles.Midlight: theme.sunken,
        roles.Mid: theme.border_strong,
        roles.Dark: theme.border_strong,
        roles.Shadow: theme.border_strong,
        roles.Accent: theme.accent,
    }
    for role, colour in colours.items():
        palette.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.border_strong))
    return palette
