"""A training that tells what a test has written down, in place of a process."""

from __future__ import annotations

from typing import Any

import numpy as np

from model_core.parameters import initialise
from model_core.training.held_out import Decoded, Evaluation
from model_core.training.history import History
from model_core.training.lab import Training
from model_core.training.loop import Progress
from model_core.training.messages import Event, Finished, Snapshot, Start, Started, Steps
from model_core.training.norms import LayerNorms
from model_core.training.settings import Settings
from model_core.training.snapshots import flattened
from tests.core.models import small_model

MODEL = small_model("float32")
TOTAL = 40
LAYERS = ["encoder.layers.0", "output"]


class Scripted(Training):
    """The core's own client, but for the process: `script` is what it has not told yet."""

    def __init__(self, start: Start) -> None:
        # as in Training, without starting anything
        self.start = start
        self.state = "loading"
        self.sentence, self.step, self.saved_step = "", 0, None
        self.loading = self.started = self.evaluation = self.probed = None
        self.evaluations = []
        self.card: dict[str, Any] = {}
        self.history = History([])
        self.film = None
        self._parameters = None
        self.script: list[Event] = []
        self.said: list[str] = []
        self.closed: bool | None = None
        self.forgotten = False
        self.unsavable = ""

    def _say(self, command: Any) -> None:
        self.said.append(type(command).__name__)

    def poll(self, most: float | None = None) -> list[Event]:
        events, self.script = self.script, []
        for event in events:
            self._take(event)
        return events

    def save(self) -> str:
        """unsavable: why it cannot be."""
        if not self.unsavable and self.state in ("running", "paused"):
            self.saved_step = self.step
        return self.unsavable

    def close(self, save: bool = False) -> None:
        self.closed = save

    def forget(self) -> None:
        self.forgotten = True


def parameters(step: int) -> dict[str, np.ndarray]:
    """Other ones for each step."""
    return initialise(MODEL.config, np.random.default_rng(step))


def flat(step: int) -> bytes:
    own = parameters(step)
    return flattened(own, own, "float32").tobytes()


def started(step: int = 0) -> Started:
    return Started(
        title="reverse",
        settings=Settings(),
        config=MODEL.config.to_dict(),
        tokenizer=MODEL.tokenizer.to_dict(),
        card={},
        step=step,
        total_steps=TOTAL,
        steps_per_epoch=4,
        n_train=10,
        n_held_out=2,
        too_long=0,
        report=[],
        left_out=[],
        warning="",
        layers=LAYERS,
        steps=b"",
        norms=b"",
    )


def progress(step: int, evaluated: bool = False) -> Progress:
    evaluation = Evaluation(
        step,
        2.5,
        3,
        7,
        (Decoded("s4 s5", "t4 t5", "t4 t6", False), Decoded("s6", "t6", "t6", True)),
    )
    return Progress(
        step,
        1,
        loss=4.0 / step,
        alignment_loss=None,
        gradient_norm=2.41 + step,
        learning_rate=1e-3 * step,
        tokens=12,
        clipped_norm=1.0,
        norms=(LayerNorms("encoder.layers.0", 3.0, 0.003), LayerNorms("output", 4.0, 0.004)),
        evaluation=evaluation if evaluated else None,
    )


def steps(*numbers: int, evaluated: int = 0) -> Steps:
    """These steps, each 0.02 s after the one before."""
    return Steps([progress(n, n == evaluated) for n in numbers], [0.02 * n for n in numbers])


def snapshot(step: int) -> Snapshot:
    return Snapshot(step, "float32", flat(step))


def finished(step: int, is_whole: bool) -> Finished:
    return Finished(step, is_whole, flat(step), {"title": "reverse", "examples": ["s4 s5"]})
