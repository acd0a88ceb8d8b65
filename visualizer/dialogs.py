"""The system's own dialogs for files."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from visualizer.i18n import tr
from visualizer.pair_files import PAIR_ENDINGS
from visualizer.state import ModelEntry, ViewState


def formats() -> dict[str, str]:
    """The endings of checkpoints -> their formats."""
    from model_core.checkpoints import ENDINGS

    return {ending: name for name, ending in ENDINGS.items()}


def endings_of(entry: ModelEntry) -> tuple[str, ...]:
    """The endings that a model can be saved with, the usual one first."""
    from model_core.checkpoints import endings_for

    return endings_for(entry.model.config, entry.model.tokenizer)


def ask_for_path(parent: QWidget, folder: Path | None = None) -> Path | None:
    """The file that the user picks to open, looked for in the folder at first."""
    known = " ".join(f"*{ending}" for ending in formats())
    # what is no model but holds pairs is offered to the lab
    filters = f"{tr('ui.open.filter')} ({known});;{_filters_of_pairs()}"
    name, _ = QFileDialog.getOpenFileName(parent, tr("ui.open.title"), str(folder or ""), filters)
    return Path(name) if name else None


def ask_for_target(parent: QWidget, suggestion: Path, endings: tuple[str, ...]) -> Path | None:
    """Where the user wants the model written; a name without an ending gets the chosen one."""
    dialog = QFileDialog(parent, tr("ui.save.title"), str(suggestion.parent))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    known = formats()
    filters = {f"{tr(f'ui.save.{known[e]}')} (*{e})": e for e in endings}
    dialog.setNameFilters(list(filters))
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(filters[chosen]))
    dialog.setDefaultSuffix(suggestion.suffix)
    first = next(text for text, ending in filters.items() if ending == suggestion.suffix)
    dialog.selectNameFilter(first)
    dialog.selectFile(suggestion.name)
    if not dialog.exec():
        return None
    return Path(dialog.selectedFiles()[0])


def ask_for_arrays(parent: QWidget, suggestion: Path) -> Path | None:
    """Where the user wants the arrays written that copied text loads."""
    filters = f"{tr('copy.arrays')} (*.npz)"
    title = tr("copy.arrays.title")
    name, _ = QFileDialog.getSaveFileName(parent, title, str(suggestion), filters)
    if not name:
        return None
    path = Path(name)
    # numpy would put the ending behind any other one
    return path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")


def ask_for_pairs(parent: QWidget) -> Path | None:
    """The file of pairs that the user picks to train on."""
    title = tr("lab.file.pick_title")
    name, _ = QFileDialog.getOpenFileName(parent, title, "", _filters_of_pairs())
    return Path(name) if name else None


def _filters_of_pairs() -> str:
    known = " ".join(f"*{ending}" for ending in PAIR_ENDINGS)
    return f"{tr('lab.file.filter')} ({known});;{tr('ui.open.all')} (*)"


def ask_for_table(parent: QWidget, suggestion: Path) -> Path | None:
    """Where the user wants the history of a training written."""
    filters = f"{tr('lab.table')} (*.csv)"
    title = tr("lab.table.title")
    name, _ = QFileDialog.getSaveFileName(parent, title, str(suggestion), filters)
    if not name:
        return None
    path = Path(name)
    return path if path.suffix else path.with_name(f"{path.name}.csv")


def suggested_target(state: ViewState) -> tuple[Path, tuple[str, ...]]:
    """A place for the model in use and the endings that it can be saved with."""
    entry = state.model
    assert entry is not None
    endings = endings_of(entry)
    near = state.file or entry.path
    stem = near.stem if near is not None else entry.bundled or entry.name
    # a name that every file system takes
    stem = re.sub(r'[\\/:*?"<>|\s]+', "-", stem).strip("-.") or "model"
    if state.file is None:
        # beside a file that may not be written over
        stem = f"my-{stem}"
    ending = near.suffix.lower() if near is not None else endings[0]
    folder = near.parent if near is not None else Path.home()
    return folder / f"{stem}{ending if ending in endings else endings[0]}", endings
