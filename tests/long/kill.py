"""Training that is killed again and again, at random moments, and ends in the same bytes.

    python -m tests.long kill                 20 kills
    python -m tests.long kill --kills 100 --seed 3

A model as `dates` has it, with dropout, on a file of pairs. First it is trained in one go; then its
process is killed (kill -9) at a random moment, its start and its saving included, and taken up
again from the checkpoint, until it has been killed so many times: in turns the command's process
and the training lab's. A line for each kill; at the end the two files are compared. The exit status
is 1 if a run cannot go on, or ends in other weights.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

import model_core
from model_core.training import tasks
from model_core.training.lab import Training
from model_core.training.lab_data import FileSource
from model_core.training.messages import Start
from model_core.training.outputs import checkpoint_of
from model_core.training.resume import latest_run, previous_of
from model_core.training.settings import Settings

PAIRS = 1500
SAVE_STEPS = 4
# A process lives at most so many times as long as it takes to its first checkpoint.
LONGEST_LIFE = 3.0
LONGEST_END = 900.0
OTHERS = "the weights are others than those of the run that was not interrupted"
SETTINGS = Settings(
    d_model=48,
    n_heads=4,
    d_ff=96,
    n_layers=1,
    dropout_rate=0.1,
    batch_size=32,
    steps=1500,
    warmup_steps=50,
    max_seq_len=48,
)


class Place:
    """The files of a run, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.pairs, self.config = folder / "pairs.tsv", folder / "settings.json"
        self.whole, self.out = folder / "whole.safetensors", folder / "out.safetensors"
        self.checkpoint = checkpoint_of(self.out)
        module = tasks.TASKS["dates"]
        pairs = [module.sentence(np.random.default_rng(n)) for n in range(PAIRS)]
        lines = [f"{pair.source_text}\t{pair.target_text}\n" for pair in pairs]
        self.pairs.write_text("".join(lines), "utf-8")
        self.config.write_text(json.dumps(msgspec.to_builtins(SETTINGS)), "utf-8")

    @property
    def can_go_on(self) -> bool:
        return self.checkpoint.exists() or previous_of(self.checkpoint).exists()

    def first_checkpoint(self, process: subprocess.Popen[str], out: Path) -> float:
        """Wait for it; the seconds that it takes."""
        start, checkpoint = time.monotonic(), checkpoint_of(out)
        while process.poll() is None and not checkpoint.exists():
            time.sleep(0.01)
        return time.monotonic() - start

    def step(self) -> int:
        """How far the newest checkpoint that can be read has come."""
        return latest_run(self.checkpoint)[0].position.step if self.can_go_on else 0

    def command(self, out: Path) -> subprocess.Popen[str]:
        """The command that begins, or goes on where a checkpoint lies."""
        if out == self.out and self.can_go_on:
            what = ["--resume", str(self.checkpoint)]
        else:
            what = ["--data", str(self.pairs), "--config", str(self.config)]
        often = ["--out", str(out), "--save-steps", str(SAVE_STEPS)]
        return subprocess.Popen(
            [sys.executable, "-m", "model_core", "train", *what, *often],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def lab(self) -> Training:
        """The process of the training lab, which does the same."""
        path = str(self.checkpoint)
        if self.can_go_on:
            start = Start(resume=path, checkpoint=path, save_steps=SAVE_STEPS)
        else:
            source = FileSource(str(self.pairs))
            start = Start(source=source, settings=SETTINGS, checkpoint=path, save_steps=SAVE_STEPS)
        return Training(start)


def killed(place: Place, in_lab: bool, life: float) -> str:
    """Start a process and kill it after so many seconds; what went wrong, "" for nothing.

    One that is through before that is held to the same weights, and the next one begins anew.
    """
    return killed_in_lab(place, life) if in_lab else killed_command(place, life)


def killed_in_lab(place: Place, life: float) -> str:
    client = place.lab()
    end = time.monotonic() + life
    while time.monotonic() < end and not client.is_over:
        client.poll(0.01)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.kill(client.process_id, signal.SIGKILL)
    # what it said before that: it may have been through
    time.sleep(0.2)
    client.poll()
    wrong = ""
    if client.state == "finished":
        wanted, found = model_core.open_checkpoint(place.whole), client.model()
        same = all(
            np.array_equal(value, found.parameters[name])
            for name, value in wanted.parameters.items()
        )
        wrong = "" if same else OTHERS
    elif client.state == "failed" and "(signal 9)" not in client.sentence:
        # the end by this very kill is told as a failure too
        wrong = client.sentence
    client.close()
    return wrong


def killed_command(place: Place, life: float) -> str:
    process = place.command(place.out)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(life)
    through = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    if not through:
        return ""
    if process.returncode:
        return output
    same = place.out.read_bytes() == place.whole.read_bytes()
    place.out.unlink()
    return "" if same else OTHERS


def ended(process: subprocess.Popen[str]) -> str:
    """Let a process come to its end; what went wrong, "" for nothing."""
    output, _ = process.communicate(timeout=LONGEST_END)
    return output if process.returncode else ""


def run(arguments: Sequence[str]) -> int:
    """The check with its options; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.long kill")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        process = place.command(place.whole)
        longest = LONGEST_LIFE * place.first_checkpoint(process, place.whole)
        wrong = ended(process)
        for number in range(1, options.kills + 1):
            if wrong:
                break
            in_lab, life = number % 2 == 0, float(generator.uniform(0.0, longest))
            wrong = killed(place, in_lab, life)
            told = f"killed {'in the lab' if in_lab else 'the command'} after {life:.2f} s"
            print(f"{number:3}  {told:36} step {place.step()} of {SETTINGS.steps}", flush=True)
        wrong = wrong or ended(place.command(place.out))
        if not wrong and place.out.read_bytes() != place.whole.read_bytes():
            wrong = OTHERS
    print(f"MISSED  {wrong}" if wrong else f"good  {options.kills} kills, the same bytes")
    return 1 if wrong else 0
