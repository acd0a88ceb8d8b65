"""Passes in recycled memory: the bits of fresh ones, and nobody's array changes under them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from model_core.capture import CannotCaptureError, Capture
from model_core.flatten import merged
from model_core.model import Model
from model_core.replay import PASSES_PER_SHAPE, Replays
from tests.core.models import TRAITS, random_ids, small_model


def inputs_of(model: Model, seed: int, source: int = 5, target: int = 7) -> dict[str, Any]:
    """Two sentences, one of them padded by a length that depends on the seed."""
    generator = np.random.default_rng(seed)
    ids = random_ids(generator, model.config.src_vocab_size, source, 2)
    read = random_ids(generator, model.config.tgt_vocab_size, target, 2)
    ids[1, 1 + seed % 4 :], read[1, 1 + seed % 6 :], read[:, 0] = 0, 0, 1
    return {"source_ids": ids, "target_ids": read}


def fresh(seed: int, traits: dict[str, Any], **lengths: int) -> dict[str, np.ndarray]:
    """The records of the first pass of a new model, which never lies in recycled memory."""
    model = small_model("float32", **traits)
    tape = model.trace(**inputs_of(model, seed, **lengths))
    assert len(model._runner._replays) == 0
    return {record.site: record.value for record in tape}


def differing(tape: Any, expected: dict[str, np.ndarray]) -> list[str]:
    return [r.site for r in tape if r.value.tobytes() != expected[r.site].tobytes()]


@pytest.mark.parametrize("lengths", [{}, {"source": 41, "target": 3}, {"source": 1, "target": 1}])
@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_a_pass_run_again_gives_the_bits_of_a_fresh_one(
    traits: dict[str, Any], lengths: dict[str, int]
) -> None:
    if lengths.get("source", 0) > 24 and traits.get("position") == "learned":
        lengths = {"source": 20, "target": 3}
    expected = {seed: fresh(seed, traits, **lengths) for seed in (1, 2, 3)}
    model = small_model("float32", **traits)
    for seed in (3, 1, 2, 3, 1):
        tape = model.trace(**inputs_of(model, seed, **lengths))
        assert differing(tape, expected[seed]) == []
    assert len(model._runner._replays) == PASSES_PER_SHAPE


HOLDS = {
    "a tape": lambda tape: tape,
    "a record": lambda tape: tape["logits"],
    "a value": lambda tape: tape["encoder.layers.1.norm1.mean"].value,
    "a part of a view of a value": lambda tape: tape["encoder.layers.0.self_attn.k"].value.T[
        1:, :2
    ],
    "a view of heads": lambda tape: tape["decoder.layers.1.cross_attn.v_heads"].value[0, 1],
    "a buffer": lambda tape: memoryview(tape["log_probs"].value),
    "an operand": lambda tape: tape["decoder.layers.0.ffn.out"].operands[0].value,
    "the ids": lambda tape: tape.target_ids,
    "a mask": lambda tape: tape["decoder.mask"].value,
    "an iterator": lambda tape: tape["logits"].value.flat,
    "gradients": lambda tape: tape.backward("logits", np.ones_like(tape["logits"].value)),
    "a gradient": lambda tape: tape.backward("logits", np.ones_like(tape["logits"].value))[
        "encoder.layers.0.residual1"
    ],
}


def contents(held: Any) -> bytes:
    if isinstance(held, memoryview):
        return held.tobytes()
    if isinstance(held, np.flatiter):
        return np.array(held.base).tobytes()
    if isinstance(held, np.ndarray):
        return held.tobytes()
    if hasattr(held, "sites"):
        return b"".join(record.value.tobytes() for record in held)
    if hasattr(held, "parameters"):
        return b"".join(value.tobytes() for value in held.parameters.values())
    return bytes(held.value.tobytes())


@pytest.mark.parametrize("what", HOLDS)
def test_a_recycled_pass_never_changes_what_somebody_still_holds(what: str) -> None:
    model = small_model("float32")
    for seed in range(4):  # so that the held one lies in memory that would be recycled
        model.trace(**inputs_of(model, seed))
    held = [HOLDS[what](model.trace(**inputs_of(model, seed))) for seed in range(4)]
    before = [contents(one) for one in held]
    for seed in range(10, 16):
        tape = model.trace(**inputs_of(model, seed))
        assert differing(tape, fresh(seed, {})) == []
    assert [contents(one) for one in held] == before


def test_memory_is_used_again_once_the_tape_is_gone() -> None:
    model = small_model("float32")
    places = set()
    for seed in range(12):
        tape = model.trace(**inputs_of(model, seed))
        gc.collect()
        places.add(tape["logits"].value.__array_interface__["data"][0])
        last = seed > 3 and len(places)
    assert last == len(places) <= 2 + PASSES_PER_SHAPE


def test_parameters_changed_in_place_are_read_by_the_next_pass() -> None:
    for traits in TRAITS:
        model, other = small_model("float32", **traits), small_model("float32", **traits)
        for _ in range(3):
            model.trace(**inputs_of(model, 1))
        for changed in (model, other):
            for value in changed.parameters.values():
                value *= 1.25
        tape = model.trace(**inputs_of(model, 2))
        expected = {r.site: r.value for r in other.trace(**inputs_of(other, 2))}
        assert differing(tape, expected) == []


def test_threads_that_trace_at_once_do_not_write_into_each_others_passes() -> None:
    model = small_model("float32")
    expected = {seed: fresh(seed, {}) for seed in range(4)}

    def work(seed: int) -> list[str]:
        wrong = []
        for _ in range(40):
            wrong += differing(model.trace(**inputs_of(model, seed)), expected[seed])
        return wrong

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[]] * 4


def test_the_passes_kept_are_bounded_in_number_and_bytes() -> None:
    model = small_model("float32")
    model._runner._replays = replays = Replays(most_shapes=3, most_bytes=3 * 2**20)
    for length in range(1, 12):
        for _ in range(4):
            model.trace(**inputs_of(model, 0, source=5, target=length))
        assert len(replays) <= 3 * PASSES_PER_SHAPE
        assert 0 < replays.n_bytes <= 3 * 2**20
    model._runner._replays = replays = Replays(most_bytes=1000)
    for _ in range(4):
        model.trace(**inputs_of(model, 0))
    assert len(replays) == 0


LONG = 20  # more rows than the caches have room for at first
TEXTS = ["s4 s5 s6", "s7 s9 s4", "s12 s11 s10", "s5 s5 s4"]


def decoded(model: Model, text: str, n: int = 6, **options: Any) -> Any:
    return model.generate(text, "sample", seed=3, max_new_tokens=n, **options)


@pytest.mark.parametrize("n", [1, 6, LONG])
@pytest.mark.parametrize("traits", TRAITS, ids=str)
def test_decoding_again_gives_the_bits_of_decoding_afresh(traits: dict[str, Any], n: int) -> None:
    expected = {}
    for text in TEXTS:
        first = decoded(small_model("float32", **traits), text, n)
        expected[text] = first, {r.site: r.value for r in first.tape}
    model = small_model("float32", **traits)
    for text in [*TEXTS, *TEXTS]:
        again, (first, records) = decoded(model, text, n), expected[text]
        assert again.ids == first.ids
        assert again.log_probs == first.log_probs
        for a, b in zip(again.steps, first.steps, strict=True):
            assert a.logits.tobytes() == b.logits.tobytes()
        assert differing(again.tape, records) == []
    # two: the tape of the decoding before is still held while the next is computed
    assert len(model._runner._growing) == PASSES_PER_SHAPE


def test_a_decoding_that_is_held_is_not_written_over_by_later_ones() -> None:
    model = small_model("float32")
    for text in TEXTS:
        decoded(model, text)
    held = [decoded(model, text) for text in TEXTS]
    parts = [decoded(model, text).tape["encoder.layers.0.ffn.out"].value[0, 1:] for text in TEXTS]
    logits = [decoded(model, text).steps[0].logits for text in TEXTS]
    rows = [decoded(model, text).tape["logits"].value for text in TEXTS]
    kept = [[one.copy() for one in group] for group in (parts, logits, rows)]
    for text in [*TEXTS, *reversed(TEXTS)]:
        decoded(model, text, 9)
    for group, before in zip((parts, logits, rows), kept, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(group, before, strict=True))
    for text, one in zip(TEXTS, held, strict=True):
        first = decoded(small_model("float32"), text)
        assert differing(one.tape, {r.site: r.value for r in first.tape}) == []


def test_a_prepared_length_is_quick_from_its_first_sentence() -> None:
    model = small_model("float32")
    length = len(model.tokenizer.encode_source(TEXTS[0]).ids)
    assert [model.prepare(length) for _ in range(3)] == [True, True, False]
    first = decoded(model, TEXTS[0])
    assert first._run._replay is not None
    fresh_one = decoded(small_model("float32"), TEXTS[0])
    assert differing(first.tape, {r.site: r.value for r in fresh_one.tape}) == []
    assert small_model("float64").prepare(length) is False


def test_preparing_is_left_off_between_any_two_steps_and_keeps_nothing() -> None:
    asked: list[int] = []

    def cancelled_at(last: int) -> Callable[[], bool]:
        asked.clear()
        return lambda: asked.append(0) or len(asked) > last  # type: ignore[func-returns-value]

    model = small_model("float32")
    length = len(model.tokenizer.encode_source(TEXTS[0]).ids)
    runner, never = model._runner, 10**9
    assert small_model("float32").prepare(length, cancelled_at(never))
    steps = len(asked)
    assert steps >= len(runner._encoder) + len(runner._memory) + len(runner._rows)
    for last in range(0, steps, 7):
        assert model.prepare(length, cancelled_at(last))
        assert len(asked) == last + 1 and not len(runner._growing)
    assert [model.prepare(length) for _ in range(3)] == [True, True, False]
    fresh_one = decoded(small_model("float32"), TEXTS[0])
    prepared = decoded(model, TEXTS[0])
    assert differing(prepared.tape, {r.site: r.value for r in fresh_one.tape}) == []


def test_a_decoding_left_off_half_way_goes_on_unharmed() -> None:
    model = small_model("float32")
    expected = [step.id for step in model.decode(TEXTS[0], max_new_tokens=8)]
    for _ in range(3):
        decoded(model, TEXTS[0])
    begun = [model.decode(TEXTS[0], max_new_tokens=8) for _ in range(4)]
    ids: list[list[int]] = [[] for _ in begun]
    for _ in expected:
        for one, steps in zip(ids, begun, strict=True):
            one.append(next(steps).id)
    assert ids == [expected] * 4


def test_a_forced_prefix_and_single_rows_share_one_cache() -> None:
    expected = decoded(small_model("float32"), TEXTS[1], 5, prefix_ids=[4, 5, 6])
    model = small_model("float32")
    for _ in range(3):
        again = decoded(model, TEXTS[1], 5, prefix_ids=[4, 5, 6])
        assert again.ids == expected.ids
        assert differing(again.tape, {r.site: r.value for r in expected.tape}) == []


def test_a_kernel_that_computes_behind_the_captures_back_is_found_out() -> None:
    capture = Capture()
    x = capture.empty((3, 4), np.float32)
    x[...] = 1
    with pytest.raises(CannotCaptureError, match=r"numpy\.norm"):
        np.linalg.norm(x)
    picked = np.exp(x)[np.array([True, False, True])]
    with pytest.raises(CannotCaptureError, match="behind"):
        np.add(picked, 1)
    np.add(x, np.ones(4, np.float32))
    with pytest.raises(CannotCaptureError, match="behind"):
        capture.check([])


def test_merging_axes_leaves_every_cell_its_partners() -> None:
    generator = np.random.default_rng(0)
    shapes = [
        [(1, 4, 5, 6), (1, 1, 1, 6)],
        [(2, 4, 5, 6), (2, 1, 1, 6), (4, 1, 6)],
        [(1, 5, 6), (6,), ()],
        [(3, 1, 5), (3, 1, 1)],
        [(1, 1, 1), (1,)],
        [(2, 3, 4), (2, 3, 4), (3, 1)],
    ]
    for group in shapes:
        for order in (None, "swapped"):
            arrays = [generator.normal(size=shape) for shape in group]
            if order and arrays[0].ndim > 2:
                arrays[0] = arrays[0].swapaxes(-1, -2).copy().swapaxes(-1, -2)
            expected = sum(arrays[1:], start=arrays[0])
            out = np.empty_like(arrays[0])
            *inputs, target = merged([*arrays, out])
            total = inputs[0] + 0.0
            for other in inputs[1:]:
                total = total + other
            target[...] = total
            assert np.array_equal(out, expected)
            assert target.ndim <= out.ndim
