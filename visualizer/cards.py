"""What a model is called and what it is about, in the language in use. No Qt.

The bundled models are spoken of by the catalogue; any other model says in its card, in whatever
language that is, what is to be said.
"""

from __future__ import annotations

from visualizer.i18n import has, tr
from visualizer.state import ModelEntry, card_text


def title_of(entry: ModelEntry | None) -> str:
    """What the model is called; empty without one."""
    if entry is None:
        return ""
    return bundled_title(entry.bundled, entry.name) if entry.bundled else entry.name


def bundled_title(name: str, otherwise: str = "") -> str:
    """What a bundled model is called, by the name it is opened by."""
    key = f"card.{name}.title"
    return tr(key) if has(key) else otherwise or name


def about(entry: ModelEntry | None) -> str:
    """What the model does; empty where nobody says it."""
    key = "" if entry is None else f"card.{entry.bundled}.about"
    return tr(key) if has(key) else card_text(entry, "about")
