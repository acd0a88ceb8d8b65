"""The glossary over the window: how it is opened, read, searched and put away."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QCursor, QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from tests.gui.live_window import dress
from tests.gui.views import view, worked_view
from visualizer import actions, glossary, i18n, keys, navigation
from visualizer.main_window import MainWindow
from visualizer.store import Store
from visualizer.widgets.glossary_link import TermLabel, term_under, tip
from visualizer.widgets.glossary_sheet import GlossarySheet

KEY = Qt.Key


@pytest.fixture
def window(qtbot, qapp):
    dress(qapp, exact=True)
    made = MainWindow(Store(view()))
    qtbot.addWidget(made)
    made.resize(1280, 720)
    made.show()
    made.activateWindow()
    qtbot.waitExposed(made)
    made.grab()
    yield made
    qapp.setStyleSheet("")
    i18n.set_language("en")


def sheet(window: MainWindow) -> GlossarySheet:
    assert window.asking.sheet is not None and window.asking.sheet.isVisible()
    return window.asking.sheet


def point_at(widget: QWidget, pos: QPointF) -> None:
    none, plain = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    place = QPointF(widget.mapToGlobal(pos))
    QApplication.sendEvent(
        widget, QMouseEvent(QEvent.Type.MouseMove, pos, place, none, none, plain)
    )


def right_click(widget: QWidget, pos: QPointF) -> None:
    reason = QContextMenuEvent.Reason.Mouse
    place = widget.mapToGlobal(pos.toPoint())
    QApplication.sendEvent(widget, QContextMenuEvent(reason, pos.toPoint(), place))


def link_of(canvas: QWidget, term: str):
    return next(link for link in canvas.links.links() if link.term == term)


# Opening and closing.


def test_a_click_on_a_word_of_the_heading_opens_its_entry(window, qtbot):
    place = window.stage.breadcrumb
    link = link_of(place, "cross_attention")
    qtbot.mouseClick(place, Qt.MouseButton.LeftButton, pos=link.rect.center().toPoint())
    assert sheet(window).shown == "cross_attention"
    assert sheet(window).view.term.text() == "cross-attention"
    assert "交叉注意力" in sheet(window).view.other.text()


def test_escape_closes_it_and_the_keys_are_where_they_were(window, qtbot):
    window.header.field.setFocus()
    window.asking.open("softmax")
    qtbot.waitUntil(lambda: sheet(window).field.hasFocus(), timeout=2000)
    qtbot.keyClick(sheet(window).field, KEY.Key_Escape)
    assert window.asking.sheet is None
    assert window.header.field.hasFocus()


def test_f2_opens_it_at_the_record_on_show_and_closes_it_again(window, qtbot):
    QCursor.setPos(QPoint(0, 0))
    site = "decoder.layers.0.cross_attn.weights"
    window.store.dispatch(navigation.go_to_site, site)
    window.asking.toggle()
    assert sheet(window).shown == glossary.entry_of_site(site)
    window.asking.toggle()
    assert window.asking.sheet is None


def test_a_right_click_asks_what_a_chip_is_and_does_not_press_it(window):
    ops, before = window.stage.ops, window.store.state.cursor
    tips = list(ops._tooltips)
    for name, term in (("scores", "op.scores"), ("v", "value"), ("concat", "op.merge_heads")):
        index = next(n for n, site in enumerate(tips) if site.endswith(f".{name}"))
        pos = ops.rect_of(index).center()
        place = ops.mapToGlobal(pos.toPoint())
        assert term_under(ops, place) == term
        right_click(ops, pos)
        window.asking.open(term_under(ops, place))
        assert sheet(window).shown == term
        sheet(window).close_sheet()
    assert window.store.state.cursor == before


def test_things_with_a_click_of_their_own_say_what_they_are_about(window):
    def under(widget: QWidget, pos: QPointF) -> str:
        return term_under(widget, widget.mapToGlobal(pos.toPoint()))

    middle = QPointF(3, 3)
    panel = window.prediction
    assert under(panel.sampling.choice.findChildren(QWidget)[0], middle) == "greedy"
    assert under(panel.bars, middle) == "probability"
    assert under(window.stage.page.heads, middle) == "head"
    box = window.map.findChildren(QWidget)
    model = next(widget for widget in box if hasattr(widget, "block_at"))
    for block, term in (
        ("decoder.0.cross_attn", "cross_attention"),
        ("encoder.0.ffn", "feed_forward"),
        ("output", "logit"),
    ):
        assert under(model, model.rect_of(block).center()) == term
    tabs = window.stage.tabs
    for name, term in (("lens", "logit_lens"), ("gradients", "gradient"), ("values", "record")):
        assert under(tabs, tabs.tab_rect(name).center()) == term


def test_the_menu_and_the_sheet_of_keys_tell_of_it():
    assert {"keys.glossary", "keys.term"} <= set(keys.SHEET)


# Reading.


def test_the_keys_stay_within_the_sheet(window, qtbot):
    before = window.store.state
    window.asking.open("query")
    opened = sheet(window)
    qtbot.keyClick(opened.field, KEY.Key_Tab)
    stops = [opened.terms, opened.view.see, opened.shut, opened.field]
    for widget in (KEY.Key_Right, KEY.Key_PageDown, KEY.Key_F, KEY.Key_Space, KEY.Key_Home):
        qtbot.keyClick(QApplication.focusWidget() or opened, widget)
    for _ in range(8):
        opened.focusNextPrevChild(True)
        assert QApplication.focusWidget() in stops
    assert window.store.state == before


def test_typing_searches_and_the_arrows_go_through_what_is_found(window, qtbot):
    window.asking.open("token")
    opened = sheet(window)
    qtbot.keyClicks(opened.field, "norm")
    first = glossary.search("norm")[:2]
    assert opened.shown == first[0].id
    qtbot.keyClick(opened.field, KEY.Key_Down)
    assert opened.shown == first[1].id
    qtbot.keyClicks(opened.field, "zzz")
    assert opened.none.isVisible() and opened.terms.count() == 0


def test_a_link_leads_to_another_entry_and_back_returns(window, qtbot):
    window.asking.open("op.softmax")
    opened = sheet(window)
    assert not opened.back.isVisible()
    opened.view.linkClicked.emit("temperature")
    assert opened.shown == "temperature" and opened.back.isVisible()
    opened.back.click()
    assert opened.shown == "op.softmax" and not opened.back.isVisible()


def test_every_entry_can_be_shown_and_an_unknown_one_is_the_first(window):
    window.asking.open("no such entry")
    opened = sheet(window)
    assert opened.shown == glossary.entries()[0].id
    for item in glossary.entries():
        opened._select(item.id)
        assert opened.shown == item.id
        assert opened.terms.currentItem().text() == item.term
        for linked in item.see:
            assert f'href="{linked}"' in opened.view.see.text()


def test_language_colours_and_size_change_under_an_open_sheet(window):
    window.asking.open("entropy")
    window.store.dispatch(actions.set_language, "zh")
    assert sheet(window).view.term.text() == "熵"
    window.store.dispatch(actions.set_theme, "dark")
    assert sheet(window).shown == "entropy"
    assert sheet(window).geometry() == window.rect()
    window.resize(1400, 800)
    QApplication.processEvents()
    assert sheet(window).geometry() == window.rect()


# Words on screen.


def test_a_word_under_the_pointer_is_marked_and_defined(window):
    words = window.stage.breadcrumb
    link = link_of(words, "query")
    point_at(words, link.rect.center())
    assert words.cursor().shape() == Qt.CursorShape.PointingHandCursor
    place = words.mapToGlobal(link.rect.center().toPoint())
    event = QHelpEvent(QEvent.Type.ToolTip, link.rect.center().toPoint(), place)
    QApplication.sendEvent(words, event)
    assert QToolTip.text() == tip("query")
    QToolTip.hideText()
    point_at(words, QPointF(words.width() - 1, 1))
    assert words.cursor().shape() == Qt.CursorShape.ArrowCursor


def test_the_op_of_the_heading_is_what_it_is_in_its_place(window):
    for site in ("encoder.layers.0.self_attn.out", "decoder.layers.0.ffn.out", "decoder.embed.out"):
        window.store.dispatch(navigation.go_to_site, site)
        window.stage.breadcrumb.grab()
        terms = [link.term for link in window.stage.breadcrumb.links.links()]
        assert glossary.entry_of_site(site) in terms and "site" in terms


def test_both_axes_of_every_heatmap_lead_to_the_glossary(window):
    heatmap = window.stage.page.heatmap
    for site in ("decoder.layers.0.cross_attn.weights", "encoder.layers.0.self_attn.scores"):
        window.store.dispatch(navigation.go_to_site, site)
        heatmap.grab()
        terms = [link.term for link in heatmap.links.links()]
        assert "key" in terms and "query" in terms
        for link in heatmap.links.links():
            assert heatmap.rect().contains(link.rect.center().toPoint())
            assert heatmap.links.at(link.rect.center()) == link


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_link_of_every_record_leads_to_an_entry(window, language):
    window.store.dispatch(actions.set_language, language)
    known = {item.id for item in glossary.entries()}
    met = set()
    for site in window.store.state.run.tape.sites:
        window.store.dispatch(navigation.go_to_site, site)
        window.grab()
        for canvas in window.stage.findChildren(QWidget):
            if canvas.isVisible() and hasattr(canvas, "links"):
                met |= {link.term for link in canvas.links.links()}
    assert met <= known and len(met) > 25


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_the_names_of_the_sampling_controls_lead_to_their_entries(window, qtbot, language):
    window.store.dispatch(actions.set_language, language)
    panel = window.prediction.sampling
    for label, term in (
        (panel.temperature.label, "temperature"),
        (panel.top_k.label, "top_k"),
        (panel.top_p.label, "top_p"),
        (panel.seed_label, "seed"),
    ):
        assert isinstance(label, TermLabel) and label.link == term
        qtbot.mouseClick(label, Qt.MouseButton.LeftButton)
        assert sheet(window).shown == term
        sheet(window).close_sheet()


def test_a_worked_example_has_its_words_as_well(qtbot, qapp):
    dress(qapp, exact=True)
    made = MainWindow(Store(worked_view("self-attention")))
    qtbot.addWidget(made)
    made.show()
    made.grab()
    made.asking.open_here()
    assert made.asking.sheet.shown in {item.id for item in glossary.entries()}
    qapp.setStyleSheet("")
