"""The logit lens: against the tape at its end, and against the formulas in between."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from model_core import logit_lens
from model_core.logit_lens import LogitLens, readings
from model_core.model import Model
from model_core.parameters import embedding_name
from model_core.tape import Tape
from tests.core.models import TRAITS, random_ids, small_model


def traced(model: Model, length: int = 7) -> Tape:
    generator = np.random.default_rng(7)
    source = random_ids(generator, model.config.src_vocab_size, 5)
    target = random_ids(generator, model.config.tgt_vocab_size, length)
    return model.trace(source_ids=source, target_ids=target)


def read(tape: Tape, **options: Any) -> LogitLens:
    lens = readings(tape, **options)
    assert lens is not None
    return lens


def said_by_hand(model: Model, state: np.ndarray) -> np.ndarray:
    """Probabilities (T,V) of a state (T,D): the formulas of the paper, in float64."""
    p, x = model.parameters, state.astype(np.float64)
    if model.config.norm_position == "pre":
        spread = np.sqrt(x.var(axis=-1, keepdims=True) + model.config.norm_eps)
        x = (x - x.mean(axis=-1, keepdims=True)) / spread
        x = x * p["decoder.norm.gamma"] + p["decoder.norm.beta"]
    if model.config.tying == "none":
        logits = np.einsum("td,dv->tv", x, p["output.W"])
    else:
        logits = np.einsum("td,vd->tv", x, p[embedding_name(model.config, "decoder")])
    powers = np.exp(logits + p.get("output.b", 0.0))
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_the_last_state_says_what_the_model_says(traits: dict[str, Any], dtype: str) -> None:
    tape = traced(small_model(dtype, **traits))
    lens, log_probs = read(tape), tape["log_probs"].value[0]
    rows = np.arange(len(log_probs))
    np.testing.assert_array_equal(lens.top_ids[-1], log_probs.argmax(axis=-1))
    np.testing.assert_array_equal(lens.top_ids[-1], lens.final_ids)
    np.testing.assert_allclose(
        np.log(lens.probability[-1]), log_probs[rows, lens.final_ids], atol=1e-6
    )
    assert (lens.rank[-1] == 1).all()
    np.testing.assert_array_equal(lens.probability[-1], lens.top_probability[-1])


@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_every_state_says_what_the_formulas_say(traits: dict[str, Any]) -> None:
    model = small_model("float64", **traits)
    tape = traced(model)
    lens = read(tape)
    assert len(lens.states) == 1 + 3 * model.config.n_decoder_layers
    for number, state in enumerate(lens.states):
        shares = said_by_hand(model, tape[state.site].value[0])
        order = np.argsort(-shares, axis=-1, kind="stable")
        rows = np.arange(len(shares))
        np.testing.assert_array_equal(lens.top_ids[number], order[:, 0])
        np.testing.assert_allclose(lens.top_probability[number], shares.max(axis=-1), rtol=1e-9)
        own = shares[rows, lens.final_ids]
        np.testing.assert_allclose(lens.probability[number], own, rtol=1e-9)
        place = np.argmax(order == lens.final_ids[:, None], axis=-1)
        np.testing.assert_array_equal(lens.rank[number], place + 1)
        entropy = -(shares * np.log2(shares)).sum(axis=-1)
        np.testing.assert_allclose(lens.entropy[number], entropy, rtol=1e-9)


def test_the_states_of_a_post_norm_model_are_what_its_norms_leave() -> None:
    lens = read(traced(small_model()))
    assert [state.site for state in lens.states] == [
        "decoder.embed.out",
        *(f"decoder.layers.{i}.norm{n}.out" for i in (0, 1) for n in (1, 2, 3)),
    ]
    assert [(state.layer, state.sublayer) for state in lens.states] == [
        (None, "embed"),
        *((i, name) for i in (0, 1) for name in ("self_attn", "cross_attn", "ffn")),
    ]
    assert not lens.final_norm
    assert lens.through == ("logits", "output.W", "output.b", "log_probs")


def test_the_states_of_a_pre_norm_model_are_sums_and_pass_its_final_norm() -> None:
    lens = read(traced(small_model(norm_position="pre", output_bias=False)))
    assert [state.site for state in lens.states] == [
        "decoder.embed.out",
        *(f"decoder.layers.{i}.residual{n}" for i in (0, 1) for n in (1, 2, 3)),
    ]
    assert lens.final_norm
    assert lens.through == (
        *(f"decoder.norm.{name}" for name in ("mean", "variance", "normalised", "out")),
        *("decoder.norm.gamma", "decoder.norm.beta"),
        *("logits", "output.W", "log_probs"),
    )


def test_a_tied_output_layer_is_named_by_its_table() -> None:
    lens = read(traced(small_model(tying="output")))
    assert lens.through == ("logits", "tgt_embed.weight", "output.b", "log_probs")


def test_a_sampled_run_is_measured_by_the_tokens_that_were_drawn() -> None:
    model = small_model("float32")
    generation = model.generate("s4 s7 s5", "sample", temperature=3.0, seed=5)
    tape = generation.tape
    lens = read(tape)
    assert lens.final_ids.tolist() == generation.ids[1:]
    drawn = tape["log_probs"].value[0][np.arange(len(lens.rows)), lens.final_ids]
    np.testing.assert_allclose(np.log(lens.probability[-1]), drawn, atol=1e-5)
    assert (lens.rank[-1] > 1).any()


def test_equal_logits_are_ranked_by_id() -> None:
    model = small_model("float64")
    model.parameters["output.W"][:] = 0.0
    model.parameters["output.b"][:] = 0.0
    tape = traced(model)
    tape.chosen_ids = np.arange(7)[None]
    lens = read(tape)
    assert (lens.top_ids == 0).all()
    assert lens.rank.tolist() == [list(range(1, 8))] * len(lens.states)
    np.testing.assert_allclose(lens.entropy, np.log2(model.config.tgt_vocab_size))


def test_some_rows_and_small_blocks_give_the_same_numbers(monkeypatch: Any) -> None:
    tape = traced(small_model("float64"))
    whole, some = read(tape), read(tape, rows=(5, 1))
    assert some.rows == (5, 1)
    monkeypatch.setattr(logit_lens, "BLOCK", 3 * 11)
    blocks = read(tape)
    for name in ("top_ids", "top_probability", "rank", "probability", "entropy"):
        np.testing.assert_allclose(getattr(some, name), getattr(whole, name)[:, [5, 1]], rtol=1e-12)
        np.testing.assert_allclose(getattr(blocks, name), getattr(whole, name), rtol=1e-12)


def test_it_stops_between_two_blocks_when_it_is_no_longer_wanted(monkeypatch: Any) -> None:
    monkeypatch.setattr(logit_lens, "BLOCK", 2 * 11)
    asked = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) == 3

    assert readings(traced(small_model()), cancelled=cancelled) is None
    assert len(asked) == 3


def test_a_run_without_a_decoder_is_refused() -> None:
    model = small_model(input="matrix", n_decoder_layers=0, src_vocab_size=0, tgt_vocab_size=0)
    tape = model.trace(inputs=np.zeros((3, 12)))
    with pytest.raises(ValueError, match="no decoder"):
        readings(tape)


def test_a_large_vocabulary_takes_little_memory_beside_the_run() -> None:
    model = small_model("float32", tgt_vocab_size=60_000, max_seq_len=512)
    tape = traced(model, 256)
    # the run's own logits are the model's; what is measured is what the lens takes beside them
    read(tape, rows=(0,))
    tracemalloc.start()
    try:
        read(tape)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6 < tape["logits"].value.nbytes * 7
