"""The command that trains on a file of pairs, with a bar, checkpoints and a way to go on."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TextIO

import msgspec

from model_core.command_line import number, whole
from model_core.threads import limit_blas_threads
from model_core.training.cleaning import CleaningReport
from model_core.training.data_files import Reading
from model_core.training.guard import DivergedError
from model_core.training.lab_data import FileSource, load, suited_settings
from model_core.training.lab_run import LabRun, Watching
from model_core.training.loop import Progress
from model_core.training.problems import problems
from model_core.training.resume import remove_run
from model_core.training.settings import Settings, read_settings

BAR_WIDTH = 24
RUN_ENDING = ".training"
SECONDS_BETWEEN_DRAWINGS = 0.2
# Where nobody watches, a line now and then.
SECONDS_BETWEEN_LINES = 10.0


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What `train` takes beside the name of a task."""
    data = command.add_argument_group("a file of sentence pairs")
    data.add_argument("--data", type=Path, metavar="PAIRS", help="TSV, CSV, JSON lines or lines")
    data.add_argument("--config", type=Path, metavar="SETTINGS.json", help="else they are chosen")
    data.add_argument("--resume", type=Path, metavar="RUN", help="go on with an interrupted run")
    data.add_argument("--encoding", help="such as utf-8 or gb18030")
    data.add_argument("--separator", help="what stands between the two sentences of a line")
    data.add_argument("--source-column", default="", help="its name, or its number from 1")
    data.add_argument("--target-column", default="")
    data.add_argument(
        "--save-steps", type=whole, default=0, help="a checkpoint every so many steps"
    )
    data.add_argument("--save-minutes", type=number, default=2.0, help="or minutes")
    data.add_argument("--evaluate-steps", type=whole, default=100)


def run(options: argparse.Namespace) -> None:
    """Train to the end, or until a key stops it; then it can be gone on with."""
    if (options.data is None) == (options.resume is None):
        raise ValueError("give the name of a task, or --data with pairs, or --resume with a run")
    watching = Watching(options.evaluate_steps, norms_every=0)
    if options.resume is not None:
        checkpoint = options.resume
        training = LabRun.resume(checkpoint, watching)
        if training.warning:
            print(f"warning: {training.warning}", file=sys.stderr)
        out = options.out or checkpoint.with_suffix(".safetensors")
    else:
        if options.out is None:
            raise ValueError("--data needs --out, the file that the model is written to")
        out = options.out
        checkpoint = out.with_suffix(RUN_ENDING)
        training = _fresh(options, watching)
    out.parent.mkdir(parents=True, exist_ok=True)
    limit_blas_threads(training.model.config)
    _train(training, checkpoint, options, Bar(training, sys.stderr))
    saved = training.save_model(out)
    remove_run(checkpoint)
    print(f"written to {saved.path} ({saved.n_bytes:,} bytes)")


def _fresh(options: argparse.Namespace, watching: Watching) -> LabRun:
    reading = Reading(
        encoding=options.encoding,
        separator=options.separator,
        source=options.source_column,
        target=options.target_column,
    )
    source = FileSource(str(options.data.resolve()), reading)
    changes = {n: getattr(options, n) for n in ("seed", "steps") if getattr(options, n) is not None}
    given = Settings() if options.config is None else read_settings(options.config)
    given = msgspec.structs.replace(given, **changes)
    found = problems(given)
    if found:
        raise ValueError(str(found[0]))
    data = load(source, given)
    if options.config is None:
        given = msgspec.structs.replace(suited_settings(data), **changes)
        total = given.total_steps(len(data.train))
        given = msgspec.structs.replace(given, warmup_steps=min(given.warmup_steps, total // 4))
    found = problems(given, data.facts(given))
    if found:
        raise ValueError(str(found[0]))
    _tell(data.report)
    training = LabRun(data, given, watching)
    if training.prepared.too_long:
        print(
            f"{training.prepared.too_long:,} pairs longer than max_seq_len {given.max_seq_len} "
            "are left out",
            file=sys.stderr,
        )
    return training


def _tell(report: CleaningReport | None) -> None:
    for line in () if report is None else report.sentences():
        print(line, file=sys.stderr)


def _train(training: LabRun, checkpoint: Path, options: argparse.Namespace, bar: Bar) -> None:
    saved_at = time.monotonic()
    try:
        for progress in training:
            bar.show(progress)
            by_steps = options.save_steps and progress.step % options.save_steps == 0
            if by_steps or time.monotonic() - saved_at > 60 * options.save_minutes:
                training.save_run(checkpoint)
                saved_at = time.monotonic()
    except KeyboardInterrupt:
        bar.close()
        training.save_run(checkpoint)
        print(f"stopped; go on with --resume {checkpoint}", file=sys.stderr)
        raise
    except DivergedError:
        bar.close()
        if options.out is not None:
            training.save_model(options.out)
        raise
    bar.close()


class Bar:
    """A line that is drawn over and over on a terminal, lines now and then anywhere else."""

    def __init__(self, training: LabRun, stream: TextIO) -> None:
        self._total, self._stream = training.total_steps, stream
        self._first, self._start = training.step, time.monotonic()
        self._is_live = stream.isatty()
        self._drawn = 0.0
        self._held_out = ""

    def show(self, progress: Progress) -> None:
        """Draw a step, unless the last one was drawn just now."""
        if progress.evaluation is not None:
            evaluation = progress.evaluation
            self._held_out = f"  held-out {evaluation.loss:.3f}, {evaluation.exact_share:.0%} exact"
        wait = SECONDS_BETWEEN_DRAWINGS if self._is_live else SECONDS_BETWEEN_LINES
        now = time.monotonic()
        if now - self._drawn < wait and progress.step != self._total:
            return
        self._drawn = now
        text = self.text(progress, now - self._start)
        self._stream.write(f"\r\x1b[K{text}" if self._is_live else text + "\n")
        self._stream.flush()

    def text(self, progress: Progress, seconds: float) -> str:
        """The bar of a step, `seconds` after the first."""
        done = progress.step - self._first
        filled = BAR_WIDTH * progress.step // self._total
        each = seconds / max(1, done)
        left = each * (self._total - progress.step)
        return (
            f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {progress.step:,}/{self._total:,}"
            f"  loss {progress.loss:.3f}{self._held_out}"
            f"  {1000 * each:.0f} ms a step, {_duration(left)} left"
        )

    def close(self) -> None:
        if self._is_live:
            self._stream.write("\n")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
