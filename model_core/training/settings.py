"""Every setting of a training run in one value: what the source document has, and what goes on.

The first fourteen are the document's own, under its names.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from model_core.checkpoints import strict_json
from model_core.checkpoints.errors import quoted
from model_core.config import Activation, ModelConfig, NormPosition, Position, Tying
from model_core.tokenizers import Tokenizer
from model_core.training.batching import n_batches
from model_core.training.loop import GuidedHead, Recipe
from model_core.training.text_files import DataFileError, PathLike
from model_core.transformer import Dropout

TokenizerKind = Literal["char", "word"]
LARGEST_SETTINGS_FILE = 100_000


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training run, but for its data.

    vocab_size: at most so many tokens a side, the most frequent ones; 0 for all. n_layers counts
    for both sides, dropout_rate for all places; what is None below follows them. steps: 0 for as
    many as the epochs have. alignment_loss: the weight of the guided head's loss, 0 for none
    """

    vocab_size: int = 0
    d_model: int = 64
    n_heads: int = 4
    d_ff: int = 128
    n_layers: int = 2
    max_seq_len: int = 64
    dropout_rate: float = 0.05
    learning_rate: float = 0.002
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    epochs: int = 10
    batch_size: int = 64
    max_grad_norm: float = 1.0

    n_encoder_layers: int | None = None
    n_decoder_layers: int | None = None
    dropout_attention: float | None = 0.0
    dropout_ffn: float | None = None
    dropout_sublayer: float | None = None
    steps: int = 0
    warmup_steps: int = 100
    final_share: float = 0.02
    label_smoothing: float = 0.0
    norm_position: NormPosition = "post"
    activation: Activation = "gelu"
    position: Position = "sinusoidal"
    scale_embedding: bool = True
    tying: Tying = "none"
    alignment_loss: float = 0.0
    alignment_layer: int = 0
    alignment_head: int = 0
    seed: int = 1
    tokenizer: TokenizerKind = "char"
    min_count: int = 1
    held_out_share: float = 0.05

    @property
    def encoder_depth(self) -> int:
        return self.n_layers if self.n_encoder_layers is None else self.n_encoder_layers

    @property
    def decoder_depth(self) -> int:
        return self.n_layers if self.n_decoder_layers is None else self.n_decoder_layers

    @property
    def dropout(self) -> Dropout:
        """The rate of each place."""
        places = (self.dropout_attention, self.dropout_ffn, self.dropout_sublayer)
        rates = (self.dropout_rate if rate is None else rate for rate in places)
        return Dropout(*rates)

    def total_steps(self, n_examples: int) -> int:
        """The steps of the whole run: given, or those of the epochs."""
        return self.steps or self.epochs * n_batches(n_examples, self.batch_size)

    def config(self, tokenizer: Tokenizer) -> ModelConfig:
        """The model's sizes and traits; ValueError where they do not fit together."""
        return self.sized(len(tokenizer.source_vocabulary), len(tokenizer.target_vocabulary))

    def sized(self, n_source_tokens: int, n_target_tokens: int) -> ModelConfig:
        """The same, with vocabularies of these sizes."""
        return ModelConfig(
            src_vocab_size=n_source_tokens,
            tgt_vocab_size=n_target_tokens,
            d_model=self.d_model,
            n_heads=self.n_heads,
            d_ff=self.d_ff,
            n_encoder_layers=self.encoder_depth,
            n_decoder_layers=self.decoder_depth,
            max_seq_len=self.max_seq_len,
            norm_position=self.norm_position,
            activation=self.activation,
            position=self.position,
            scale_embedding=self.scale_embedding,
            tying=self.tying,
        )

    def recipe(self, n_examples: int) -> Recipe:
        """How the model is trained on so many examples."""
        guided = None
        if self.alignment_loss:
            guided = GuidedHead(self.alignment_layer, self.alignment_head, self.alignment_loss)
        return Recipe(
            steps=self.total_steps(n_examples),
            learning_rate=self.learning_rate,
            warmup_steps=self.warmup_steps,
            batch_size=self.batch_size,
            final_share=self.final_share,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            max_norm=self.max_grad_norm,
            label_smoothing=self.label_smoothing,
            dropout=self.dropout,
            guided=guided,
            seed=self.seed,
        )


DEFAULTS = Settings()
TYPES = get_type_hints(Settings)


def settings_of(config: ModelConfig, recipe: Recipe) -> Settings:
    """The settings that give this model and this recipe, as the built-in tasks have them."""
    guided = recipe.guided
    return Settings(
        d_model=config.d_model,
        n_heads=config.n_heads,
        d_ff=config.d_ff,
        n_layers=config.n_encoder_layers,
        n_decoder_layers=None
        if config.n_decoder_layers == config.n_encoder_layers
        else config.n_decoder_layers,
        max_seq_len=config.max_seq_len,
        dropout_rate=recipe.dropout.sublayer,
        dropout_attention=recipe.dropout.attention,
        dropout_ffn=None if recipe.dropout.ffn == recipe.dropout.sublayer else recipe.dropout.ffn,
        learning_rate=recipe.learning_rate,
        beta1=recipe.beta1,
        beta2=recipe.beta2,
        epsilon=recipe.epsilon,
        batch_size=recipe.batch_size,
        max_grad_norm=recipe.max_norm,
        steps=recipe.steps,
        warmup_steps=recipe.warmup_steps,
        final_share=recipe.final_share,
        label_smoothing=recipe.label_smoothing,
        norm_position=config.norm_position,
        activation=config.activation,
        position=config.position,
        scale_embedding=config.scale_embedding,
        tying=config.tying,
        alignment_loss=guided.coefficient if guided else 0.0,
        alignment_layer=guided.layer if guided else 0,
        alignment_head=guided.head if guided else 0,
        seed=recipe.seed,
    )


def read_settings(path: PathLike) -> Settings:
    """The settings of a JSON file, those of the document's "config" too; DataFileError if wrong.

    What it does not name is as `Settings` has it.
    """
    return Settings(**read_changes(path))


def read_changes(path: PathLike) -> dict[str, Any]:
    """The settings that a JSON file names; see `read_settings`."""
    values = strict_json.read_file(
        path, "the settings", LARGEST_SETTINGS_FILE, expected="a JSON file of settings"
    )
    if isinstance(values, dict) and isinstance(values.get("config"), dict):
        values = values["config"]
    if not isinstance(values, dict):
        raise DataFileError(path, "holds no object of settings", 'one such as {"steps": 500}')
    try:
        return checked(values)
    except ValueError as error:
        found, _, expected = str(error).rpartition(", expected ")
        raise DataFileError(path, found, expected) from None


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of settings, of the right types; ValueError with a sentence if not."""
    found = {}
    for name, value in values.items():
        if name not in Settings.__struct_fields__:
            near = difflib.get_close_matches(name, Settings.__struct_fields__, 3, 0.5)
            known = " or ".join(near) if near else "one that `train --settings` lists"
            raise ValueError(f"there is no setting {quoted(name)}, expected {known}")
        if isinstance(value, float) and value.is_integer() and "whole" in named_type(name):
            value = int(value)
        choices = get_args(TYPES[name]) if get_origin(TYPES[name]) is Literal else (value,)
        if not is_of_type(name, value) or value not in choices:
            raise ValueError(f"{name} is {_shown(value)}, expected {named_type(name)}")
        found[name] = value
    return found


def is_of_type(name: str, value: Any) -> bool:
    """Whether a setting may have the value at all; whether that can work is another matter."""
    kind = TYPES[name]
    if value is None:
        return NoneType in get_args(kind)
    wanted = named_type(name)
    if "whole" in wanted:
        return isinstance(value, int) and not isinstance(value, bool)
    if "number" in wanted:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, bool) if kind is bool else isinstance(value, str)


def named_type(name: str) -> str:
    """What a setting has to be, in words."""
    kind = TYPES[name]
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    kinds = get_args(kind) or (kind,)
    number = "a whole number" if int in kinds else "a number"
    return f"{number} or null" if NoneType in kinds else number


def _shown(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)[:60]


@dataclass(frozen=True)
class SettingField:
    """What a form shows for a setting: where it belongs, its sensible range, its choices.

    explanation: the key of the text that explains it. Outside low to high a value is unusual, not
    impossible; `problems` says what is. is_document: whether the source document has it
    """

    name: str
    group: Literal["size", "training", "regularity", "architecture", "data"]
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    is_document: bool = False

    @property
    def explanation(self) -> str:
        return f"training.{self.name}.explained"

    @property
    def default(self) -> Any:
        return getattr(DEFAULTS, self.name)


FIELDS: tuple[SettingField, ...] = (
    SettingField("vocab_size", "data", 0, 20_000, is_document=True),
    SettingField("d_model", "size", 16, 256, is_document=True),
    SettingField("n_heads", "size", 1, 8, is_document=True),
    SettingField("d_ff", "size", 32, 1024, is_document=True),
    SettingField("n_layers", "size", 1, 6, is_document=True),
    SettingField("max_seq_len", "size", 8, 256, is_document=True),
    SettingField("dropout_rate", "regularity", 0, 0.3, is_document=True),
    SettingField("learning_rate", "training", 1e-4, 5e-3, is_document=True),
    SettingField("beta1", "training", 0.8, 0.99, is_document=True),
    SettingField("beta2", "training", 0.9, 0.9999, is_document=True),
    SettingField("epsilon", "training", 1e-10, 1e-6, is_document=True),
    SettingField("epochs", "training", 1, 200, is_document=True),
    SettingField("batch_size", "training", 8, 256, is_document=True),
    SettingField("max_grad_norm", "training", 0.1, 10, is_document=True),
    SettingField("n_encoder_layers", "size", 1, 6),
    SettingField("n_decoder_layers", "size", 1, 6),
    SettingField("dropout_attention", "regularity", 0, 0.3),
    SettingField("dropout_ffn", "regularity", 0, 0.3),
    SettingField("dropout_sublayer", "regularity", 0, 0.3),
    SettingField("steps", "training", 0, 20_000),
    SettingField("warmup_steps", "training", 0, 2_000),
    SettingField("final_share", "training", 0, 1),
    SettingField("label_smoothing", "regularity", 0, 0.2),
    SettingField("norm_position", "architecture", choices=get_args(NormPosition)),
    SettingField("activation", "architecture", choices=get_args(Activation)),
    SettingField("position", "architecture", choices=get_args(Position)),
    SettingField("scale_embedding", "architecture"),
    SettingField("tying", "architecture", choices=get_args(Tying)),
    SettingField("alignment_loss", "training", 0, 1),
    SettingField("alignment_layer", "training", 0, 5),
    SettingField("alignment_head", "training", 0, 7),
    SettingField("seed", "training", 0, 2**31 - 1),
    SettingField("tokenizer", "data", choices=get_args(TokenizerKind)),
    SettingField("min_count", "data", 1, 10),
    SettingField("held_out_share", "data", 0.01, 0.2),
)
