"""The same model in PyTorch eager: what the traced forward pass is measured against.

Written the usual way: packed projections, scaled_dot_product_attention, inference mode. The
forward pass keeps no intermediate values; a training step keeps what autograd needs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model_core.config import ModelConfig

Array = np.ndarray[Any, Any]


def build(config: ModelConfig, parameters: dict[str, Array]) -> Any:
    """A function (source ids, target ids) -> logits, on the same parameters; post-norm only."""
    import torch

    _, forward = _model(config, parameters)

    def run(source: Array, target: Array) -> Any:
        with torch.inference_mode():
            return forward(torch.from_numpy(source), torch.from_numpy(target))

    return run


def build_training(config: ModelConfig, parameters: dict[str, Array]) -> Any:
    """A function (source ids, target ids, labels) that makes one step: loss, gradients, Adam."""
    import torch
    from torch.nn import functional as F

    trained, forward = _model(config, parameters)
    for parameter in trained:
        parameter.requires_grad_()
    adam = torch.optim.Adam(trained, lr=1e-3, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step(source: Array, target: Array, labels: Array) -> float:
        logits = forward(torch.from_numpy(source), torch.from_numpy(target))
        wanted = torch.from_numpy(labels)
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=0)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        adam.step()
        return float(loss.detach())

    return step


def _model(config: ModelConfig, parameters: dict[str, Array]) -> tuple[list[Any], Any]:
    """The tensors that are trained, and the forward pass that reads them."""
    import torch
    from torch.nn import functional as F

    if config.norm_position != "post" or config.position != "sinusoidal":
        raise ValueError("the peer is written for post-norm models with sinusoidal positions")
    heads, eps, width = config.n_heads, config.norm_eps, config.d_model
    p = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in parameters.items()}
    weight = {name: value.T.contiguous() for name, value in p.items() if ".W_" in name}
    act = {
        "relu": F.relu,
        "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "silu": F.silu,
    }[config.activation]

    def pack(prefix: str, letters: str) -> tuple[Any, Any]:
        return (
            torch.cat([weight[f"{prefix}.W_{letter}"] for letter in letters]),
            torch.cat([p[f"{prefix}.b_{letter}"] for letter in letters]),
        )

    packed: dict[str, Any] = {}
    for i in range(config.n_encoder_layers):
        packed[f"encoder.layers.{i}.self_attn"] = pack(f"encoder.layers.{i}.self_attn", "qkv")
    for i in range(config.n_decoder_layers):
        packed[f"decoder.layers.{i}.self_attn"] = pack(f"decoder.layers.{i}.self_attn", "qkv")
        packed[f"decoder.layers.{i}.cross_attn"] = pack(f"decoder.layers.{i}.cross_attn", "kv")

    rates = 1.0 / (10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width))
    angles = torch.arange(512, dtype=torch.float64)[:, None] * rates
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(512, width).float()

    def split(x: Any) -> Any:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    def attend(name: str, q: Any, k: Any, v: Any, causal: bool) -> Any:
        out = F.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=causal)
        return F.linear(out.transpose(1, 2).flatten(2), weight[f"{name}.W_o"], p[f"{name}.b_o"])

    def self_attention(name: str, x: Any, causal: bool) -> Any:
        q, k, v = F.linear(x, *packed[name]).chunk(3, dim=-1)
        return attend(name, q, k, v, causal)

    def cross_attention(name: str, x: Any, memory: Any) -> Any:
        q = F.linear(x, weight[f"{name}.W_q"], p[f"{name}.b_q"])
        k, v = F.linear(memory, *packed[name]).chunk(2, dim=-1)
        return attend(name, q, k, v, False)

    def feed_forward(name: str, x: Any) -> Any:
        hidden = act(F.linear(x, weight[f"{name}.W_1"], p[f"{name}.b_1"]))
        return F.linear(hidden, weight[f"{name}.W_2"], p[f"{name}.b_2"])

    def norm(name: str, x: Any) -> Any:
        return F.layer_norm(x, (width,), p[f"{name}.gamma"], p[f"{name}.beta"], eps)

    def embed(name: str, ids: Any) -> Any:
        return F.embedding(ids, p[name]) * math.sqrt(width) + table[: ids.shape[1]]

    output = p["output.W"].T.contiguous()

    def forward(source: Any, target: Any) -> Any:
        x = embed("src_embed.weight", source)
        for i in range(config.n_encoder_layers):
            layer = f"encoder.layers.{i}"
            x = norm(f"{layer}.norm1", x + self_attention(f"{layer}.self_attn", x, False))
            x = norm(f"{layer}.norm2", x + feed_forward(f"{layer}.ffn", x))
        memory = x
        x = embed("tgt_embed.weight", target)
        for i in range(config.n_decoder_layers):
            layer = f"decoder.layers.{i}"
            x = norm(f"{layer}.norm1", x + self_attention(f"{layer}.self_attn", x, True))
            x = norm(f"{layer}.norm2", x + cross_attention(f"{layer}.cross_attn", x, memory))
            x = norm(f"{layer}.norm3", x + feed_forward(f"{layer}.ffn", x))
        return F.linear(x, output, p["output.b"])

    packs = [tensor for pair in packed.values() for tensor in pair]
    alone = [
        tensor
        for name, tensor in (p | weight).items()
        if name not in _inside(packed) and name != "output.W"
    ]
    return [*packs, *alone, output], forward


def _inside(packed: dict[str, Any]) -> set[str]:
    """The parameters that are trained as parts of a packed one."""
    names = set()
    for prefix in packed:
        letters = "kv" if prefix.endswith("cross_attn") else "qkv"
        names |= {f"{prefix}.{kind}_{letter}" for kind in "Wb" for letter in letters}
    return names
