"""Nothing moves while one types or steps, and what says it is painted is what is on screen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect

from tests.gui.live_window import live  # noqa: F401 (fixture)
from visualizer import actions, navigation
from visualizer.state import shown_gradients


def places(window) -> dict[str, QRect]:
    """Where what a hand or an eye comes back to lies in the window."""
    steady = {
        "residual": window.residual.head,
        "prediction": window.prediction.head,
        "bars": window.prediction.bars,
        "temperature": window.prediction.temperature,
        "seed": window.prediction.seed,
        "words": window.stage.words,
        "cell": window.stage.lower,
        "output": window.transport.chips,
        "step": window.transport.steps,
    }
    return {
        name: QRect(widget.mapTo(window, widget.rect().topLeft()), widget.size())
        for name, widget in steady.items()
    }


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
def test_nothing_moves_when_the_sentence_grows_or_becomes_empty(live, size):  # noqa: F811
    live.window.resize(*size)
    live.qtbot.wait(300)
    before = places(live.window)
    live.field.selectAll()
    for count in (2, 9):
        text = " ".join(["s4"] * count)
        live.field.selectAll()
        live.type(text)
        live.until_shown(text)
        assert places(live.window) == before
    live.field.selectAll()
    live.type(" ")
    live.until_shown(" ")
    after = places(live.window)
    assert all(after[name] == before[name] for name in ("residual", "prediction", "seed"))


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
def test_nothing_moves_from_step_to_step(live, size):  # noqa: F811
    live.window.resize(*size)
    live.store.dispatch(navigation.home)
    live.qtbot.wait(300)
    before = places(live.window)
    for _ in range(12):
        live.store.dispatch(navigation.next_sublayer)
        live.qtbot.wait(5)
        assert places(live.window) == before


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
def test_nothing_moves_along_the_gradients_or_while_one_types(live, size):  # noqa: F811
    live.window.resize(*size)
    live.store.dispatch(actions.set_showing, "gradients")
    live.qtbot.waitUntil(lambda: shown_gradients(live.state) is not None, timeout=5000)
    live.store.dispatch(navigation.home)
    live.qtbot.wait(300)
    before = places(live.window)
    for _ in range(12):
        live.store.dispatch(navigation.next_sublayer)
        live.qtbot.wait(5)
        assert places(live.window) == before
    live.field.selectAll()
    live.type("s4 s5")
    live.until_shown("s4 s5")
    assert places(live.window) == before
    live.qtbot.waitUntil(lambda: shown_gradients(live.state) is not None, timeout=5000)
    live.qtbot.wait(50)
    assert places(live.window) == before


def test_a_step_is_painted_at_once_only_where_nothing_changed(live):  # noqa: F811
    live.store.dispatch(navigation.home)
    live.qtbot.waitUntil(lambda: live.window.stage.painted_step == 0, timeout=2000)
    live.store.dispatch(navigation.next_op)
    # nothing has been painted since: the stage shows another record, the map the same place
    assert live.window.stage.painted_step == 0
    assert live.window.map.painted_step == 1
