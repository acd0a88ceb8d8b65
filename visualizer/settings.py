"""What is remembered from one start to the next: one readable ini file."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from PySide6.QtCore import QByteArray, QLocale, QSettings

from visualizer import actions
from visualizer.i18n import LANGUAGES
from visualizer.state import ViewState
from visualizer.theme import THEMES


def default_path() -> Path:
    """The file in the user's own folder for settings."""
    return platformdirs.user_config_path("glassformer") / "glassformer.ini"


class Settings:
    """Recent files, look and geometry; a value that makes no sense is as good as none."""

    def __init__(self, path: Path) -> None:
        self._file = QSettings(str(path), QSettings.Format.IniFormat)

    def apply_to(self, state: ViewState) -> ViewState:
        """The state of a fresh start."""
        theme = self._text("look/theme")
        language = self._text("look/language") or _system_language()
        state = actions.set_theme(state, theme if theme in THEMES else "light")
        state = actions.set_language(state, language if language in LANGUAGES else "en")
        state = actions.set_count_from(state, 0 if self._text("look/count_from") == "0" else 1)
        for path in reversed(self._list("files/recent")):
            state = actions.add_recent(state, path)
        return state

    def remember(self, state: ViewState) -> None:
        self._file.setValue("look/theme", state.theme)
        self._file.setValue("look/language", state.language)
        self._file.setValue("look/count_from", str(state.count_from))
        self._file.setValue("files/recent", list(state.recent))

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
