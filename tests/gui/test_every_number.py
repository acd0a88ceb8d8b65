"""Every number explains itself: the line, the printed NumPy and the tape say the same."""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections import defaultdict

import numpy as np
import pytest

import model_core
from model_core import bundled
from model_core.finite_difference import central_difference
from model_core.gradients import Target, gradients_of
from model_core.ops import ALL_OPS, EVALUATION_NAMES
from visualizer import i18n, trail
from visualizer.lenses.explanation import cell_text
from visualizer.lenses.stage import stage
from visualizer.render import stepped_into
from visualizer.run import open_entry
from visualizer.state import current_tape

CELLS = 200
MODELS = tuple(bundled.names())
# These work only while a model is trained, or on what training adds.
TRAINING_ONLY = {"dropout_mask", "dropped", "cross_entropy", "alignment_loss", "weighted_sum"}


def agree(found: float, wanted: float, size: float, tolerance: float = 1e-5) -> bool:
    """As design.md defines it; size: the sum of the terms' sizes."""
    if not math.isfinite(wanted):
        return found == wanted
    return abs(found - wanted) <= tolerance * (abs(wanted) + size)


def printed(snippet, path) -> float:
    """What the source text prints when it is run."""
    if snippet.arrays:
        snippet.save(path)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(snippet.text, "snippet", "exec"), {})
    return float({"True": "1", "False": "0"}.get(said.getvalue().strip(), said.getvalue()))


def drawn(records, seed: int = 0):
    """(op, record, index): so many cells of each kind of op, spread over its records."""
    kinds = defaultdict(list)
    for record in records:
        kinds[record.op].append(record)
    rng = np.random.default_rng(seed)
    for op, members in kinds.items():
        for _ in range(CELLS):
            record = members[rng.integers(len(members))]
            yield op, record, tuple(int(rng.integers(size)) for size in record.value.shape)


@pytest.fixture(scope="module")
def states():
    i18n.set_language("en")
    return {name: stepped_into(open_entry(name), None) for name in MODELS}


def total_size(explanation) -> float:
    return math.fsum(abs(t.value) for t in explanation.terms if math.isfinite(t.value))


@pytest.mark.parametrize("name", MODELS)
def test_explanation_snippet_and_tape_agree_on_every_kind_of_op(name, states, tmp_path):
    path, counted = tmp_path / "arrays.npz", defaultdict(int)
    for op, record, index in drawn(states[name].run.tape):
        told, wanted = record.explain(index), float(record.value[index])
        size = total_size(told)
        assert agree(told.value, wanted, size), (record.site, index)
        evaluated = eval(told.text, {"__builtins__": {}}, dict(EVALUATION_NAMES))
        assert agree(evaluated, wanted, size), (record.site, index)
        said = printed(record.snippet(index, str(path)), path)
        assert agree(said, wanted, size), (record.site, index)
        counted[op] += 1
    print(f"{name}: {CELLS} cells each of {', '.join(sorted(counted))}")
    assert set(counted) == {record.op for record in states[name].run.tape}
    assert set(counted.values()) == {CELLS}


def test_no_kind_of_op_is_left_out_by_the_bundled_models(states):
    seen = {record.op for state in states.values() for record in state.run.tape}
    known = {op.name for op in ALL_OPS}
    # learned tables, the other activations, RMSNorm and so on: the ops' own tests cover them
    print("not in any bundled model:", ", ".join(sorted(known - seen - TRAINING_ONLY)))
    assert seen <= known


NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?|-?∞")


@pytest.mark.parametrize("name", MODELS)
def test_every_number_of_a_line_is_the_one_that_its_link_leads_to(name, states):
    """The line is read as it is written, and each link's number is looked up on the tape."""
    state = states[name]
    tape, followed = current_tape(state), 0
    for _, record, index in list(drawn(tape, seed=1))[::5]:
        here = trail.follow(state, model_core.ops.base.Origin(record.site, index))
        matrix = stage(here)
        if here.selected is None or matrix is None:
            continue
        row, column = here.selected
        if matrix.cell_index(row, column) != index:
            # a row that stands for all queries, say
            continue
        text = cell_text(here, matrix, (row, column))
        if text.hidden:
            continue
        assert (
            text.exact in ("", str(record.value[index])) or float(text.exact) == record.value[index]
        )
        for piece in text.lines[0]:
            for start, end, origin in piece.links:
                number = NUMBER.fullmatch(piece.text[start:end])
                value = np.asarray(tape.value_of(origin.name))[origin.index]
                if number is None or value.dtype == bool:
                    continue
                written = float(number[0].replace("∞", "inf"))
                assert_rounds_to(value, written, number[0], (record.site, index, origin))
                followed += 1
    assert followed > 300


def assert_rounds_to(value, written: float, text: str, where) -> None:
    value = float(value)
    if not math.isfinite(value):
        assert value == written, where
        return
    mantissa = text.split("e")[0]
    places = len(mantissa.split(".")[1]) if "." in mantissa else 0
    exponent = int(text.split("e")[1]) if "e" in text else 0
    # a bias and a shift are written behind a sign of their own
    assert abs(abs(value) - abs(written)) <= 0.5001 * 10.0 ** (exponent - places), where


# Gradients, in float64 so that a small step can tell them.


@pytest.fixture(scope="module", params=["log_prob", "loss"])
def gradients(request):
    model = model_core.open_checkpoint("en-zh", dtype="float64")
    tape = model.trace(source=model.card["examples"][0], target="黑 猫")
    labels = tuple(int(token) for token in tape.predicted_ids[0])
    # not the likeliest token: of a certain one nothing is left to differ
    unlikely = int(np.argsort(tape["log_probs"].value[0, 1])[-3])
    target = Target(request.param, row=1, token=unlikely, labels=labels)
    return gradients_of(tape, target)


def difference_agrees(gradients, name: str, index, largest: float) -> bool:
    """As design.md defines it for gradients; the step leaves an error of its own."""
    found = central_difference(gradients.tape, gradients.target, name, index).value
    own = float(np.abs(gradients.gradient_of(name)).max())
    wanted = float(gradients.gradient_of(name)[index])
    return abs(found - wanted) <= 1e-6 * max(own, largest / 1000) + 1e-11 * largest


def largest_of(gradients) -> float:
    return max(float(np.abs(record.value).max()) for record in gradients)


def test_gradients_of_every_kind_of_op_agree_with_differences(gradients, tmp_path):
    path, largest, counted = tmp_path / "arrays.npz", largest_of(gradients), defaultdict(int)
    records = [r for r in gradients if r.tape.tape[r.site].value.dtype == np.float64]
    for op, record, index in drawn(records):
        told, wanted = record.explain(index), float(record.value[index])
        size = total_size(told)
        where = (record.site, index)
        assert agree(told.value, wanted, size), where
        evaluated = eval(told.text, {"__builtins__": {}}, dict(EVALUATION_NAMES))
        assert agree(evaluated, wanted, size), where
        if counted[op] % 10 == 0:  # whole arrays are written and loaded
            assert agree(printed(record.snippet(index, str(path)), path), wanted, size), where
        if record.site != gradients.target_site and record.op != "masked_scores":
            assert difference_agrees(gradients, record.site, index, largest), where
        counted[op] += 1
    print(f"{CELLS} gradients each of {', '.join(sorted(counted))}")
    assert set(counted.values()) == {CELLS}


def test_gradients_of_parameters_agree_with_differences(gradients, tmp_path):
    path, largest = tmp_path / "arrays.npz", largest_of(gradients)
    rng = np.random.default_rng(3)
    for name in gradients.parameters:
        shape = gradients.gradient_of(name).shape
        for turn in range(5):
            index = tuple(int(rng.integers(size)) for size in shape)
            told = gradients.explain_parameter(name, index)
            wanted, size = float(gradients.gradient_of(name)[index]), total_size(told)
            assert agree(told.value, wanted, size), (name, index)
            assert difference_agrees(gradients, name, index, largest), (name, index)
            if turn == 0:
                said = printed(gradients.parameter_snippet(name, index, str(path)), path)
                assert agree(said, wanted, size), (name, index)
