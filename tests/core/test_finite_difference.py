"""A gradient found by a small step, without help from any backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model_core.finite_difference import central_difference
from model_core.gradients import Target
from model_core.model import Model
from model_core.ops import ALL_OPS
from model_core.tape import Tape
from tests.core.gradient_runs import LOG_PROB, LOSS, SOURCE, TARGET, cells, has_gradient, traced
from tests.core.models import small_model


def stepped(model: Model, name: str, cell: tuple[int, ...], target: Target, step: float) -> float:
    """The target's slope from two whole runs of the model itself, with a parameter moved."""
    array, ends = model.parameters[name], []
    before = float(array[cell])
    for move in (step, -step):
        array[cell] = before + move
        log_probs = model.trace(source_ids=SOURCE, target_ids=TARGET)["log_probs"].value[0]
        if target.kind == "log_prob":
            ends.append(float(log_probs[target.row, target.token]))
        else:
            real = [(t, label) for t, label in enumerate(target.labels) if label]
            ends.append(-sum(float(log_probs[at]) for at in real) / len(real))
    array[cell] = before
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("target", [LOG_PROB, LOSS], ids=["log_prob", "loss"])
def test_a_step_in_a_parameter_is_the_step_of_two_whole_runs(target: Target) -> None:
    changes: dict[str, Any] = {"tying": "all", "src_vocab_size": 11}
    model = small_model(n_encoder_layers=1, n_decoder_layers=1, **changes)
    tape = model.trace(source_ids=SOURCE, target_ids=TARGET)
    # where other runs do not write
    kept = {name: np.array(value) for name, value in model.parameters.items()}
    for name in kept:
        for cell in cells(kept[name].shape, 2, seed=1):
            found = central_difference(tape, target, name, cell, step=1e-5)
            assert found is not None
            wanted = stepped(model, name, cell, target, 1e-5)
            assert abs(found.value - wanted) <= 1e-8, (name, cell)


def test_the_ends_are_the_target_a_step_above_and_below() -> None:
    tape = traced()
    found = central_difference(tape, LOG_PROB, "log_probs", (0, 2, 7), step=1e-3)
    here = float(tape["log_probs"].value[0, 2, 7])
    assert found is not None
    assert found.step == 1e-3
    assert abs(found.upper - (here + 1e-3)) <= 1e-12
    assert abs(found.lower - (here - 1e-3)) <= 1e-12
    assert abs(found.value - 1.0) <= 1e-9


def test_a_float32_run_is_stepped_in_float64() -> None:
    exact, rounded = traced(dtype="float64"), traced(dtype="float32")
    for name in ("encoder.embed.out", "encoder.layers.0.self_attn.q", "logits", "output.W"):
        cell = next(cells(np.shape(exact.value_of(name)), 1, seed=2))
        found = central_difference(rounded, LOG_PROB, name, cell)
        wanted = central_difference(exact, LOG_PROB, name, cell)
        assert found is not None and wanted is not None
        assert abs(found.value - wanted.value) <= 1e-4 * max(abs(wanted.value), 1e-2), name


def test_a_view_is_stepped_alone() -> None:
    tape = traced()
    # head 1, channel 2 is column 1 · 5 + 2 of all heads side by side
    heads = central_difference(tape, LOG_PROB, "decoder.layers.0.self_attn.k_heads", (0, 1, 1, 2))
    flat = central_difference(tape, LOG_PROB, "decoder.layers.0.self_attn.k", (0, 1, 7))
    assert heads is not None and flat is not None
    assert heads.value != 0.0
    assert abs(heads.value - flat.value) <= 1e-12
    assert not tape["decoder.layers.0.self_attn.k"].value.flags.writeable


def test_nothing_of_the_run_is_changed_by_a_step() -> None:
    tape = traced()
    values = {site: tape[site].value.copy() for site in tape.sites}
    parameters = {name: value.copy() for name, value in tape.parameters.items()}
    for name in ("encoder.embed.out", "src_embed.weight", "decoder.layers.0.self_attn.W_q"):
        central_difference(tape, LOG_PROB, name, (0,) * np.ndim(tape.value_of(name)))
    assert all(np.array_equal(tape[site].value, values[site]) for site in tape.sites)
    assert all(np.array_equal(tape.parameters[n], parameters[n]) for n in parameters)


def test_only_what_follows_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tape = traced()
    called: list[str] = []

    def watch(op: type[Any]) -> None:
        forward = op.forward

        def watched(self: Any, *inputs: Any, **out: Any) -> Any:
            called.append(self.name)
            return forward(self, *inputs, **out)

        monkeypatch.setattr(op, "forward", watched)

    for op in ALL_OPS:
        if "forward" in op.__dict__:
            watch(op)
    central_difference(tape, LOG_PROB, "logits", (0, 2, 3))
    # pick is the target's own record, made once before the two steps
    assert called == ["pick", "log_softmax", "pick", "log_softmax", "pick"]


def test_a_cell_that_the_target_does_not_read_has_no_slope() -> None:
    found = central_difference(traced(), LOG_PROB, "decoder.embed.out", (0, 3, 1))
    assert found is not None and found.value == 0.0


@pytest.mark.parametrize(
    "name", ["decoder.mask", "decoder.cross_mask", "source_ids", "target_positions", "source_mask"]
)
def test_a_mask_or_an_id_cannot_change_a_little(name: str) -> None:
    tape = traced()
    assert not has_gradient(tape, name)
    with pytest.raises(ValueError, match="no small step can change"):
        central_difference(tape, LOG_PROB, name, (0,) * np.ndim(tape.value_of(name)))


def test_a_name_or_a_cell_that_is_not_there_is_said() -> None:
    tape = traced()
    with pytest.raises(KeyError, match="nowhere"):
        central_difference(tape, LOG_PROB, "nowhere", (0,))
    with pytest.raises(IndexError, match="logits has shape"):
        central_difference(tape, LOG_PROB, "logits", (0, 4, 0))


def test_a_run_that_predicts_nothing_has_no_target() -> None:
    import model_core

    tape: Tape = model_core.open_checkpoint("encoder-layer").trace()
    with pytest.raises(ValueError, match="predicts no tokens"):
        central_difference(tape, LOG_PROB, "encoder.embed.out", (0, 0, 0))


def test_a_step_that_is_no_longer_wanted_gives_nothing() -> None:
    tape, asked = traced(), []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 3

    assert (
        central_difference(tape, LOG_PROB, "encoder.embed.out", (0, 0, 0), 1e-5, cancelled) is None
    )
    assert len(asked) == 4
