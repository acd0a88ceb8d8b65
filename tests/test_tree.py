"""What holds for every file of the tree."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_FILE = 400
NOT_OURS = {"__pycache__", ".venv", ".git", "build", "dist"}

# What unpickles or runs what a stranger's file says, and what reaches for the network.
BARRED_MODULES = {
    "torch", "transformers", "tensorflow", "jax",
    "pickle", "dill", "joblib", "shelve", "marshal",
    "socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "PySide6.QtNetwork",
}  # fmt: skip
RANDOM_MODULES = {"random", "secrets", "numpy.random"}
RANDOM_NAMES = {"random", "default_rng", "RandomState", "QRandomGenerator", "SystemRandom"}

# Spelled in pieces, so that this file does not hold them.
MACHINE_PATHS = re.compile(
    "|".join((r"/" + r"work/", r"/" + r"home/\w", r"/" + r"Users/\w", r"/" + r"opt/\w"))
)


def python_files(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not NOT_OURS & set(path.parts)
    )


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def barred_imports(tree: ast.Module, barred: set[str]) -> list[str]:
    return [
        name
        for name in imported_names(tree)
        if any(name == module or name.startswith(module + ".") for module in barred)
    ]


def random_numbers(tree: ast.Module) -> list[str]:
    drawn = [
        f"line {node.lineno}: .{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in RANDOM_NAMES
    ]
    return drawn + barred_imports(tree, RANDOM_MODULES)


def code_from_data(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec", "__import__"}:
            found.append(f"line {node.lineno}: {node.func.id}()")
        allowing = [k for k in node.keywords if k.arg == "allow_pickle"]
        if any(
            not (isinstance(k.value, ast.Constant) and k.value.value is False) for k in allowing
        ):
            found.append(f"line {node.lineno}: allow_pickle")
    return found


def findings(files: list[Path], look) -> dict[str, list[str]]:
    found = {str(path.relative_to(ROOT)): look(parsed(path)) for path in files}
    return {name: what for name, what in found.items() if what}


def tracked_files() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    if done.returncode:
        pytest.skip("not in a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_python_file_is_longer_than_400_lines():
    files = python_files("model_core", "visualizer", "tests", "tools")
    lengths = {str(p.relative_to(ROOT)): p.read_bytes().count(b"\n") for p in files}
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def test_every_module_of_the_product_says_what_it_is_for():
    files = [path for path in python_files("model_core", "visualizer") if path.stat().st_size]
    silent = [str(p.relative_to(ROOT)) for p in files if not ast.get_docstring(parsed(p))]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing():
    vague = re.compile(r"utils?|helpers?|managers?|misc|common|stuff")
    files = python_files("model_core", "visualizer", "tests")
    assert [p.name for p in files if vague.search(p.stem)] == []


def test_no_random_number_is_drawn_in_the_window():
    assert findings(python_files("visualizer"), random_numbers) == {}


def test_the_product_imports_no_framework_no_pickle_and_no_network():
    files = python_files("model_core", "visualizer")
    assert findings(files, lambda tree: barred_imports(tree, BARRED_MODULES)) == {}


def test_the_product_runs_no_code_out_of_data():
    assert findings(python_files("model_core", "visualizer"), code_from_data) == {}


def test_no_file_names_a_path_of_one_machine():
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {hit}" for hit in MACHINE_PATHS.findall(text)]
    assert found == []


@pytest.mark.parametrize(
    ("look", "source"),
    [
        (random_numbers, "import numpy as np\nx = np.random.default_rng(0)"),
        (random_numbers, "from random import choice"),
        (random_numbers, "from numpy.random import default_rng"),
        (random_numbers, "from PySide6 import QtCore\nQtCore.QRandomGenerator.global_()"),
        (lambda tree: barred_imports(tree, BARRED_MODULES), "def f():\n    import pickle"),
        (lambda tree: barred_imports(tree, BARRED_MODULES), "import urllib.request"),
        (lambda tree: barred_imports(tree, BARRED_MODULES), "from torch import nn"),
        (lambda tree: barred_imports(tree, BARRED_MODULES), "from PySide6 import QtNetwork"),
        (code_from_data, "eval('1 + 1')"),
        (code_from_data, "np.load(path, allow_pickle=True)"),
    ],
)
def test_a_planted_breach_is_found(look, source):
    assert look(ast.parse(source))
