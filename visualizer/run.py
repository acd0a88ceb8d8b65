"""From a file to a model and from inputs to a run: what the engine's worker does. No Qt."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

from model_core import Saved, bundled, open_checkpoint, save_checkpoint
from model_core.chat import source_of
from model_core.threads import limit_blas_threads
from model_core.tokenizers import Encoding
from visualizer.beam_run import Search, Searched, search_run
from visualizer.conversation import Spoken, fitting, telling
from visualizer.forced_run import Decoded, decoded_run, forced_run, free_run, whole_output
from visualizer.inputs import Inputs
from visualizer.runs import Cancelled as Cancelled
from visualizer.runs import FreeRun, Outcome, Run, UnknownWord
from visualizer.state import AS_IT_IS, Choices, ModelEntry

# told how far a beam search, or the reply of a chat model, has come
Report = Callable[[Search | Spoken], None]


def open_entry(source: str | Path, choices: Choices = AS_IT_IS) -> ModelEntry:
    """Open a bundled model (a str, its name) or a checkpoint file (a Path).

    choices: where the file leaves something open
    CheckpointError, OSError or LookupError say in one sentence why it was not opened.
    """
    path = source if isinstance(source, Path) else bundled.path_of(source)
    model = open_checkpoint(
        path, variant=choices.variant, activation=choices.activation, norm_eps=choices.norm_eps
    )
    limit_blas_threads(model.config)
    title = model.card.get("title")
    name = title if isinstance(title, str) and title else path.stem
    if isinstance(source, Path):
        return ModelEntry(model, name, path, choices=choices)
    return ModelEntry(model, name, bundled=source, choices=choices)


def save_entry(entry: ModelEntry, inputs: Inputs, path: Path) -> Saved:
    """Write the model in use, with the input matrix as it is now.

    CheckpointError or OSError say in one sentence why it was not written; then nothing was.
    """
    model = copy(entry.model)
    if inputs.cells:
        model.inputs = edited_matrix(entry, inputs)
    return save_checkpoint(model, path)


def edited_matrix(entry: ModelEntry, inputs: Inputs) -> Any:
    """The input matrix (S,D) of a worked example with the cells that were changed."""
    matrix = entry.model.inputs.copy()
    for row, column, value in inputs.cells:
        matrix[row, column] = value
    return matrix


def compute(
    entry: ModelEntry,
    inputs: Inputs,
    number: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
    report: Report | None = None,
) -> Run:
    """Run the model on the inputs; Cancelled between two tokens once `cancelled` says so.

    report: called with what takes long, as far as it has come
    """
    started = time.perf_counter()
    model = entry.model
    if model.config.input == "matrix":
        return _compute_matrix(entry, inputs, number, started)
    limit = model.config.max_seq_len
    if not inputs.source.strip():
        return Run(number, inputs, "empty", limit=limit)
    # of a chat model the prompt: that is what is read, too long, or unknown in some place
    tokenizer, read = model.tokenizer, fitting(model, inputs)
    encoding = tokenizer.encode_source(source_of(model.card, read.source, read.history))
    unknown, length = _unknown(encoding), len(encoding.ids)
    unknown_target, target_length = _read_target(model, inputs)
    if max(length, target_length) > limit:
        return Run(
            number,
            inputs,
            "too_long",
            unknown=unknown,
            unknown_target=unknown_target,
            target_too_long=length <= limit,
            length=length if length > limit else target_length,
            limit=limit,
        )

    def check(_: int = 0) -> None:
        if cancelled():
            raise Cancelled

    check()
    search: Search | None = None
    free: FreeRun | None = None
    output: Decoded | Searched
    forced = whole_output(model, read)
    if forced is not None:
        output = forced_run(model, read, encoding.ids, forced)
        if inputs.target is not None:
            check()
            free = free_run(model, read, check)
    elif inputs.strategy == "beam":
        output = search_run(model, read, check, report)
        search = output.search
    else:
        output = decoded_run(model, read, check, telling(model, inputs, report))
    chosen = output.chosen
    finished = chosen[-1] == tokenizer.end_id
    outcome: Outcome = "immediate_end" if finished and len(chosen) == 1 else "ok"
    return Run(
        number,
        inputs,
        outcome,
        tape=output.tape,
        distributions=output.distributions,
        chosen=chosen,
        text=tokenizer.decode(chosen),
        finished=finished,
        search=search,
        free=free,
        unknown=unknown,
        unknown_target=unknown_target,
        last_content=max(0, len(chosen) - (2 if finished else 1)),
        length=max(length, target_length),
        limit=limit,
        milliseconds=1000 * (time.perf_counter() - started),
    )


def _compute_matrix(entry: ModelEntry, inputs: Inputs, number: int, started: float) -> Run:
    """A worked example: nothing is decoded, so that there are no rows and no text."""
    matrix = edited_matrix(entry, inputs)
    tape = entry.model.trace(inputs=matrix)
    elapsed = 1000 * (time.perf_counter() - started)
    return Run(number, inputs, "ok", tape=tape, length=len(matrix), milliseconds=elapsed)


def _read_target(model: Any, inputs: Inputs) -> tuple[tuple[UnknownWord, ...], int]:
    """The unknown words of a typed target, and how many tokens the decoder would read."""
    if inputs.target is None:
        return (), 0
    typed = model.tokenizer.encode_target(inputs.target)
    return _unknown(typed), 1 + len(typed.ids)


def _unknown(encoding: Encoding) -> tuple[UnknownWord, ...]:
    return tuple(UnknownWord(word.position, word.text) for word in encoding.unknown)
