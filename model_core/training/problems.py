"""Settings that cannot work, each with the reason and a way out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from model_core.config import LARGEST_SIZE, Activation, NormPosition, Position, Tying
from model_core.parameters import parameter_count
from model_core.training.estimates import memory_at_most
from model_core.training.lab_data import Facts
from model_core.training.machine_memory import free_bytes
from model_core.training.settings import (
    DEFAULTS,
    FIELDS,
    Settings,
    TokenizerKind,
    is_of_type,
    named_type,
)

LARGEST_BATCH = 65_536
MOST_STEPS = 10**9
MOST_LAYERS = 64
# Parameters beside their gradients, moments and copies; see `estimates`.
MOST_PARAMETERS = 100_000_000
# A run of more would take minutes for a step, whatever the machine has.
MOST_MEMORY = 8 * 2**30


@dataclass(frozen=True)
class Problem:
    """A setting that cannot work: what is impossible and why, and what to do instead.

    value: the value that the suggestion names, None where it names none
    """

    field: str
    reason: str
    suggestion: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.reason}; {self.suggestion}"


def problems(settings: Settings, facts: Facts | None = None) -> list[Problem]:
    """All that stands in the way of a run, in the order of the settings; [] if it can start.

    facts: of the data, None where there are none yet
    """
    found = list(_types(settings))
    if found:
        return found
    found = [*_sizes(settings), *_shares(settings), *_choices(settings), *_guide(settings)]
    # what follows reckons with sizes that are sound
    if not found and facts is not None:
        found += _data(settings, facts)
    return found


def _types(s: Settings) -> Iterator[Problem]:
    """What is no value of its setting at all, where a program has set it."""
    for field in FIELDS:
        value = getattr(s, field.name)
        if not is_of_type(field.name, value):
            usual = getattr(DEFAULTS, field.name)
            yield Problem(
                field.name,
                f"{field.name} is {value!r}, which is not {named_type(field.name)}",
                f"set it to {usual}",
                usual,
            )


def _whole(name: str, value: int, low: int, high: int) -> Iterator[Problem]:
    if not low <= value <= high:
        usual = getattr(DEFAULTS, name)
        if usual is None:
            usual = DEFAULTS.n_layers
        yield Problem(
            name,
            f"{name} is {value}, which must be {low} to {high}",
            f"set it to {usual}",
            usual,
        )


def _sizes(s: Settings) -> Iterator[Problem]:
    # the special tokens and one more
    if s.vocab_size and not 5 <= s.vocab_size <= LARGEST_SIZE:
        yield Problem(
            "vocab_size",
            f"vocab_size is {s.vocab_size}, which must be 5 to {LARGEST_SIZE}, or 0 for all tokens",
            "set it to 0",
            0,
        )
    sound = True
    for name in ("d_model", "n_heads", "d_ff", "max_seq_len"):
        for problem in _whole(name, getattr(s, name), 1, LARGEST_SIZE):
            sound = False
            yield problem
    if sound and s.d_model % s.n_heads:
        fitting = next(n for n in range(min(s.n_heads, s.d_model), 0, -1) if s.d_model % n == 0)
        nearest, *others = _multiples(s.d_model, s.n_heads)
        heads = "head" if fitting == 1 else "heads"
        other = f" or {others[0]}" if others else ""
        yield Problem(
            "n_heads",
            f"d_model {s.d_model} cannot be parted evenly among {s.n_heads} heads",
            f"take {fitting} {heads}, or a d_model of {nearest}{other}",
            fitting,
        )
    yield from _whole("n_layers", s.n_layers, 1, MOST_LAYERS)
    for name in ("n_encoder_layers", "n_decoder_layers"):
        value = getattr(s, name)
        if value is not None:
            yield from _whole(name, value, 1, MOST_LAYERS)
    yield from _whole("batch_size", s.batch_size, 1, LARGEST_BATCH)
    yield from _whole("epochs", s.epochs, 1, MOST_STEPS)
    yield from _whole("steps", s.steps, 0, MOST_STEPS)
    yield from _whole("warmup_steps", s.warmup_steps, 0, MOST_STEPS)
    yield from _whole("min_count", s.min_count, 1, MOST_STEPS)
    yield from _whole("seed", s.seed, 0, 2**63 - 1)


def _multiples(size: int, part: int) -> list[int]:
    """The multiples of `part` on both sides of a size, as far as a size can be so, nearest first"""
    below = size // part * part
    sound = [value for value in (below, below + part) if 1 <= value <= LARGEST_SIZE]
    return sorted(sound, key=lambda value: abs(value - size))


def _usual(name: str) -> Any:
    """What a setting is where nobody sets it; a rate that follows another has that one's."""
    value = getattr(DEFAULTS, name)
    return DEFAULTS.dropout_rate if value is None else value


def _shares(s: Settings) -> Iterator[Problem]:
    """Numbers between bounds that they may not all reach."""
    rates = ("dropout_rate", "dropout_attention", "dropout_ffn", "dropout_sublayer")
    for name in (*rates, "label_smoothing", "held_out_share"):
        value = getattr(s, name)
        if value is not None and not 0 <= value < 1:
            yield Problem(
                name,
                f"{name} is {value}, but a share is at least 0, and of 1 nothing would be left",
                f"set it to {_usual(name):g}",
                _usual(name),
            )
    for name in ("beta1", "beta2"):
        value = getattr(s, name)
        if not 0 <= value < 1:
            yield Problem(
                name,
                f"{name} is {value}, but with 1 or more Adam would never forget a gradient, and "
                "below 0 it would turn around",
                f"set it to {_usual(name):g}",
                _usual(name),
            )
    for name in ("learning_rate", "epsilon", "max_grad_norm"):
        value = getattr(s, name)
        if not (math.isfinite(value) and value > 0):
            yield Problem(
                name,
                f"{name} is {value}, which must be above 0",
                f"set it to {_usual(name):g}",
                _usual(name),
            )
    if not 0 <= s.final_share <= 1:
        yield Problem(
            "final_share",
            f"final_share is {s.final_share}, but the learning rate falls to 0 to 1 of its peak",
            f"set it to {_usual('final_share'):g}",
            _usual("final_share"),
        )
    if not (math.isfinite(s.alignment_loss) and s.alignment_loss >= 0):
        yield Problem(
            "alignment_loss",
            f"alignment_loss is {s.alignment_loss}, but a loss counts with a weight of 0 or more",
            "set it to 0.2, or to 0 for no guided head",
            0.2,
        )


def _choices(s: Settings) -> Iterator[Problem]:
    for name, kinds in (
        ("norm_position", NormPosition),
        ("activation", Activation),
        ("position", Position),
        ("tying", Tying),
        ("tokenizer", TokenizerKind),
    ):
        known = get_args(kinds)
        if getattr(s, name) not in known:
            yield Problem(
                name,
                f"{name} is {getattr(s, name)!r}, which must be one of {', '.join(known)}",
                f"set it to {_usual(name)!r}",
                _usual(name),
            )


def _guide(s: Settings) -> Iterator[Problem]:
    if s.alignment_loss <= 0:
        return
    if not 0 <= s.alignment_layer < s.decoder_depth:
        yield Problem(
            "alignment_layer",
            f"alignment_layer is {s.alignment_layer}, but the decoder has the layers 0 to "
            f"{s.decoder_depth - 1}",
            "set it to 0, the first one",
            0,
        )
    if not 0 <= s.alignment_head < s.n_heads:
        yield Problem(
            "alignment_head",
            f"alignment_head is {s.alignment_head}, but a layer has the heads 0 to {s.n_heads - 1}",
            "set it to 0, the first one",
            0,
        )


def _data(s: Settings, facts: Facts) -> Iterator[Problem]:
    """What is impossible with these data."""
    if not facts.n_train:
        yield Problem(
            "held_out_share",
            "the data has no pair to train on",
            "choose another file",
        )
        return
    longest = int(facts.lengths.max())
    if facts.longer_than(s.max_seq_len) >= facts.n_train:
        yield Problem(
            "max_seq_len",
            f"max_seq_len is {s.max_seq_len}, but every pair has a side of more tokens, the "
            f"longest one of {longest}",
            f"set it to {longest}",
            longest,
        )
    if s.alignment_loss > 0 and not facts.has_alignments:
        yield Problem(
            "alignment_loss",
            f"alignment_loss is {s.alignment_loss}, but these data do not say which source word "
            "a target word translates",
            "set it to 0, or train a built-in task that says so",
            0.0,
        )
    if s.tying == "all" and facts.n_source_tokens != facts.n_target_tokens:
        yield Problem(
            "tying",
            "one embedding for both sides needs one vocabulary, but these data have "
            f"{facts.n_source_tokens} source and {facts.n_target_tokens} target tokens",
            "share the target embedding with the output alone",
            "output",
        )
    for name, count in (
        ("source", facts.n_source_tokens),
        ("target", facts.n_target_tokens),
    ):
        if count <= 4:
            yield Problem(
                "min_count",
                f"no {name} token occurs {s.min_count} times, so that all would be unknown",
                "set min_count to 1",
                1,
            )
    total = s.total_steps(facts.n_train)
    if s.warmup_steps >= total:
        shorter = total // 4
        yield Problem(
            "warmup_steps",
            f"warmup_steps is {s.warmup_steps}, but the whole run has {total} steps: the learning "
            "rate would never reach its peak",
            f"set it to {shorter}, or train longer",
            shorter,
        )
    if s.tying == "all" and facts.n_source_tokens != facts.n_target_tokens:
        return
    count = parameter_count(s.sized(facts.n_source_tokens, facts.n_target_tokens))
    if count > MOST_PARAMETERS:
        yield Problem(
            "d_model",
            f"the model would have {count:,} parameters, far too many to be trained here",
            f"make it smaller, to {MOST_PARAMETERS:,} at most",
        )
        return
    yield from _memory(s, facts)


def _memory(s: Settings, facts: Facts) -> Iterator[Problem]:
    """A batch of the longest pairs that the machine has no room for."""
    free = free_bytes()
    limit = MOST_MEMORY if free is None else min(free, MOST_MEMORY)
    needed, (rows, sources, targets) = memory_at_most(s, facts)
    if needed <= limit:
        return
    reason = (
        f"batches of {rows:,} pairs of up to {sources} and {targets} tokens would take "
        f"{_gigabytes(needed)} GB of memory, and there are {_gigabytes(limit)} GB"
    )
    fitting = _fitting_batch(s, facts, rows, limit)
    if fitting:
        yield Problem("batch_size", reason, f"set it to {fitting}", fitting)
    else:
        yield Problem("d_model", reason, "make the model smaller, or max_seq_len")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3g}"


def _fitting_batch(s: Settings, facts: Facts, rows: int, limit: int) -> int:
    """The largest power of two that there is room for, 0 if none."""
    size = 1 << (rows.bit_length() - 1)
    while size and memory_at_most(msgspec.structs.replace(s, batch_size=size), facts)[0] > limit:
        size //= 2
    return size
