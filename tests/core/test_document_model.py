"""The whole core against numbers computed elsewhere: forward, loss, gradients, Adam."""

from __future__ import annotations

import numpy as np
import pytest

from model_core.training.optimiser import Adam, clip_gradients
from tests.core.document_model import document_model, expected, names

ACTIVATIONS = ["gelu_tanh", "gelu"]
ITEMS = ["p0", "p1", "p2", "b"]
SITES = {
    "encoder.embed.out": "enc_embed",
    "decoder.embed.out": "dec_embed",
    "logits": "logits",
    **{f"encoder.layers.{i}.self_attn.weights": f"enc_attn_{i}" for i in range(2)},
    **{f"decoder.layers.{i}.self_attn.weights": f"dec_attn_{i}" for i in range(2)},
    **{f"decoder.layers.{i}.cross_attn.weights": f"cross_attn_{i}" for i in range(2)},
    **{f"encoder.layers.{i}.norm1.out": f"enc_norm1_{i}" for i in range(2)},
    **{f"encoder.layers.{i}.norm2.out": f"enc_layer_{i}" for i in range(2)},
    **{f"decoder.layers.{i}.norm1.out": f"dec_norm1_{i}" for i in range(2)},
    **{f"decoder.layers.{i}.norm2.out": f"dec_norm2_{i}" for i in range(2)},
    **{f"decoder.layers.{i}.norm3.out": f"dec_layer_{i}" for i in range(2)},
}
TOLERANCE = {"float64": 1e-8, "float32": 2e-5}
GRADIENT_TOLERANCE = {"float64": 1e-8, "float32": 5e-5}


def is_key_bias(name: str) -> bool:
    """Key biases have no gradient (softmax ignores a shift): what is there is rounding noise."""
    return name.endswith(".b_k")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_given_activation_agrees(activation: str, item: str, dtype: str) -> None:
    truth = expected(activation)
    tape = document_model(activation, dtype).trace(
        source_ids=truth[f"{item}_src"], target_ids=truth[f"{item}_dec_in"]
    )
    for site, key in SITES.items():
        wanted = truth[f"{item}_{key}"]
        got = tape[site].value.reshape(wanted.shape)
        assert np.abs(got - wanted).max() <= TOLERANCE[dtype] * np.abs(wanted).max(), site


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_greedy_ids_agree_up_to_the_end_token(activation: str) -> None:
    truth = expected(activation)
    model = document_model(activation)
    for item in ITEMS:
        source = np.atleast_2d(truth[f"{item}_src"])
        wanted = np.atleast_2d(truth[f"{item}_greedy_ids"])
        mask = source != model.tokenizer.pad_id
        run = model._runner.begin(source, mask)
        ids = np.full((len(source), 1), model.tokenizer.start_id)
        rows = [ids]
        for _ in range(wanted.shape[1] - 1):
            rows.append(run.advance(rows[-1])[:, -1].argmax(axis=-1)[:, None])
        got = np.concatenate(rows, axis=1)
        for mine, theirs in zip(got, wanted, strict=True):
            end = [*theirs, model.tokenizer.end_id].index(model.tokenizer.end_id)
            assert mine[: end + 1].tolist() == theirs[: end + 1].tolist()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("smoothing", "key"), [(0.0, "ls0"), (0.1, "ls0p1")])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_losses_and_gradients_agree(
    activation: str, smoothing: float, key: str, dtype: str
) -> None:
    truth = expected(activation)
    model = document_model(activation, dtype)
    tape = model.trace(source_ids=truth["b_src"], target_ids=truth["b_dec_in"])
    loss = model.loss(tape, truth["b_labels"], label_smoothing=smoothing)
    assert loss == pytest.approx(float(truth[f"loss_{key}"]), rel=TOLERANCE[dtype])
    wanted = {n: truth.get(f"grad_{key}__{k}") for n, k in names().items()}
    if all(w is None for w in wanted.values()):
        return
    gradients = tape.backward("loss").parameters
    largest = max(float(np.abs(w).max()) for w in wanted.values() if w is not None)
    for name, value in wanted.items():
        assert value is not None
        scale = max(float(np.abs(value).max()), largest / 1000)
        error = np.abs(gradients[name].reshape(value.shape) - value).max()
        assert error <= GRADIENT_TOLERANCE[dtype] * scale, name


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("smoothing", "key"), [(0.0, "ls0"), (0.1, "ls0p1")])
def test_clipping_and_adam_steps_agree(smoothing: float, key: str, dtype: str) -> None:
    truth = expected("gelu_tanh")
    model = document_model("gelu_tanh", dtype)
    adam = Adam(learning_rate=0.001, beta1=0.9, beta2=0.98, epsilon=1e-9)
    for step in (1, 2, 3):
        tape = model.trace(source_ids=truth["b_src"], target_ids=truth["b_dec_in"])
        loss = model.loss(tape, truth["b_labels"], label_smoothing=smoothing)
        assert loss == pytest.approx(
            float(truth[f"adam_{key}_loss_before_step{step}"]), rel=10 * TOLERANCE[dtype]
        )
        clipped, norm = clip_gradients(tape.backward("loss").parameters, 1.0)
        assert norm == pytest.approx(
            float(truth[f"adam_{key}_gradnorm_step{step}"]), rel=100 * TOLERANCE[dtype]
        )
        if step == 1 and smoothing == 0.0 and dtype == "float64":
            for name, file_key in names().items():
                wanted = truth[f"clip1_ls0__{file_key}"]
                assert np.allclose(clipped[name].reshape(wanted.shape), wanted, atol=1e-10)
        adam.step(model.parameters, clipped)
        if step in (1, 3):
            for name, file_key in names().items():
                wanted = truth[f"adam{step}_{key}__{file_key}"]
                got = model.parameters[name].reshape(wanted.shape)
                # Adam divides noise by its own size: what has no gradient moves by up to the rate
                noise = 3 * 0.001 if is_key_bias(name) or dtype == "float32" else 0.0
                bound = TOLERANCE[dtype] * np.abs(wanted).max() + noise
                assert np.abs(got - wanted).max() <= bound, name
