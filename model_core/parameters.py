"""The one table of parameters: which names a config has, their shapes, how they start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from model_core.config import ModelConfig

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def embedding_name(config: ModelConfig, side: str) -> str:
    """The parameter that holds the embedding table of "encoder" or "decoder"."""
    if side == "encoder" or config.tying == "all":
        return "src_embed.weight"
    return "tgt_embed.weight"


def _attention_shapes(prefix: str, config: ModelConfig) -> dict[str, Shape]:
    inner = config.n_heads * config.d_head
    shapes: dict[str, Shape] = {}
    for letter in "qkv":
        shapes[f"{prefix}.W_{letter}"] = (config.d_model, inner)
        if config.attention_bias:
            shapes[f"{prefix}.b_{letter}"] = (inner,)
    if config.layer_end != "self_attn.concat":
        shapes[f"{prefix}.W_o"] = (inner, config.d_model)
        if config.attention_bias:
            shapes[f"{prefix}.b_o"] = (config.d_model,)
    return shapes


def _norm_shapes(prefix: str, config: ModelConfig) -> dict[str, Shape]:
    return {f"{prefix}.gamma": (config.d_model,), f"{prefix}.beta": (config.d_model,)}


def _layer_shapes(side: str, layer: int, config: ModelConfig) -> dict[str, Shape]:
    prefix = f"{side}.layers.{layer}"
    shapes = _attention_shapes(f"{prefix}.self_attn", config)
    if config.layer_end.startswith("self_attn."):
        return shapes
    shapes |= _norm_shapes(f"{prefix}.norm1", config)
    if config.layer_end == "norm1.out":
        return shapes
    n_norms = 1
    if side == "decoder":
        shapes |= _attention_shapes(f"{prefix}.cross_attn", config)
        shapes |= _norm_shapes(f"{prefix}.norm2", config)
        n_norms = 2
    shapes[f"{prefix}.ffn.W_1"] = (config.d_model, config.d_ff)
    shapes[f"{prefix}.ffn.b_1"] = (config.d_ff,)
    shapes[f"{prefix}.ffn.W_2"] = (config.d_ff, config.d_model)
    shapes[f"{prefix}.ffn.b_2"] = (config.d_model,)
    return shapes | _norm_shapes(f"{prefix}.norm{n_norms + 1}", config)


def parameter_shapes(config: ModelConfig) -> dict[str, Shape]:
    """Every parameter of a model with this config, in reading order: name -> shape.

    Weights are stored so that y = x W + b: W is (in, out).
    """
    reads_ids = config.input == "ids"
    shapes: dict[str, Shape] = {}
    if reads_ids:
        shapes["src_embed.weight"] = (config.src_vocab_size, config.d_model)
    if reads_ids and config.tying != "all":
        shapes["tgt_embed.weight"] = (config.tgt_vocab_size, config.d_model)
    for side, depth in (("encoder", config.n_encoder_layers), ("decoder", config.n_decoder_layers)):
        if not depth:
            continue
        if reads_ids and config.position == "learned":
            shapes[f"{side}.position.weight"] = (config.max_seq_len, config.d_model)
        for layer in range(depth):
            shapes |= _layer_shapes(side, layer, config)
        if config.norm_position == "pre":
            shapes |= _norm_shapes(f"{side}.norm", config)
    if reads_ids and config.tying == "none":
        shapes["output.W"] = (config.d_model, config.tgt_vocab_size)
    if reads_ids and config.output_bias:
        shapes["output.b"] = (config.tgt_vocab_size,)
    return shapes


def parameter_count(config: ModelConfig) -> int:
    """How many numbers the model has learned."""
    return sum(math.prod(shape) for shape in parameter_shapes(config).values())


def initialise(
    config: ModelConfig, generator: np.random.Generator, dtype: str = "float32"
) -> dict[str, Array]:
    """Fresh parameters: embeddings N(0, 1/d_model), weights Xavier-uniform, the rest 0 or 1.

    Source: Glorot and Bengio 2010, equation 16; Vaswani et al. 2017, section 3.4.
    """
    parameters: dict[str, Array] = {}
    for name, shape in parameter_shapes(config).items():
        if name.endswith(("embed.weight", "position.weight")):
            value = generator.normal(0.0, config.d_model**-0.5, shape)
        elif len(shape) == 2:
            bound = math.sqrt(6.0 / (shape[0] + shape[1]))
            value = generator.uniform(-bound, bound, shape)
        elif name.endswith(".gamma"):
            value = np.ones(shape)
        else:
            value = np.zeros(shape)
        parameters[name] = value.astype(dtype)
    return parameters


class Parameters(Mapping[str, Array]):
    """A model's parameters by name. The names are fixed and the arrays stay: `p[name] = value`
    writes the value into the array, so that whoever reads it sees the change.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = dict(arrays)

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._arrays:
            raise KeyError(f"the model has no parameter {name!r}")
        array = self._arrays[name]
        if np.shape(value) != array.shape:
            raise ValueError(f"{name} has shape {array.shape}, the new value {np.shape(value)}")
        array[...] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def pack_projections(parameters: Mapping[str, Array]) -> Parameters:
    """The same parameters, those projections that read one input laid behind each other.

    W_q W_k W_v of self-attention and W_k W_v of cross-attention become views of one array (3 or
    2, in, out), their biases of another, so that one call computes them all (see `packed`) and
    no copy has to follow when a parameter changes.
    """
    laid_out = dict(parameters)
    for name in parameters:
        if not name.endswith("attn.W_k"):
            continue
        prefix = name.removesuffix(".W_k")
        letters = "kv" if prefix.endswith("cross_attn") else "qkv"
        for kind in "Wb":
            names = [f"{prefix}.{kind}_{letter}" for letter in letters]
            if names[0] not in parameters:
                continue
            laid_out.update(zip(names, np.stack([parameters[n] for n in names]), strict=True))
    return Parameters(laid_out)


def packed(arrays: list[Array]) -> Array | None:
    """The one array that these lie in, all of it and in this order; None where there is none."""
    base = arrays[0].base if arrays else None
    if base is None or base.shape != (len(arrays), *arrays[0].shape):
        return None
    same = all(
        array.base is base and array.ctypes.data == part.ctypes.data
        for array, part in zip(arrays, base, strict=True)
    )
    return base if same else None
