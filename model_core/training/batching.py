"""Examples cut into padded batches, shuffled anew for every epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# Batches are filled from stretches of this many, sorted by length: little padding, still random.
STRETCH = 20


class Example(NamedTuple):
    """One pair of sentences as ids: `source` as the encoder reads it, `target` without specials.

    `aligned` gives, for each target token and the end token, the source position that it
    translates, -1 where there is none.
    """

    source: Sequence[int]
    target: Sequence[int]
    aligned: Sequence[int] | None = None


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded arrays: source (B,S), what the decoder reads and must predict (B,T), the masks."""

    source_ids: Array
    source_mask: Array
    target_ids: Array
    target_mask: Array
    labels: Array
    aligned: Array


def pad(
    rows: Sequence[Sequence[int]], filler: int, length: int | None = None
) -> tuple[Array, Array]:
    """Rows of ids as one array (B,L) and the mask of its real cells."""
    longest = max(map(len, rows)) if length is None else length
    ids = np.full((len(rows), longest), filler, dtype=np.int64)
    real = np.zeros((len(rows), longest), dtype=bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        real[number, : len(row)] = True
    return ids, real


def collate(examples: Sequence[Example], pad_id: int, start_id: int, end_id: int) -> Batch:
    """One padded batch: the decoder reads <SOS> + target and must predict target + <EOS>."""
    source_ids, source_mask = pad([e.source for e in examples], pad_id)
    target_ids, target_mask = pad([[start_id, *e.target] for e in examples], pad_id)
    labels, _ = pad([[*e.target, end_id] for e in examples], pad_id)
    aligned, _ = pad([e.aligned or [] for e in examples], -1, labels.shape[1])
    return Batch(source_ids, source_mask, target_ids, target_mask, labels, aligned)


def n_batches(n_examples: int, batch_size: int) -> int:
    """How many batches an epoch of so many examples has."""
    return -(-n_examples // batch_size)


def epoch(
    examples: Sequence[Example], batch_size: int, generator: np.random.Generator
) -> Iterator[list[Example]]:
    """Every example once, in shuffled batches; the last, partial batch is used too."""
    order = generator.permutation(len(examples))
    batches: list[list[Example]] = []
    for start in range(0, len(order), batch_size * STRETCH):
        stretch = [examples[i] for i in order[start : start + batch_size * STRETCH]]
        stretch.sort(key=lambda e: (len(e.source), len(e.target)))
        batches += [stretch[i : i + batch_size] for i in range(0, len(stretch), batch_size)]
    for number in generator.permutation(len(batches)):
        yield batches[number]
