"""The real program on a real screen, driven by real keys and a real pointer."""

from __future__ import annotations

import re
import sys

import numpy as np

SENTENCE = "the black cat sleeps on the table"


def runs(program) -> list[tuple[str, str]]:
    """(outcome, translation) of every run that the program says it shows."""
    return re.findall(r"run \d+ is on show: (\w+) ?(.*)", program.log.read_text())


def test_a_sentence_is_typed_walked_through_and_the_window_closes_cleanly(real_screen):
    program = real_screen.start(sys.executable, "-m", "visualizer", "--verbose")
    real_screen.window("Glassformer")
    real_screen.until(lambda: runs(program), 60, "the first sentence to be on show")
    first = real_screen.picture()

    real_screen.xdotool("key", "ctrl+l")
    real_screen.xdotool("type", "--delay", "20", SENTENCE)
    real_screen.until(lambda: runs(program)[-1][1].count("猫") == 1, 30, "the translation")
    real_screen.until(
        lambda: np.mean(real_screen.picture() != first) > 0.01, 30, "the new sentence's picture"
    )

    # out of the field, and the arrows walk: the stage shows another operation each time
    real_screen.xdotool("key", "Return")
    seen = [real_screen.picture()]
    for keys in ("Right", "shift+Right", "ctrl+Left", "alt+Left", "Home"):
        real_screen.xdotool("key", keys)

        def changed() -> bool:
            picture = real_screen.picture()
            return np.mean(picture != seen[-1]) > 0.002

        real_screen.until(changed, 30, f"{keys} to show another step")
        seen.append(real_screen.picture())

    # undo brings the sentence before back, computed anew
    count = len(runs(program))
    real_screen.xdotool("key", "ctrl+z")
    real_screen.until(lambda: len(runs(program)) > count, 30, "the undone sentence's run")

    real_screen.xdotool("key", "alt+F4")
    assert real_screen.until(lambda: program.poll() is not None, 30, "the program to end")
    assert program.returncode == 0, program.log.read_text()
    log = program.log.read_text()
    assert "Traceback" not in log and "ERROR" not in log
