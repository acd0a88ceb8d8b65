"""The data of a training run, from a file or a built-in task, made into examples for a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from model_core.model import Model
from model_core.parameters import initialise
from model_core.tokenizers import CharTokenizer, Tokenizer, WordTokenizer
from model_core.training.batching import Example
from model_core.training.cleaning import CleaningReport
from model_core.training.data_files import Look, Reading, TextPair, file_name, look, read_as
from model_core.training.settings import Settings, settings_of
from model_core.training.splitting import split_by_source

# Facts about lengths are taken from so many pairs, evenly spaced, where there are more.
PAIRS_LOOKED_AT = 5_000
# Of a task without a held-out part this share of its examples is kept from training.
TASK_SHARE = 0.05


class TaskSource(msgspec.Struct, frozen=True, tag="task"):
    """The sentences of a built-in task.

    whole: those of a task that holds none out are all trained on, as its recipe has it
    """

    name: str
    whole: bool = False


class FileSource(msgspec.Struct, frozen=True, tag="file"):
    """A file of sentence pairs."""

    path: str
    reading: Reading = Reading()


DataSource = TaskSource | FileSource


@dataclass(frozen=True)
class Facts:
    """What settings are judged by: how many pairs, how long, how many different tokens.

    lengths: (n,2) tokens that encoder and decoder read of a sample of the pairs
    """

    n_train: int
    n_held_out: int
    n_source_tokens: int
    n_target_tokens: int
    lengths: np.ndarray = field(repr=False)
    has_alignments: bool = False

    def longer_than(self, max_seq_len: int) -> int:
        """About how many training pairs have a side of more tokens."""
        if not len(self.lengths):
            return 0
        share = float((self.lengths.max(axis=1) > max_seq_len).mean())
        return round(share * self.n_train)


@dataclass(frozen=True)
class LabData:
    """Pairs in two parts, with the report of their file or the data of their task."""

    source: DataSource
    title: str
    train: Sequence[TextPair] = field(repr=False, default=())
    held_out: Sequence[TextPair] = field(repr=False, default=())
    report: CleaningReport | None = None
    look: Look | None = None
    module: Any = None
    dataset: Any = field(repr=False, default=None)
    _facts: dict[tuple[Any, ...], Facts] = field(
        repr=False, compare=False, default_factory=dict, init=False
    )

    def tokenizer(self, settings: Settings) -> Tokenizer:
        """The tokenizer of the training part alone; a task has its own."""
        if self.module is not None:
            return self.module.tokenizer(self.dataset)
        return built_tokenizer(self.train, settings)

    def examples(self, model: Model) -> tuple[list[Example], list[Example]]:
        """Training and held-out examples as ids, the too long ones still among them."""
        if self.module is None:
            words = model.tokenizer
            return (encoded(self.train, words), encoded(self.held_out, words))
        train = list(self.module.examples(self.dataset, model))
        splits = getattr(self.dataset, "splits", None)
        if splits is None and isinstance(self.source, TaskSource) and self.source.whole:
            return train, []
        if splits is None:
            return split_by_source(train, lambda e: str(list(e.source)), TASK_SHARE, 0)
        held = splits.get("held_out", ())
        part = replace(self.dataset, splits={"train": held})
        return train, list(self.module.examples(part, model)) if held else []

    def facts(self, settings: Settings) -> Facts:
        """What `problems` and `estimate` need; the same for settings of the same tokenizer."""
        shared = settings.tying == "all"
        key = (settings.tokenizer, settings.min_count, settings.vocab_size, shared)
        if key not in self._facts:
            self._facts[key] = self._new_facts(settings)
        return self._facts[key]

    def _new_facts(self, settings: Settings) -> Facts:
        words = self.tokenizer(settings)
        sizes = (len(words.source_vocabulary), len(words.target_vocabulary))
        if self.module is not None:
            model, splits = _without_layers(words), getattr(self.dataset, "splits", None)
            if splits is None:
                train, held = self.examples(model)
                n_train, n_held = len(train), len(held)
            else:
                n_train, n_held = len(splits["train"]), len(splits.get("held_out", ()))
                some = sample(splits["train"])
                part = replace(self.dataset, splits={"train": some})
                train = list(self.module.examples(part, model))
            aligned = any(e.aligned is not None for e in train)
            return Facts(n_train, n_held, *sizes, _lengths(train), aligned)
        lengths = _lengths(encoded(sample(self.train), words))
        return Facts(len(self.train), len(self.held_out), *sizes, lengths)


@dataclass(frozen=True)
class Prepared:
    """A fresh model and its examples; too_long of the pairs did not fit into max_seq_len."""

    model: Model
    train: list[Example] = field(repr=False)
    held_out: list[Example] = field(repr=False)
    too_long: int
    fingerprint: str


def load(
    source: DataSource,
    settings: Settings,
    report: Callable[[CleaningReport], None] = lambda report: None,
) -> LabData:
    """The data of a source, parted by the settings' seed and share; see `read_pairs` for errors."""
    if isinstance(source, TaskSource):
        from model_core.training import tasks  # built-in tasks are made with parts of this package

        module = tasks.task(source.name)
        dataset = module.generate(settings.seed)
        return LabData(source, source.name, module=module, dataset=dataset)
    looks = look(source.path, source.reading)
    pairs, cleaning = read_as(looks, source.reading.longest, report)
    share, seed = settings.held_out_share, settings.seed
    train, held = split_by_source(pairs, lambda pair: pair.source, share, seed)
    # what was found out is kept, so that a run that is gone on with reads the same
    found = msgspec.structs.replace(looks.reading, longest=source.reading.longest)
    source = FileSource(source.path, found)
    return LabData(source, file_name(source.path), train, held, cleaning, look=looks)


def task_settings(name: str) -> Settings:
    """The settings under which a built-in task's model was made."""
    from model_core.training import tasks

    module = tasks.task(name)
    recipe = module.recipe.RECIPE
    words = CharTokenizer.build([])
    return settings_of(module.recipe.config(words), recipe)


def prepare(data: LabData, settings: Settings) -> Prepared:
    """A model with first parameters from the seed, and its examples.

    ValueError where no pair is short enough.
    """
    words = data.tokenizer(settings)
    config = settings.config(words)
    # as for the built-in tasks: data, first parameters and training follow from one seed
    generator = np.random.default_rng([settings.seed, 1])
    model = Model(config, initialise(config, generator), words)
    train, held = data.examples(model)
    fitting = [e for e in train if fits(e, settings.max_seq_len)]
    if not fitting:
        raise ValueError(
            f"none of the {len(train):,} pairs has at most {settings.max_seq_len} tokens a side "
            f"(max_seq_len), so that there is nothing to train on"
        )
    kept = [e for e in held if fits(e, settings.max_seq_len)]
    too_long = len(train) - len(fitting) + len(held) - len(kept)
    return Prepared(model, fitting, kept, too_long, fingerprint_of(fitting))


def built_tokenizer(pairs: Sequence[TextPair], settings: Settings) -> Tokenizer:
    """Characters or words of the pairs seen often enough, the most frequent ones first."""
    both: Iterable[tuple[str, str]] = pairs
    shared = settings.tying == "all"
    if shared:
        both = [*pairs, *((target, source) for source, target in pairs)]
    if settings.tokenizer == "char":
        chars = CharTokenizer.build(both, settings.min_count)
        return CharTokenizer(
            capped(chars.source_vocabulary, settings), capped(chars.target_vocabulary, settings)
        )
    traits: dict[str, Any] = {"lowercase": not shared, "target_joiner": joiner_of(pairs)}
    words = WordTokenizer.build(both, settings.min_count, **traits)
    source = capped(words.source_vocabulary, settings)
    target = source if shared else capped(words.target_vocabulary, settings)
    return WordTokenizer(source, target, **traits)


def capped(vocabulary: list[str], settings: Settings) -> list[str]:
    """The most frequent tokens, special ones included, as many as `vocab_size` allows."""
    return vocabulary[: settings.vocab_size] if settings.vocab_size else vocabulary


def joiner_of(pairs: Sequence[TextPair]) -> str:
    """What stands between target words: nothing where most letters are Chinese or Japanese."""
    letters = "".join(pair[1] for pair in pairs[:1000]).replace(" ", "")
    unspaced = sum("\u3040" <= letter <= "\u9fff" for letter in letters)
    return "" if unspaced * 2 > len(letters) else " "


def encoded(pairs: Iterable[TextPair], words: Tokenizer) -> list[Example]:
    """Pairs as ids, without alignments: nobody knows them."""
    return [
        Example(words.encode_source(source).ids, words.encode_target(target).ids)
        for source, target in pairs
    ]


def fits(example: Example, max_seq_len: int) -> bool:
    """Whether both sides are short enough; the decoder reads the start token too."""
    return max(len(example.source), len(example.target) + 1) <= max_seq_len


def fingerprint_of(examples: Sequence[Example]) -> str:
    """The same for the same examples in the same order alone."""
    digest = hashlib.sha256()
    for example in examples:
        for ids in (example.source, example.target, example.aligned or ()):
            digest.update(np.asarray([len(ids), *ids], dtype="<i4").tobytes())
    return digest.hexdigest()


def sample(pairs: Sequence[Any]) -> Sequence[Any]:
    """Some of the pairs, where there are many."""
    return pairs[:: max(1, len(pairs) // PAIRS_LOOKED_AT)]


def _lengths(examples: Sequence[Example]) -> np.ndarray:
    rows = [(len(e.source), len(e.target) + 1) for e in examples]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _without_layers(words: Tokenizer) -> Model:
    """The smallest model that has this tokenizer, for whoever asks for a model to read with."""
    config = Settings(d_model=2, n_heads=1, d_ff=1, n_layers=1).config(words)
    return Model(config, initialise(config, np.random.default_rng(0)), words)
