"""What is secondary is drawn behind the stage, once for all that has changed until then."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from tests.gui.live_window import checkpoint as checkpoint
from tests.gui.live_window import live as live
from visualizer import actions, navigation
from visualizer.navigation import current_index
from visualizer.panels.base import Panel
from visualizer.store import Store


class Counting(Panel):
    """Notes what it draws, and when."""

    watches = frozenset({"cursor", "run"})

    def __init__(self, store: Store, is_secondary: bool) -> None:
        self.drawn: list[tuple[str, frozenset[str]]] = []
        super().__init__(store)
        self.is_secondary = is_secondary

    def draw(self, state, fields):
        self.drawn.append(("first", fields))

    def draw_late(self, state, fields):
        self.drawn.append(("late", fields))


def test_a_secondary_panel_draws_once_for_several_steps(live):
    panel = Counting(live.store, is_secondary=True)
    live.qtbot.addWidget(panel)
    for _ in range(3):
        live.store.dispatch(navigation.next_op)
    assert panel.drawn == [] and panel.is_late
    live.qtbot.waitUntil(lambda: not panel.is_late)
    assert [part for part, _ in panel.drawn] == ["first", "late"]
    assert all("cursor" in fields for _, fields in panel.drawn)


def test_any_other_panel_draws_what_comes_first_at_once_and_the_rest_once(live):
    panel = Counting(live.store, is_secondary=False)
    live.qtbot.addWidget(panel)
    for _ in range(3):
        live.store.dispatch(navigation.next_op)
    assert [part for part, _ in panel.drawn] == ["first"] * 3
    panel.catch_up()
    assert [part for part, _ in panel.drawn] == ["first"] * 3 + ["late"]
    panel.catch_up()
    assert len(panel.drawn) == 4


def test_a_look_and_a_model_wait_for_nothing(live):
    panel = Counting(live.store, is_secondary=True)
    live.qtbot.addWidget(panel)
    live.store.dispatch(actions.set_theme, "dark")
    assert [part for part, _ in panel.drawn] == ["first", "late"] and not panel.is_late


def test_a_panel_that_is_not_seen_draws_nothing_late(live):
    panel = Counting(live.store, is_secondary=True)
    live.qtbot.addWidget(panel)
    live.store.dispatch(navigation.next_op)
    panel.rest(True)
    panel.catch_up()
    assert panel.drawn == []
    panel.rest(False)
    panel.catch_up()
    assert [part for part, _ in panel.drawn] == ["first", "late"]
    assert "cursor" in panel.drawn[0][1]


def test_the_residual_stream_follows_every_step_without_another_one(live):
    live.store.dispatch(navigation.go_to_site, "decoder.layers.0.norm2.out")
    panels = (live.window.residual, live.window.workspace.logit_lens, live.window.stage)
    here = current_index(live.state)

    def shown() -> bool:
        seen = [panel for panel in panels if panel.isVisible()]
        return all(not panel.is_late and panel.painted_step == here for panel in seen)

    live.qtbot.waitUntil(shown)
    assert live.window.residual.isVisible()


def test_the_stage_is_painted_before_what_is_secondary_is_drawn(live):
    live.qtbot.waitUntil(lambda: not any(panel.is_late for panel in live.window.panels))
    order: list[str] = []
    residual, stage = live.window.residual, live.window.stage
    plain = residual.draw

    def draw(state, fields):
        order.append("residual" if stage.painted_step == current_index(state) else "too early")
        plain(state, fields)

    residual.draw = draw
    live.store.dispatch(navigation.go_to_site, "decoder.layers.0.norm1.out")
    live.qtbot.waitUntil(lambda: bool(order))
    QApplication.processEvents()
    assert order == ["residual"]
