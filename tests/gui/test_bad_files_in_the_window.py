"""Bad files opened in a running window: one sentence, nothing in use is lost, nothing hangs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from tests.core.test_bad_documents import LOADING, REFERENCE
from tests.gui.live_window import live  # noqa: F401 (fixture)

DATA = Path(__file__).parents[1] / "data" / "bad_documents"
# Between two turns of the window's own thread, in seconds, on a machine that does other things too.
LONGEST_STANDSTILL = 0.5


class Heartbeat:
    """The longest time that the window's thread was away from its event loop."""

    def __init__(self, parent) -> None:
        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer = QTimer(parent)
        self._timer.timeout.connect(self._beat)
        self._timer.start(5)

    def _beat(self) -> None:
        now = time.perf_counter()
        self.longest, self._last = max(self.longest, now - self._last), now


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_a_bad_file_ends_in_one_sentence_and_all_in_use_stays(live, name, caplog):  # noqa: F811
    before = live.state
    heart = Heartbeat(live.window)
    started = time.perf_counter()
    live.chosen = DATA / name
    live.window.browse()
    sentence = live.notice()
    assert time.perf_counter() - started < 5
    assert heart.longest < LONGEST_STANDSTILL
    after = live.state
    assert (after.model, after.inputs, after.run) == (before.model, before.inputs, before.run)
    assert after.cursor == before.cursor and after.recent == before.recent
    assert sentence.startswith(f"{name} was not opened: ") and "\n" not in sentence
    assert REFERENCE[name] in sentence and sentence.count(name) == 1
    assert after.notice.level == "error" and str(DATA / name) in after.notice.details
    # and the window goes on
    live.field.selectAll()
    live.type("s5")
    live.until_shown("s5")


@pytest.mark.parametrize("name", sorted(LOADING))
def test_a_file_that_loads_says_what_is_odd_about_it(live, name):  # noqa: F811
    live.chosen = DATA / name
    live.window.browse()
    sentence = live.notice()
    assert live.state.model.path == DATA / name
    said = sentence + live.state.notice.details
    assert all(word in said for word in LOADING[name])
    assert live.state.notice.level == ("warning" if LOADING[name] else "info")
