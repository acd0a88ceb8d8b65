"""What is copied as NumPy runs anywhere and prints the number on show."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import model_core
from model_core.gradients import GradientTape, gradients_of
from model_core.ops import ALL_OPS
from model_core.snippets import LONGEST_INLINE, Snippet, array_text, variable_names
from model_core.tape import Tape
from tests.core.gradient_runs import KINDS, LOG_PROB, LOSS, cells, size_of, traced

# Reads the texts, runs each as a program of its own would run, and tells what they printed.
RUN_ALL = """
import contextlib, io, json, sys, warnings
warnings.simplefilter("error")
printed = []
for text in json.load(open("snippets.json")):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "<snippet>", "exec"), {"__name__": "__main__"})
    printed.append(out.getvalue())
assert "model_core" not in sys.modules
json.dump(printed, sys.stdout)
"""


class Wanted(NamedTuple):
    """A snippet, the number or numbers that it should print and how far off it may be."""

    what: str
    snippet: Snippet
    value: np.ndarray
    tolerance: np.ndarray | float


def run_all(folder: Path, wanted: list[Wanted]) -> list[str]:
    """What each of the snippets prints, all run in one process; `data` names their files."""
    texts = []
    for number, one in enumerate(wanted):
        if one.snippet.arrays:
            one.snippet.save(folder / f"{number}.npz")
        # every snippet has been asked for with the same name of its file
        texts.append(one.snippet.text.replace("arrays.npz", f"{number}.npz"))
    (folder / "snippets.json").write_text(json.dumps(texts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def numbers(printed: str) -> np.ndarray:
    """The numbers in printed text, in order."""
    words = printed.replace("[", " ").replace("]", " ").split()
    return np.array([float({"True": "1", "False": "0"}.get(word, word)) for word in words])


def check(folder: Path, wanted: list[Wanted]) -> None:
    for one, printed in zip(wanted, run_all(folder, wanted), strict=True):
        got, value = numbers(printed), np.asarray(one.value, dtype=np.float64).reshape(-1)
        assert got.shape == value.shape, (one.what, printed[:200])
        finite = np.isfinite(value)
        assert np.array_equal(got[~finite], value[~finite]), one.what
        tolerance = np.broadcast_to(one.tolerance, np.shape(one.value)).reshape(-1)
        error = np.abs(got[finite] - value[finite])
        assert (error <= tolerance[finite]).all(), (one.what, printed[:200], error.max())


def of_values(tape: Tape, name: str, share: float) -> list[Wanted]:
    """A cell and the whole of every record of a run."""
    wanted = []
    for record in tape:
        value, size = record.value, record.recompute()[1]
        whole = share * (np.abs(value.astype(float)) + size)
        for index in cells(value.shape, 2, seed=1):
            snippet = record.snippet(index, data="arrays.npz")
            what = f"{name}: {record.site}{list(index)}"
            wanted.append(Wanted(what, snippet, value[index], whole[index]))
        snippet = record.snippet(data="arrays.npz")
        wanted.append(Wanted(f"{name}: {record.site}", snippet, value, whole))
    return wanted


def of_gradients(gradients: GradientTape, name: str, share: float) -> list[Wanted]:
    """A cell and the whole of the gradient of every record and parameter."""
    ways: list[tuple[str, Callable[..., Snippet]]] = [
        (record.site, record.snippet) for record in gradients
    ]

    def of_parameter(parameter: str) -> Callable[..., Snippet]:
        return lambda *index, **file: gradients.parameter_snippet(parameter, *index, **file)

    ways += [(parameter, of_parameter(parameter)) for parameter in gradients.parameters]
    wanted = []
    for site, snippet in ways:
        gradient, tolerance = gradients.gradient_of(site), share * size_of(gradients, site)
        if site.endswith(".b_k"):
            # nothing but what rounding leaves of it
            tolerance *= 10
        what = f"{name}: the gradient of {site}"
        for index in cells(gradient.shape, 1, seed=2):
            text = snippet(index, data="arrays.npz")
            wanted.append(Wanted(f"{what}{list(index)}", text, gradient[index], tolerance))
        wanted.append(Wanted(what, snippet(data="arrays.npz"), gradient, tolerance))
    return wanted


def test_every_op_prints_its_cells_and_its_records(tmp_path: Path) -> None:
    wanted, seen = [], set()
    for kind in KINDS:
        for dtype, share in (("float32", 1e-5), ("float64", 1e-12)):
            for target in (LOG_PROB, LOSS):
                tape = gradients_of(traced(kind, dtype), target).tape
                seen |= {record.op for record in tape}
                wanted += of_values(tape, f"{kind}, {dtype}", share)
    example = model_core.open_checkpoint("encoder-layer").trace()
    seen |= {record.op for record in example}
    wanted += of_values(example, "worked example", 1e-12)
    training = {"dropout_mask", "dropped", "alignment_loss", "weighted_sum"}
    assert seen == {op.name for op in ALL_OPS} - training
    check(tmp_path, wanted)


@pytest.mark.parametrize(("dtype", "share"), [("float32", 1e-5), ("float64", 1e-10)])
def test_every_op_prints_the_gradients_of_cells_records_and_parameters(
    tmp_path: Path, dtype: str, share: float
) -> None:
    wanted = []
    for kind in KINDS:
        for target in (LOG_PROB, LOSS):
            gradients = gradients_of(traced(kind, dtype), target)
            wanted += of_gradients(gradients, f"{kind}, {target.kind}", share)
    check(tmp_path, wanted)


def test_a_cell_is_printed_with_the_digits_of_its_own_type(tmp_path: Path) -> None:
    record = traced(dtype="float32")["encoder.layers.0.self_attn.q_heads"]
    snippet = record.snippet((0, 1, 2, 3), data="arrays.npz")
    (printed,) = run_all(tmp_path, [Wanted("", snippet, record.value, 0.0)])
    assert np.float32(printed) == record.value[0, 1, 2, 3]
    assert printed.strip() == str(record.value[0, 1, 2, 3])


def test_a_cell_takes_no_more_than_it_reads() -> None:
    record = traced()["decoder.layers.0.cross_attn.q"]
    snippet = record.snippet((0, 2, 3))
    assert not snippet.arrays
    assert len(re.findall(r"\d\.\d", snippet.text)) == 12 + 12 + 1
    assert "# decoder.layers.0.norm1.out[0:1, 2:3, :], shape (1, 1, 12)" in snippet.text
    assert "# decoder.layers.0.cross_attn.W_q[:, 3:4], shape (12, 1)" in snippet.text


def test_the_text_names_the_site_the_cell_its_shape_and_the_op() -> None:
    record = traced()["decoder.layers.0.cross_attn.weights"]
    first = record.snippet((0, 1, 2, 3)).text.splitlines()[0]
    assert first == (
        "# decoder.layers.0.cross_attn.weights[0, 1, 2, 3] of shape (1, 3, 4, 5): "
        "softmax of decoder.layers.0.cross_attn.masked_scores"
    )
    assert record.snippet().text.startswith(
        "# decoder.layers.0.cross_attn.weights, shape (1, 3, 4, 5): softmax of "
    )
    gradient = gradients_of(traced(), LOG_PROB)["encoder.embed.out"]
    text = gradient.snippet((0, 1, 2)).text
    assert text.startswith(
        "# the gradient of target with respect to encoder.embed.out[0, 1, 2] of shape (1, 5, 12)"
    )
    for letter in "qkv":
        assert f"# through encoder.layers.0.self_attn.{letter} (linear)" in text
    assert "value = share_1 + share_2 + share_3 + share_4" in text


def test_long_arrays_are_loaded_and_short_ones_stand_in_the_text(tmp_path: Path) -> None:
    tape = traced()
    record = tape["encoder.layers.0.ffn.out"]
    snippet = record.snippet(data="my arrays.npz")
    assert set(snippet.arrays) == {"activation", "W_2"}
    assert all(array.size > LONGEST_INLINE for array in snippet.arrays.values())
    assert "data = np.load('my arrays.npz')" in snippet.text
    assert 'W_2 = data["W_2"]' in snippet.text
    assert "b_2 = np.array([" in snippet.text
    snippet.save(tmp_path / "my arrays.npz")
    with np.load(tmp_path / "my arrays.npz") as stored:
        assert set(stored) == set(snippet.arrays)
        assert np.array_equal(stored["W_2"], tape.parameters["encoder.layers.0.ffn.W_2"])
    assert "np.load" not in record.numpy()


def test_the_whole_text_of_a_gradient_needs_no_file() -> None:
    gradients = gradients_of(traced(), LOSS)
    record = gradients["encoder.layers.0.norm1.out"]
    names: dict[str, Any] = {}
    text = record.numpy()
    assert "np.load" not in text
    exec(text.replace("print(value)", ""), names)
    assert np.allclose(names["value"], record.value, rtol=0, atol=1e-12)


def test_only_what_is_used_is_imported_and_given() -> None:
    gradients = gradients_of(traced(), LOG_PROB)
    text = gradients["decoder.layers.0.ffn.activation"].snippet().text
    assert "import math" not in text and "inf" not in text
    # x W + b: the gradient of x needs neither x nor b
    assert set(re.findall(r"^(\w+) = ", text, re.MULTILINE)) == {
        "data", "d_out", "W_2", "share_1", "value",
    }  # fmt: skip


def test_a_cell_that_does_not_exist_has_no_snippet() -> None:
    tape = traced()
    with pytest.raises(IndexError, match="logits"):
        tape["logits"].snippet((0, 9, 0))
    with pytest.raises(IndexError, match="output"):
        gradients_of(tape, LOG_PROB).parameter_snippet("output.W", (99, 0))


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, -0.0, 1e-45, 3.4e38, math.inf, -math.inf, math.nan], np.float32),
        np.array([[0.1, 5e-324], [1.7e308, -math.inf]]),
        np.array(0.3, np.float32),
        np.arange(130).reshape(2, 5, 13) - 60,
        np.array([[True], [False]]),
        np.zeros((1, 0, 3), np.float32),
    ],
    ids=["float32", "float64", "scalar", "int", "bool", "empty"],
)
def test_an_array_as_text_has_the_same_bits(array: np.ndarray) -> None:
    got = eval(array_text(array), {"np": np, "inf": math.inf, "nan": math.nan})
    assert got.dtype == array.dtype and got.shape == array.shape
    assert got.tobytes() == array.tobytes()


def test_variables_have_short_names_that_differ_and_shadow_nothing() -> None:
    assert variable_names(["encoder.out", "decoder.layers.0.norm1.out"]) == ["out", "norm1_out"]
    assert variable_names(["a.W_q", "a.b_q"]) == ["W_q", "b_q"]
    assert variable_names(["x", "x"]) == ["x", "x_"]
    for taken in ("np", "math", "data", "value", "inf", "in", "lambda"):
        (name,) = variable_names([taken])
        assert name.isidentifier() and name != taken
    assert variable_names(["logits@edit", "labels'"]) == ["logits_edit", "labels_"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_number_printed_has_the_type_of_the_one_on_show(dtype: str) -> None:
    def printed(text: str) -> np.dtype:
        names: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "<snippet>", "exec"), names)
        return np.asarray(names["value"]).dtype

    wrong = []
    for kind in KINDS:
        for target in (LOG_PROB, LOSS):
            gradients = gradients_of(traced(kind, dtype), target)
            for record in gradients.tape:
                if printed(record.numpy()) != record.value.dtype:
                    wrong.append((kind, record.op, record.site))
            for record in gradients:
                if printed(record.numpy()) != record.value.dtype:
                    wrong.append((kind, f"gradient of {record.op}", record.site))
            for name in gradients.parameters:
                gradient = gradients.gradient_of(name)
                if printed(gradients.parameter_snippet(name, None, None).text) != gradient.dtype:
                    wrong.append((kind, "gradient", name))
    assert wrong == []
