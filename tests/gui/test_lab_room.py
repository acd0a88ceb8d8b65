"""The lab's pages keep to the room they have, and what there is room for is whole."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from tests.gui.lab_bench import PAIRS
from tests.gui.test_lab_views import examples, live_training
from visualizer import actions, fonts, i18n, lab_actions, lab_orders, lab_unfinished
from visualizer.lab import Check
from visualizer.lenses import lab_words
from visualizer.lenses.lab_check import check_wordings
from visualizer.lenses.lab_picture import Frame, NormBar
from visualizer.pages.train_setting import Setting
from visualizer.widgets import film_detail, film_strip, lab_tables
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


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scale", [1.0, 1.1])
def test_no_line_beside_the_settings_is_cut(bundled_font, lab_window, scale, language):
    part = form_of(lab_window, (1280, 720), scale, language)
    lab_window.store.dispatch(actions.show_notice, "notice.no_snapshot")
    for heads in (4, 5):
        lab_window.store.dispatch(lab_actions.set_setting, "n_heads", heads)
        part.running.setText(i18n.tr("lab.form.running"))
        part.running.show()
        lab_window.qtbot.wait(300)
        shown = [label for pair in part._lines for label in pair if label.isVisible()]
        assert part.wrong.text() if heads == 5 else len(shown) >= 8
        for label in (part.facts, part.running, *((part.wrong,) if heads == 5 else shown)):
            wanted = label.heightForWidth(label.width()) if label.wordWrap() else 0
            assert label.height() >= max(wanted, label.fontMetrics().height()), label.text()
    # what stands in the way is in view, and so is what goes on from here
    view = part.told.viewport()
    assert 0 <= part.wrong.mapTo(view, QPoint(0, 0)).y() < view.height()
    assert part.told.geometry().bottom() < part.running.y()
    for button in (part.back, part.train):
        assert button.height() >= button.sizeHint().height()
        assert part.running.geometry().bottom() < button.y()


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


def as_checked(live) -> None:
    """All gradients of a model have been checked."""
    found = SimpleNamespace(worst=4e-8, cells=4, holds=True, name="decoder.layers.0.cross_attn.b_k")
    check = Check(1, 250, results=(found,) * 46)
    live.store.dispatch(lambda state: lab_actions.with_lab(state, check=check))


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


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize(
    ("size", "scale"),
    [((1120, 640), 1.0), ((1280, 720), 1.0), ((1280, 720), 1.1), ((1600, 1000), 1.1)],
)
def test_no_command_is_cut_once_a_training_is_over(
    bundled_font, qtbot, tmp_path, size, scale, language
):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.window.resize(*size)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.set_scale, scale)
    qtbot.wait(300)
    # the model was kept, or could not be
    unkept = SimpleNamespace(path=None, model=SimpleNamespace(tokenizer=None))
    for over in ({"status": "finished"}, {"status": "failed", "final": unkept}):
        with_training(live, reason="", **over)
        part = live.window.stage.page.parts["training"]
        for place in range(part.commands.count() - 1):
            button = part.commands.itemAt(place).widget()
            assert button.width() >= button.sizeHint().width(), button.text()
            assert button.geometry().right() < part.line.geometry().left()
        face, lines = part.line.lines()
        assert all(face.width(line) <= part.line.width() for line in lines)
    end(live, bench)


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize(("scale", "notice"), [(1.0, True), (1.1, False), (1.1, True)])
def test_the_frames_can_be_read_beside_all_that_is_said(
    bundled_font, qtbot, tmp_path, scale, notice, language
):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.window.resize(1280, 720)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.set_scale, scale)
    qtbot.wait(300)
    as_checked(live)
    if notice:
        live.store.dispatch(actions.show_notice, "notice.no_snapshot")
    live.store.dispatch(lab_orders.set_probe, "s1 no such words s2")
    qtbot.wait(100)
    part = live.window.stage.page.parts["training"]
    film, reason = part.film, part.reason
    assert film.wrong.isVisible() and reason.isVisible()
    frame = film.strip.picture_rect(0)
    assert frame.width() >= 60 and frame.height() >= 40
    for chart in part.charts:
        assert chart.height() >= chart.minimumHeight() and chart.plot_rect().height() > 15
    # the check's words are whole and in one line, all of them a pointer away
    assert reason.height() < 2 * reason.fontMetrics().height()
    assert reason.fontMetrics().horizontalAdvance(reason.text()) <= reason.width()
    wordings = check_wordings(live.state.lab.check)
    assert reason.text() in wordings and reason.toolTip() == wordings[0]
    end(live, bench)


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("scale", [1.0, 1.1])
def test_the_probe_is_whole_beside_what_the_film_is_of(
    bundled_font, qtbot, tmp_path, scale, language
):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.window.resize(1280, 720)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.set_scale, scale)
    qtbot.wait(300)
    film = live.window.stage.page.parts["training"].film
    text = film.probe.fontMetrics().horizontalAdvance("Tuesday, September 2nd, 2014")
    assert film.probe.width() >= text + fonts.em(film.font())
    # an attention's name is whole, and no button
    for picker in (film.site, film.head):
        words = picker.fontMetrics().horizontalAdvance(picker.currentText())
        assert picker.width() >= words + 1.5 * fonts.em(film.font())
    for button in (film.open, film.save):
        assert button.width() >= button.sizeHint().width()
    end(live, bench)


@pytest.mark.parametrize("attention", ["cross", "encoder", "decoder"])
def test_only_rows_that_write_have_the_output_beside_them(
    bundled_font, qtbot, tmp_path, monkeypatch, attention
):
    live, bench = live_training(qtbot, tmp_path, 0, 10, 20)
    live.window.resize(1280, 720)
    live.store.dispatch(lab_orders.set_attention, attention)
    qtbot.wait(100)
    detail = live.window.stage.page.parts["training"].film.detail
    texts = written(monkeypatch, film_detail, detail)
    writes = attention != "encoder"
    for key in ("lab.detail.tokens", "lab.detail.sure"):
        assert (i18n.tr(key) in texts) == writes
    assert any("%" in text for text in texts) == writes
    end(live, bench)


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("scale", [1.0, 1.1])
def test_a_notice_cuts_nothing_of_how_the_next_token_is_chosen(
    bundled_font, lab_window, scale, language
):
    live = lab_window
    live.window.resize(1280, 720)
    live.store.dispatch(actions.set_language, language)
    live.store.dispatch(actions.set_scale, scale)
    live.qtbot.wait(300)
    work = live.window.workspace
    before = work.residual.height()
    # the one with buttons is the higher one
    for key in ("notice.no_snapshot", lab_unfinished.UNFINISHED):
        live.store.dispatch(actions.show_notice, key, title="reverse", step="60", path="x")
        live.qtbot.wait(200)
        sampling = work.prediction.sampling
        assert sampling.height() >= sampling.minimumSizeHint().height()
        for widget in (sampling.seed, sampling.choice, *sampling.sliders):
            assert widget.height() >= widget.minimumSizeHint().height()
        assert work.residual.isVisible()
    # nor where the type changes beside it
    live.store.dispatch(actions.set_scale, 0.9)
    live.qtbot.wait(100)
    live.store.dispatch(actions.set_scale, scale)
    live.qtbot.wait(300)
    work = live.window.workspace
    sampling = work.prediction.sampling
    assert sampling.height() >= sampling.minimumSizeHint().height()
    live.store.dispatch(actions.dismiss_notice)
    live.qtbot.wait(200)
    assert work.residual.height() == before
