"""A tiny model to save, open and damage, with parts of known sizes."""

from __future__ import annotations

import json

import numpy as np
import safetensors
import safetensors.numpy

from model_core.checkpoints import save
from model_core.config import ModelConfig
from model_core.parameters import initialise
from model_core.tokenizers import WordTokenizer

SPECIALS = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]
CARD = {"task": "猫 → cat", "examples": ["a", "b\n"], "accuracy": 0.995, "nested": {"x": [1, None]}}


def make_config(**changes):
    sizes = {
        "src_vocab_size": 7,
        "tgt_vocab_size": 6,
        "d_model": 8,
        "n_heads": 2,
        "d_ff": 10,
        "n_encoder_layers": 1,
        "n_decoder_layers": 2,
        "max_seq_len": 12,
    }
    return ModelConfig(**(sizes | changes))


def make_tokenizer(config):
    return WordTokenizer(
        SPECIALS + [f"s{i}" for i in range(config.src_vocab_size - 4)],
        SPECIALS + [f"猫{i}" for i in range(config.tgt_vocab_size - 4)],
    )


CONFIG = make_config()
TOKENIZER = make_tokenizer(CONFIG)
PARAMETERS = initialise(CONFIG, np.random.default_rng(3))


def save_tiny(path):
    save(path, CONFIG, PARAMETERS, TOKENIZER, CARD)
    return path


def rewrite(path, change_tensors=lambda tensors: None, **description):
    """Write the saved file anew with the library, with other tensors or another description."""
    tensors = safetensors.numpy.load_file(path)
    with safetensors.safe_open(path, "np") as file:
        text = file.metadata()["glassformer"]
    change_tensors(tensors)
    text = json.dumps(json.loads(text) | description)
    path.write_bytes(safetensors.numpy.save(tensors, {"glassformer": text}))
