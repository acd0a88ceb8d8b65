"""Qt's own words, those of file dialogs and of menus in fields, in the language of the window."""

from __future__ import annotations

import logging

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QTranslator

from visualizer.i18n import catalogue

# Qt is English by itself.
TRANSLATIONS = {"zh": "qtbase_zh_CN"}
# What Qt's translation has under other words than Qt itself, or not at all: English is Qt's text.
LEFT_OUT = ("qt.look_in", "qt.files_of_type", "qt.folder", "qt.drive")
CONTEXTS = ("QFileDialog", "QAbstractFileIconProvider")

log = logging.getLogger("glassformer")


class QtWords(QTranslator):
    """The translation that comes with Qt, and what it has left out."""

    def __init__(self, language: str, app: QCoreApplication) -> None:
        super().__init__(app)
        english, own = catalogue("en"), catalogue(language)
        self._left_out = {english[key]: own[key] for key in LEFT_OUT}
        name = TRANSLATIONS[language]
        self.setObjectName(name)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if not self.load(name, folder):
            log.info("Qt came without %s", name)

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, context: str, source: str, disambiguation: str | None = None, n: int = -1
    ) -> str | None:
        found = self._left_out.get(source) if context in CONTEXTS else None
        # None: Qt goes on with its own text, which it does not for an empty one
        return found or super().translate(context, source, disambiguation, n) or None


def translate_qt(app: QCoreApplication, language: str) -> None:
    """Install the translation of a language, in place of the one there was."""
    installed = app.findChild(QTranslator)
    if installed is not None:
        if installed.objectName() == TRANSLATIONS.get(language):
            return
        app.removeTranslator(installed)
        installed.setParent(None)
    if language in TRANSLATIONS:
        app.installTranslator(QtWords(language, app))
