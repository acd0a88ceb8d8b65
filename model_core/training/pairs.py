"""Pairs of texts, as somebody types them, made into a batch."""

from __future__ import annotations

from collections.abc import Sequence

from model_core.chat import source_of
from model_core.model import Model
from model_core.training.batching import Batch, Example, collate

Pairs = Sequence[tuple[str, str]]


def batch_of(model: Model, pairs: Pairs) -> Batch:
    """Pairs of source and target text as one padded batch without alignments.

    ValueError with a sentence where there is none to make.
    """
    words = model.tokenizer
    return collate(examples_of(model, pairs), words.pad_id, words.start_id, words.end_id)


def examples_of(model: Model, pairs: Pairs) -> list[Example]:
    """Pairs of source and target text as ids; ValueError as `batch_of` has it."""
    words, config = model.tokenizer, model.config
    if not config.n_decoder_layers or config.input == "matrix":
        raise ValueError("this model has no decoder to train")
    if not pairs:
        raise ValueError("there is no pair to train on")
    examples = []
    for number, (source, target) in enumerate(pairs, 1):
        if not target.strip():
            raise ValueError(
                f"pair {number} has no target text; type what should come of its source"
            )
        read = words.encode_source(source_of(model.card, source)).ids
        wanted = words.encode_target(target).ids
        longest = max(len(read), len(wanted) + 1)
        if longest > config.max_seq_len:
            raise ValueError(
                f"pair {number} has {longest} tokens, the model reads at most {config.max_seq_len}"
            )
        examples.append(Example(read, wanted))
    return examples


def examples_in(batch: Batch) -> list[Example]:
    """What a batch was padded from, row by row."""
    found = []
    for row in range(len(batch.source_ids)):
        source = batch.source_ids[row][batch.source_mask[row]].tolist()
        target = batch.target_ids[row][batch.target_mask[row]].tolist()
        aligned = batch.aligned[row][: len(target)].tolist()
        known = any(place >= 0 for place in aligned)
        # the first of what the decoder reads is the start token
        found.append(Example(source, target[1:], aligned if known else None))
    return found
