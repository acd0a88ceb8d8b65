"""How much memory the records of a training pass take."""

from __future__ import annotations

import math

from model_core.config import ModelConfig
from model_core.ops import MergeHeads, PaddingMask, SplitHeads
from model_core.transformer import Dropout, build_plan

BYTES = 4
# Records that are views of others or a bit for a number.
WITHOUT_MEMORY = (SplitHeads, MergeHeads, PaddingMask)


def tape_bytes(config: ModelConfig, dropout: Dropout, shape: tuple[int, ...]) -> int:
    """The bytes of all records, float32, of a pass over a batch of the shape (B,S,T)."""
    sizes = dict(zip("1BST", (1, *shape), strict=True))
    sizes["H"], sizes["K"] = config.n_heads, config.d_head
    sizes["D"], sizes["F"], sizes["V"] = config.d_model, config.d_ff, config.tgt_vocab_size
    sizes["H*K"] = config.n_heads * config.d_head
    return sum(
        BYTES * math.prod(sizes[axis] for axis in line.axes)
        for line in build_plan(config, "float32", dropout).instructions
        if not isinstance(line.op, WITHOUT_MEMORY)
    )
