"""Someone at the window, who does everything there is to do, round and round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from model_core.training import tasks
from tests.benchmarks.window import WORDS, until
from visualizer import actions, lab_actions, lab_orders, trail
from visualizer.lab import ENDED, snapshot_steps
from visualizer.lab_film import entry_at
from visualizer.navigation import current_index, current_walk
from visualizer.state import PageName

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
MODEL = "en-zh"
# Seconds that something is looked at; what is waited for comes within PATIENCE.
LOOK, PATIENCE = 0.35, 120.0
# The steps that are measured: from the start of the walk on, and back from its end.
ON, BACK = 150, 50
PAGES: tuple[PageName, ...] = ("layers", "attention", "heads", "lens", "decoding", "step")
LOOKS = (("dark", "zh"), ("light", "en"), ("dark", "en"), ("light", "zh"), ("light", "en"))


class User:
    """Works through the window's keys, and through the actions that its widgets send.

    seconds: of every measured step, from the key press until all panels have painted it
    paused: of those that were measured while the training was paused
    folder: where files are written that the user saves
    """

    def __init__(self, app: Any, session: Any, task: str, folder: Path) -> None:
        self.app, self.session, self.task, self.folder = app, session, task, folder
        self.store, self.window = session.store, session.window
        self.seconds: list[float] = []
        self.paused: list[float] = []
        self.deeds = 0
        self._sentence = self._round = self._probe = 0

    # The smallest deeds.

    def wait(self, reached: Callable[[], bool]) -> None:
        until(self.app, reached, PATIENCE)

    def look(self, seconds: float = LOOK) -> None:
        """Let some time pass, with the window at work."""
        self.deeds += 1
        end = time.monotonic() + seconds
        until(self.app, lambda: time.monotonic() >= end, PATIENCE)

    def press(self, key: Qt.Key, held: Any = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.window.stage, key, held)

    def do(self, action: Any, *values: Any, **named: Any) -> None:
        self.store.dispatch(action, *values, **named)
        self.app.processEvents()

    def panels(self) -> list[Any]:
        return [panel for panel in self.window.panels if panel.carriers and panel.isVisible()]

    def shown(self) -> bool:
        """Whether the run of the inputs as they are is painted everywhere."""
        state = self.store.state
        run = state.run
        if run is None or run.inputs != state.inputs:
            return False
        return all(panel.painted_run == run.number for panel in self.panels())

    def stepped(self) -> bool:
        index = current_index(self.store.state)
        return all(panel.painted_step == index for panel in self.panels())

    # What is measured.

    def open_bundled(self) -> None:
        """The model whose steps are measured."""
        entry = self.store.state.model
        if entry is None or entry.bundled != MODEL:
            self.session.open(MODEL)
            self.wait(lambda: getattr(self.store.state.model, "bundled", "") == MODEL)
        self.do(actions.show_page, "record")
        self.wait(self.shown)

    def type_sentence(self) -> None:
        """Another sentence of twelve words, letter by letter."""
        text = ""
        while len(text.split()) != WORDS:
            text = tasks.new_sentence(MODEL, self._sentence)
            self._sentence += 1
        field = self.window.header.field
        field.setFocus()
        field.selectAll()
        for letter in text:
            QTest.keyClick(field, letter)
            self.app.processEvents()
        self.wait(lambda: self.store.state.inputs.source == text and self.shown())

    def measured_steps(self) -> None:
        """Along the walk, as tests/benchmarks/window.py measures it."""
        self.window.stage.setFocus()
        for start, key, count in (
            (Key.Key_Home, Key.Key_Right, ON),
            (Key.Key_End, Key.Key_Left, BACK),
        ):
            self.press(start)
            self.wait(self.stepped)
            for _ in range(count):
                before = current_index(self.store.state)
                begun = time.perf_counter()
                self.press(key)
                self.wait(self.stepped)
                self.seconds.append(time.perf_counter() - begun)
                assert current_index(self.store.state) != before

    def measured_round(self) -> None:
        self.open_bundled()
        self.type_sentence()
        self.measured_steps()
        self.look()

    # The training.

    def start_training(self, steps: int) -> None:
        """In the lab, as its buttons do it."""
        self.do(actions.show_page, "train")
        self.do(lab_actions.choose_task, self.task)
        self.wait(lambda: self.store.state.lab.subject.facts is not None)
        self.look(2.0)
        self.do(lab_actions.set_setting, "steps", steps)
        self.do(lab_orders.begin)
        self.wait(lambda: len(snapshot_steps(self.store.state.lab)) > 1)

    def stop_training(self) -> None:
        """In the lab, as its button does it; the model it has come to is kept."""
        self.do(actions.show_page, "train")
        self.do(lab_orders.command, "stop")
        self.wait(lambda: self.status in ENDED)

    @property
    def status(self) -> str:
        training = self.store.state.lab.training
        return "" if training is None else training.status

    def rounds(self) -> Iterator[str]:
        """For ever; the name of each part once it is done."""
        parts: tuple[Callable[[], None], ...] = (
            self.measured_round,
            self.pages,
            self.measured_round,
            self.film,
            self.measured_round,
            self.snapshot,
            self.measured_round,
            self.commands,
            self.measured_round,
            self.looks,
        )
        while True:
            self._round += 1
            for part in parts:
                if self.status in ENDED:
                    raise RuntimeError(f"the training has {self.status} before its time")
                part()
                yield part.__name__

    def pages(self) -> None:
        """Every page of a run, its gradients, the links between them."""
        self.open_bundled()
        for page in PAGES:
            self.do(actions.show_page, page)
            self.look()
        self.do(actions.show_page, "record")
        self.do(actions.set_showing, "gradients")
        self.look(0.8)
        for _ in range(10):
            self.press(Key.Key_Left)
            self.look(0.1)
        self.do(actions.set_showing, "values")
        for head in (Key.Key_2, Key.Key_1):
            self.press(head)
            self.look(0.1)
        self.do(actions.set_strategy, "beam")
        self.wait(self.shown)
        self.look()
        self.do(actions.set_strategy, "greedy")
        self.wait(self.shown)

    def film(self) -> None:
        """Back and forth through what the training has left, other heads, other sentences."""
        self.do(actions.show_page, "train")
        self.do(lab_orders.set_view, "film")
        self.look(1.5)
        steps = snapshot_steps(self.store.state.lab)
        for step in steps[:: max(1, len(steps) // 12)]:
            self.do(lab_orders.show_step, step)
            self.look(0.2)
        self.do(lab_orders.mark_step, steps[len(steps) // 3])
        self.look()
        self.do(lab_orders.swap_marked)
        self.look()
        for attention in ("encoder", "decoder", "cross"):
            self.do(lab_orders.set_attention, attention)
            self.do(lab_orders.set_head, self._round % 2)
            self.look(0.2)
        self._probe += 1
        self.do(lab_orders.set_probe, tasks.new_sentence(self.task, self._probe))
        self.do(lab_orders.set_view, "tables")
        self.look(0.6)
        self.do(lab_orders.set_view, "film")
        self.do(lab_orders.show_step, None)
        self.look(2.0)
        if self._round % 4 == 1:
            self.do(lab_orders.check)
            check = self.store.state.lab.check
            self.wait(lambda: self.store.state.lab.check is not check)
            assert self.store.state.lab.check.results, self.store.state.lab.check.reason

    def snapshot(self) -> None:
        """A snapshot takes the stage, is walked through, saved, and left again."""
        self.do(actions.show_page, "train")
        steps = snapshot_steps(self.store.state.lab)
        self.do(lab_orders.show_step, steps[self._round % len(steps)])
        self.look()
        before = self.store.state.model
        self.do(lab_orders.open_shown)
        self.wait(lambda: self.store.state.model is not before and self.shown())
        walk = current_walk(self.store.state)
        assert walk is not None
        for key in 20 * [Key.Key_Right] + 10 * [Key.Key_Left]:
            self.press(key)
            self.look(0.03)
        for page in ("attention", "lens"):
            self.do(actions.show_page, page)
            self.look()
        self.do(trail.go_back)
        self.do(actions.show_page, "train")
        self.look()
        path = self.folder / f"snapshot-{self._round % 3}.safetensors"
        training = self.store.state.lab.training
        chosen = snapshot_steps(self.store.state.lab)[-1]
        # as the button does: taken when it is pressed
        self.do(lab_orders.save_snapshot, entry_at(training, chosen), path)
        self.do(lab_orders.export_history, self.folder / "history.csv")
        self.look()

    def commands(self) -> None:
        """Pause, one batch, another one, steps to compare with, go on."""
        self.do(actions.show_page, "train")
        self.do(lab_orders.command, "pause")
        self.wait(lambda: self.status == "paused")
        for _ in range(2):
            training = self.store.state.lab.training
            assert training is not None
            step = training.step
            self.do(lab_orders.command, "one_batch")
            self.wait(lambda step=step: self.store.state.lab.training.step > step)
        self.look()
        before, self.seconds = self.seconds, []
        self.measured_round()
        self.paused += self.seconds
        self.seconds = before
        self.do(lab_orders.command, "resume")
        self.wait(lambda: self.status == "running")

    def looks(self) -> None:
        """Other colours, another language, other sizes of type; at last as it was."""
        for page in ("train", "record"):
            self.do(actions.show_page, page)
            for theme, language in LOOKS:
                self.do(actions.set_theme, theme)
                self.do(actions.set_language, language)
                self.look(0.4)
        self.do(actions.set_scale, 1.1)
        self.look(0.6)
        self.do(actions.set_scale, None)
        self.look(0.6)
        if self.store.can_undo:
            self.store.undo()
            self.wait(self.shown)
            self.store.redo()
            self.wait(self.shown)
