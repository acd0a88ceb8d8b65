"""What a model is called and what it is about, in the language in use. No Qt.

The bundled models are spoken of by the catalogue, and so are those trained on a built-in task as
long as they are called by its title; any other model says in its card, in whatever language that
is, what is to be said.
"""

from __future__ import annotations

from functools import cache

from visualizer.i18n import LANGUAGES, catalogue, has, tr
from visualizer.state import ModelEntry, card_text


def title_of(entry: ModelEntry | None) -> str:
    """What the model is called; empty without one."""
    if entry is None:
        return ""
    bundled = entry.bundled or _titles().get(entry.name, "")
    return bundled_title(bundled, entry.name) if bundled else entry.name


def bundled_title(name: str, otherwise: str = "") -> str:
    """What a bundled model is called, by the name it is opened by."""
    key = f"card.{name}.title"
    return tr(key) if has(key) else otherwise or name


@cache
def _titles() -> dict[str, str]:
    """The names of bundled models by their titles in any language."""
    entries = (entry for language in LANGUAGES for entry in catalogue(language).items())
    return {
        title: key.removeprefix("card.").removesuffix(".title")
        for key, title in entries
        if key.startswith("card.") and key.endswith(".title")
    }


def about(entry: ModelEntry | None) -> str:
    """What the model does; empty where nobody says it."""
    key = "" if entry is None else f"card.{entry.bundled}.about"
    return tr(key) if has(key) else card_text(entry, "about")
