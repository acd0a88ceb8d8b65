"""The Transformer, written down once: reads top to bottom like the figure in the paper.

Source: Vaswani et al. 2017, figure 1. Each line adds one record to the plan; the tape runs it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from model_core.config import ModelConfig
from model_core.ops import (
    Add,
    BothMasks,
    Context,
    DropoutMask,
    Dropped,
    EmbeddingRows,
    Given,
    LearnedPosition,
    Linear,
    LogSoftmax,
    LookAheadMask,
    MaskedScores,
    Mean,
    MergeHeads,
    Normalise,
    PaddingMask,
    Residual,
    Scale,
    ScaleShift,
    Scores,
    SinusoidalPosition,
    Softmax,
    SplitHeads,
    TiedLinear,
    Variance,
    activation,
)
from model_core.parameters import embedding_name
from model_core.plan import Plan


@dataclass(frozen=True)
class Dropout:
    """The share of numbers set to zero while training; 0 leaves the place out of the plan."""

    attention: float = 0.0
    ffn: float = 0.0
    sublayer: float = 0.0


NO_DROPOUT = Dropout()


@lru_cache(maxsize=32)
def build_plan(config: ModelConfig, dtype: str = "float32", dropout: Dropout = NO_DROPOUT) -> Plan:
    """The whole forward pass, source ids to log-probabilities.

    Of a model that reads a matrix: from the run input `inputs` (B,S,D) to the encoder's end.
    """
    writer = _Writer(Plan(), config, dtype, dropout)
    writer.encode()
    if config.n_decoder_layers:
        writer.decode()
    return writer.plan


class _Writer:
    """Writes a config's forward pass into a plan."""

    def __init__(self, plan: Plan, config: ModelConfig, dtype: str, dropout: Dropout) -> None:
        self.plan, self.config, self.dtype, self.dropout = plan, config, dtype, dropout
        self.post_norm = config.norm_position == "post"

    def encode(self) -> None:
        add, config = self.plan.add, self.config
        mask = None
        if config.input == "matrix":
            x = add("encoder.embed.out", Given(), "inputs", axes="BSD")
            # runs tell which tokens they read by these, and here they are no op's input
            for name in ("source_ids", "target_ids"):
                self.plan.reserve(name)
        else:
            x = self.embed("encoder", "source_ids", "source_positions", "S")
            mask = add("encoder.mask", PaddingMask(), "source_mask", axes="B11S")
        for i in range(config.n_encoder_layers):
            x = self.encoder_layer(f"encoder.layers.{i}", x, mask)
        self.finish("encoder", x, "S")

    def encoder_layer(self, layer: str, x: str, mask: str | None) -> str:
        """Self-attention and feed-forward, as far as the layer goes."""
        end = self.config.layer_end
        if end.startswith("self_attn."):
            return self.attention(f"{layer}.self_attn", x, x, mask, "S")
        x = self.sublayer(layer, 1, x, "S", f"{layer}.self_attn", memory=None, mask=mask)
        return x if end == "norm1.out" else self.sublayer(layer, 2, x, "S", f"{layer}.ffn")

    def decode(self) -> None:
        add, config, plan = self.plan.add, self.config, self.plan
        x = self.embed("decoder", "target_ids", "target_positions", "T")
        padding = add("decoder.padding_mask", PaddingMask(), "target_mask", axes="B11T")
        ahead = add(
            "decoder.look_ahead_mask",
            LookAheadMask(),
            "target_positions",
            "target_key_positions",
            axes="11TT",
        )
        mask = add("decoder.mask", BothMasks(), padding, ahead, axes="B1TT")
        memory = plan.resolve("encoder.out")
        memory_mask = plan.alias("decoder.cross_mask", "encoder.mask")
        for i in range(config.n_decoder_layers):
            layer = f"decoder.layers.{i}"
            x = self.sublayer(layer, 1, x, "T", f"{layer}.self_attn", memory=None, mask=mask)
            x = self.sublayer(
                layer, 2, x, "T", f"{layer}.cross_attn", memory=memory, mask=memory_mask
            )
            x = self.sublayer(layer, 3, x, "T", f"{layer}.ffn")
        x = self.finish("decoder", x, "T")
        table = embedding_name(config, "decoder")
        bias = ("output.b",) if config.output_bias else ()
        if config.tying == "none":
            logits = add("logits", Linear(), x, "output.W", *bias, axes="BTV")
        else:
            logits = add("logits", TiedLinear(), x, table, *bias, axes="BTV")
        add("log_probs", LogSoftmax(), logits, axes="BTV")

    def embed(self, side: str, ids: str, positions: str, length: str) -> str:
        """Table rows, scaled, plus positions (sections 3.4 and 3.5 of the paper)."""
        add, config = self.plan.add, self.config
        axes = f"B{length}D"
        x = add(
            f"{side}.embed.tokens", EmbeddingRows(), embedding_name(config, side), ids, axes=axes
        )
        if config.scale_embedding:
            x = add(f"{side}.embed.scaled", Scale(math.sqrt(config.d_model)), x, axes=axes)
        site = f"{side}.embed.position"
        if config.position == "sinusoidal":
            op = SinusoidalPosition(config.d_model, config.position_table, self.dtype)
            position = add(site, op, positions, axes=f"{length}D")
        else:
            table = f"{side}.position.weight"
            position = add(site, LearnedPosition(), table, positions, axes=f"{length}D")
        return add(f"{side}.embed.out", Add(), x, position, axes=axes)

    def sublayer(
        self,
        layer: str,
        number: int,
        x: str,
        length: str,
        name: str,
        memory: str | None = None,
        mask: str | None = None,
    ) -> str:
        """One sublayer with its residual and LayerNorm, after it (post) or before it (pre)."""
        norm, residual = f"{layer}.norm{number}", f"{layer}.residual{number}"
        axes = f"B{length}D"
        read = x if self.post_norm else self.norm(norm, x, length)
        if name.endswith(".ffn"):
            out = self.feed_forward(name, read, length)
        else:
            out = self.attention(name, read, read if memory is None else memory, mask, length)
        out = self.drop(out, self.dropout.sublayer, axes)
        x = self.plan.add(residual, Residual(), x, out, axes=axes)
        return self.norm(norm, x, length) if self.post_norm else x

    def attention(self, name: str, x: str, memory: str, mask: str | None, length: str) -> str:
        """Multi-head attention: queries from x, keys and values from memory (section 3.2).

        Without a mask every query attends to every key.
        """
        add, config = self.plan.add, self.config
        key = "S" if name.endswith("cross_attn") else length
        heads = {}
        for letter, source, side in (("q", x, length), ("k", memory, key), ("v", memory, key)):
            read = (source, *self.attention_parameters(name, letter))
            flat = add(f"{name}.{letter}", Linear(), *read, axes=("B", side, "H*K"))
            heads[letter] = add(
                f"{name}.{letter}_heads", SplitHeads(config.n_heads), flat, axes=f"BH{side}K"
            )
        if config.attention_bias:
            together = "kv" if key == "S" and length == "T" else "qkv"
            self.plan.together.append(tuple(f"{name}.{letter}" for letter in together))
        if name.startswith("decoder") and key == "T":
            self.plan.cached |= {heads["k"], heads["v"]}
        axes = f"BH{length}{key}"
        scale = 1.0 / math.sqrt(config.d_head)
        scores = add(f"{name}.scores", Scores(scale), heads["q"], heads["k"], axes=axes)
        if mask is not None:
            scores = add(f"{name}.masked_scores", MaskedScores(), scores, mask, axes=axes)
        weights = add(f"{name}.weights", Softmax(), scores, axes=axes)
        weights = self.drop(weights, self.dropout.attention, axes)
        context = add(f"{name}.context", Context(), weights, heads["v"], axes=f"BH{length}K")
        concat = add(f"{name}.concat", MergeHeads(), context, axes=("B", length, "H*K"))
        if config.layer_end == "self_attn.concat":
            return concat
        read = (concat, *self.attention_parameters(name, "o"))
        return add(f"{name}.out", Linear(), *read, axes=f"B{length}D")

    def attention_parameters(self, name: str, letter: str) -> tuple[str, ...]:
        """The weight of one of an attention's linear maps, and its bias where it has one."""
        weight, bias = f"{name}.W_{letter}", f"{name}.b_{letter}"
        return (weight, bias) if self.config.attention_bias else (weight,)

    def feed_forward(self, name: str, x: str, length: str) -> str:
        """Two linear maps with an activation between, token by token (section 3.3)."""
        add = self.plan.add
        hidden_axes = f"B{length}F"
        hidden = add(f"{name}.hidden", Linear(), x, f"{name}.W_1", f"{name}.b_1", axes=hidden_axes)
        active = add(
            f"{name}.activation", activation(self.config.activation), hidden, axes=hidden_axes
        )
        active = self.drop(active, self.dropout.ffn, hidden_axes)
        return add(
            f"{name}.out", Linear(), active, f"{name}.W_2", f"{name}.b_2", axes=f"B{length}D"
        )

    def norm(self, name: str, x: str, length: str) -> str:
        """LayerNorm over the last axis (Ba et al. 2016), each of its steps recorded."""
        add = self.plan.add
        axes, single = f"B{length}D", f"B{length}1"
        eps = self.config.norm_eps
        mean = add(f"{name}.mean", Mean(), x, axes=single)
        variance = add(f"{name}.variance", Variance(), x, mean, axes=single)
        normalised = add(f"{name}.normalised", Normalise(eps), x, mean, variance, axes=axes)
        out = add(
            f"{name}.out", ScaleShift(), normalised, f"{name}.gamma", f"{name}.beta", axes=axes
        )
        self.plan.together.append((mean, variance, normalised, out))
        return out

    def drop(self, site: str, rate: float, axes: str) -> str:
        """While training, zero a share of the numbers and scale up the rest."""
        if rate == 0.0:
            return site
        mask = self.plan.add(f"{site}.dropout", DropoutMask(rate), site, "generator", axes=axes)
        return self.plan.add(f"{site}.dropped", Dropped(), site, mask, axes=axes)

    def finish(self, side: str, x: str, length: str) -> str:
        """The side's result: pre-norm models end in one more LayerNorm."""
        if not self.post_norm:
            x = self.norm(f"{side}.norm", x, length)
        return self.plan.alias(f"{side}.out", x)
