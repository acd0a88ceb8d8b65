"""Output that comes to the length limit without <EOS> is marked and said; the timeline reads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.gui.live_window import live  # noqa: F401 (fixture)
from tests.gui.views import view
from visualizer import actions
from visualizer.lenses.caption import is_cut_off, run_message
from visualizer.palettes import contrast
from visualizer.theme import THEMES
from visualizer.widgets.timeline import Segment, Timeline


def test_only_decoding_that_ran_into_the_limit_is_cut_off():
    forced = view().run
    decoded = replace(forced, inputs=replace(forced.inputs, target=None))
    assert not is_cut_off(forced) and run_message(forced) == ""
    assert is_cut_off(replace(decoded, finished=False))
    assert not is_cut_off(replace(decoded, finished=True))
    assert "4 tokens" in run_message(replace(decoded, finished=False))


def test_a_cut_off_output_is_marked_and_said(live):  # noqa: F811
    live.store.dispatch(actions.edit_source, "s4 s7 s5 nonsense s9")
    live.until_settled()
    run = live.state.run
    chips = live.window.transport.chips._chips
    assert len(chips) == run.rows + (0 if run.finished else 1)
    cut = replace(run, finished=False)
    live.store.dispatch(actions.show_run, cut)
    assert live.window.transport.chips._chips[-1].text == "limit"
    assert "<EOS>" in live.window.stage.remark.text() and live.window.stage.remark.isVisible()
    live.store.dispatch(actions.show_run, replace(run, finished=True))
    assert len(live.window.transport.chips._chips) == run.rows


def test_the_timelines_label_can_be_read_under_the_cursor(qtbot):
    line = Timeline()
    qtbot.addWidget(line)
    line.resize(300, 32)
    line.set_segments((Segment("encoder 1", "encoder", 21),))
    line.show()
    accent = np.uint32(0xFF000000 | int(THEMES["light"].accent[1:], 16))
    columns = []
    for step in (0, 10):
        line.set_step(step)
        picture = line.grab().toImage()
        x = round(line.x_of(step))
        column = [picture.pixel(x, y) == accent for y in range(picture.height())]
        columns.append(column)
    away, across = columns
    middle = slice(len(across) // 2 - 5, len(across) // 2 + 5)
    assert all(away[middle]) and not any(across[middle])
    assert across[1] and across[-2]
    assert contrast(THEMES["light"].text, THEMES["light"].accent_soft) >= 4.5
