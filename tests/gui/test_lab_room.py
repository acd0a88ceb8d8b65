"""The lab's pages keep to the room they have, and what there is room for is whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from tests.gui.lab_bench import PAIRS
from tests.gui.test_lab_views import examples, live_training
from visualizer import actions, i18n, lab_actions, lab_orders
from visualizer.lenses import lab_words
from visualizer.lenses.lab_picture import Frame, NormBar
from visualizer.pages.train_setting import Setting
from visualizer.widgets import film_strip, lab_tables
from visualizer.widgets.film_strip import FilmStrip
from visualizer.widgets.lab_tables import NormTable, SampleTable

SIZES = [(1280, 720), (1440, 900), (1600, 1000), (1920, 1080)]


def form_of(live, size: tuple[int, int], scale: float = 1.0, language: str = "en"):
    """The settings of a built-in task in a window of this size."""
    live.window.resize(*size)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.set_scale, scale)
    live.qtbot.wait(300)
    live.store.dispatch(lab_actions.toggle_lab)
    live.store.dispatch(lab_actions.choose_task, "dates")
    live.qtbot.waitUntil(lambda: live.state.lab.subject.facts is not None, timeout=20_000)
    # as many warnings as there can be, which are the longest words of a setting
    live.store.dispatch(lab_actions.set_setting, "n_heads", 5)
    live.store.dispatch(lab_actions.set_setting, "learning_rate", 1e9)
    live.qtbot.wait(100)
    return live.window.stage.page.parts["settings"]


@pytest.mark.parametrize("scale", [1.0, 1.1, 1.5])
@pytest.mark.parametrize("size", SIZES)
def test_the_settings_are_never_wider_than_their_panel(bundled_font, lab_window, size, scale):
    part = form_of(lab_window, size, scale)
    inside, room = part.area.widget(), part.area.viewport().width()
    assert inside.width() == room
    assert inside.minimumSizeHint().width() <= room
    for setting in part.settings.values():
        assert setting.mapTo(inside, QPoint(setting.width(), 0)).x() <= room
        for label in (setting.label, setting.hint, setting.explained, setting.problem):
            if label.isHidden():
                continue
            assert label.width() >= label.minimumSizeHint().width(), label.text()
            assert label.geometry().right() < setting.width(), label.text()
            wanted = label.heightForWidth(label.width()) if label.wordWrap() else label.height()
            assert label.height() >= wanted, label.text()


def test_the_keys_go_through_the_settings_without_moving_the_page_sideways(
    bundled_font, lab_window
):
    part = form_of(lab_window, (1600, 1000))
    bar = part.area.horizontalScrollBar()
    part.settings["d_model"].shown.setFocus()
    seen = set()
    for _ in range(80):
        seen.add(QApplication.focusWidget())
        lab_window.press(Qt.Key.Key_Tab)
        assert (bar.value(), bar.maximum()) == (0, 0)
    shown = [one.shown for one in part.settings.values() if one.row.kind != "fixed"]
    assert seen >= set(shown)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_range_of_a_setting_is_whole_and_beside_its_field(bundled_font, lab_window, language):
    part = form_of(lab_window, (1600, 1000), language=language)
    assert part._wide
    for setting in part.findChildren(Setting):
        lines = setting.hint.text().split("\n")
        room = setting.hint.width()
        assert all(setting.hint.fontMetrics().horizontalAdvance(line) <= room for line in lines)
        assert " · ".join(lines) == setting.row.hint


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
def test_a_file_with_a_long_name_makes_no_page_wider(bundled_font, lab_window, tmp_path, size):
    path = tmp_path / f"{'a long name of pairs ' * 11}.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    lab_window.window.resize(*size)
    lab_window.store.dispatch(lab_actions.toggle_lab)
    page = lab_window.window.stage.page
    lab_window.store.dispatch(lab_actions.choose_file, path)
    lab_window.qtbot.waitUntil(lambda: lab_window.state.lab.file.report is not None, timeout=20_000)
    lab_window.store.dispatch(lab_actions.accept_file)
    lab_window.qtbot.wait(100)
    for name in ("file", "settings"):
        part = page.parts[name]
        assert part.minimumSizeHint().width() <= page.width()
        heading = part.heading
        assert path.name in heading.text()
        assert heading.fontMetrics().horizontalAdvance(heading.shown()) <= heading.width()
        assert heading.shown().endswith(".tsv") and "…" in heading.shown()
    assert lab_window.window.size().toTuple() == size


# The training.


def written(monkeypatch, module, widget) -> list[str]:
    """What a widget writes, as it can be read: with an ellipsis where there was no room."""
    texts = []

    def write(painter, rect, text, face, *rest):
        texts.append(face.elided(text, rect.width()))

    monkeypatch.setattr(module, "write", write)
    widget.grab()
    return texts


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("width", [230, 260, 330, 420, 700])
def test_no_heading_of_a_table_cuts_the_number_of_its_step(
    bundled_font, qtbot, monkeypatch, language, width
):
    i18n.set_language(language)
    step = i18n.tr("lab.film.step", n="13,400")
    source = lab_words.at_step(i18n.tr("lab.sample.source"), 13_400)
    layer = lab_words.at_step(i18n.tr("lab.norm.layer"), 13_400)
    samples, norms = SampleTable(), NormTable()
    samples.set_samples(
        tuple(replace(one, source="a long source " * 3) for one in examples(4)),
        (source, i18n.tr("lab.sample.expected"), i18n.tr("lab.sample.output")),
        "",
    )
    names = (i18n.tr(f"lab.norm.{name}") for name in ("parameters", "update", "ratio"))
    norms.set_norms(
        (NormBar("encoder 1", 3.0, 0.003, ("3.00", "0.0030", "1e-3")),), (layer, *names), ""
    )
    for table in (samples, norms):
        qtbot.addWidget(table)
        table.resize(width, 120)
        assert sum(text.startswith(step) for text in written(monkeypatch, lab_tables, table)) == 1


@pytest.mark.parametrize("width", [320, 360, 420])
def test_no_frame_cuts_the_number_of_its_step(bundled_font, qtbot, monkeypatch, width):
    strip = FilmStrip()
    qtbot.addWidget(strip)
    strip.resize(width, 200)
    weights = np.full((2, 2), 0.5)
    strip.set_frames(
        tuple(
            Frame(n, f"step {n:,}", weights, "x", chosen=True, expected="y")
            for n in (123_400, 123_500, 123_600, 123_700)
        )
    )
    texts = written(monkeypatch, film_strip, strip)
    for n in (123_400, 123_500, 123_600, 123_700):
        assert any(f"{n:,}" in text for text in texts)


def end(live, bench) -> None:
    bench.laboratory.shutdown()
    live.end()


def with_training(live, **values) -> None:
    """Another state of the training on show."""
    training = replace(live.state.lab.training, **values)
    live.store.dispatch(lambda state: lab_actions.with_lab(state, training=training))
    live.qtbot.wait(30)


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
def test_no_button_moves_when_a_training_pauses(bundled_font, qtbot, tmp_path, size, language):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.store.dispatch(actions.set_language, language)
    live.window.resize(*size)
    part = live.window.stage.page.parts["training"]
    buttons = (part.pause, part.batch, part.glass, part.stop, part.check, part.export, part.anew)
    places, whys = set(), set()
    training = live.state.lab.training
    for status, saved in (
        ("running", None),
        ("paused", None),
        ("paused", training.step),
        ("running", training.step),
        ("finished", training.step),
    ):
        with_training(live, status=status, saved_step=saved)
        if status != "finished":
            places.add(tuple(button.geometry().getRect() for button in buttons))
        assert part.glass.isVisible()
        assert part.glass.isEnabled() == (status == "paused" and saved is not None)
        whys.add(part.glass.toolTip())
    assert len(places) == 1
    assert len(whys) == 4 and all(whys)
    end(live, bench)


@pytest.mark.parametrize("scale", [1.0, 1.1])
def test_a_notice_leaves_the_tables_below_the_film(bundled_font, qtbot, tmp_path, scale):
    live, bench = live_training(qtbot, tmp_path, *range(0, 36, 4))
    live.window.resize(1600, 1000)
    live.store.dispatch(actions.set_scale, scale)
    live.store.dispatch(actions.show_notice, "notice.no_snapshot")
    live.store.dispatch(lab_orders.set_view, "film")
    qtbot.waitUntil(lambda: live.window.stage.font().pointSizeF() == 10 * scale)
    qtbot.wait(300)
    film = live.window.stage.page.parts["training"].film
    assert film.samples[1].isVisible() and film.samples[1].room() >= 5
    # the frames are as high as wide, or as high as the tables let them be
    wished = film.strip.wished_height()
    assert film.strip.height() >= film.strip.least_height() - 1
    assert film.strip.height() >= wished - 2 or film.samples[1].room() == 5
    end(live, bench)
