"""What is on screen comes off the tape: the window draws no numbers of its own making."""

from __future__ import annotations

import ast
from dataclasses import replace

from tests.gui.views import view
from tests.test_tree import findings, imported_names, python_files, random_numbers
from visualizer import actions, navigation
from visualizer.lenses.flow import flow
from visualizer.lenses.heads_overview import heads_overview
from visualizer.lenses.layer import layer_rows
from visualizer.lenses.linked import linked_tokens
from visualizer.lenses.parameter import parameter_picture
from visualizer.lenses.stage import head_pictures, stage
from visualizer.lenses.views import stack
from visualizer.state import Spot

# Functions of which a model's maths is made; one that stands for something else says what.
MATHS = {
    "matmul", "dot", "einsum", "vecdot", "inner", "tensordot", "linalg",
    "exp", "expm1", "log", "log1p", "tanh", "erf", "sqrt", "sin", "cos", "power", "cumsum",
}  # fmt: skip
# file: what it uses them for, none of which is a number of the model
OTHERWISE = {
    "visualizer/palettes.py": "colours in perceptual spaces",
    "visualizer/widgets/linked_layout.py": "points on the curves",
    "visualizer/widgets/zoom_gestures.py": "turns of the wheel to factors",
    "visualizer/widgets/column_heads.py": "the slant of labels",
    "visualizer/widgets/heatmap_words.py": "the slant of labels",
    "visualizer/lenses/board.py": "places on a logarithmic axis",
    "visualizer/lenses/lab_charts.py": "a running mean of a training's curve",
    "visualizer/widgets/lab_chart.py": "places on a logarithmic axis",
    "visualizer/widgets/lab_tables.py": "places on a logarithmic axis",
    "visualizer/lenses/arithmetic.py": "whether a scale is one over the root of the width",
    "visualizer/lenses/reductions.py": "the summaries that are named there",
}
# What computes a run, or a record of it, is asked for runs and records, not for its parts.
COMPUTING = ("model_core.kernels", "model_core.runner", "model_core.transformer", "model_core.ops")
# The terms of an explanation, what a record's op is, and the list of all for the glossary.
NAMES_OF_OPS = (
    "model_core.ops.base",
    "model_core.ops.norm.Normalise",
    "model_core.ops.embedding.SinusoidalPosition",
    "model_core.ops.ALL_OPS",
)


def maths(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            found.append(f"line {node.lineno}: @")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in ("np", "numpy", "math") and node.attr in MATHS:
                found.append(f"line {node.lineno}: {node.value.id}.{node.attr}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("forward", "dot"):
                found.append(f"line {node.lineno}: .{node.func.attr}()")
    return found


def computing_imports(tree: ast.Module) -> list[str]:
    return [
        name
        for name in imported_names(tree)
        if name.startswith(COMPUTING) and not name.startswith(NAMES_OF_OPS)
    ]


def test_the_window_computes_no_maths_of_a_model():
    found = findings(python_files("visualizer"), maths)
    assert {name: what for name, what in found.items() if name not in OTHERWISE} == {}
    assert set(OTHERWISE) <= set(found), "an exception that is no longer one"


def test_the_window_takes_no_op_and_no_kernel_into_its_own_hands():
    assert findings(python_files("visualizer"), computing_imports) == {}


def test_the_window_draws_no_random_numbers():
    assert findings(python_files("visualizer"), random_numbers) == {}


def test_the_scan_finds_what_it_looks_for():
    planted = "import numpy as np\nfrom model_core.ops import Softmax\ny = np.exp(x) @ w\n"
    tree = ast.parse(planted + "z = Softmax().forward(x)\n")
    assert maths(tree) == ["line 3: @", "line 4: .forward()", "line 3: np.exp"]
    assert computing_imports(tree) == ["model_core.ops.Softmax"]


# Every picture names its record or its lens.


def test_the_picture_of_every_record_names_it():
    state = view()
    for site in state.run.tape.sites:
        here = navigation.go_to_site(state, site)
        matrix = stage(here)
        assert matrix.source.split("[")[0] == site
        value = state.run.tape[site].value
        assert float(matrix.values[0, 0]) == float(value[matrix.cell_index(0, 0)])
        for picture in head_pictures(here):
            assert picture.matrix.source.split("[")[0] == site
        together = stack(here, matrix)
        if together is not None:
            for strip in together.strips:
                assert strip.site in state.run.tape and strip.matrix.source.startswith(strip.site)
            assert all(figures.site in state.run.tape for figures in together.figures)


def test_the_pictures_of_many_records_name_each_of_them():
    state = view()
    tape = state.run.tape
    for part in flow(state).sides:
        assert all(station.stream in tape for station in part.stations)
    whole = heads_overview(actions.show_page(state, "heads"))
    assert whole.groups and all(group.attention.site in tape for group in whole.groups)
    linked = linked_tokens(actions.show_page(state, "attention"))
    assert linked.edges and all(edges.site in tape for edges in linked.edges)
    rows = layer_rows(state)
    assert rows is not None


def test_the_picture_of_a_parameter_names_it():
    state = view()
    for name in state.run.tape.parameters:
        index = (0,) * state.run.tape.parameters[name].ndim
        there = replace(state, page="parameter", parameter=Spot(name, index))
        assert parameter_picture(there).matrix.source == name
