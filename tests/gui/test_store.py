"""The store: one signal per action, no action while drawing, undo of inputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.gui.views import entry, run, view
from visualizer import actions, navigation
from visualizer.state import ViewState
from visualizer.store import Store


@pytest.fixture
def store(qapp):
    return Store(view())


@pytest.fixture
def heard(store):
    """What `changed` said, in order."""
    found = []
    store.changed.connect(lambda old, new, fields: found.append((old, new, fields)))
    return found


def test_an_action_is_told_once_with_the_fields_that_changed(store, heard):
    before = store.state
    after = store.dispatch(actions.select_head, 2)
    assert heard == [(before, after, frozenset({"head"}))]
    assert store.state is after


def test_several_fields_are_told_in_one_signal(store, heard):
    store.dispatch(actions.select_cell, (1, 2))
    store.dispatch(navigation.next_op)
    assert [fields for _, _, fields in heard] == [{"selected"}, {"selected", "cursor"}]


def test_an_action_that_changes_nothing_is_not_told(store, heard):
    store.dispatch(actions.select_head, 99)
    store.dispatch(actions.select_head, store.state.head)
    store.dispatch(lambda state: replace(state))
    assert heard == []


def test_named_values_reach_the_action(store):
    store.dispatch(actions.show_notice, "error.run", level="error", reason="why not")
    assert store.state.notice.level == "error"


def test_a_listener_that_acts_while_the_change_is_drawn_is_refused(store):
    refused = []

    def draw(old, new, fields):
        with pytest.raises(RuntimeError, match="select_head was dispatched while drawing"):
            store.dispatch(actions.select_head, 0)
        with pytest.raises(RuntimeError, match="while drawing"):
            store.undo()
        refused.append(True)

    store.dispatch(actions.edit_source, "s4")
    store.changed.connect(draw)
    store.dispatch(actions.select_head, 2)
    assert refused == [True]
    assert store.state.head == 2
    store.changed.disconnect(draw)
    store.dispatch(actions.select_head, 0)
    assert store.state.head == 0


def test_a_draw_outside_a_change_is_guarded_too(store):
    with store.drawing() as state:
        assert state is store.state
        with pytest.raises(RuntimeError, match="while drawing"):
            store.dispatch(actions.select_head, 2)
    store.dispatch(actions.select_head, 2)
    assert store.state.head == 2


def test_an_action_that_fails_leaves_the_state_and_the_store_usable(store, heard):
    before = store.state

    def broken(state: ViewState) -> ViewState:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.dispatch(broken)
    assert store.state is before
    store.dispatch(actions.select_head, 2)
    assert len(heard) == 1


# Undo.


def test_undo_brings_earlier_inputs_back_and_keeps_the_run_on_show(store):
    shown = store.state.run
    first = store.state.inputs
    store.dispatch(actions.set_temperature, 0.5)
    store.undo()
    assert store.state.inputs == first
    assert store.state.run is shown
    store.redo()
    assert store.state.inputs.temperature == 0.5
    assert not store.can_redo


def test_the_history_holds_inputs_and_no_runs(store):
    for seed in range(5):
        store.dispatch(actions.set_seed, seed)
        store.dispatch(navigation.next_op)
    assert all(type(kept).__name__ == "Inputs" for kept in store._undo)


def test_typing_in_a_row_is_one_step_even_with_runs_in_between(store):
    first = store.state.inputs
    for text in ("s", "s4", "s4 ", "s4 s5"):
        store.dispatch(actions.edit_source, text)
        store.dispatch(actions.show_run, run())
    store.undo()
    assert store.state.inputs.source == first.source
    assert not store.can_undo


def test_a_walk_between_two_edits_makes_them_two_steps(store):
    store.dispatch(actions.edit_source, "s4")
    store.dispatch(navigation.next_op)
    store.dispatch(actions.edit_source, "s4 s5")
    store.undo()
    assert store.state.inputs.source == "s4"


def test_another_control_is_another_step(store):
    store.dispatch(actions.set_temperature, 0.5)
    store.dispatch(actions.set_temperature, 0.6)
    store.dispatch(actions.set_temperature, 0.7)
    store.dispatch(actions.set_top_k, 3)
    store.undo()
    assert (store.state.inputs.temperature, store.state.inputs.top_k) == (0.7, None)


def test_a_new_edit_forgets_what_was_undone(store):
    store.dispatch(actions.set_seed, 3)
    store.undo()
    assert store.can_redo
    store.dispatch(actions.set_seed, 4)
    assert not store.can_redo


def test_undo_and_redo_with_nothing_to_do_change_nothing(store, heard):
    store.undo()
    store.redo()
    assert heard == []


def test_another_model_starts_its_own_history(store):
    store.dispatch(actions.set_seed, 3)
    store.dispatch(actions.open_model, entry(norm_position="pre"))
    assert not store.can_undo


def test_the_history_does_not_grow_for_ever(store):
    for seed in range(500):
        store.dispatch(actions.set_seed, seed + 1)
        store.dispatch(actions.select_head, seed % 2)
    assert len(store._undo) == 200
