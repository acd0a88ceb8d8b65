"""The whole core against numbers computed elsewhere: forward, loss, gradients, Adam.

The numbers come from a NumPy float64 program that agrees with a separately written PyTorch
graph to 2e-14; gradients are PyTorch's, spot-checked by central differences.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import model_core
from model_core import Model
from model_core.checkpoints.document_json import parameter_names
from model_core.training import Adam, clip_gradients

DATA = Path(__file__).resolve().parents[1] / "data" / "document_model"
FILE = DATA / "model_flat_vocab.json"

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


@cache
def expected(activation: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"expected_{activation}.npz") as file:
        return {name: file[name] for name in file.files}


@cache
def names() -> dict[str, str]:
    """The file's key of each of our parameters."""
    return {ours: key for key, ours in parameter_names(document_model("gelu").config)}


def document_model(activation: str, dtype: str = "float64") -> Model:
    return model_core.open_checkpoint(FILE, dtype, activation=activation)


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


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_greedy_ids_agree_up_to_the_end_token(activation: str, dtype: str) -> None:
    truth, texts = expected(activation), ["你好", "今天天气好？☃", "what 天"]
    model = document_model(activation, dtype)
    single = [model.generate(text, max_new_tokens=15) for text in texts]
    batched = model.generate(texts, max_new_tokens=15)
    end = model.tokenizer.end_id
    for results, wanted in (
        (single, [truth[f"p{number}_greedy_ids"][0] for number in range(3)]),
        (batched, truth["b_greedy_ids"]),
    ):
        for result, row in zip(results, wanted, strict=True):
            stop = [*row, end].index(end)
            assert result.ids == row[: stop + 1].tolist()


@pytest.mark.parametrize("item", ["p0", "p1", "p2"])
def test_texts_become_the_ids_that_the_document_reads(item: str) -> None:
    pairs = {
        "p0": ("你好", "您好！"),
        "p1": ("今天天气好？☃", "很暖和，谢谢。"),
        "p2": ("what 天", "it is 晴"),
    }
    truth, (source, target) = expected("gelu"), pairs[item]
    tape = document_model("gelu").trace(source=source, target=target)
    assert tape.source_ids.tolist() == truth[f"{item}_src"].tolist()
    assert tape.target_ids.tolist() == truth[f"{item}_dec_in"].tolist()


@pytest.mark.parametrize("eps", ["1e-05", "1e-08", "1e-12", "0"])
def test_another_eps_agrees(eps: str) -> None:
    truth = expected("gelu")
    model = model_core.open_checkpoint(FILE, "float64", activation="gelu", norm_eps=float(eps))
    tape = model.trace(source_ids=truth["b_src"], target_ids=truth["b_dec_in"])
    wanted = truth[f"b_logits_lneps_{eps}"]
    assert np.abs(tape["logits"].value - wanted).max() <= 1e-8 * np.abs(wanted).max()


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
    if f"grad_{key}__param_0_W" not in truth:
        # of the erf GELU only the gradients without smoothing are given
        assert (activation, key) == ("gelu", "ls0p1")
        return
    wanted = {n: truth[f"grad_{key}__{k}"] for n, k in names().items()}
    assert_gradients_agree(tape.backward("loss").parameters, wanted, dtype)


def assert_gradients_agree(
    gradients: dict[str, np.ndarray], wanted: dict[str, np.ndarray], dtype: str
) -> None:
    """Against a tensor's largest entry, or a thousandth of the largest of all: key biases."""
    assert gradients.keys() == wanted.keys()
    largest = max(float(np.abs(value).max()) for value in wanted.values())
    for name, value in wanted.items():
        scale = max(float(np.abs(value).max()), largest / 1000)
        assert gradients[name].shape == value.shape
        error = np.abs(gradients[name] - value).max()
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
            float(truth[f"adam_{key}_loss_before_step{step}"]), rel=TOLERANCE[dtype]
        )
        clipped, norm = clip_gradients(tape.backward("loss").parameters, 1.0)
        assert norm == pytest.approx(
            float(truth[f"adam_{key}_gradnorm_step{step}"]), rel=GRADIENT_TOLERANCE[dtype]
        )
        if step == 1 and smoothing == 0.0:
            assert_gradients_agree(
                clipped, {n: truth[f"clip1_ls0__{k}"] for n, k in names().items()}, dtype
            )
        adam.step(model.parameters, clipped)
        if step in (1, 3):
            for name, file_key in names().items():
                wanted = truth[f"adam{step}_{key}__{file_key}"]
                got = model.parameters[name].reshape(wanted.shape)
                # Adam divides noise by its own size: what has no gradient moves by up to the rate
                noise = 3 * 0.001 if is_key_bias(name) else 0.0
                bound = TOLERANCE[dtype] * np.abs(wanted).max() + noise
                assert np.abs(got - wanted).max() <= bound, name
