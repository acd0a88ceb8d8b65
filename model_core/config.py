"""What a Transformer is made of: its sizes and its traits, validated once."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import msgspec

NormPosition = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Position = Literal["sinusoidal", "learned"]
Tying = Literal["none", "output", "all"]
ModelInput = Literal["ids", "matrix"]
LayerEnd = Literal["self_attn.concat", "self_attn.out", "norm1.out", "norm2.out"]
FloatType = Literal["float32", "float64"]

# A config may come from a stranger's file: nobody's model has sizes beyond these.
LARGEST_SIZE = 2**24

SIZES = (
    "src_vocab_size",
    "tgt_vocab_size",
    "d_model",
    "n_heads",
    "d_ff",
    "n_encoder_layers",
    "n_decoder_layers",
    "max_seq_len",
)


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sizes and traits of one encoder-decoder Transformer (Vaswani et al. 2017).

    The maths branches on these traits and never on the name of a model family.
    `tying` "output" reads the output matrix off the target embedding; "all" also shares
    one embedding between source and target. `d_head` 0 means d_model / n_heads.

    `input` "matrix" is an encoder alone that starts at a given matrix: without embedding, mask,
    decoder and output, the sizes of which are 0. Its one layer may stop before its end, at the
    site that `layer_end` names; `d_ff` is 0 where it does.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int
    n_heads: int
    d_ff: int
    n_encoder_layers: int
    n_decoder_layers: int
    max_seq_len: int
    d_head: int = 0
    norm_position: NormPosition = "post"
    norm_eps: float = 1e-5
    activation: Activation = "gelu"
    position: Position = "sinusoidal"
    position_table: FloatType = "float32"
    scale_embedding: bool = True
    tying: Tying = "none"
    output_bias: bool = True
    attention_bias: bool = True
    input: ModelInput = "ids"
    layer_end: LayerEnd = "norm2.out"

    def __post_init__(self) -> None:
        self._check_traits()
        absent = self._absent_sizes()
        for name in SIZES:
            value = getattr(self, name)
            if name in absent and value != 0:
                raise ValueError(f"{name} is {value}, expected 0 in a model that has none")
            if name not in absent and not 1 <= value <= LARGEST_SIZE:
                raise ValueError(f"{name} is {value}, expected 1 to {LARGEST_SIZE}")
        if self.d_head == 0:
            if self.d_model % self.n_heads:
                raise ValueError(
                    f"d_model {self.d_model} is not a multiple of n_heads {self.n_heads}"
                )
            msgspec.structs.force_setattr(self, "d_head", self.d_model // self.n_heads)
        if not 1 <= self.d_head <= LARGEST_SIZE:
            raise ValueError(f"d_head is {self.d_head}, expected 1 to {LARGEST_SIZE}")
        if not (math.isfinite(self.norm_eps) and self.norm_eps >= 0):
            raise ValueError(f"norm_eps is {self.norm_eps}, expected a finite number >= 0")
        if self.tying == "all" and self.src_vocab_size != self.tgt_vocab_size:
            raise ValueError(
                f"one shared embedding needs equal vocabularies, found {self.src_vocab_size} "
                f"source and {self.tgt_vocab_size} target tokens"
            )

    def _check_traits(self) -> None:
        for name, kinds in (
            ("norm_position", NormPosition),
            ("activation", Activation),
            ("position", Position),
            ("position_table", FloatType),
            ("tying", Tying),
            ("input", ModelInput),
            ("layer_end", LayerEnd),
        ):
            value = getattr(self, name)
            if value not in get_args(kinds):
                expected = ", ".join(get_args(kinds))
                raise ValueError(f"{name} is {value!r}, expected one of {expected}")
        cut = self.layer_end != "norm2.out"
        if cut and (self.input != "matrix" or self.n_encoder_layers != 1):
            raise ValueError(
                f"layer_end is {self.layer_end!r}, which only the single layer of a model that "
                "reads a matrix may have"
            )
        if cut and self.norm_position != "post":
            raise ValueError(f"layer_end is {self.layer_end!r}, expected norm_position 'post'")

    def _absent_sizes(self) -> set[str]:
        """The sizes of parts that the traits leave out."""
        absent: set[str] = set()
        if self.input == "matrix":
            absent |= {"src_vocab_size", "tgt_vocab_size", "n_decoder_layers"}
        if self.layer_end != "norm2.out":
            absent.add("d_ff")
        return absent

    def to_dict(self) -> dict[str, Any]:
        """The config as plain values, as a checkpoint's metadata holds it."""
        return msgspec.structs.asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> ModelConfig:
        """The config a file describes; ValueError names the field that is wrong."""
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error
