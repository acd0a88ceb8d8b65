"""The gradients of one number, read like a tape: each explains itself and none touches the run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model_core.finite_difference import central_difference
from model_core.gradients import GradientTape, Target, gradients_of
from model_core.ops import EVALUATION_NAMES, CrossEntropy
from model_core.ops.base import Explanation
from model_core.tape import Tape
from tests.core.gradient_runs import (
    KINDS,
    LOG_PROB,
    LOSS,
    SOURCE,
    TARGET,
    cells,
    has_gradient,
    size_of,
    traced,
)
from tests.core.models import small_model

every_kind = pytest.mark.parametrize("kind", KINDS)
every_target = pytest.mark.parametrize("target", [LOG_PROB, LOSS], ids=["log_prob", "loss"])


def walked_back(tape: Tape, target: Target) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The gradients of sites and parameters by the tape's own walk on a run of its own."""
    if target.kind == "loss":
        labels = np.array([target.labels])
        tape.add("loss", CrossEntropy(0.0, 0), "log_probs", "labels", axes=(), labels=labels)
        gradients = tape.backward("loss")
    else:
        start = np.zeros(tape["log_probs"].value.shape)
        start[0, target.row, target.token] = 1.0
        gradients = tape.backward("log_probs", start)
    return dict(gradients), gradients.parameters


@every_kind
@every_target
def test_the_gradients_are_those_of_a_walk_back_on_another_run(kind: str, target: Target) -> None:
    gradients = gradients_of(traced(kind), target)
    sites, parameters = walked_back(traced(kind), target)
    assert set(gradients.parameters) == set(parameters)
    for name, wanted in (sites | parameters).items():
        got = gradients.gradient_of(name)
        assert np.array_equal(got, wanted), name


@every_kind
@every_target
def test_every_site_and_parameter_has_the_gradient_that_a_small_step_finds(
    kind: str, target: Target
) -> None:
    tape = traced(kind)
    gradients = gradients_of(tape, target)
    for name in [*tape.sites, *gradients.parameters]:
        if not has_gradient(tape, name):
            continue
        gradient, size = gradients.gradient_of(name), size_of(gradients, name)
        for cell in cells(gradient.shape, 4, seed=1):
            found = central_difference(tape, target, name, cell)
            assert found is not None
            assert abs(found.value - gradient[cell]) <= 1e-6 * size, (name, cell)


def evaluates(explanation: Explanation) -> float:
    return float(eval(explanation.text, {"__builtins__": {}}, dict(EVALUATION_NAMES)))


def terms_size(explanation: Explanation) -> float:
    return abs(explanation.value) + sum(abs(term.value) for term in explanation.terms)


@every_kind
@every_target
def test_the_shares_of_all_readers_add_up_to_the_gradient(kind: str, target: Target) -> None:
    gradients = gradients_of(traced(kind), target)
    for record in gradients:
        for cell in cells(record.value.shape, 20, seed=2):
            told = record.explain(cell)
            assert abs(told.value - record.value[cell]) <= 1e-10 * terms_size(told), record.site
            alone = [record.explain(cell, share=i).value for i in range(len(record.shares))]
            assert math.isclose(sum(alone, 0.0), told.value, abs_tol=1e-15) or not alone
            if record.shares:
                assert list(told.steps.values()) == alone
                assert len(told.steps) == len(record.shares)


@every_kind
def test_the_shares_of_a_parameter_add_up_to_its_gradient(kind: str) -> None:
    gradients = gradients_of(traced(kind), LOSS)
    for name in gradients.parameters:
        gradient = gradients.gradient_of(name)
        assert gradients.shares_of(name), name
        for cell in cells(gradient.shape, 10, seed=3):
            told = gradients.explain_parameter(name, cell)
            assert abs(told.value - gradient[cell]) <= 1e-10 * terms_size(told), (name, cell)


def test_the_text_of_an_explained_gradient_evaluates_to_it() -> None:
    gradients = gradients_of(traced(), LOSS)
    for record in gradients:
        for cell in cells(record.value.shape, 5, seed=4):
            told = record.explain(cell)
            assert abs(evaluates(told) - told.value) <= 1e-12 * terms_size(told), record.site


def test_every_factor_of_an_explained_gradient_stands_where_it_says() -> None:
    gradients = gradients_of(traced("all_tied"), LOSS)
    seen = 0
    for record in gradients:
        for cell in cells(record.value.shape, 5, seed=5):
            for term in record.explain(cell).terms:
                numbers = term.factors or (term.value,)
                for number, origin in zip(numbers, term.origins, strict=False):
                    if origin is None:
                        continue
                    read = (
                        gradients.gradient_of(origin.name)
                        if origin.of == "gradient"
                        else np.asarray(gradients.value_of(origin.name))
                    )
                    assert origin.index == () or len(origin.index) == read.ndim
                    seen += math.isclose(float(read[origin.index]), number, abs_tol=1e-15)
    assert seen > 1000


def test_a_norms_input_is_read_by_its_three_steps_and_by_the_sum_behind() -> None:
    gradients = gradients_of(traced("pre_norm_learned"), LOG_PROB)
    record = gradients["encoder.embed.out"]
    assert [(share.consumer_site, share.which) for share in record.shares] == [
        ("encoder.layers.0.norm1.mean", 0),
        ("encoder.layers.0.norm1.variance", 0),
        ("encoder.layers.0.norm1.normalised", 0),
        ("encoder.layers.0.residual1", 0),
    ]
    assert list(record.explain((0, 1, 2)).steps) == [s.consumer_site for s in record.shares]


def test_every_share_has_its_formula_and_the_record_each_of_them_once() -> None:
    gradients = gradients_of(traced(), LOSS)
    for record in gradients:
        assert all(share.formula for share in record.shares), record.site
        assert bool(record.formula) == bool(record.shares)
    assert gradients["encoder.embed.out"].formula == (
        r"\bar{x} = \bar{y} \, W^{\top} \qquad \bar{x} = \bar{y}"
    )


def test_a_tied_table_has_a_share_of_each_place_that_reads_it() -> None:
    gradients = gradients_of(traced("all_tied"), LOG_PROB)
    assert [share.consumer_site for share in gradients.shares_of("src_embed.weight")] == [
        "encoder.embed.tokens",
        "decoder.embed.tokens",
        "logits",
    ]


def test_what_leads_nowhere_has_gradients_of_zero() -> None:
    gradients = gradients_of(traced(), LOG_PROB)
    mask = gradients["decoder.mask"]
    assert mask.shares == ()
    assert mask.value.shape == (1, 1, 4, 4)
    assert not mask.value.any()
    assert mask.explain((0, 0, 1, 2)).value == 0.0
    # row 3 comes after the row whose token is asked for
    assert not gradients["decoder.embed.out"].value[0, 3].any()
    assert gradients["decoder.embed.out"].value[0, 2].any()


def test_the_target_itself_has_the_gradient_one() -> None:
    for target, site in ((LOG_PROB, "target"), (LOSS, "loss")):
        gradients = gradients_of(traced(), target)
        assert gradients.sites[-1] == site == gradients.target_site
        assert gradients[site].value == 1.0
        assert evaluates(gradients[site].explain(())) == gradients[site].explain(()).value == 1.0


def test_the_run_on_show_is_not_changed() -> None:
    tape = traced()
    sites, plan = tape.sites, tape.plan
    values = {site: tape[site].value.copy() for site in sites}
    gradients_of(tape, LOG_PROB)
    gradients_of(tape, LOSS)
    assert tape.plan is plan
    assert tape.sites == sites
    assert all(np.array_equal(tape[site].value, values[site]) for site in sites)


def test_a_run_that_has_a_loss_already_can_have_another_target() -> None:
    tape = traced()
    labels = np.array([[7, 5, 5, 2]])
    tape.add("loss", CrossEntropy(0.1, 0), "log_probs", "labels", axes=(), labels=labels)
    gradients = gradients_of(tape, LOSS)
    fresh = gradients_of(traced(), LOSS)
    assert gradients.target_site == "loss'"
    assert np.array_equal(
        gradients.gradient_of("encoder.embed.out"), fresh.gradient_of("encoder.embed.out")
    )


def test_gradients_are_read_like_a_tape() -> None:
    tape = traced()
    gradients = gradients_of(tape, LOG_PROB)
    assert (tape.direction, gradients.direction) == ("forward", "backward")
    assert gradients.sites == [*tape.sites, "target"]
    assert [record.site for record in gradients] == gradients.sites
    assert len(gradients) == len(gradients.sites)
    assert "logits" in gradients and "decoder.cross_mask" in gradients
    assert "nothing" not in gradients
    for own, other in zip(gradients, tape, strict=False):
        assert (own.site, own.op, own.inputs) == (other.site, other.op, other.inputs)
        assert (own.axes, own.kind) == (other.axes, other.kind)
        assert (own.direction, other.direction) == ("backward", "forward")
        assert own.value.shape == other.value.shape
        assert not own.value.flags.writeable
        assert own.sentence
    for name in ("source_ids", "target_ids", "predicted_ids"):
        assert np.array_equal(getattr(gradients, name), getattr(tape, name))
    for name in ("source_tokens", "target_tokens", "predicted_tokens"):
        assert getattr(gradients, name) == getattr(tape, name)
    assert np.array_equal(gradients.value_of("logits"), tape["logits"].value)
    assert np.array_equal(gradients["encoder.out"].value, gradients.gradient_of("encoder.out"))


def test_a_gradient_recomputed_in_float64_is_the_gradient() -> None:
    exact = gradients_of(traced(dtype="float64"), LOSS)
    for record in exact:
        value, size = record.recompute()
        assert value.shape == size.shape == record.value.shape
        assert (np.abs(value - record.value) <= 1e-12 * size + 1e-12).all(), record.site
    for name in exact.parameters:
        value, size = exact.recompute_parameter(name)
        assert (np.abs(value - exact.gradient_of(name)) <= 1e-12 * size + 1e-12).all(), name
    rounded = gradients_of(traced(dtype="float32"), LOSS)
    for record in rounded:
        assert record.value.dtype == np.float32
        error = np.abs(record.recompute()[0] - record.value).max(initial=0.0)
        assert error <= 1e-5 * size_of(rounded, record.site), record.site


def grown(kind: str) -> tuple[GradientTape, GradientTape]:
    """The gradients of a tape that grew while decoding, and those of one whole pass."""
    model = small_model("float32", **KINDS[kind])
    generation = model.generate("s4 s9 s6", strategy="sample", seed=3, max_new_tokens=6)
    tape = generation.tape
    fresh = model.trace(source_ids=tape.source_ids, target_ids=tape.target_ids)
    row = tape.target_ids.shape[1] - 1
    target = Target("log_prob", row, generation.ids[-1])
    return gradients_of(tape, target), gradients_of(fresh, target)


@every_kind
def test_a_tape_that_grew_while_decoding_gives_the_gradients_of_a_whole_pass(kind: str) -> None:
    got, wanted = grown(kind)
    assert got.sites == wanted.sites
    for name in [*wanted.sites, *wanted.parameters]:
        error = np.abs(got.gradient_of(name) - wanted.gradient_of(name)).max(initial=0.0)
        # Two passes that round in different ways, each of which may be off by 1e-5. A key's bias
        # moves all scores of a row alike: what is left of its gradient is rounding.
        tolerance = 1e-4 if name.endswith(".b_k") else 2e-5
        assert error <= tolerance * size_of(wanted, name), name


def test_a_loss_takes_one_label_per_row_and_counts_no_padding() -> None:
    tape = traced()
    log_probs = tape["log_probs"].value[0]
    gradients = gradients_of(tape, Target("loss", labels=(7, 5)))
    wanted = -(log_probs[0, 7] + log_probs[1, 5]) / 2
    assert math.isclose(float(gradients.value_of("loss")), wanted, rel_tol=1e-12)
    assert not gradients["logits"].value[0, 2:].any()


def test_only_padding_as_labels_gives_no_gradient_at_all() -> None:
    gradients = gradients_of(traced(), Target("loss"))
    assert not any(record.value.any() for record in gradients if record.site != "loss")


def test_the_first_sentence_of_a_batch_has_its_own_gradient() -> None:
    model = small_model()
    batch = model.trace(source_ids=SOURCE * 2, target_ids=[TARGET[0], [1, 4, 4, 4]])
    alone = model.trace(source_ids=SOURCE, target_ids=TARGET)
    got, wanted = (
        gradients_of(tape, LOG_PROB)["encoder.embed.out"].value for tape in (batch, alone)
    )
    assert np.allclose(got[0], wanted[0], atol=1e-12)
    assert not got[1].any()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (Target("log_prob", row=4), "there is no decoder row 4, the run has 4"),
        (Target("log_prob", row=-1), "there is no decoder row -1, the run has 4"),
        (Target("log_prob", token=11), "there is no token 11, the vocabulary has 11"),
        (Target("loss", labels=(1, 2, 3, 4, 5)), "there are 5 labels for 4 decoder rows"),
        (Target("loss", labels=(1, 12)), "there is no token 12, the vocabulary has 11"),
    ],
)
def test_a_target_that_the_run_does_not_have_is_refused(target: Target, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        gradients_of(traced(), target)


def test_what_has_no_gradient_is_named() -> None:
    gradients = gradients_of(traced(), LOG_PROB)
    with pytest.raises(KeyError, match="nowhere"):
        gradients.gradient_of("nowhere")
    with pytest.raises(KeyError, match="source_ids"):
        gradients.gradient_of("source_ids")
    with pytest.raises(IndexError, match="logits"):
        gradients["logits"].explain((0, 9, 0))
    with pytest.raises(IndexError, match="logits has 1 shares"):
        gradients["logits"].explain((0, 0, 0), share=1)
