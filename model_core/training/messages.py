"""What the process that trains and the one that watches say to each other, and how it is framed.

Each message is four bytes of length, little-endian, and so many bytes of MessagePack.
"""

from __future__ import annotations

import threading
from typing import Any, BinaryIO

import msgspec

from model_core.training.lab_data import DataSource
from model_core.training.loop import Progress
from model_core.training.settings import Settings
from model_core.training.snapshots import StoredAs

LENGTH_BYTES = 4
LONGEST = 2**31 - 1
MEGABYTE = 2**20


class Start(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """Train: on a source under settings, or on from a checkpoint.

    checkpoint: where the run is saved every so many seconds, or steps where they are above 0; ""
    for nowhere. film_budget is in bytes
    """

    source: DataSource | None = None
    settings: Settings | None = None
    resume: str = ""
    checkpoint: str = ""
    save_seconds: float = 120.0
    save_steps: int = 0
    evaluate_every: int = 100
    norms_every: int = 10
    film_budget: int = 32 * MEGABYTE
    film_interval: int = 10
    film_stored_as: StoredAs = "float16"
    probe: str = ""
    paused: bool = False


class Pause(msgspec.Struct, frozen=True, tag="pause"):
    """Stop behind the step that is being made, and save the run; a paused one is saved again."""


class GoOn(msgspec.Struct, frozen=True, tag="go_on"):
    """Train on after a pause."""


class StepOnce(msgspec.Struct, frozen=True, tag="step_once"):
    """Train one batch and pause."""


class StopAndKeep(msgspec.Struct, frozen=True, tag="stop_and_keep"):
    """End the run with the model as it is."""


class Quit(msgspec.Struct, frozen=True, tag="quit"):
    """Save the run, so that it can be gone on with, and end."""


class Probe(msgspec.Struct, frozen=True, tag="probe"):
    """Decode this sentence now and again; "" for none."""

    text: str


class Loading(msgspec.Struct, frozen=True, tag="loading"):
    """The data are being read: so many lines, so many pairs so far."""

    lines: int
    pairs: int


class Started(msgspec.Struct, frozen=True, kw_only=True, tag="started"):
    """The run stands at its first step, or where its checkpoint left it.

    report: sentences on what was read of a file; left_out: (kind, number, the first few lines and
    their texts). warning: "" or a sentence about a damaged checkpoint
    steps, norms: the rows of the history so far, as float32 bytes
    watched: a pair to watch it by, the same whenever the run is gone on with
    """

    title: str
    settings: Settings
    config: dict[str, Any]
    tokenizer: dict[str, Any]
    card: dict[str, Any]
    step: int
    total_steps: int
    steps_per_epoch: int
    n_train: int
    n_held_out: int
    too_long: int
    report: list[str]
    left_out: list[tuple[str, int, list[tuple[int, str]]]]
    warning: str
    layers: list[str]
    steps: bytes
    norms: bytes
    watched: tuple[str, str] | None = None


class Steps(msgspec.Struct, frozen=True, tag="steps"):
    """Steps that were made, with the seconds since the start of the run after each."""

    rows: list[Progress]
    seconds: list[float]


class Snapshot(msgspec.Struct, frozen=True, tag="snapshot"):
    """All parameters behind each other, in the order of the model's own."""

    step: int
    stored_as: StoredAs
    flat: bytes


class Probed(msgspec.Struct, frozen=True, kw_only=True, tag="probed"):
    """What the model makes of the probe sentence after a step.

    log_probs: of each output token; attention: float32 bytes of the decoder's cross-attention
    weights, of shape (layers, heads, output tokens, source tokens)
    """

    step: int
    text: str
    source_tokens: list[str]
    output_tokens: list[str]
    output: str
    log_probs: list[float]
    shape: tuple[int, int, int, int]
    attention: bytes


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """A wish that could not be met, such as a probe too long; training goes on."""

    sentence: str


class Paused(msgspec.Struct, frozen=True, tag="paused"):
    step: int


class Running(msgspec.Struct, frozen=True, tag="running"):
    step: int


class RunSaved(msgspec.Struct, frozen=True, tag="run_saved"):
    """The run can be gone on with from this step."""

    step: int
    path: str


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The run is over: its steps are made, or it was stopped. parameters are float32 bytes.

    Its checkpoint lies where it was, until the model does.
    """

    step: int
    is_whole: bool
    parameters: bytes
    card: dict[str, Any]


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The run is over for the reason in the sentence; about a file, that is "file: reason".

    parameters: float32 bytes of the last good ones, b"" where there are none
    good_step: the step after which they were taken
    """

    sentence: str
    file: str = ""
    reason: str = ""
    good_step: int = 0
    parameters: bytes = b""


Command = Start | Pause | GoOn | StepOnce | StopAndKeep | Quit | Probe
Event = (
    Loading
    | Started
    | Steps
    | Snapshot
    | Probed
    | Refused
    | Paused
    | Running
    | RunSaved
    | Finished
    | Failed
)
COMMANDS: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
EVENTS: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)


class Sender:
    """Writes messages to a pipe, each at once; several threads may share it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._lock = stream, threading.Lock()
        self._encoder = msgspec.msgpack.Encoder()

    def send(self, message: Command | Event) -> None:
        """OSError or ValueError where nobody listens any more."""
        data = self._encoder.encode(message)
        with self._lock:
            self._stream.write(len(data).to_bytes(LENGTH_BYTES, "little"))
            self._stream.write(data)
            self._stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """The next message, None where the other side has closed the pipe."""
    head = _exactly(stream, LENGTH_BYTES)
    if head is None:
        return None
    length = int.from_bytes(head, "little")
    return _exactly(stream, length) if length <= LONGEST else None


def _exactly(stream: BinaryIO, count: int) -> bytes | None:
    parts, left = [], count
    while left:
        part = stream.read(left)
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
