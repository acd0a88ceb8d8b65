"""The sizes that are measured, with random parameters and sentences."""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np

from model_core.config import ModelConfig
from model_core.model import Model
from model_core.parameters import initialise
from model_core.threads import limit_blas_threads
from model_core.tokenizers import WordTokenizer

SPECIALS = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]


class Size(NamedTuple):
    """A model's measures and the lengths of the sentences it is given."""

    d_model: int
    n_heads: int
    d_ff: int
    layers: int
    vocabulary: int
    length: int


DEMO = Size(64, 4, 256, 2, 300, 16)
SMALL = Size(256, 4, 1024, 3, 5000, 64)
MARIAN = Size(512, 8, 2048, 6, 58101, 32)


def random_model(size: Size, activation: str = "gelu", limit_threads: bool = True) -> Model:
    """A post-norm model with sinusoidal positions, as the peer in PyTorch is."""
    config = ModelConfig(
        src_vocab_size=size.vocabulary,
        tgt_vocab_size=size.vocabulary,
        d_model=size.d_model,
        n_heads=size.n_heads,
        d_ff=size.d_ff,
        n_encoder_layers=size.layers,
        n_decoder_layers=size.layers,
        max_seq_len=128,
        activation=activation,
    )
    if limit_threads:
        limit_blas_threads(config)
    words = SPECIALS + [f"w{i}" for i in range(4, size.vocabulary)]
    parameters = initialise(config, np.random.default_rng(0))
    return Model(config, parameters, WordTokenizer(words, words, target_joiner=" "))


def sentences(size: Size, batch: int = 1) -> tuple[Any, Any]:
    """Source ids and target ids (batch, length) of ordinary tokens."""
    generator = np.random.default_rng(1)
    source = generator.integers(4, size.vocabulary, (batch, size.length))
    target = generator.integers(4, size.vocabulary, (batch, size.length))
    return source, target


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


NO_TORCH = "PyTorch is not installed (make bench installs it)"
