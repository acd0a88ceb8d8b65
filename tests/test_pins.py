"""The pinned Qt does not lose references, and what is pinned is what is used."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.import_graph import ImportGraph

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Where the name to import is not the distribution's.
IMPORTED_AS = {"PySide6-Essentials": {"PySide6", "shiboken6"}}

COUNT_REFERENCES = """
import sys
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

class Sender(QObject):
    sent = Signal(int)

app = QApplication([])
widget, sender = QWidget(), Sender()
nones, trues = sys.getrefcount(None), sys.getrefcount(True)
for number in range(1000):
    widget.setVisible(False)
    sender.sent.emit(number)
print(sys.getrefcount(None) - nones, sys.getrefcount(True) - trues)
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None and True are immortal from 3.12 on")
def test_a_thousand_qt_calls_lose_no_reference_of_none_or_true():
    # In a process of its own: with a Qt that loses them this one would die soon after.
    done = subprocess.run(
        [sys.executable, "-c", COUNT_REFERENCES], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert all(int(change) > -50 for change in done.stdout.split()), done.stdout


def test_every_dependency_has_an_upper_bound():
    open_ended = [line for line in PROJECT["dependencies"] if "<" not in line and "==" not in line]
    assert open_ended == []


def test_what_is_imported_is_declared():
    declared = set()
    for line in PROJECT["dependencies"]:
        name = line.split(">=")[0].split("==")[0].strip()
        declared |= IMPORTED_AS.get(name, {name.replace("-", "_")})
    graph = ImportGraph(ROOT, ("model_core", "visualizer"))
    imported = {name.split(".")[0] for names in graph.imports.values() for name in names}
    foreign = imported - set(sys.stdlib_module_names) - {"model_core", "visualizer"}
    assert sorted(foreign - declared) == []
