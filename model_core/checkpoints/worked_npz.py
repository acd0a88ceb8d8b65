"""Worked examples: the matrices of one encoder layer or one attention, in an .npz archive.

X is the input matrix, one row per token. The attention is head{i}_W_Q|W_K|W_V for i = 0, 1, …
or, of a single head, WQ|WK|WV; mh{i}_WQ|WK|WV beside these are the heads of the variant
"multi_head". The layer goes on as far as its matrices do: with W_O to the attention's output;
with gamma1, beta1 through the first Add & Norm; with W1, b1, W2, b2 (and gamma2, beta2) to its
end. A gamma, beta or bias that is left out is 1, 0 and 0. `tokens` names the rows, `eps` is the
LayerNorm's, `activation` the feed-forward's; `title` and `about` are for people. Results that
the file holds too (Q, scores, ln1 …) are computed anew and not read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from model_core.checkpoints.contents import KNOWN_FORMATS, Array, Contents, named
from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.npz_file import read_arrays
from model_core.checkpoints.whole_file import PathLike, replace_file
from model_core.config import LayerEnd, ModelConfig
from model_core.parameters import parameter_shapes
from model_core.tokenizers import RowTokenizer, Tokenizer
from model_core.tokenizers.base import shown

VARIANTS = ("multi_head",)
LAYER = "encoder.layers.0"
# The file's key -> our name, for what comes after the attention.
REST = {
    "W_O": f"{LAYER}.self_attn.W_o",
    "gamma1": f"{LAYER}.norm1.gamma",
    "beta1": f"{LAYER}.norm1.beta",
    "W1": f"{LAYER}.ffn.W_1",
    "b1": f"{LAYER}.ffn.b_1",
    "W2": f"{LAYER}.ffn.W_2",
    "b2": f"{LAYER}.ffn.b_2",
    "gamma2": f"{LAYER}.norm2.gamma",
    "beta2": f"{LAYER}.norm2.beta",
}
# What a vector that is left out is: that which changes nothing.
NEUTRAL = {"gamma1": 1.0, "beta1": 0.0, "b1": 0.0, "b2": 0.0, "gamma2": 1.0, "beta2": 0.0}
OTHERS = ("X", "tokens", "eps", "n_heads", "title", "about", "activation")
RESULTS = re.compile(
    r"(head\d+_|mh\d+_)?(Q|K|V|scores|weights|head|output)"
    r"|concat|mh_concat|mha|residual[12]|ln[12]|ffn(_pre|_relu)?|seed"
)
HEAD_KEYS = {"numbered": "head{}_W_{}", "extra": "mh{}_W{}"}
PLAIN_KEYS = ("W{}", "W_{}")
EPS, ACTIVATION = 1e-9, "relu"
# There is no table of positions that a row could lie beyond.
MOST_ROWS = 512
MOST_HEADS = 64
LONGEST_TEXT = 1000

Head = dict[str, str]  # letter of the matrix -> the file's key


def read(path: PathLike, dtype: str = "float64", variant: str | None = None) -> Contents:
    """The model of a worked example, with its own input matrix; CheckpointError if any is wrong.

    variant: "multi_head" computes with the mh{i} heads, up to their concatenation
    """
    arrays = read_arrays(path)
    if "X" not in arrays:
        raise CheckpointError(path, 'is a NumPy archive without the matrix "X"', KNOWN_FORMATS)
    return _Example(path, arrays).contents(dtype, variant)


class _Example:
    """The arrays of one file, and what they are to mean."""

    def __init__(self, path: PathLike, arrays: dict[str, Array]) -> None:
        self.path, self.arrays = path, arrays
        self.warnings: list[str] = []
        for name, array in arrays.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise self.error(f"{quoted(name)} holds a NaN or an infinity", "finite numbers")

    def error(self, found: str, expected: str) -> CheckpointError:
        return CheckpointError(self.path, found, expected)

    def contents(self, dtype: str, variant: str | None) -> Contents:
        if variant is not None and variant not in VARIANTS:
            raise self.error(f"has no variant {variant!r}", f"variant {' or '.join(VARIANTS)}")
        inputs = self.inputs()
        heads, extra = self.heads(), self.numbered_heads(HEAD_KEYS["extra"])
        if variant is not None and not extra:
            raise self.error(f"holds no heads for the variant {variant!r}", "mh0_WQ mh0_WK mh0_WV")
        known = {key for head in (*heads, *extra) for key in head.values()} | {*REST, *OTHERS}
        unknown = [name for name in self.arrays if name not in known]
        unknown = [name for name in unknown if not RESULTS.fullmatch(name)]
        self.warnings += named(unknown, "is not known to this program and was ignored")
        chosen = heads if variant is None else extra
        attention, n_heads = self.attention(chosen, inputs.shape[1], is_variant=variant is not None)
        end: LayerEnd = "self_attn.concat" if variant is not None else self.layer_end()
        config = self.config(inputs.shape[1], n_heads, attention, end)
        parameters = self.parameters(config, attention)
        card: dict[str, Any] = {
            name: self.text(name) for name in ("title", "about") if name in self.arrays
        }
        if extra:
            card["variants"] = list(VARIANTS)
        if variant is not None:
            card["variant"] = variant
        return Contents(
            config,
            {name: self.narrowed(value, dtype) for name, value in parameters.items()},
            RowTokenizer(self.tokens(len(inputs))),
            card,
            self.warnings,
            self.narrowed(inputs, dtype),
        )

    def narrowed(self, value: Array, dtype: str) -> Array:
        with np.errstate(over="ignore"):
            result = value.astype(dtype)
        if not np.isfinite(result).all():
            raise self.error(f"holds a number beyond {dtype}", "numbers of a sensible size")
        return result

    def inputs(self) -> Array:
        X = self.arrays["X"]
        if X.ndim == 3 and X.shape[0] == 1:
            X = X[0]
        if X.dtype.kind != "f" or X.ndim != 2 or 0 in X.shape:
            raise self.error(f'"X" has the shape {X.shape}', "rows of numbers, one row per token")
        if len(X) > MOST_ROWS:
            raise self.error(f'"X" has {len(X)} rows', f"at most {MOST_ROWS}")
        return X

    def heads(self) -> list[Head]:
        """The keys of the attention's matrices, head by head."""
        numbered = self.numbered_heads(HEAD_KEYS["numbered"])
        plain = [
            {letter: pattern.format(letter) for letter in "QKV"}
            for pattern in PLAIN_KEYS
            if any(pattern.format(letter) in self.arrays for letter in "QKV")
        ]
        if len(plain) + bool(numbered) > 1:
            names = [next(iter(head.values())) for head in (*numbered[:1], *plain)]
            raise self.error(f"holds {' as well as '.join(names)}", "one way of naming the heads")
        if not plain and not numbered:
            raise self.error(
                "holds no matrices of an attention", "head0_W_Q head0_W_K head0_W_V, or WQ WK WV"
            )
        return numbered or plain

    def numbered_heads(self, pattern: str) -> list[Head]:
        heads: list[Head] = []
        wanted = re.compile(pattern.format(r"(\d+)", "[QKV]"))
        numbers = {int(m[1]) for m in map(wanted.fullmatch, self.arrays) if m}
        if len(numbers) > MOST_HEADS:
            raise self.error(f"has {len(numbers)} heads", f"at most {MOST_HEADS}")
        for number in range(len(numbers)):
            heads.append({letter: pattern.format(number, letter) for letter in "QKV"})
        return heads

    def attention(
        self, heads: list[Head], d_model: int, is_variant: bool
    ) -> tuple[dict[str, Array], int]:
        """W_q, W_k, W_v (D, H*K), the heads side by side, and the number of heads."""
        for key in (key for head in heads for key in head.values()):
            matrix = self.matrix(key)
            first = self.matrix(heads[0]["Q"])
            if matrix.shape != (d_model, first.shape[1]):
                raise self.error(
                    f"{quoted(key)} has the shape {matrix.shape}",
                    f"({d_model}, {first.shape[1]}), the width of X by that of a head",
                )
        n_heads = len(heads)
        if "n_heads" in self.arrays and not is_variant:
            n_heads = self.whole_number("n_heads")
            width = self.matrix(heads[0]["Q"]).shape[1]
            if len(heads) > 1 and n_heads != len(heads):
                raise self.error(f"n_heads is {n_heads}", f"{len(heads)}, the heads in the file")
            if not 1 <= n_heads <= MOST_HEADS or (len(heads) == 1 and width % n_heads):
                raise self.error(f"n_heads is {n_heads}", f"a divisor of the width {width}")
        joined = {
            f"{LAYER}.self_attn.W_{letter.lower()}": np.concatenate(
                [self.matrix(head[letter]) for head in heads], axis=1
            )
            for letter in "QKV"
        }
        return joined, n_heads

    def layer_end(self) -> LayerEnd:
        """How far the layer goes with what the file holds."""
        present = [name for name in REST if name in self.arrays]
        if present and "W_O" not in present:
            raise self.error('"W_O" is missing', f"it, because the file has {quoted(present[0])}")
        after_norm = [name for name in present if name not in ("W_O", "gamma1", "beta1")]
        for name in ("W1", "W2") if after_norm else ():
            if name not in present:
                raise self.error(
                    f"{quoted(name)} is missing",
                    f"it, because the file has {quoted(after_norm[0])}",
                )
        if after_norm:
            return "norm2.out"
        if len(present) > 1:
            return "norm1.out"
        return "self_attn.out" if present else "self_attn.concat"

    def config(
        self, d_model: int, n_heads: int, attention: dict[str, Array], end: LayerEnd
    ) -> ModelConfig:
        width = attention[f"{LAYER}.self_attn.W_q"].shape[1]
        try:
            return ModelConfig(
                input="matrix",
                layer_end=end,
                attention_bias=False,
                src_vocab_size=0,
                tgt_vocab_size=0,
                d_model=d_model,
                n_heads=n_heads,
                d_head=width // n_heads,
                d_ff=self.matrix("W1").shape[1] if end == "norm2.out" else 0,
                n_encoder_layers=1,
                n_decoder_layers=0,
                max_seq_len=MOST_ROWS,
                position_table="float64",
                norm_eps=self.number("eps") if "eps" in self.arrays else EPS,
                activation=self.text("activation", ACTIVATION),  # type: ignore[arg-type]
            )
        except ValueError as error:
            if isinstance(error, CheckpointError):
                raise
            raise self.error(f"does not describe a layer ({error})", "sound sizes") from error

    def parameters(self, config: ModelConfig, attention: dict[str, Array]) -> dict[str, Array]:
        keys = {ours: key for key, ours in REST.items()}
        parameters: dict[str, Array] = {}
        for name, shape in parameter_shapes(config).items():
            if name in attention:
                parameters[name] = attention[name]
                continue
            key = keys[name]
            value = self.arrays.get(key)
            if value is None:
                value = np.full(shape, NEUTRAL[key])
                self.warnings.append(f"{quoted(key)} is left out; it was taken as {NEUTRAL[key]:g}")
            if len(shape) == 1 and value.shape == (1, *shape):
                value = value[0]
            if value.dtype.kind != "f" or value.shape != shape:
                raise self.error(f"{quoted(key)} has the shape {value.shape}", f"{shape}")
            parameters[name] = value
        return parameters

    def matrix(self, key: str) -> Array:
        value = self.arrays.get(key)
        if value is None:
            raise self.error(f"{quoted(key)} is missing", "this matrix")
        if value.dtype.kind != "f" or value.ndim != 2 or 0 in value.shape:
            raise self.error(f"{quoted(key)} has the shape {value.shape}", "a matrix of numbers")
        return value

    def number(self, key: str) -> float:
        value = self.arrays[key]
        if value.dtype.kind != "f" or value.size != 1:
            raise self.error(f"{quoted(key)} has the shape {value.shape}", "one number")
        return float(value.reshape(()))

    def whole_number(self, key: str) -> int:
        value = self.number(key)
        if not value.is_integer():
            raise self.error(f"{key} is {value}", "a whole number")
        return int(value)

    def text(self, key: str, default: str = "") -> str:
        if key not in self.arrays:
            return default
        value = self.arrays[key]
        if value.dtype.kind != "U" or value.size != 1:
            raise self.error(f"{quoted(key)} is no text", "one text")
        return self.sound_text(key, value.reshape(()).tolist())

    def tokens(self, n_rows: int) -> list[str]:
        if "tokens" not in self.arrays:
            return []
        names = self.arrays["tokens"]
        if names.dtype.kind != "U":
            raise self.error('"tokens" holds numbers', "texts")
        if names.shape != (n_rows,):
            raise self.error(
                f'"tokens" has the shape {names.shape}', f"{n_rows} names, one for each row of X"
            )
        return [self.sound_text("tokens", text) for text in names.tolist()]

    def sound_text(self, key: str, text: str) -> str:
        if not text.strip() or not text.isprintable() or len(text) > LONGEST_TEXT:
            raise self.error(f"{quoted(key)} holds {shown(text)}", "a text that can be printed")
        return text


def write(
    path: PathLike,
    config: ModelConfig,
    parameters: Mapping[str, Array],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
    inputs: Array | None,
) -> int:
    """Save a worked example with its input matrix, completely or not at all; the bytes written.

    Of a variant its own heads are kept, as the only ones.
    """
    if inputs is None:
        raise CheckpointError(path, "the model has no input matrix", "inputs to save with it")
    arrays: dict[str, Any] = {"X": inputs, "n_heads": config.n_heads}
    for letter in "QKV":
        whole = parameters[f"{LAYER}.self_attn.W_{letter.lower()}"]
        for head, part in enumerate(np.split(whole, config.n_heads, axis=1)):
            arrays[HEAD_KEYS["numbered"].format(head, letter)] = part
    arrays |= {key: parameters[name] for key, name in REST.items() if name in parameters}
    if config.layer_end.startswith("norm"):
        arrays["eps"] = config.norm_eps
    if config.layer_end == "norm2.out":
        arrays["activation"] = config.activation
    if tokenizer.source_vocabulary:
        arrays["tokens"] = np.array(tokenizer.source_vocabulary)
    arrays |= {name: str(card[name]) for name in ("title", "about") if name in card}
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    replace_file(path, stream.getvalue())
    return stream.tell()
