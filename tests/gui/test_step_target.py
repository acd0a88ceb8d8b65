"""The target of a training step that nobody has typed: what is known, else what the model says."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from model_core.parameters import initialise
from tests.gui.test_step_page import answered
from tests.gui.views import entry
from visualizer import actions, i18n, step_actions
from visualizer.inquiries.step import current_step, refusal
from visualizer.lab import Lab, Subject, Training
from visualizer.lenses.step_whose import whose_step
from visualizer.run import compute
from visualizer.state import Inputs, ModelEntry, ViewState


def untrained(source: str, seed: int) -> ViewState:
    """The page over a model that has learned nothing yet."""
    model = copy(entry().model)
    made = type(model)(
        model.config,
        initialise(model.config, np.random.default_rng(seed), model.dtype),
        model.tokenizer,
        {},
    )
    state = actions.open_model(ViewState(), ModelEntry(made, "young"))
    state = replace(state, inputs=Inputs(source=source))
    run = compute(state.model, state.inputs, number=1)
    return actions.show_page(actions.show_run(state, run), "step")


def trained_by(state: ViewState, source: str, target: str) -> ViewState:
    """The model on show is a snapshot of a training that is watched by this pair."""
    words = state.model.model.tokenizer
    training = Training(1, Subject(None, "words", None), tokenizer=words, watched=(source, target))
    return replace(state, lab=Lab(training=training))


def always(word: str) -> ViewState:
    """The page over a model that writes one word until there is no room left."""
    state = untrained("s4 s7 s5", 0)
    model = state.model.model
    (number,) = model.tokenizer.encode_target(word).ids
    model.parameters["output.b"][number] = 1e3
    run = compute(state.model, state.inputs, number=2)
    return replace(state, run=run)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_step_can_be_taken_on_what_a_model_says_that_has_learned_nothing(seed):
    state = untrained("s4 s7 s5", seed)
    taken = answered(state)
    assert refusal(taken) == "" and current_step(taken) is not None
    assert "1 pair, its target the model's own output" in whose_step(taken)[0]


def test_of_an_output_that_was_cut_off_as_much_is_the_target_as_there_is_room_for():
    state = always("t4")
    limit = state.model.model.config.max_seq_len
    assert state.run.text.split() == ["t4"] * limit, "with its end it would not fit"
    taken = answered(state)
    assert refusal(taken) == ""
    assert current_step(taken).batch.labels.shape == (1, limit)
    assert step_actions.pairs_of(state) == (("s4 s7 s5", " ".join(["t4"] * (limit - 1))),)
    assert "its target the model's own output, cut to fit" in whose_step(taken)[0]
    i18n.set_language("zh")
    assert "目标是模型自己的输出（截断）" in whose_step(taken)[0]


def test_the_answer_that_the_training_knows_is_the_target():
    state = trained_by(untrained("s4 s7 s5", 1), "s4 s7 s5", "t4 t6 t5")
    assert step_actions.pairs_of(state) == (("s4 s7 s5", "t4 t6 t5"),)
    assert "output" not in whose_step(answered(state))[0]
    # of another sentence, and for a model that is none of its own, nobody knows one
    other = trained_by(untrained("s4 s7", 1), "s4 s7 s5", "t4 t6 t5")
    assert step_actions.target_kind(other, step_actions.pairs_of(other)) != "known"
    foreign = trained_by(untrained("s4 s7 s5", 1), "s4 s7 s5", "t4 t6 t5")
    training = replace(foreign.lab.training, tokenizer=object())
    foreign = replace(foreign, lab=replace(foreign.lab, training=training))
    assert step_actions.target_kind(foreign, step_actions.pairs_of(foreign)) != "known"


def test_what_is_typed_is_nobodys_output():
    state = step_actions.set_pair(untrained("s4 s7 s5", 1), 0, 1, "t4 t6")
    assert "output" not in whose_step(answered(state))[0]
