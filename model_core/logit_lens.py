"""The logit lens: what the model would say if its decoder ended at an inner state.

Each state of the decoder's residual stream goes through the ops that the model itself puts
behind its last one: the final norm, where it has one, and the output layer.
Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model_core.ops import Normalise, Residual
from model_core.ops.base import Array
from model_core.plan import Instruction, Plan
from model_core.tape import Tape

# So many logits are held at a time, whatever the vocabulary and the sentence (8 MB of float32).
BLOCK = 2**21
INSIDE = ("decoder.layers.", "decoder.embed.")


@dataclass(frozen=True)
class State:
    """One state of the stream: `site`, and the sublayer that it lies behind.

    layer: from 0, None of the embedding    sublayer: "embed", "self_attn", "cross_attn", "ffn"
    """

    site: str
    layer: int | None
    sublayer: str


@dataclass(frozen=True, eq=False)
class LogitLens:
    """What every state would say of every decoder row; arrays are (states, rows).

    through: the sites of the ops that every state passes, each followed by its parameters
    final_norm: whether a norm is among them
    final_ids: (rows,) the tokens that the model itself has predicted
    top_ids, top_probability: the likeliest token    entropy: in bits
    rank, probability: of the final token; rank 1 is the likeliest, equal ones go by their ids
    """

    states: tuple[State, ...]
    rows: tuple[int, ...]
    through: tuple[str, ...]
    final_norm: bool
    final_ids: Array
    top_ids: Array
    top_probability: Array
    rank: Array
    probability: Array
    entropy: Array


def states(plan: Plan) -> tuple[State, ...]:
    """The decoder's stream: what the first sublayer reads, and what each one leaves."""
    found: list[State] = []
    layer: int | None = None
    sublayer = "embed"
    for line in plan.instructions:
        if isinstance(line.op, Residual) and line.site.startswith("decoder.layers."):
            # x + sublayer(x): the x of one sublayer is what the one before has left
            found.append(State(line.inputs[0], layer, sublayer))
            words = line.inputs[1].split(".")
            layer, sublayer = int(words[2]), words[3]
    if not found:
        return ()
    return (*found, State(_way_out(plan)[0], layer, sublayer))


def through(plan: Plan) -> tuple[str, ...]:
    """The ops between the last state and the log-probabilities, each before its parameters."""
    _, way = _way_out(plan)
    return tuple(
        name
        for line in way
        for name in (line.site, *(name for name in line.inputs if name not in plan))
    )


def readings(
    tape: Tape,
    rows: Sequence[int] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> LogitLens | None:
    """Read every state of the decoder at the given rows, at all of them without.

    The first sentence of a batch is read. None once `cancelled` says so; it is asked between
    blocks of rows. ValueError where the run has no decoder.
    """
    if "logits" not in tape or not (found := states(tape.plan)):
        raise ValueError("this run has no decoder, so that no state leads to a token")
    length = tape.target_ids.shape[1]
    chosen = np.arange(length) if rows is None else np.asarray(rows, dtype=np.int64)
    final = tape.predicted_ids[0][chosen]
    inner, way = _way_out(tape.plan)
    stream = np.concatenate([np.asarray(tape.value_of(s.site))[0, chosen] for s in found])
    wanted = np.tile(final, len(found))
    result = _Readings(len(wanted), stream.dtype)
    step = max(1, BLOCK // tape["logits"].value.shape[-1])
    for start in range(0, len(wanted), step):
        if cancelled():
            return None
        part = slice(start, start + step)
        logits, log_probs = _say(tape, way, inner, stream[part])
        result.take(part, logits, log_probs, wanted[part])
    shape = (len(found), len(chosen))
    return LogitLens(
        found,
        tuple(chosen.tolist()),
        through(tape.plan),
        any(isinstance(line.op, Normalise) for line in way),
        final,
        *(array.reshape(shape) for array in result.arrays),
    )


class _Readings:
    """What is kept of each row of logits."""

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.top_ids, self.rank = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.top, self.own, self.entropy = (np.zeros(count, dtype) for _ in range(3))

    @property
    def arrays(self) -> tuple[Array, ...]:
        """In the order of LogitLens, read-only."""
        found = (self.top_ids, self.top, self.rank, self.own, self.entropy)
        for array in found:
            array.setflags(write=False)
        return found

    def take(self, part: slice, logits: Array, log_probs: Array, final: Array) -> None:
        """logits, log_probs: (n,V)   final: (n,)"""
        places = np.arange(len(final))
        # as the model itself chooses: by the logits, the first of equal ones
        self.top_ids[part] = top = logits.argmax(axis=-1)
        own = logits[places, final][:, None]
        before = np.arange(logits.shape[-1]) < final[:, None]
        self.rank[part] = 1 + ((logits > own) | ((logits == own) & before)).sum(axis=-1)
        probabilities = np.exp(log_probs)
        self.top[part] = probabilities[places, top]
        self.own[part] = probabilities[places, final]
        # p log p of a token that is impossible is 0, and 0 times -inf would be nan
        log_probs = np.where(probabilities > 0, log_probs, 0)
        self.entropy[part] = -np.vecdot(probabilities, log_probs) / math.log(2)


def _way_out(plan: Plan) -> tuple[str, tuple[Instruction, ...]]:
    """The last state of the stream and the ops behind it, up to the log-probabilities."""
    needed = {"log_probs"}
    way: list[Instruction] = []
    for line in reversed(plan.instructions):
        if line.site not in needed:
            continue
        if line.site.startswith(INSIDE):
            return line.site, tuple(reversed(way))
        way.append(line)
        needed.update(line.inputs)
    raise ValueError("nothing leads from the decoder's stream to the log-probabilities")


def _say(tape: Tape, way: Sequence[Instruction], inner: str, stream: Array) -> tuple[Array, Array]:
    """Logits and log-probabilities that follow from states in place of the last one.

    stream: (n,D)   returns: (n,V), (n,V)
    """
    values = {inner: stream[None]}
    for line in way:
        operands = [values[name] if name in values else tape.value_of(name) for name in line.inputs]
        values[line.site] = line.op.forward(*operands)
    return values["logits"][0], values["log_probs"][0]
