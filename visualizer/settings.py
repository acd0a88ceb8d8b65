"""What is remembered from one start to the next: one readable ini file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs
from PySide6.QtCore import QByteArray, QLocale, QSettings

from visualizer import actions
from visualizer.i18n import LANGUAGES
from visualizer.state import AS_IT_IS, Choices, Cursor, Inputs, ModelEntry, ViewState
from visualizer.theme import THEMES, system_theme

# What is written down as soon as it is changed.
PREFERENCES = frozenset(
    {
        "theme",
        "follow_system",
        "scale",
        "sequential",
        "diverging",
        "language",
        "decimals_chosen",
        "count_from",
        "recent",
    }
)


def default_path() -> Path:
    """The file in the user's own folder for settings."""
    return platformdirs.user_config_path("glassformer") / "glassformer.ini"


@dataclass(frozen=True)
class Last:
    """The model that was in use, what it read and where one stood."""

    path: str = ""
    bundled: str = ""
    choices: Choices = AS_IT_IS
    inputs: Inputs = field(default_factory=Inputs)
    cursor: Cursor = field(default_factory=Cursor)
    head: int = 0

    @property
    def source(self) -> str | Path:
        return Path(self.path) if self.path else self.bundled

    @classmethod
    def of(cls, state: ViewState, entry: ModelEntry) -> Last:
        path = "" if entry.path is None else str(entry.path)
        inputs, cursor = replace(state.inputs, history=()), state.cursor
        return cls(path, entry.bundled, entry.choices, inputs, cursor, state.head)

    @classmethod
    def from_text(cls, text: str) -> Last | None:
        """None for what is no such text; what a model cannot use is found when it is opened."""
        import msgspec

        try:
            last = msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError:
            return None
        return last if last.path or last.bundled else None

    def to_text(self) -> str:
        import msgspec

        return msgspec.json.encode(self).decode()


class Settings:
    """Recent files, look and geometry; a value that makes no sense is as good as none."""

    def __init__(self, path: Path) -> None:
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    def apply_to(self, state: ViewState) -> ViewState:
        """The state of a fresh start."""
        theme = self._text("look/theme")
        language = self._text("look/language") or _system_language()
        if theme in THEMES:
            state = actions.set_theme(state, theme)
        else:
            state = actions.follow_system(state, system_theme())
        state = actions.set_sequential(state, self._text("look/sequential"))
        state = actions.set_diverging(state, self._text("look/diverging"))
        scale = self._text("look/scale")
        if re.fullmatch(r"\d\.\d{1,2}", scale):
            state = actions.set_scale(state, float(scale))
        decimals = self._text("look/decimals")
        if decimals.isascii() and decimals.isdecimal() and len(decimals) == 1:
            state = actions.set_decimals(state, int(decimals))
        state = actions.set_language(state, language if language in LANGUAGES else "en")
        state = actions.set_count_from(state, 0 if self._text("look/count_from") == "0" else 1)
        for path in reversed(self._list("files/recent")):
            state = actions.add_recent(state, path)
        return state

    def remember(self, state: ViewState) -> None:
        self._file.setValue("look/theme", "system" if state.follow_system else state.theme)
        self._file.setValue("look/sequential", state.sequential)
        self._file.setValue("look/diverging", state.diverging)
        self._file.setValue("look/scale", "" if state.scale is None else str(state.scale))
        chosen = state.decimals_chosen
        self._file.setValue("look/decimals", "" if chosen is None else str(chosen))
        self._file.setValue("look/language", state.language)
        self._file.setValue("look/count_from", str(state.count_from))
        self._file.setValue("files/recent", list(state.recent))
        if state.model is not None:
            self._file.setValue("session/last", Last.of(state, state.model).to_text())

    @property
    def last(self) -> Last | None:
        """Where the window was left; None where that is not known."""
        return Last.from_text(self._text("session/last"))

    @property
    def geometry(self) -> QByteArray | None:
        value = self._file.value("window/geometry")
        return value if isinstance(value, QByteArray) else None

    def remember_geometry(self, geometry: QByteArray) -> None:
        self._file.setValue("window/geometry", geometry)

    def _text(self, key: str) -> str:
        value = self._file.value(key, "")
        return value if isinstance(value, str) else ""

    def _list(self, key: str) -> list[str]:
        value = self._file.value(key, [])
        # an ini file gives a list of one as a plain string
        return [value] if isinstance(value, str) and value else list(value or [])


def _system_language() -> str:
    return QLocale.system().name().split("_")[0]
