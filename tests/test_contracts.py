"""Imports point one way only: the contract of CONTRIBUTING.md, checked on the tree as it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.import_graph import (
    ImportGraph,
    forbidden_imports,
    imports_across,
    imports_of_a_leaf,
    sibling_imports,
    upward_imports,
)

ROOT = Path(__file__).parents[1]

QT = ("PySide6", "shiboken6", "pyqtgraph")
FRAMEWORKS = ("torch", "transformers", "tensorflow", "jax")

# From the top down; a module may import what stands below it, or beside it.
CORE_LAYERS = (
    ("model_core", "model_core.__main__"),
    ("model_core.training", "model_core.checkpoints"),
    ("model_core.model",),
    ("model_core.decoding",),
    ("model_core.runner",),
    ("model_core.transformer",),
    ("model_core.gradient_check", "model_core.attribution"),
    ("model_core.finite_difference",),
    ("model_core.gradients",),
    ("model_core.tape", "model_core.parameters"),
    ("model_core.reverse",),
    ("model_core.plan", "model_core.snippets"),
    ("model_core.shares",),
    ("model_core.expressions",),
    ("model_core.ops", "model_core.config"),
)
WINDOW_LAYERS = (
    ("visualizer.__main__",),
    ("visualizer.app",),
    ("visualizer.main_window",),
    ("visualizer.workspace",),
    ("visualizer.inquirer", "visualizer.laboratory"),
    ("visualizer.panels", "visualizer.engine"),
    ("visualizer.pages",),
    ("visualizer.menus",),
    ("visualizer.widgets", "visualizer.store"),
    ("visualizer.copying",),
    ("visualizer.lenses", "visualizer.lessons"),
    ("visualizer.inquiries",),
    ("visualizer.chat_actions",),
    ("visualizer.trail",),
    ("visualizer.navigation",),
    ("visualizer.walkthrough",),
    (
        "visualizer.actions",
        "visualizer.bench_actions",
        "visualizer.decoding_actions",
        "visualizer.forcing",
        "visualizer.gradient_actions",
        "visualizer.lab_actions",
        "visualizer.lab_film",
        "visualizer.lab_orders",
        "visualizer.pair_files",
        "visualizer.run",
        "visualizer.step_actions",
    ),
    ("visualizer.forced_run",),
    ("visualizer.beam_run",),
    ("visualizer.state",),
    ("visualizer.conversation",),
    ("visualizer.runs",),
    (
        "visualizer.targets",
        "visualizer.bench",
        "visualizer.inputs",
        "visualizer.lab",
        "visualizer.step_view",
        "visualizer.tree_view",
    ),
    ("visualizer.drawing",),
)
LEAVES = ("model_core.sampling", "model_core.tokenizers", "model_core.bundled", "model_core.chat")

# Packages whose parts do not know each other, and the parts that all of them may use.
APART = {
    "model_core.ops": ("base", "erf"),
    "model_core.tokenizers": ("base", "word"),
    "model_core.checkpoints": (
        "contents",
        "errors",
        "npz_file",
        "safetensors_file",
        "sniffing",
        "strict_json",
        "whole_file",
    ),
    "visualizer.panels": ("base",),
    "visualizer.pages": (
        *("base", "zoom", "beam_part"),
        *("train_film", "train_file", "train_form", "train_setting", "train_start", "train_views"),
        *("step_part", "step_batch", "step_tape", "step_update", "step_check"),
    ),
    "visualizer.inquiries": ("base", "shelf"),
}
WITHOUT_QT = (
    "visualizer.lab",
    "visualizer.lab_actions",
    "visualizer.lab_film",
    "visualizer.lab_news",
    "visualizer.lab_orders",
    "visualizer.pair_files",
    "visualizer.drawing",
    "visualizer.inquiries",
    "visualizer.navigation",
    "visualizer.trail",
    "visualizer.palettes",
    "visualizer.run",
    "visualizer.inputs",
    "visualizer.runs",
    "visualizer.state",
    "visualizer.actions",
    "visualizer.gradient_actions",
    "visualizer.step_view",
    "visualizer.step_actions",
    "visualizer.sentences",
    "visualizer.bench",
    "visualizer.bench_actions",
    "visualizer.chat_actions",
    "visualizer.conversation",
    "visualizer.beam_run",
    "visualizer.forced_run",
    "visualizer.forcing",
    "visualizer.decoding_actions",
    "visualizer.tree_view",
    "visualizer.targets",
    "visualizer.walkthrough",
    "visualizer.lessons",
    "visualizer.i18n",
    "visualizer.reasons",
    "visualizer.cards",
    "visualizer.glossary",
    "visualizer.lenses",
)


def violations(root: Path) -> Iterator[str]:
    graph = ImportGraph(root, ("model_core", "visualizer"))
    core = [module for module in graph.paths if module.split(".")[0] == "model_core"]
    return chain(
        upward_imports(graph, CORE_LAYERS),
        upward_imports(graph, WINDOW_LAYERS),
        imports_across(graph, ("visualizer.panels", "visualizer.engine")),
        *(imports_of_a_leaf(graph, leaf) for leaf in LEAVES),
        *(sibling_imports(graph, package, shared) for package, shared in APART.items()),
        forbidden_imports(graph, core, (*QT, *FRAMEWORKS, "visualizer")),
        forbidden_imports(graph, graph.paths, FRAMEWORKS),
        forbidden_imports(graph, graph.inside(*WITHOUT_QT), QT),
    )


def test_imports_point_one_way_only():
    assert list(violations(ROOT)) == []


def test_the_graph_sees_modules_and_their_imports():
    graph = ImportGraph(ROOT, ("model_core", "visualizer"))
    assert "model_core.ops.base" in graph.inside("model_core.ops")
    assert "model_core.ops.base" in graph.imports["model_core.ops.linear"]
    assert any("numpy" in imports for imports in graph.imports.values())


SOUND = {
    "model_core/__init__.py": "from model_core.model import Model",
    "model_core/model.py": "from model_core import tape\nfrom .ops import Linear",
    "model_core/tape.py": "from model_core.ops.base import Op",
    "model_core/ops/__init__.py": "from model_core.ops.linear import Linear",
    "model_core/ops/base.py": "import numpy as np",
    "model_core/ops/linear.py": "from model_core.ops.base import Op",
    "model_core/ops/norm.py": "from .base import Op",
    "model_core/sampling.py": "import numpy",
    "model_core/tokenizers/__init__.py": "from model_core.tokenizers.word import Word",
    "model_core/tokenizers/word.py": "from model_core.tokenizers.base import Tokenizer",
    "model_core/tokenizers/base.py": "",
    "model_core/tokenizers/char.py": "from model_core.tokenizers.base import Tokenizer",
    "visualizer/__init__.py": "",
    "visualizer/state.py": "import model_core",
    "visualizer/store.py": "from PySide6.QtCore import QObject\nfrom visualizer import state",
    "visualizer/engine.py": "from visualizer.store import Store",
    "visualizer/theme.py": "from PySide6.QtGui import QColor",
    "visualizer/lenses/bars.py": "import visualizer.state",
    "visualizer/panels/stage.py": "from visualizer.store import Store",
    "visualizer/panels/map.py": "from visualizer.store import Store",
}

PLANTED = {
    "upward in the core": ("model_core/tape.py", "from model_core.model import Model"),
    "upward inside a function": ("model_core/tape.py", "def f():\n    import model_core.model"),
    "upward for a type only": (
        "model_core/tape.py",
        "if TYPE_CHECKING:\n    from .model import Model",
    ),
    "upward through the package itself": ("model_core/ops/base.py", "from model_core import Model"),
    "upward in the window": ("visualizer/state.py", "from visualizer.store import Store"),
    "a panel that knows a panel": (
        "visualizer/panels/map.py",
        "from visualizer.panels import stage",
    ),
    "a panel that knows the engine": ("visualizer/panels/map.py", "import visualizer.engine"),
    "an op that knows an op": (
        "model_core/ops/norm.py",
        "from model_core.ops.linear import Linear",
    ),
    "an op that knows all ops": ("model_core/ops/norm.py", "from model_core.ops import Linear"),
    "a base that knows a tokenizer": ("model_core/tokenizers/base.py", "from .char import Char"),
    "a leaf that knows the core": ("model_core/sampling.py", "from model_core.ops.base import Op"),
    "Qt in the core": ("model_core/tape.py", "from PySide6.QtCore import QObject"),
    "torch in the core": ("model_core/tape.py", "import torch.nn as nn"),
    "torch in the window": ("visualizer/engine.py", "import torch"),
    "the window in the core": ("model_core/model.py", "from visualizer import state"),
    "Qt in a lens": ("visualizer/lenses/bars.py", "import pyqtgraph as pg"),
    "Qt behind a lens": ("visualizer/lenses/bars.py", "from visualizer.theme import LIGHT"),
}


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")


def test_a_sound_tree_has_no_violation(tmp_path):
    plant(tmp_path, SOUND)
    assert list(violations(tmp_path)) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_is_found(tmp_path, name):
    path, text = PLANTED[name]
    plant(tmp_path, SOUND | {path: f"{SOUND[path]}\n{text}"})
    found = list(violations(tmp_path))
    module = path.removesuffix(".py").replace("/", ".")
    assert any(module in sentence for sentence in found), found


def test_a_module_without_a_place_carries_nothing_past_the_contract(tmp_path):
    plant(tmp_path, SOUND)
    plant(tmp_path, {"model_core/detour.py": "from model_core.model import Model"})
    plant(tmp_path, {"model_core/tape.py": "import model_core.detour"})
    assert "upward: model_core.tape -> model_core.detour -> model_core.model" in list(
        violations(tmp_path)
    )


IMPORT_WITHOUT_QT = """
import importlib, sys

class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {forbidden}:
            raise ImportError(name + " is not to be imported here")

sys.meta_path.insert(0, NoQt())
for module in {modules}:
    importlib.import_module(module)
print("imported")
"""


def test_the_modules_without_qt_import_where_qt_is_absent():
    graph = ImportGraph(ROOT, ("model_core", "visualizer"))
    core = [module for module in graph.paths if module.split(".")[0] == "model_core"]
    modules = [m for m in (*core, *graph.inside(*WITHOUT_QT)) if not m.endswith("__main__")]
    program = IMPORT_WITHOUT_QT.format(forbidden=set(QT), modules=modules)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "imported\n", done.stderr
