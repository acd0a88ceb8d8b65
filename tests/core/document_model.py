"""A model computed elsewhere: weights, activations, losses, gradients and Adam steps.

The numbers come from a NumPy float64 program that agrees with a separately written PyTorch
graph to 2e-14; gradients are PyTorch's, spot-checked by central differences.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from model_core.config import ModelConfig
from model_core.model import Model
from model_core.parameters import parameter_shapes
from model_core.tokenizers import CharTokenizer

DATA = Path(__file__).resolve().parents[1] / "data" / "document_model"
SPECIALS = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]


@cache
def expected(activation: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"expected_{activation}.npz") as file:
        return {name: file[name] for name in file.files}


def our_name(name: str) -> str:
    """The parameter that the document's program calls `name`."""
    words = name.split(".")
    if words[0].endswith("_embed"):
        return f"{words[0]}.weight"
    if words[0] == "out":
        return f"output.{words[1]}"
    side, layer, part, kind, *letter = words
    where = f"{side}.layers.{layer}.{part}"
    return f"{where}.{letter[0]}_{kind}" if letter else f"{where}.{kind}"


@cache
def names() -> dict[str, str]:
    """The file's key of each of our parameters."""
    table = json.loads((DATA / "parameter_names.json").read_text())
    return {our_name(name): key for key, name in table.items()}


def document_model(activation: str, dtype: str = "float64") -> Model:
    content: dict[str, Any] = json.loads((DATA / "model_flat_vocab.json").read_text("utf-8"))
    sizes = content["config"]
    config = ModelConfig(
        src_vocab_size=sizes["vocab_size"],
        tgt_vocab_size=sizes["vocab_size"],
        d_model=sizes["d_model"],
        n_heads=sizes["n_heads"],
        d_ff=sizes["d_ff"],
        n_encoder_layers=sizes["n_layers"],
        n_decoder_layers=sizes["n_layers"],
        max_seq_len=sizes["max_seq_len"],
        norm_eps=1e-6,
        activation=activation,  # type: ignore[arg-type]
        position_table="float64",
    )
    weights = content["weights"]
    shapes = parameter_shapes(config)
    assert shapes.keys() == names().keys()
    parameters = {
        name: np.array(weights[names()[name]], dtype=dtype).reshape(shape)
        for name, shape in shapes.items()
    }
    characters = [chr(0x4E00 + i) for i in range(4, sizes["vocab_size"])]
    tokenizer = CharTokenizer(
        SPECIALS + characters, SPECIALS + characters, source_prefix=True, source_suffix=False
    )
    return Model(config, parameters, tokenizer)
