"""The window: key press to painted, step to painted, start to the first frame.

Each is measured in a process of its own, on the screen that DISPLAY names or else offscreen.
`python -m tests.benchmarks.window keys` is what such a process runs.

Bytecode is kept in a folder of the benchmark's own, and the first start, which writes it, does not
count: so every start but the first one of an installed program finds it, whatever the environment
says of it (PYTHONDONTWRITEBYTECODE).
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.figures import Figure, LeftOut

WINDOW = "tests.benchmarks.window"
WORDS = 12
KEY_PRESSES, STEPS, STARTS = 300, 400, 7
WARM_UP = 20
# A frame that has not come by then never will.
PATIENCE = 5.0


def run() -> Iterator[Figure | LeftOut]:
    """The figures of the window, each with its target of the design."""
    where = where_shown()
    keys = in_own_process(WINDOW, "keys")
    for name, key, targets in (
        (f"key press to all panels painted, {WORDS} words", "keys", (8.0, 16.0)),
        ("of it until the stage, the map and the next token are", "first_of_keys", (None, None)),
        ("step to all panels painted", "steps", (None, 8.0)),
        ("of it until the stage, the map and the next token are", "first_of_steps", (None, None)),
    ):
        yield from percentiles(name, keys[key], targets, where)
    ours, bare = [], []
    with TemporaryDirectory() as bytecode:
        for number in range(STARTS + 1):
            started = _started("ours", bytecode), _started("bare", bytecode)
            if number:
                ours.append(started[0])
                bare.append(started[1])
    against = "against a bare PySide6 + numpy + pyqtgraph window"
    for name, key, unit, target in (
        ("start to the first painted frame", "seconds", "s", 1.2),
        ("processor time to the first painted frame", "processor", "s", None),
        ("memory at the first painted frame", "bytes", "MB", 1.4),
        ("start to a sentence stepped into", "stepped", "s", None),
    ):
        values = [o[key] / b["seconds" if key == "stepped" else key] for o, b in zip(ours, bare)]
        scale = 1e-6 if unit == "MB" else 1.0
        median = scale * statistics.median(o[key] for o in ours)
        yield Figure(name, values, "×", target, f"{median:.3g} {unit} {against}; {where}.")


def where_shown() -> str:
    """The platform that windows are shown on."""
    return "xcb" if os.environ.get("DISPLAY") else "offscreen"


def percentiles(
    name: str, seconds: Sequence[float], targets: tuple[float | None, float | None], where: str
) -> Iterator[Figure]:
    ordered = sorted(1000 * value for value in seconds)
    for share, target in zip((50, 95), targets):
        value = ordered[min(len(ordered) - 1, len(ordered) * share // 100)]
        spread = f"min {ordered[0]:.3g}, max {ordered[-1]:.3g} of {len(ordered)}; {where}."
        yield Figure(f"{name}, p{share}", [value], "ms", target, spread)


def in_own_process(module: str, what: str, bytecode: str = "") -> dict[str, Any]:
    """What `python -m module what` prints on its last line; bytecode: the folder to keep it in."""
    environment = dict(os.environ)
    if bytecode:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = bytecode
    if not environment.get("DISPLAY"):
        environment["QT_QPA_PLATFORM"] = "offscreen"
    done = subprocess.run(
        [sys.executable, "-m", module, what],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(f"the benchmark of the window failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _started(what: str, bytecode: str) -> dict[str, float]:
    start = time.time()
    found = in_own_process(WINDOW, what, bytecode)
    figures = {name: found[name] for name in ("bytes", "processor")}
    figures["seconds"] = found["painted"] - start
    return figures | {"stepped": found.get("stepped", start) - start}


# What runs in the measured process.


def _session() -> Any:
    """The real window with its engine, settings left alone; the first model comes by itself."""
    app, session = fresh_window()
    session.begin()
    return app, session


def fresh_window() -> Any:
    """The application and the session of a window without a model, made as the program does."""
    gc.disable()  # so does visualizer/__main__.py, and the collector collects in its own way
    from visualizer.app import FIRST_SIZE, Session, make_application
    from visualizer.engine import Engine
    from visualizer.garbage import GarbageCollector
    from visualizer.main_window import MainWindow
    from visualizer.state import ViewState
    from visualizer.store import Store

    app = make_application(["glassformer"])
    app.garbage = GarbageCollector()
    window = MainWindow(Store(ViewState()))
    session = Session(window, Engine(), None)
    window.resize(*FIRST_SIZE)
    window.show()
    return app, session


def until(app: Any, reached: Any, patience: float = PATIENCE) -> None:
    """Handle events until the condition holds, without waking up in between for nothing."""
    from PySide6.QtCore import QEventLoop, QTimer

    # Waiting must not spin: the worker could not compute for want of the interpreter's lock.
    late = QTimer()
    late.setSingleShot(True)
    late.start(round(1000 * patience))
    while not reached():
        if not late.isActive():
            raise RuntimeError("a frame was waited for that did not come")
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def _keys() -> dict[str, list[float]]:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from model_core.training import tasks
    from visualizer.navigation import current_index
    from visualizer.widgets.canvas import Canvas

    app, session = _session()
    store, window = session.store, session.window
    first = (window.stage, window.map, window.prediction)
    panels = [panel for panel in window.panels if panel.carriers]

    def drawn() -> bool:
        # nothing waits to be drawn, nor to be painted: neither badges nor what is told of a cell
        return not any(panel.is_late for panel in panels) and not any(
            canvas.is_stale and not canvas.visibleRegion().isEmpty() for canvas in canvases
        )

    def is_run(text: str, wanted: Sequence[Any]) -> bool:
        run = store.state.run
        if run is None or run.inputs.source != text:
            return False
        # a panel that is put away, as the line for a typed target is, paints nothing
        return all(panel.painted_run == run.number for panel in wanted if panel.isVisible())

    def is_step(wanted: Sequence[Any]) -> bool:
        here = current_index(store.state)
        return all(panel.painted_step == here for panel in wanted if panel.isVisible())

    def shown(text: str) -> bool:
        return is_run(text, panels) and drawn()

    canvases = [canvas for panel in panels for canvas in panel.findChildren(Canvas)]
    until(app, lambda: store.state.run is not None and shown(store.state.inputs.source))
    sentences = []
    number = 0
    while len(sentences) < WARM_UP + KEY_PRESSES:
        text = tasks.new_sentence("en-zh", number)
        number += 1
        if len(text.split()) == WORDS:
            sentences.append(text)
    field = window.header.field
    found: dict[str, list[float]] = {}

    def measure(
        act: Callable[[], None], key: str, reached: Callable[[Sequence[Any]], bool]
    ) -> None:
        start = time.perf_counter()
        act()
        until(app, lambda: reached(first))
        found.setdefault(f"first_of_{key}", []).append(time.perf_counter() - start)
        until(app, lambda: reached(panels) and drawn())
        found.setdefault(key, []).append(time.perf_counter() - start)

    for text in sentences:
        field.setFocus()
        field.set_text(text[:-1])
        field.edited.emit(text[:-1])
        until(app, lambda text=text: shown(text[:-1]))
        field.setCursorPosition(len(text) - 1)
        app.processEvents()
        press = partial(QTest.keyClick, field, text[-1])
        measure(press, "keys", partial(is_run, text))
    window.stage.setFocus()
    QTest.keyClick(window.stage, Qt.Key.Key_Home)
    step = partial(QTest.keyClick, window.stage, Qt.Key.Key_Right)
    for _ in range(WARM_UP + STEPS):
        before = current_index(store.state)
        measure(step, "steps", is_step)
        assert current_index(store.state) == before + 1
    window.close()
    return {key: times[WARM_UP:] for key, times in found.items()}


def _memory() -> int:
    """Resident bytes of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _note_frame(found: dict[str, float]) -> None:
    found["painted"], found["bytes"] = time.time(), _memory()
    found["processor"] = time.process_time()


def _ours() -> dict[str, float]:
    from PySide6.QtCore import QEvent, QObject, QTimer

    found: dict[str, float] = {}

    class First(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and not self.seen:
                self.seen = True
                # once the children, which come after their parent, are painted too
                QTimer.singleShot(0, lambda: _note_frame(found))
            return False

        seen = False

    from visualizer import main_window

    original = main_window.MainWindow.show

    def show(window: Any) -> None:
        window._first = First()
        window.installEventFilter(window._first)
        original(window)

    main_window.MainWindow.show = show
    app, session = _session()
    panels = [panel for panel in session.window.panels if panel.carriers]
    until(
        app, lambda: "painted" in found and all(p.painted_run > 0 for p in panels if p.isVisible())
    )
    found["stepped"] = time.time()
    session.window.close()
    return found


def _bare() -> dict[str, float]:
    import numpy as np
    import pyqtgraph as pg
    from PySide6.QtWidgets import QApplication

    app = QApplication(["bare"])
    found: dict[str, float] = {}

    class Plot(pg.PlotWidget):
        def paintEvent(self, event: Any) -> None:
            super().paintEvent(event)
            if not found:
                _note_frame(found)

    plot = Plot()
    plot.plot(np.arange(100.0))
    plot.resize(1600, 1000)
    plot.show()
    until(app, lambda: bool(found))
    return found


if __name__ == "__main__":
    print(json.dumps({"keys": _keys, "ours": _ours, "bare": _bare}[sys.argv[1]]()))
