"""Small models with random parameters, for tests of the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from model_core.config import ModelConfig
from model_core.model import Model
from model_core.parameters import initialise
from model_core.tokenizers import WordTokenizer

SPECIALS = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]


def small_config(**changes: Any) -> ModelConfig:
    """Every size differs from the others, so that no two axes can be mixed up unseen."""
    sizes: dict[str, Any] = {
        "src_vocab_size": 13,
        "tgt_vocab_size": 11,
        "d_model": 12,
        "n_heads": 3,
        "d_head": 5,
        "d_ff": 14,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
        "max_seq_len": 24,
    }
    return ModelConfig(**(sizes | changes))


def small_model(dtype: str = "float64", seed: int = 1, **changes: Any) -> Model:
    """A model whose norms and biases are random too, so that none of them is a no-op."""
    config = small_config(**changes)
    generator = np.random.default_rng(seed)
    parameters = initialise(config, generator, dtype)
    for value in parameters.values():
        if value.ndim == 1:
            value += generator.normal(0, 0.3, value.shape).astype(dtype)
        else:
            value *= 1.5
    words = [f"s{i}" for i in range(4, config.src_vocab_size)]
    target = [f"t{i}" for i in range(4, config.tgt_vocab_size)]
    tokenizer = WordTokenizer(SPECIALS + words, SPECIALS + target, target_joiner=" ")
    return Model(config, parameters, tokenizer)


def random_ids(
    generator: np.random.Generator, size: int, length: int, batch: int = 1
) -> np.ndarray:
    """Ordinary token ids, no special ones (B,L)."""
    return generator.integers(4, size, (batch, length))


TRAITS: list[dict[str, Any]] = [
    {},
    {"norm_position": "pre", "activation": "relu"},
    {"activation": "gelu_tanh", "position": "learned"},
    {"activation": "silu", "tying": "output", "scale_embedding": False},
    {"src_vocab_size": 11, "tying": "all", "n_encoder_layers": 1, "n_decoder_layers": 3},
    {"d_head": 0, "norm_position": "pre", "output_bias": False, "position": "learned"},
]
