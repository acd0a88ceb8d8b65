"""A training run of the same model in PyTorch: modules, autograd, its own losses and fused Adam.

Written the way one writes it in PyTorch, with nothing of the project's own arithmetic: what is
taken over are the first parameters and the batches. Projections that read one input are packed
and attention is scaled_dot_product_attention, but for the head that is guided: PyTorch's own
function does not give its weights away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from model_core.config import ModelConfig
from model_core.training.batching import Batch, Example, collate, epoch
from model_core.training.loop import Recipe

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


class Losses(NamedTuple):
    """The cross-entropy of one step, and the alignment loss of a recipe that has one."""

    loss: float
    alignment_loss: float | None


class Attention(nn.Module):
    """Multi-head attention; `weights` is kept where somebody guides it."""

    def __init__(self, config: ModelConfig, is_cross: bool, guided: bool) -> None:
        super().__init__()
        inner = config.n_heads * config.d_head
        self.n_heads, self.is_cross, self.guided = config.n_heads, is_cross, guided
        if is_cross:
            self.q = nn.Linear(config.d_model, inner)
            self.kv = nn.Linear(config.d_model, 2 * inner)
        else:
            self.qkv = nn.Linear(config.d_model, 3 * inner)
        self.o = nn.Linear(inner, config.d_model)
        self.weights: Any = None

    def forward(self, x: Any, memory: Any, mask: Any) -> Any:
        if self.is_cross:
            q, (k, v) = self.q(x), self.kv(memory).chunk(2, dim=-1)
        else:
            q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
        if self.guided:
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            self.weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
            context = self.weights @ v
        else:
            context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o(context.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """One post-norm layer of an encoder or, with cross-attention, of a decoder."""

    def __init__(self, config: ModelConfig, recipe: Recipe, side: str, number: int) -> None:
        super().__init__()
        guide = recipe.guided
        is_guided = guide is not None and guide.layer == number
        self.self_attn = Attention(config, is_cross=False, guided=False)
        self.cross_attn = (
            Attention(config, is_cross=True, guided=is_guided) if side == "decoder" else None
        )
        self.hidden = nn.Linear(config.d_model, config.d_ff)
        self.out = nn.Linear(config.d_ff, config.d_model)
        self.act = ACTIVATIONS[config.activation]
        n_norms = 3 if side == "decoder" else 2
        self.norms = nn.ModuleList(
            nn.LayerNorm(config.d_model, eps=config.norm_eps) for _ in range(n_norms)
        )
        self.drop = nn.Dropout(recipe.dropout.sublayer)
        self.drop_hidden = nn.Dropout(recipe.dropout.ffn)

    def forward(self, x: Any, mask: Any, memory: Any = None, memory_mask: Any = None) -> Any:
        norms = iter(self.norms)
        x = next(norms)(x + self.drop(self.self_attn(x, x, mask)))
        if self.cross_attn is not None:
            x = next(norms)(x + self.drop(self.cross_attn(x, memory, memory_mask)))
        hidden = self.drop_hidden(self.act(self.hidden(x)))
        return next(norms)(x + self.drop(self.out(hidden)))


class Translator(nn.Module):
    """The whole model: post-norm, sinusoidal positions, an output map of its own."""

    def __init__(self, config: ModelConfig, recipe: Recipe, table_rows: int = 512) -> None:
        super().__init__()
        if recipe.dropout.attention:
            raise ValueError("the peer drops no attention weights")
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        self.src_embed = nn.Embedding(config.src_vocab_size, config.d_model)
        self.tgt_embed = nn.Embedding(config.tgt_vocab_size, config.d_model)
        self.encoder, self.decoder = (
            nn.ModuleList(Layer(config, recipe, side, i) for i in range(depth))
            for side, depth in (
                ("encoder", config.n_encoder_layers),
                ("decoder", config.n_decoder_layers),
            )
        )
        self.output = nn.Linear(config.d_model, config.tgt_vocab_size)
        rates = 10000.0 ** (
            -torch.arange(0, config.d_model, 2, dtype=torch.float64) / config.d_model
        )
        angles = torch.arange(table_rows, dtype=torch.float64)[:, None] * rates
        table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
        self.register_buffer("table", table.float())

    def forward(self, source: Any, source_mask: Any, target: Any, target_mask: Any) -> Any:
        memory_mask = source_mask[:, None, None, :]
        x = self.src_embed(source) * self.scale + self.table[: source.shape[1]]
        for layer in self.encoder:
            x = layer(x, memory_mask)
        memory, length = x, target.shape[1]
        earlier = torch.ones(length, length, dtype=torch.bool).tril()
        mask = target_mask[:, None, None, :] & earlier
        x = self.tgt_embed(target) * self.scale + self.table[:length]
        for layer in self.decoder:
            x = layer(x, mask, memory, memory_mask)
        return self.output(x)

    def load(self, parameters: Mapping[str, np.ndarray]) -> None:
        """Take over the project's parameters; its weights are (in, out), these (out, in)."""
        left = dict(parameters)

        def fill(tensor: Any, *names: str) -> None:
            parts = [left.pop(name) for name in names]
            value = np.concatenate([part.T for part in parts])
            with torch.no_grad():
                tensor.copy_(torch.from_numpy(value))

        def fill_linear(linear: Any, prefix: str, letters: str) -> None:
            fill(linear.weight, *(f"{prefix}W_{letter}" for letter in letters))
            fill(linear.bias, *(f"{prefix}b_{letter}" for letter in letters))

        def fill_attention(attention: Attention, prefix: str) -> None:
            if attention.is_cross:
                fill_linear(attention.q, prefix, "q")
                fill_linear(attention.kv, prefix, "kv")
            else:
                fill_linear(attention.qkv, prefix, "qkv")
            fill_linear(attention.o, prefix, "o")

        for side, layers in (("encoder", self.encoder), ("decoder", self.decoder)):
            for i, layer in enumerate(layers):
                prefix = f"{side}.layers.{i}"
                fill_attention(layer.self_attn, f"{prefix}.self_attn.")
                if layer.cross_attn is not None:
                    fill_attention(layer.cross_attn, f"{prefix}.cross_attn.")
                fill_linear(layer.hidden, f"{prefix}.ffn.", "1")
                fill_linear(layer.out, f"{prefix}.ffn.", "2")
                for number, norm in enumerate(layer.norms, start=1):
                    fill(norm.weight, f"{prefix}.norm{number}.gamma")
                    fill(norm.bias, f"{prefix}.norm{number}.beta")
        with torch.no_grad():
            self.src_embed.weight.copy_(torch.from_numpy(left.pop("src_embed.weight")))
            self.tgt_embed.weight.copy_(torch.from_numpy(left.pop("tgt_embed.weight")))
        fill(self.output.weight, "output.W")
        fill(self.output.bias, "output.b")
        if left:
            raise ValueError(f"the peer has no place for {', '.join(left)}")


def batches(examples: Sequence[Example], recipe: Recipe, tokenizer: Any) -> Iterator[Batch]:
    """The batches of a run in their order, epoch after epoch: of the recipe's first stream."""
    order = np.random.default_rng(np.random.SeedSequence(recipe.seed).spawn(2)[0])
    while True:
        for chosen in epoch(examples, recipe.batch_size, order):
            yield collate(chosen, tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id)


def train(model: Any, examples: Sequence[Example], recipe: Recipe) -> Iterator[Losses]:
    """Train a copy of the project's model in PyTorch, yielding the losses of every step."""
    peer = Translator(model.config, recipe).to(getattr(torch, model.dtype))
    peer.load(model.parameters)
    weights = list(peer.parameters())
    adam = torch.optim.Adam(
        weights,
        lr=recipe.learning_rate,
        betas=(recipe.beta1, recipe.beta2),
        eps=recipe.epsilon,
        fused=True,
    )
    pad_id = model.tokenizer.pad_id
    for number, batch in zip(count(), batches(examples, recipe, model.tokenizer)):
        for group in adam.param_groups:
            group["lr"] = scheduled(recipe, number)
        logits = peer(
            torch.from_numpy(batch.source_ids),
            torch.from_numpy(batch.source_mask),
            torch.from_numpy(batch.target_ids),
            torch.from_numpy(batch.target_mask),
        )
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            torch.from_numpy(batch.labels).flatten(),
            ignore_index=pad_id,
            label_smoothing=recipe.label_smoothing,
        )
        total, aligned = loss, None
        if recipe.guided is not None:
            aligned = alignment(peer, batch, recipe)
            total = loss + recipe.guided.coefficient * aligned
        adam.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(weights, recipe.max_norm)
        adam.step()
        yield Losses(float(loss.detach()), None if aligned is None else float(aligned.detach()))


def alignment(peer: Translator, batch: Batch, recipe: Recipe) -> Any:
    """The mean of -log of the guided head's weight for the source token that a target has."""
    guided = recipe.guided
    assert guided is not None
    weights = peer.decoder[guided.layer].cross_attn.weights[:, guided.head]
    wanted = torch.from_numpy(batch.aligned)
    own = weights.gather(-1, wanted.clamp(min=0)[..., None])[..., 0]
    return -own[wanted >= 0].clamp(min=1e-9).log().mean()


def scheduled(recipe: Recipe, step: int) -> float:
    """The learning rate of a step from 0: a straight rise, then half a cosine down."""
    if step < recipe.warmup_steps:
        return recipe.learning_rate * (step + 1) / recipe.warmup_steps
    done = min(1.0, (step - recipe.warmup_steps) / max(1, recipe.steps - recipe.warmup_steps))
    lowest = recipe.final_share * recipe.learning_rate
    return lowest + (recipe.learning_rate - lowest) * (1.0 + math.cos(math.pi * done)) / 2.0
