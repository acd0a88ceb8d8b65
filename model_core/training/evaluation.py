"""How good a trained model is: exact matches, and how sharply its heads look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model_core.model import Model
from model_core.training.batching import Example, collate
from model_core.training.datasets import Pair

BATCH_SIZE = 128


def _by_length(examples: Sequence[Example]) -> Iterator[list[int]]:
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].source))
    for start in range(0, len(order), BATCH_SIZE):
        yield order[start : start + BATCH_SIZE]


def exact_matches(
    model: Model, sources: Sequence[str], references: Sequence[Sequence[str]]
) -> list[bool]:
    """For each source text, whether greedy decoding gives one of its reference texts exactly."""
    hits = [False] * len(sources)
    order = sorted(range(len(sources)), key=lambda i: (len(sources[i].split()), len(sources[i])))
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        for row, result in zip(rows, model.generate([sources[i] for i in rows]), strict=True):
            hits[row] = result.finished and result.text in references[row]
    return hits


def pair_matches(model: Model, pairs: Sequence[Pair]) -> list[bool]:
    """For each pair, whether greedy decoding of its source gives its target exactly."""
    tokenizer = model.tokenizer
    # the reference written the way the model's own output is
    references = [[tokenizer.decode(tokenizer.encode_target(p.target_text).ids)] for p in pairs]
    return exact_matches(model, [p.source_text for p in pairs], references)


def share(hits: Sequence[bool]) -> str:
    """ "495 of 500, 99.0 %": how many are right."""
    return f"{sum(hits)} of {len(hits)}, {100 * sum(hits) / max(1, len(hits)):.1f} %"


@dataclass(frozen=True)
class HeadFacts:
    """One cross-attention head: its mean mass on the aligned source word over aligned tokens."""

    layer: int
    head: int
    aligned_mass: float


def cross_head_facts(model: Model, examples: Sequence[Example]) -> list[HeadFacts]:
    """Every cross-attention head's mean attention weight on the aligned source position.

    Measured with the reference target read by the decoder, over target tokens that have an
    aligned source word.
    """
    tokenizer = model.tokenizer
    layers, heads = model.config.n_decoder_layers, model.config.n_heads
    mass = np.zeros((layers, heads))
    count = 0
    for rows in _by_length(examples):
        batch = collate(
            [examples[i] for i in rows], tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id
        )
        tape = model.trace(
            source_ids=batch.source_ids,
            target_ids=batch.target_ids,
            source_mask=batch.source_mask,
            target_mask=batch.target_mask,
        )
        b, t = np.nonzero(batch.aligned >= 0)
        aligned = batch.aligned[b, t]
        count += len(b)
        for layer in range(layers):
            weights = tape[f"decoder.layers.{layer}.cross_attn.weights"].value
            mass[layer] += weights[b, :, t, aligned].sum(axis=0, dtype=np.float64)
    return [
        HeadFacts(layer, head, float(mass[layer, head] / max(1, count)))
        for layer in range(layers)
        for head in range(heads)
    ]
