"""What encoder and decoder read: texts or ids as padded arrays, checked against the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from model_core.config import ModelConfig
from model_core.ops.base import Array
from model_core.runner import real_tokens
from model_core.tokenizers import Tokenizer


def read_texts(side: str, texts: Sequence[str], tokenizer: Tokenizer) -> tuple[Array, Array]:
    """Ids (B,L) of texts and their mask (B,L); the start token goes in front of a target."""
    if side == "source":
        rows = [tokenizer.encode_source(text).ids for text in texts]
    else:
        rows = [[tokenizer.start_id, *tokenizer.encode_target(text).ids] for text in texts]
    longest = max((len(row) for row in rows), default=0)
    ids = np.full((len(rows), longest), tokenizer.pad_id, dtype=np.int64)
    real = np.zeros((len(rows), longest), dtype=bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        real[number, : len(row)] = True
    return ids, real


def read_ids(side: str, given: Any, pad_id: int) -> tuple[Array, Array]:
    """Ids (B,L) as they are given, (L,) or (B,L), and their mask: a trailing run of PAD is none."""
    ids = np.asarray(given)
    if ids.size and ids.dtype.kind not in "iu":
        raise ValueError(f"{side}_ids are {ids.dtype}, expected whole numbers")
    ids = np.atleast_2d(ids.astype(np.int64))
    if ids.ndim != 2:
        raise ValueError(f"{side}_ids have shape {ids.shape}, expected (T,) or (B,T)")
    return ids, real_tokens(ids, pad_id)


def read_mask(side: str, given: Any, shape: tuple[int, ...]) -> Array:
    """A mask (B,L) that was given, True = real."""
    mask = np.atleast_2d(np.asarray(given, dtype=bool))
    if mask.shape != shape:
        raise ValueError(f"{side}_mask has shape {mask.shape}, expected {shape}")
    return mask


def check_ids(side: str, ids: Array, config: ModelConfig) -> None:
    """ValueError unless the model knows all ids and has a position for each."""
    size = config.src_vocab_size if side == "source" else config.tgt_vocab_size
    if ids.size == 0:
        raise ValueError(f"the {side} has no tokens at all")
    if ids.min() < 0 or ids.max() >= size:
        wrong = ids[(ids < 0) | (ids >= size)][0]
        raise ValueError(f"{side} id {wrong} is outside the vocabulary of {size} tokens")
    if config.position == "learned" and ids.shape[1] > config.max_seq_len:
        raise ValueError(
            f"the {side} has {ids.shape[1]} tokens, this model's learned positions end at "
            f"{config.max_seq_len}"
        )
