"""The command `translate`: one sentence, or a file of sentences in batches."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, ClassVar

from model_core.beams import EarlyStopping, Hypothesis
from model_core.chat import rules_of
from model_core.command_line import number, reason, whole
from model_core.constraints import Constraints
from model_core.generation import Generation
from model_core.model import Model

# Which options count with one strategy alone.
OF_STRATEGY = {
    "sample": ("temperature", "top_k", "top_p", "seed"),
    "beam": ("beams", "length_penalty", "early_stopping", "n_best"),
}
EARLY_STOPPING: dict[str, EarlyStopping] = {"true": True, "false": False, "never": "never"}


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", nargs="?", help="one sentence")
    command.add_argument("--file", type=Path, help="a file of sentences, one a line, in UTF-8")
    command.add_argument("--out", type=Path, help="write the translations here, one a line")
    command.add_argument("--batch-size", type=whole, default=32, help="lines at once (32)")
    command.add_argument("--strategy", choices=("greedy", "sample", "beam"), default="greedy")
    command.add_argument("--temperature", type=number, help="above 0 (1)")
    command.add_argument("--top-k", type=whole)
    command.add_argument("--top-p", type=number)
    command.add_argument("--seed", type=whole, help="of PCG64; the same tokens anywhere (0)")
    command.add_argument("--beams", type=whole, help="how many hypotheses run on (4)")
    command.add_argument(
        "--length-penalty",
        type=number,
        help="a hypothesis scores its log-probability / generated tokens ** this (1)",
    )
    command.add_argument("--early-stopping", choices=tuple(EARLY_STOPPING), help="(false)")
    command.add_argument("--n-best", type=whole, help="how many hypotheses (all beams)")
    command.add_argument("--max-new-tokens", type=whole)
    command.add_argument("--min-new-tokens", type=whole, default=0)
    command.add_argument("--repetition-penalty", type=number, default=1.0)
    command.add_argument("--no-repeat-ngram", type=whole, default=0, metavar="N")
    command.add_argument(
        "--no-constraints",
        action="store_true",
        help="leave out what the checkpoint's generation settings force and forbid",
    )
    command.add_argument(
        "--json", action="store_true", help="tokens, probabilities, score; of a file, a line each"
    )


def check(options: argparse.Namespace) -> None:
    """Refuse, before a checkpoint is opened, what cannot be done."""
    if (options.text is None) == (options.file is None):
        raise ValueError("give either a sentence or --file")
    if options.batch_size < 1:
        raise ValueError(f"--batch-size is {options.batch_size}, expected 1 or more")
    for strategy, names in OF_STRATEGY.items():
        given = [name for name in names if getattr(options, name) is not None]
        if given and options.strategy != strategy:
            option = "--" + given[0].replace("_", "-")
            raise ValueError(
                f"{option} counts with --strategy {strategy} alone, and it is {options.strategy}"
            )
    least, most = options.min_new_tokens, options.max_new_tokens
    if most is not None and least > most >= 1:
        raise ValueError(f"--min-new-tokens is {least}, expected --max-new-tokens {most} at most")
    if options.file is not None:
        try:
            options.file.open("rb").close()
        except OSError as error:
            raise ValueError(f"--file cannot be read: {reason(error)}") from None
    if options.file is not None and options.out is not None:
        if options.out.exists() and options.out.samefile(options.file):
            raise ValueError(f"--out is {options.out}, the file that is read")


def run(model: Model, options: argparse.Namespace) -> None:
    """Translate and print, or write to --out."""
    arguments = _arguments(model, options)
    if options.file is None:
        # a chat model's question has a sentence of its own
        if not options.text.strip() and rules_of(model.card) is None:
            raise ValueError("the sentence is empty: write something to be translated")
        result = model.generate(options.text, options.strategy, **arguments)
        _warn(model, result)
        with _output(options) as out:
            print(_line(result, options.json), file=out)
        return
    with options.file.open("rb") as file:
        total = sum(1 for _ in file)
    progress = Progress(total, sys.stderr)
    with options.file.open("rb") as file, _output(options) as out:
        lines = _sentences(file, options.file)
        # a batch is read, translated, written and forgotten: memory does not grow with the file
        while batch := list(islice(lines, options.batch_size)):
            spoken = [text for _, text in batch if text.strip()]
            try:
                results = iter(model.generate(spoken, options.strategy, **arguments))
            except ValueError as error:
                last = batch[-1][0]
                raise ValueError(
                    f"{options.file}, lines {batch[0][0]} to {last}: {error}"
                ) from None
            for _, text in batch:
                if text.strip():
                    print(_line(next(results), options.json), file=out)
                else:
                    print("null" if options.json else "", file=out)
            progress.advance(len(batch))
    progress.finish()


def generation_as_json(result: Generation) -> dict[str, object]:
    """A generation as plain values, for scripts."""
    found = _as_json(result) | {"score": result.score, "finished": result.finished}
    if result.prompt is not None:
        found["prompt"] = result.prompt
    if result.hypotheses:
        found["hypotheses"] = [
            _as_json(h) | {"score": h.score, "cumulative": h.cumulative, "finished": h.finished}
            for h in result.hypotheses
        ]
    return found


def _as_json(found: Generation | Hypothesis) -> dict[str, object]:
    log_probs = found.log_probs
    return {
        "text": found.text,
        "ids": found.ids,
        "tokens": found.tokens,
        "log_probs": log_probs,
        "probabilities": [math.exp(p) for p in log_probs],
    }


def _line(result: Generation, as_json: bool) -> str:
    if as_json:
        return json.dumps(generation_as_json(result), ensure_ascii=False)
    # a line is a sentence
    return " ".join(result.text.splitlines())


def _arguments(model: Model, options: argparse.Namespace) -> dict[str, Any]:
    names = OF_STRATEGY.get(options.strategy, ())
    choice = {n: getattr(options, n) for n in names if getattr(options, n) is not None}
    if "early_stopping" in choice:
        choice["early_stopping"] = EARLY_STOPPING[choice["early_stopping"]]
    constraints = Constraints() if options.no_constraints else model.constraints
    given: dict[str, Any] = {
        "min_new_tokens": options.min_new_tokens or constraints.min_new_tokens,
        "no_repeat_ngram_size": options.no_repeat_ngram or constraints.no_repeat_ngram_size,
    }
    if options.repetition_penalty != 1.0:
        given["repetition_penalty"] = options.repetition_penalty
    return {
        **choice,
        "max_new_tokens": options.max_new_tokens,
        "constraints": replace(constraints, **given),
    }


def _warn(model: Model, result: Generation) -> None:
    encoding = result.encoding
    assert encoding is not None
    unit = model.tokenizer.source_unit
    longest = model.card.get(f"longest_source_{unit}")
    length = len(encoding.ids) - 1
    if isinstance(longest, int) and length > longest:
        print(
            f"warning: {length} {unit}; the longest sentence in training had {longest}",
            file=sys.stderr,
        )
    for unknown in encoding.unknown:
        print(f"warning: {unknown.text!r} is not in the vocabulary", file=sys.stderr)


def _output(options: argparse.Namespace) -> Any:
    if options.out is None:
        return nullcontext(sys.stdout)
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        return options.out.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise ValueError(f"--out cannot be written: {reason(error)}") from None


def _sentences(file: IO[bytes], path: Path) -> Iterator[tuple[int, str]]:
    """The number and the text of each line."""
    for line_number, line in enumerate(file, 1):
        try:
            text = line.decode("utf-8-sig" if line_number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path}, line {line_number}: byte {error.start + 1} is no UTF-8 ({error.reason})"
            ) from None
        yield line_number, text.rstrip("\r\n")


class Progress:
    """A bar of plain text: drawn over itself on a terminal, else a line at each tenth."""

    WIDTH: ClassVar[int] = 30

    def __init__(self, total: int, stream: IO[str]) -> None:
        self.total, self.stream = total, stream
        self.done, self._tenth = 0, 0
        self._started = time.perf_counter()
        self._live = stream.isatty()
        if self._live:
            self._draw("\r")

    def advance(self, count: int) -> None:
        self.done += count
        tenth = 10 * self.done // max(self.total, 1)
        if self._live:
            self._draw("\r")
        elif tenth > self._tenth:
            self._tenth = tenth
            self._draw("", "\n")

    def finish(self) -> None:
        if self._live:
            print(file=self.stream)

    def _draw(self, before: str, after: str = "") -> None:
        share = self.done / max(self.total, 1)
        filled = round(self.WIDTH * share)
        bar = "#" * filled + "." * (self.WIDTH - filled)
        rate = self.done / max(time.perf_counter() - self._started, 1e-9)
        text = f"[{bar}] {self.done}/{self.total} sentences, {rate:.0f} per second"
        print(f"{before}{text}", end=after, file=self.stream, flush=True)
