"""Runs of small models, and how their gradients are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from model_core.gradients import GradientTape, Target
from model_core.tape import Tape
from tests.core.models import small_model

SOURCE = [[4, 9, 6, 4, 2]]
TARGET = [[1, 7, 5, 7]]
LOG_PROB = Target("log_prob", row=2, token=7)
LOSS = Target("loss", labels=(7, 5, 0, 2))
# The models whose plans differ in what reads what.
KINDS: dict[str, dict[str, Any]] = {
    "post_norm": {},
    "pre_norm_learned": {"norm_position": "pre", "position": "learned", "activation": "relu"},
    "all_tied": {"tying": "all", "src_vocab_size": 11, "activation": "silu"},
    "output_tied": {"tying": "output", "activation": "gelu_tanh", "attention_bias": False},
}


def traced(kind: str = "post_norm", dtype: str = "float64") -> Tape:
    """A sentence in a model of one encoder and one decoder layer."""
    model = small_model(dtype, n_encoder_layers=1, n_decoder_layers=1, **KINDS[kind])
    return model.trace(source_ids=SOURCE, target_ids=TARGET)


def cells(shape: tuple[int, ...], count: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Random cells of an array; each once where there are no more than `count`."""
    size = int(np.prod(shape))
    generator = np.random.default_rng(seed)
    flat = range(size) if size <= count else generator.integers(0, size, count)
    for place in flat:
        yield tuple(int(i) for i in np.unravel_index(int(place), shape))


def size_of(gradients: GradientTape, name: str) -> float:
    """What an error in a gradient is measured against: design.md, section 6.

    The tensor's largest entry, or a thousandth of the largest of all, whichever is larger.
    """
    everything = [*gradients.sites, *gradients.parameters]
    largest = max(np.abs(gradients.gradient_of(n)).max(initial=0.0) for n in everything)
    return max(float(np.abs(gradients.gradient_of(name)).max(initial=0.0)), 1e-3 * float(largest))


def has_gradient(tape: Tape | GradientTape, name: str) -> bool:
    """Whether the numbers are of a kind that can change a little."""
    return np.asarray(tape.value_of(name)).dtype.kind == "f"
