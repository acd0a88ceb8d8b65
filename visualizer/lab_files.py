"""Files that the lab's user asks for, written beside the window, each wish in its turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QThreadPool, Signal

from visualizer import actions
from visualizer.engine import LONGEST_WRITE, attempt
from visualizer.state import ModelEntry
from visualizer.store import Store

if TYPE_CHECKING:
    from model_core.training.history import History


class FileWriter(QObject):
    """Writes in a thread of its own, and says what came of it; nothing that comes later cancels
    what was asked for.

    written(path, is_model, reason, details): a wish is done; reason: "" or why it could not be
    """

    written = Signal(object, bool, str, str)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.written.connect(self._on_written)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def save(self, entry: ModelEntry, path: Path) -> None:
        """A model as a checkpoint."""
        from visualizer.run import save_entry

        inputs = self.store.state.inputs
        self.write(path, lambda: save_entry(entry, inputs, path), is_model=True)

    def export(self, history: History, path: Path) -> None:
        """The steps of a training as a table."""
        self.write(path, lambda: write_history(history, path), is_model=False)

    def _on_written(self, path: Path, is_model: bool, reason: str, details: str) -> None:
        tell = self.store.dispatch
        if reason:
            tell(actions.show_notice, "error.lab", "error", details, reason=reason)
            return
        if is_model:
            tell(actions.add_recent, str(path))
        tell(actions.show_notice, "notice.written", "info", file=path.name)

    def write(self, path: Path, work: Callable[[], Any], is_model: bool) -> None:
        """Have the work done, which writes the file: a model or something else."""

        def do() -> None:
            _, reason, details = attempt(work)
            self.written.emit(path, is_model, reason, details)

        self._pool.start(do)

    def wait(self) -> None:
        """Until all is written."""
        self._pool.waitForDone(LONGEST_WRITE)


def write_history(history: History, path: Path) -> None:
    """As CSV, the steps so far; CheckpointError where the place cannot be written to."""
    from model_core.checkpoints.whole_file import replace_file

    replace_file(path, (line.encode() for line in history.csv_lines()))
