"""The one style sheet of the application, built from a theme.

Real controls (buttons, fields, lists, sliders) get their colours here and nowhere else. No font
sizes: those come from QFont, so that the interface scale reaches every widget.

Dynamic properties that it knows:
    QPushButton[kind="primary" | "quiet" | "choice"]     QFrame[kind="card" | "header" | "rule"]
    QLabel[role="muted" | "accent" | "warning" | "error"]     QWidget[role="surface" | "page"]
"""

from __future__ import annotations

from visualizer.theme import Theme


def stylesheet(theme: Theme, em: float) -> str:
    """QSS for the whole application; em: the application font's size in pixels."""

    def px(factor: float) -> str:
        return f"{max(1, round(em * factor))}px"

    t = theme
    # Even numbers of pixels, so that the handle is a circle about the groove's middle.
    groove, handle = 2 * max(1, round(em * 0.15)), 2 * round(em * 0.54)
    return f"""
QWidget[role="page"], QMainWindow {{ background: {t.page}; }}
QWidget[role="surface"] {{ background: {t.surface}; }}
QFrame[kind="card"] {{ background: {t.surface}; border: 1px solid {t.border};
    border-radius: {px(0.65)}; }}
QFrame[kind="header"] {{ background: {t.surface}; border: 0; }}
QFrame[kind="rule"] {{ background: {t.border}; border: 0; }}

QLabel {{ color: {t.text}; background: transparent; }}
QLabel[role="muted"], QLabel:disabled {{ color: {t.muted}; }}
QLabel[role="accent"] {{ color: {t.accent}; }}
QLabel[role="warning"] {{ color: {t.warning_text}; }}
QLabel[role="error"] {{ color: {t.error_text}; }}

QPushButton, QToolButton {{ color: {t.text}; background: {t.surface};
    border: 1px solid {t.border_strong}; border-radius: {px(0.5)};
    padding: {px(0.32)} {px(0.85)}; }}
QPushButton:hover, QToolButton:hover {{ background: {t.chip}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {t.accent_tint}; }}
QPushButton:focus, QToolButton:focus {{ border-color: {t.encoder}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {t.muted}; background: {t.sunken};
    border-color: {t.border}; }}
QPushButton[kind="primary"] {{ color: {t.on_encoder}; background: {t.encoder_fill};
    border-color: {t.encoder_fill}; }}
QPushButton[kind="primary"]:disabled {{ color: {t.muted}; background: {t.sunken};
    border-color: {t.border}; }}
QPushButton[kind="primary"]:hover {{ border-color: {t.text}; }}
QPushButton[kind="quiet"] {{ color: {t.muted}; background: transparent; border-color: transparent;
    padding: {px(0.2)} {px(0.4)}; }}
QPushButton[kind="quiet"]:hover {{ color: {t.text}; background: {t.chip}; }}
QPushButton[kind="quiet"]:focus {{ border-color: {t.encoder}; }}
TargetChooser QPushButton {{ padding-top: 0; padding-bottom: 0; }}
QPushButton[kind="choice"]:checked {{ color: {t.text}; background: {t.encoder_tint};
    border-color: {t.encoder}; }}

QLineEdit, QComboBox, QPlainTextEdit, QTextEdit {{ color: {t.text};
    background: {t.surface}; border: 1px solid {t.border_strong}; border-radius: {px(0.5)};
    padding: {px(0.28)} {px(0.55)};
    selection-background-color: {t.encoder_fill}; selection-color: {t.on_encoder}; }}
QLineEdit:focus, QComboBox:focus, QPlainTextEdit:focus, QTextEdit:focus {{
    border-color: {t.encoder}; }}
QComboBox:disabled {{ color: {t.muted}; background: {t.sunken}; border-color: {t.border}; }}
QComboBox QLineEdit {{ border: 0; padding: 0; background: transparent; }}
QLineEdit[kind="target"] {{ padding: {px(0.2)} {px(0.55)}; }}
QLineEdit[kind="cell"] {{ padding: 0; border: 2px solid {t.accent}; }}
QLineEdit[kind="sentence"] {{ padding: {px(0.42)} {px(0.7)}; }}
QLineEdit[kind="sentence"]:focus {{ border: 2px solid {t.encoder};
    padding: {px(0.36)} {px(0.64)}; }}
QComboBox::drop-down {{ border: 0; width: {px(1.4)}; }}
QComboBox QAbstractItemView, QListView, QMenu {{ color: {t.text}; background: {t.surface};
    border: 1px solid {t.border_strong}; outline: 0; }}
QComboBox QAbstractItemView::item, QListView::item {{ padding: {px(0.25)} {px(0.5)}; }}
QComboBox QAbstractItemView::item:selected, QListView::item:selected, QListView::item:hover,
QMenu::item:selected {{ color: {t.text}; background: {t.encoder_tint}; }}
QMenu {{ padding: {px(0.25)}; }}
QMenu::item {{ padding: {px(0.3)} {px(1.4)}; border-radius: {px(0.35)}; }}
QMenu::item:disabled {{ color: {t.muted}; }}
QMenu::separator {{ height: 1px; background: {t.border}; margin: {px(0.25)} {px(0.5)}; }}

QSlider {{ min-height: {px(1.25)}; }}
QSlider::groove:horizontal {{ height: {groove}px; border-radius: {groove // 2}px;
    background: {t.border}; }}
QSlider::handle:horizontal {{ width: {handle - 4}px; height: {handle - 4}px;
    margin: -{(handle - groove) // 2}px 0; border: 2px solid {t.encoder};
    border-radius: {handle // 2}px; background: {t.surface}; }}
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus {{
    background: {t.encoder_tint}; }}
QSlider::handle:horizontal:disabled {{ border-color: {t.border_strong}; }}

QScrollArea {{ border: 0; background: transparent; }}
QScrollBar:vertical {{ width: {px(0.7)}; background: transparent; margin: 0; }}
QScrollBar:horizontal {{ height: {px(0.7)}; background: transparent; margin: 0; }}
QScrollBar::handle {{ background: {t.border_strong}; border-radius: {px(0.2)};
    min-height: {px(1.6)}; min-width: {px(1.6)}; margin: {px(0.12)}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QToolTip {{ color: {t.text}; background: {t.surface}; border: 1px solid {t.border_strong};
    padding: {px(0.25)} {px(0.4)}; }}
QSplitter::handle {{ background: {t.border}; }}
"""
