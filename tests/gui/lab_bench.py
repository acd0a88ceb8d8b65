"""A laboratory whose trainings are scripted, and a window with a lab of its own, for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model_core.training.lab_data import TaskSource
from model_core.training.settings import Settings
from tests.gui import scripted_training as scripted
from tests.gui.live_window import LiveWindow
from tests.gui.samples import FONT
from tests.gui.scripted_training import Scripted
from tests.gui.views import view
from visualizer import fonts, lab_orders
from visualizer.lab import Subject, Training
from visualizer.laboratory import Laboratory
from visualizer.lenses import remarks
from visualizer.store import Store

# The lines of a file of pairs that can be told apart.
PAIRS = "".join(f"{a}{b}\t{b}{a}\n" for a in "abcd" for b in "efgh")


def subject(**settings) -> Subject:
    return Subject(TaskSource("reverse"), "reverse", Settings(**settings))


class Bench:
    """A laboratory whose trainings are scripted."""

    def __init__(self, folder: Path) -> None:
        self.clients: list[Scripted] = []
        self.store = Store(replace(view(), page="train"))
        self.laboratory = Laboratory(self.store, folder / "trainings", self._made)

    def _made(self, start) -> Scripted:
        self.clients.append(Scripted(start))
        return self.clients[-1]

    @property
    def client(self) -> Scripted:
        return self.clients[-1]

    @property
    def training(self) -> Training:
        training = self.store.state.lab.training
        assert training is not None
        return training

    def begin(self, qtbot) -> None:
        before = len(self.clients)
        lab = replace(self.store.state.lab, subject=subject())
        self.store.dispatch(lambda state: replace(state, lab=lab))
        self.store.dispatch(lab_orders.begin)
        qtbot.waitUntil(lambda: len(self.clients) > before)

    def tell(self, *events) -> None:
        """The process has said this, and a look was taken at it."""
        self.client.script += events
        self.laboratory._told = 0.0
        self.laboratory._on_look()


def said(bench: Bench) -> str:
    """The notice on show."""
    return remarks.notice_text(bench.store.state.notice)


def film(bench, qtbot, *steps: int) -> None:
    bench.begin(qtbot)
    bench.tell(scripted.started(), *(scripted.snapshot(n) for n in steps))
    bench.tell(scripted.steps(40, evaluated=40))


@pytest.fixture
def bundled_font(qapp):
    """What fits depends on the font: it shall be the one that the window has."""
    before = qapp.font()
    fonts.install_fonts(qapp, FONT, exact=True)
    yield
    qapp.setFont(before)


@pytest.fixture
def bench(qtbot, tmp_path):
    made = Bench(tmp_path)
    yield made
    made.laboratory.shutdown()


@pytest.fixture
def lab_window(qtbot, tmp_path):
    """A window over the small model, whose trainings lie in a folder of the test's own."""
    made = LiveWindow(qtbot, tmp_path)
    made.session.laboratory.folder = tmp_path / "trainings"
    made.open_small()
    yield made
    made.end()
