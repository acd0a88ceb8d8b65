"""Rows whose token was forced, and what the model says freely beside a typed target. No Qt.

A prefix forces the first tokens of the output and the model goes on behind it; a typed target
forces all of them, the end token included. A row's token is then what was forced, its
distribution what the model would have chosen from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from model_core.decoding import Step
from model_core.likelihood import log_probs_of
from model_core.sampling import GREEDY_TEMPERATURE, Distribution, distribution
from model_core.tape import Tape
from visualizer.beam_run import search_run
from visualizer.inputs import Inputs
from visualizer.runs import FreeRun

Check = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Decoded:
    """An output: its rows on a tape, what they chose, and what they chose it from."""

    tape: Tape
    chosen: tuple[int, ...]
    distributions: tuple[Distribution, ...]


def whole_output(model: Any, inputs: Inputs) -> tuple[int, ...] | None:
    """The ids of an output of which everything is forced; None where something is decoded.

    A typed target ends with the end token, a prefix with it or where the model can read no more.
    """
    end = model.tokenizer.end_id
    if inputs.target is not None:
        return (*model.tokenizer.encode_target(inputs.target).ids, end)
    prefix = inputs.prefix
    if end in prefix:
        return prefix[: prefix.index(end) + 1]
    return prefix if len(prefix) >= model.config.max_seq_len else None


def forced_run(
    model: Any, inputs: Inputs, source_ids: Sequence[int], ids: Sequence[int]
) -> Decoded:
    """Trace an output that is given, by its ids behind the start token."""
    read = np.array([[model.tokenizer.start_id, *ids[:-1]]])
    source = np.array([source_ids])
    tape: Tape = model.trace(
        source_ids=source,
        target_ids=read,
        # a token that says PAD was forced like any other
        source_mask=np.ones_like(source, dtype=bool),
        target_mask=np.ones_like(read, dtype=bool),
    )
    tape.chosen_ids = np.array([ids])
    tape.predicted_tokens = model.tokenizer.target_tokens(list(ids))
    return Decoded(tape, tuple(ids), forced_distributions(model, inputs, tape, len(ids)))


def decoded_run(
    model: Any, inputs: Inputs, check: Check, tell: Callable[[Step], None] | None = None
) -> Decoded:
    """Decode behind the prefix, greedily or by draws.

    tell: called with each token as it comes
    """
    generation = model.generate(
        inputs.source,
        inputs.strategy,
        history=inputs.history,
        temperature=inputs.temperature,
        top_k=inputs.top_k,
        top_p=inputs.top_p,
        seed=inputs.seed,
        max_new_tokens=inputs.max_new_tokens,
        prefix_ids=inputs.prefix,
        constraints=inputs.constraints,
        on_step=check,
        on_token=tell,
    )
    forced = forced_distributions(model, inputs, generation.tape, len(inputs.prefix))
    free = tuple(step.distribution for step in generation.steps)
    return Decoded(generation.tape, tuple(generation.ids[1:]), forced + free)


def forced_distributions(
    model: Any, inputs: Inputs, tape: Tape, rows: int
) -> tuple[Distribution, ...]:
    """What the first rows would have chosen from, had nothing been forced."""
    _, rules = model.bounds((), inputs.max_new_tokens, inputs.constraints)
    read, logits = tape.target_ids[0].tolist(), tape["logits"].value[0]
    found = []
    for row in range(rows):
        values = logits[row]
        if rules is not None:
            try:
                stages = rules.stages(values, read[: row + 1])
            except ValueError:  # what was forced may come to where no token is left
                stages = []
            values = stages[-1].after if stages else values
        found.append(_distribution(values, inputs))
    return tuple(found)


def _distribution(logits: Any, inputs: Inputs) -> Distribution:
    if inputs.strategy != "sample" or inputs.temperature < GREEDY_TEMPERATURE:
        return distribution(logits)
    return distribution(logits, inputs.temperature, inputs.top_k, inputs.top_p)


# What a model last said freely: while a target is typed, only that changes.
_LAST: WeakKeyDictionary[Any, tuple[Inputs, FreeRun]] = WeakKeyDictionary()


def free_run(model: Any, inputs: Inputs, check: Check) -> FreeRun:
    """What the model says where nothing is forced; log-probabilities are its own."""
    unforced = replace(inputs, target=None, prefix=(), pinned=None)
    kept = _LAST.get(model)
    if kept is not None and kept[0] == unforced:
        return kept[1]
    if inputs.strategy == "beam":
        found = search_run(model, unforced, check)
        tape, ids = found.tape, found.chosen
    else:
        decoded = decoded_run(model, unforced, check)
        tape, ids = decoded.tape, decoded.chosen
    said = FreeRun(
        tuple(model.tokenizer.target_tokens(list(ids))),
        log_probs_of(tape["logits"].value[0], ids),
        ids,
    )
    _LAST[model] = unforced, said
    return said
