"""The source document's own checkpoint: one JSON file with info, config, vocab and weights.

"config" has one vocabulary size and one number of layers for both sides, and the settings of
the training. "vocab" maps characters to ids: flat, or under "char_to_id" with "id_to_char" and
"vocab_size" beside it. "weights", which may be left out, has the parameters as nested lists
under param_{idx}_{key}. The format says neither which GELU is meant nor the LayerNorm's eps.
What this program writes says both under "info", and how exact its table of positions is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from model_core.checkpoints import strict_json
from model_core.checkpoints.contents import KNOWN_FORMATS, Array, Contents, named
from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.whole_file import PathLike, replace_file
from model_core.config import ModelConfig
from model_core.parameters import initialise, parameter_count, parameter_shapes
from model_core.tokenizers import CharTokenizer, Tokenizer
from model_core.tokenizers.base import shown

LARGEST_FILE = 2**28
MOST_LAYERS = 256
# Parameters that a file only declares and does not hold have to fit the memory all the same.
MOST_UNTRAINED = 10_000_000
UNTRAINED_SEED = 0

PARTS = ("info", "config", "vocab", "weights")
SIZES = ("vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_seq_len")
# What the document trains with; kept in the card and written again.
TRAINING: dict[str, float] = {
    "dropout_rate": 0.1,
    "learning_rate": 0.001,
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-9,
    "epochs": 50,
    "batch_size": 4,
    "max_grad_norm": 1.0,
}
INFO = {
    "description": "Transformer model saved in human-readable JSON format",
    "format_version": "1.0",
}
# Traits that the format leaves open, and what they are taken to be.
SILENT_ON: dict[str, Any] = {"activation": "gelu_tanh", "norm_eps": 1e-6}
OPEN_TRAITS: dict[str, Any] = {**SILENT_ON, "position_table": "float64"}
KEYS = {"weight": "W", "W": "W", "b": "b", "gamma": "gamma", "beta": "beta"}


def parameter_names(config: ModelConfig) -> list[tuple[str, str]]:
    """The file's key and our name of every parameter, in the file's order.

    ValueError for a model that the format has no place for.
    """
    wrong = misfit(config)
    if wrong is not None:
        raise ValueError(f"{wrong[0]}, expected {wrong[1]}")
    entries = [["src_embed.weight"], ["tgt_embed.weight"]]
    for side, depth in (("encoder", config.n_encoder_layers), ("decoder", config.n_decoder_layers)):
        attentions = ["self_attn"] if side == "encoder" else ["self_attn", "cross_attn"]
        for layer in (f"{side}.layers.{i}" for i in range(depth)):
            pairs = [(f"{layer}.{name}", letter) for name in attentions for letter in "qkvo"]
            pairs += [(f"{layer}.ffn", number) for number in "12"]
            entries += [[f"{place}.W_{end}", f"{place}.b_{end}"] for place, end in pairs]
            norms = [f"{layer}.norm{number + 1}" for number in range(len(attentions) + 1)]
            entries += [[f"{norm}.gamma", f"{norm}.beta"] for norm in norms]
    entries.append(["output.W", "output.b"])
    return [
        (f"param_{number}_{KEYS[name.rsplit('.', 1)[1].split('_')[0]]}", name)
        for number, names in enumerate(entries)
        for name in names
    ]


def misfit(config: ModelConfig) -> tuple[str, str] | None:
    """What about a model the format cannot say, and what it says instead; None if it says all."""
    wanted: tuple[tuple[str, Any, Any], ...] = (
        ("input", config.input, "ids"),
        ("norm_position", config.norm_position, "post"),
        ("position", config.position, "sinusoidal"),
        ("scale_embedding", config.scale_embedding, True),
        ("tying", config.tying, "none"),
        ("output_bias", config.output_bias, True),
        ("attention_bias", config.attention_bias, True),
        ("d_head", config.d_head, config.d_model / config.n_heads),
        ("tgt_vocab_size", config.tgt_vocab_size, config.src_vocab_size),
        ("n_decoder_layers", config.n_decoder_layers, config.n_encoder_layers),
    )
    for name, found, expected in wanted:
        if found != expected:
            return f"the model's {name} is {getattr(config, name)}", f"{expected} in this format"
    return None


def misfit_of(config: ModelConfig, tokenizer: Tokenizer) -> tuple[str, str] | None:
    """As `misfit`, of the model and of how it reads texts."""
    if not isinstance(tokenizer, CharTokenizer):
        return f"the model reads tokens of the kind {tokenizer.kind!r}", "characters"
    if tokenizer.target_vocabulary != tokenizer.source_vocabulary:
        return "the model has two different vocabularies", "one for both sides"
    if not tokenizer.source_prefix or tokenizer.source_suffix:
        return "the model's source ends in <EOS>", "<SOS> and then the characters alone"
    return misfit(config)


def read(path: PathLike, dtype: str = "float32") -> Contents:
    """Everything in the file, its weights as `dtype`; CheckpointError if any is wrong.

    Without weights the parameters are random, and a warning says so.
    """
    content = strict_json.read_file(path, "the file", LARGEST_FILE, allow_constants=True)
    _check_parts(content, path)
    unknown = [name for name in content if name not in PARTS]
    warnings = named(unknown, "is no part of this format and was ignored")
    info, settings = content.get("info", {}), content["config"]
    sizes = _sizes(settings, path)
    tokenizer = _tokenizer(content["vocab"], sizes["vocab_size"], path)
    config = _config(sizes, info, path)
    unknown = [f"config.{name}" for name in settings if name not in (*SIZES, *TRAINING)]
    warnings += named(unknown, "is not known to this program and was ignored")
    if "weights" in content:
        parameters = _parameters(content["weights"], config, dtype, path, warnings)
    else:
        parameters = _untrained(config, dtype, path)
        warnings.append(
            "the file holds no weights: the parameters are random "
            f"(seed {UNTRAINED_SEED}) and the model is untrained"
        )
    card = {"info": info, "training": _training(settings, path)}
    _check_json(card, path)
    silent = [name for name in SILENT_ON if name not in info]
    if silent:
        card["silent_on"] = silent
    return Contents(config, parameters, tokenizer, card, warnings)


def write(
    path: PathLike,
    config: ModelConfig,
    parameters: Mapping[str, Array],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
    include_weights: bool = True,
) -> int:
    """Save a model in this format, completely or not at all; the number of bytes.

    Every weight is written so that it reads back to the same bits, in float32 and in float64.
    CheckpointError for a model that the format has no place for.
    """
    wrong, vocabulary = misfit_of(config, tokenizer), tokenizer.source_vocabulary
    if wrong is not None:
        raise CheckpointError(path, wrong[0], f"{wrong[1]}, or another format (.safetensors)")
    text = _head(config, vocabulary, card, path)
    if include_weights:
        opened = text.removesuffix("\n}")
        text = f"{opened},\n{_weights_text(config, parameters, path)}\n}}"
    data = f"{text}\n".encode()
    if len(data) > LARGEST_FILE:
        raise CheckpointError(
            path, f"would have {len(data)} bytes", f"at most {LARGEST_FILE} to be readable again"
        )
    replace_file(path, data)
    return len(data)


def _check_parts(content: Any, path: PathLike) -> None:
    if not isinstance(content, dict):
        raise CheckpointError(path, "is a JSON file that holds no object", KNOWN_FORMATS)
    if "config" not in content and "vocab" not in content:
        raise CheckpointError(path, 'is a JSON file without "config" and "vocab"', KNOWN_FORMATS)
    for name in ("config", "vocab"):
        if name not in content:
            raise CheckpointError(path, f"has no {quoted(name)}", "config and vocab")
    for name in PARTS:
        if name in content and not isinstance(content[name], dict):
            found = f"{quoted(name)} is {shown(content[name])}"
            raise CheckpointError(path, found, "a JSON object")


def _sizes(settings: dict[str, Any], path: PathLike) -> dict[str, int]:
    for name in SIZES:
        value = settings.get(name)
        if type(value) is not int or value < 1:
            found = "is missing" if name not in settings else f"is {shown(value)}"
            raise CheckpointError(path, f"config.{name} {found}", "a whole number from 1 on")
    if settings["n_layers"] > MOST_LAYERS:
        raise CheckpointError(
            path, f"config.n_layers is {shown(settings['n_layers'])}", f"at most {MOST_LAYERS}"
        )
    return {name: settings[name] for name in SIZES}


def _training(settings: dict[str, Any], path: PathLike) -> dict[str, float]:
    training = {name: settings[name] for name in TRAINING if name in settings}
    for name, value in training.items():
        if type(value) not in (int, float):
            raise CheckpointError(path, f"config.{name} is {shown(value)}", "a number")
    return training


def _check_json(values: dict[str, Any], path: PathLike) -> str:
    """The values as the document lays them out; what is written must be readable again."""
    try:
        text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(
            path, f"info or config holds what JSON has no place for ({error})", "plain values"
        ) from error
    strict_json.parse(text, path, "the description")
    return text


def _config(sizes: dict[str, int], info: dict[str, Any], path: PathLike) -> ModelConfig:
    traits = {name: info.get(name, default) for name, default in OPEN_TRAITS.items()}
    eps = traits["norm_eps"]
    if type(eps) not in (int, float) or not 0 <= eps <= 1:
        raise CheckpointError(path, f"info.norm_eps is {shown(eps)}", "a number from 0 to 1")
    try:
        return ModelConfig(
            src_vocab_size=sizes["vocab_size"],
            tgt_vocab_size=sizes["vocab_size"],
            d_model=sizes["d_model"],
            n_heads=sizes["n_heads"],
            d_ff=sizes["d_ff"],
            n_encoder_layers=sizes["n_layers"],
            n_decoder_layers=sizes["n_layers"],
            max_seq_len=sizes["max_seq_len"],
            **traits,
        )
    except ValueError as error:
        raise CheckpointError(path, f"its config is wrong ({error})", "sound sizes") from error


def _tokenizer(vocab: dict[str, Any], size: int, path: PathLike) -> CharTokenizer:
    nested = isinstance(vocab.get("char_to_id"), dict)
    ids: dict[str, Any] = vocab["char_to_id"] if nested else vocab
    if len(ids) != size:
        raise CheckpointError(
            path, f"config.vocab_size is {size} and vocab has {len(ids)} tokens", "one number"
        )
    tokens: list[str | None] = [None] * size
    for token, number in ids.items():
        if type(number) is not int or not 0 <= number < size:
            found = f"the token {quoted(token)} has the id {shown(number)}"
            raise CheckpointError(path, found, f"a whole number from 0 to {size - 1}")
        if tokens[number] is not None:
            found = f"the tokens {quoted(str(tokens[number]))} and {quoted(token)} share one id"
            raise CheckpointError(path, found, "an id for each")
        tokens[number] = token
    if nested:
        back = {str(number): token for number, token in enumerate(tokens)}
        if vocab.get("id_to_char", back) != back:
            raise CheckpointError(
                path, "vocab.id_to_char says otherwise than vocab.char_to_id", "the same ids"
            )
        if vocab.get("vocab_size", size) != size:
            found = f"vocab.vocab_size is {shown(vocab['vocab_size'])}"
            raise CheckpointError(path, found, f"{size}, the number of its tokens")
    names = [str(token) for token in tokens]
    try:
        return CharTokenizer(names, names, source_prefix=True, source_suffix=False)
    except ValueError as error:
        raise CheckpointError(
            path, f"its vocabulary is wrong ({error})", "special tokens, then characters"
        ) from error


def _parameters(
    weights: dict[str, Any], config: ModelConfig, dtype: str, path: PathLike, warnings: list[str]
) -> dict[str, Array]:
    shapes, parameters = parameter_shapes(config), {}
    for key, name in parameter_names(config):
        if key not in weights:
            raise CheckpointError(path, f"weights.{key} is missing", f"the values of {name}")
        # Taken out, so that the lists are gone before the next ones become an array.
        value = _array(weights.pop(key), shapes[name], f"weights.{key}", name, path)
        with np.errstate(over="ignore"):
            parameters[name] = value.astype(dtype)
        if not np.isfinite(parameters[name]).all():
            wrong = "a NaN" if np.isnan(value).any() else f"a number that is infinite in {dtype}"
            raise CheckpointError(path, f"weights.{key} holds {wrong}", "finite weights")
    warnings += named([f"weights.{key}" for key in weights], "has no place in the model")
    return {name: parameters[name] for name in shapes}


def _array(value: Any, shape: tuple[int, ...], place: str, name: str, path: PathLike) -> Array:
    """Nested lists as an array; np.array alone would take texts, booleans and null for numbers."""
    rows = value if len(shape) == 2 else [value]
    if not all(isinstance(row, list) for row in (value, *(rows if isinstance(rows, list) else ()))):
        raise CheckpointError(path, f"{place} is {shown(value)}", f"lists of the shape {shape}")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise CheckpointError(
            path, f"{place} has rows of {min(lengths)} and {max(lengths)}", "rows of one length"
        )
    found = (*((len(rows),) if len(shape) == 2 else ()), *lengths)
    if found != shape:
        raise CheckpointError(path, f"{place} has the shape {found}", f"{shape}, that of {name}")
    for row in rows:
        if not set(map(type, row)) <= {float, int}:
            wrong = next(item for item in row if type(item) not in (float, int))
            raise CheckpointError(path, f"{place} holds {shown(wrong)}", "numbers alone")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        raise CheckpointError(path, f"{place} holds a number beyond float64", "weights") from None


def _untrained(config: ModelConfig, dtype: str, path: PathLike) -> dict[str, Array]:
    count = parameter_count(config)
    if count > MOST_UNTRAINED:
        raise CheckpointError(
            path,
            f"declares {count} parameters and holds none of them",
            f"weights, or at most {MOST_UNTRAINED} parameters to be made up",
        )
    return initialise(config, np.random.default_rng(UNTRAINED_SEED), dtype)


def _head(
    config: ModelConfig, vocabulary: list[str], card: Mapping[str, Any], path: PathLike
) -> str:
    """All but the weights, as the document lays it out."""
    info, training = (
        value if isinstance(value, dict) else {}
        for value in (card.get("info"), card.get("training"))
    )
    content = {
        "info": INFO | info | {name: getattr(config, name) for name in OPEN_TRAITS},
        "config": {
            "vocab_size": config.src_vocab_size,
            "d_model": config.d_model,
            "n_heads": config.n_heads,
            "d_ff": config.d_ff,
            "n_layers": config.n_encoder_layers,
            "max_seq_len": config.max_seq_len,
            **{name: training.get(name, default) for name, default in TRAINING.items()},
        },
        "vocab": {
            "char_to_id": {token: number for number, token in enumerate(vocabulary)},
            "id_to_char": {str(number): token for number, token in enumerate(vocabulary)},
            "vocab_size": len(vocabulary),
        },
    }
    return _check_json(content, path)


def _weights_text(config: ModelConfig, parameters: Mapping[str, Array], path: PathLike) -> str:
    """The weights, a row of numbers a line.

    A float32 is written as the float64 it equals: the shortest decimals that tell float32 numbers
    apart are other numbers when they are read as float64.
    """
    entries = []
    for key, name in parameter_names(config):
        value = parameters[name]
        if not np.isfinite(value).all():
            raise CheckpointError(path, f"{name} holds a number that is not finite", "weights")
        if value.ndim == 1:
            text = _row_text(value)
        else:
            rows = ",\n      ".join(_row_text(row) for row in value)
            text = f"[\n      {rows}\n    ]"
        entries.append(f'    "{key}": {text}')
    return '  "weights": {\n' + ",\n".join(entries) + "\n  }"


def _row_text(row: Array) -> str:
    # the shortest digits that read back to the same float64, ten times as fast as repr
    return msgspec.json.encode(row.tolist()).decode()
