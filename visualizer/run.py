"""From a file to a model and from inputs to a run: what the engine's worker does. No Qt."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

from model_core import Saved, bundled, open_checkpoint, save_checkpoint
from model_core.chat import source_of
from model_core.decoding import GREEDY_TEMPERATURE
from model_core.sampling import distribution
from model_core.threads import limit_blas_threads
from visualizer.beam_run import Report, Search, search_run
from visualizer.state import AS_IT_IS, Choices, Inputs, ModelEntry, Outcome, Run, UnknownWord


class Cancelled(Exception):
    """The run is no longer wanted."""


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

    report: called with a beam search that takes long, as far as it has come
    """
    started = time.perf_counter()
    model = entry.model
    if model.config.input == "matrix":
        return _compute_matrix(entry, inputs, number, started)
    limit = model.config.max_seq_len
    if not inputs.source.strip():
        return Run(number, inputs, "empty", limit=limit)
    # of a chat model the prompt: that is what is read, too long, or unknown in some place
    encoding = model.tokenizer.encode_source(source_of(model.card, inputs.source))
    unknown = tuple(UnknownWord(word.position, word.text) for word in encoding.unknown)
    length = len(encoding.ids)
    if inputs.target is not None:
        length = max(length, 1 + len(model.tokenizer.encode_target(inputs.target).ids))
    if length > limit:
        return Run(number, inputs, "too_long", unknown=unknown, length=length, limit=limit)

    def check(_: int = 0) -> None:
        if cancelled():
            raise Cancelled

    check()
    search: Search | None = None
    if inputs.target is None and inputs.strategy == "beam":
        found = search_run(model, inputs, check, report)
        search, tape = found.search, found.tape
        chosen, distributions = found.chosen, found.distributions
    elif inputs.target is None:
        generation = model.generate(
            inputs.source,
            inputs.strategy,
            temperature=inputs.temperature,
            top_k=inputs.top_k,
            top_p=inputs.top_p,
            seed=inputs.seed,
            on_step=check,
        )
        tape = generation.tape
        chosen = tuple(step.id for step in generation.steps)
        distributions = tuple(step.distribution for step in generation.steps)
    else:
        tape = model.trace(source=inputs.source, target=inputs.target)
        chosen = tuple(int(token) for token in tape.predicted_ids[0])
        check()
        distributions = tuple(_distribution(row, inputs) for row in tape["logits"].value[0])
    finished = chosen[-1] == model.tokenizer.end_id
    outcome: Outcome = "immediate_end" if finished and len(chosen) == 1 else "ok"
    return Run(
        number,
        inputs,
        outcome,
        tape=tape,
        distributions=distributions,
        chosen=chosen,
        text=model.tokenizer.decode(chosen),
        finished=finished,
        search=search,
        unknown=unknown,
        last_content=max(0, len(chosen) - (2 if finished else 1)),
        length=length,
        limit=limit,
        milliseconds=1000 * (time.perf_counter() - started),
    )


def _compute_matrix(entry: ModelEntry, inputs: Inputs, number: int, started: float) -> Run:
    """A worked example: nothing is decoded, so that there are no rows and no text."""
    matrix = edited_matrix(entry, inputs)
    tape = entry.model.trace(inputs=matrix)
    elapsed = 1000 * (time.perf_counter() - started)
    return Run(number, inputs, "ok", tape=tape, length=len(matrix), milliseconds=elapsed)


def _distribution(logits: Any, inputs: Inputs) -> Any:
    """What a forced row would have been chosen from."""
    if inputs.strategy == "greedy" or inputs.temperature < GREEDY_TEMPERATURE:
        return distribution(logits)
    return distribution(logits, inputs.temperature, inputs.top_k, inputs.top_p)
