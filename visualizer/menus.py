"""The menus of the header, made when they are opened: they show the state of that moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QActionGroup, QDesktopServices
from PySide6.QtWidgets import QMenu, QWidget

from model_core import bundled
from visualizer import actions, palettes
from visualizer.cards import bundled_title
from visualizer.i18n import LANGUAGES, tr
from visualizer.kept_models import MOST, kept_models
from visualizer.lenses.numbers import brief
from visualizer.state import SCALES, Choices, ModelEntry, ViewState, offered_variants, silent_traits
from visualizer.store import Store
from visualizer.theme import system_theme

ACTIVATIONS = ("gelu_tanh", "gelu", "relu", "silu")
EPSILONS = (1e-5, 1e-6, 1e-8, 1e-12)
DECIMALS = (None, 1, 2, 3, 4, 5, 6)


class Menu(QMenu):
    """Entries that do something, and groups of which one is chosen."""

    def heading(self, text: str) -> None:
        self.addAction(plain(text)).setEnabled(False)

    def command(self, text: str, act: Callable[[], object], tip: str = "") -> QAction:
        """A keyboard shortcut may follow the text, behind a tab."""
        entry = self.addAction(plain(text))
        # the signal's own argument, whether it is checked, is nobody's business
        entry.triggered.connect(lambda _checked=False: act())
        if tip:
            entry.setToolTip(tip)
        return entry

    def options(
        self, choices: Iterable[tuple[str, Any]], current: object, act: Callable[[Any], object]
    ) -> None:
        """One of them is marked; act(value) for the one that is taken."""
        group = QActionGroup(self)
        for text, value in choices:
            entry = self.command(text, partial(act, value))
            entry.setCheckable(True)
            entry.setChecked(value == current)
            group.addAction(entry)

    def submenu(
        self,
        title: str,
        choices: Iterable[tuple[str, Any]],
        current: object,
        act: Callable[[Any], object],
    ) -> None:
        """A group of its own, one level down."""
        inner = Menu(self)
        inner.setTitle(title)
        inner.options(choices, current, act)
        self.addMenu(inner)

    def below(self, button: QWidget) -> None:
        """Open under a button; the menu is gone once it is closed."""
        self.setToolTipsVisible(True)
        self.aboutToHide.connect(self.deleteLater)
        self.popup(button.mapToGlobal(button.rect().bottomLeft()))


def plain(text: str) -> str:
    """A menu reads "&" as a mark of its own."""
    return text.replace("&", "&&")


def model_menu(
    parent: QWidget,
    state: ViewState,
    open_model: Callable[[str | Path], object],
    choose: Callable[[Choices], object],
    commands: Iterable[tuple[str, Callable[[], object]]],
    kept: Path | None = None,
) -> Menu:
    """What can be opened, what the model in use leaves to choose, Open… and Save.

    kept: the folder of what the training lab has kept
    """
    menu = Menu(parent)
    menu.heading(tr("ui.models.bundled"))
    for name in bundled.names():
        # the name of the file stands where other entries have their key
        menu.command(f"{bundled_title(name)}\t{name}", partial(open_model, name))
    found = () if kept is None else kept_models(kept)
    recent = [path for path in state.recent if Path(path) not in found]
    if recent:
        menu.addSeparator()
        menu.heading(tr("ui.models.recent"))
        for path in recent:
            menu.command(Path(path).name, partial(open_model, Path(path)), tip=path)
    if found:
        assert kept is not None
        _add_kept(menu, kept, found, open_model)
    if state.model is not None:
        _add_choices(menu, state.model, choose)
    menu.addSeparator()
    for text, act in commands:
        menu.command(text, act)
    return menu


def _add_kept(
    menu: Menu, folder: Path, found: tuple[Path, ...], open_model: Callable[[str | Path], object]
) -> None:
    """The newest models that the lab has kept, and the way to all of them."""
    menu.addSeparator()
    menu.heading(tr("ui.models.kept"))
    for path in found[:MOST]:
        when = datetime.fromtimestamp(path.stat().st_mtime).strftime("%m-%d %H:%M")
        menu.command(f"{path.stem}\t{when}", partial(open_model, path), tip=str(path))
    words = tr("ui.models.kept.folder")
    if len(found) > MOST:
        words += f"\t{tr('ui.models.kept.more', n=len(found) - MOST)}"
    menu.command(words, partial(show_folder, folder), tip=str(folder))


def show_folder(folder: Path) -> None:
    """The folder in the system's own window for files."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _add_choices(menu: Menu, entry: ModelEntry, choose: Callable[[Choices], object]) -> None:
    """What the file leaves open: the variant of an example, the traits it is silent on."""
    now, config = entry.choices, entry.model.config
    variants = offered_variants(entry)
    if variants:
        menu.addSeparator()
        menu.heading(tr("ui.variant"))
        named = [(tr(f"ui.variant.{name or 'plain'}"), name) for name in (None, *variants)]
        menu.options(named, now.variant, lambda name: choose(replace(now, variant=name)))
    silent = silent_traits(entry)
    if "activation" in silent:
        menu.addSeparator()
        menu.heading(tr("ui.activation"))
        named = [(tr(f"ui.activation.{name}"), name) for name in ACTIVATIONS]
        menu.options(named, config.activation, lambda name: choose(replace(now, activation=name)))
    if "norm_eps" in silent:
        menu.addSeparator()
        menu.heading(tr("ui.norm_eps"))
        values = sorted({*EPSILONS, config.norm_eps}, reverse=True)
        numbers = [(f"ε = {brief(value)}", value) for value in values]
        menu.options(numbers, config.norm_eps, lambda e: choose(replace(now, norm_eps=e)))


def view_menu(parent: QWidget, store: Store) -> Menu:
    """Theme, colours, language, numbers."""
    menu, state = Menu(parent), store.state

    def sets(action: Callable[..., ViewState]) -> Callable[[Any], object]:
        return lambda value: store.dispatch(action, value)

    menu.heading(tr("ui.theme"))
    themes = [(tr(f"ui.theme.{name}"), name) for name in ("light", "dark", "system")]
    chosen = "system" if state.follow_system else state.theme
    menu.options(themes, chosen, lambda name: _look(store, name))
    menu.addSeparator()
    menu.heading(tr("ui.language"))
    languages = [(tr(f"ui.language.{name}"), name) for name in LANGUAGES]
    menu.options(languages, state.language, sets(actions.set_language))
    menu.addSeparator()
    weights = [(tr(f"ui.sequential.{name}"), name) for name in palettes.SEQUENTIAL]
    menu.submenu(tr("ui.sequential"), weights, state.sequential, sets(actions.set_sequential))
    signed = [(tr(f"ui.diverging.{name}"), name) for name in palettes.DIVERGING]
    menu.submenu(tr("ui.diverging"), signed, state.diverging, sets(actions.set_diverging))
    places = [(tr("ui.decimals.auto") if n is None else str(n), n) for n in DECIMALS]
    menu.submenu(tr("ui.decimals"), places, state.decimals_chosen, sets(actions.set_decimals))
    sizes = [(tr("ui.scale.auto"), None), *((f"{size:.0%}", size) for size in SCALES)]
    menu.submenu(tr("ui.scale"), sizes, state.scale, sets(actions.set_scale))
    counting = [("1", 1), ("0", 0)]
    menu.submenu(tr("ui.count_from"), counting, state.count_from, sets(actions.set_count_from))
    menu.addSeparator()
    return menu


def _look(store: Store, name: str) -> None:
    if name == "system":
        store.dispatch(actions.follow_system, system_theme())
    else:
        store.dispatch(actions.set_theme, name)
