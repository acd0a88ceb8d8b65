"""Parallel sentences with word alignments, in named splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from model_core.tokenizers import UNKNOWN_ID, Tokenizer

NONE = -1  # a target token that no source word gave rise to


@dataclass(frozen=True, slots=True)
class Pair:
    """One source sentence and its translation, as words.

    aligned: for each target word, and last for <EOS>, the position of the source word that gave
    rise to it, -1 where there is none. The joiners stand between the words of a text: "" where
    these are characters. `template` names the sentence pattern; `facts` are what
    the sentence says, as keys by which splits are kept apart.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    aligned: tuple[int, ...]
    template: str = ""
    facts: tuple[str, ...] = ()
    source_joiner: str = " "
    target_joiner: str = " "

    def __post_init__(self) -> None:
        if len(self.aligned) != len(self.target) + 1:
            raise ValueError(
                f"{len(self.target)} target words and <EOS> have {len(self.aligned)} alignments"
            )
        if min(self.aligned) < NONE or max(self.aligned) >= len(self.source):
            raise ValueError(
                f"alignments {self.aligned} reach beyond {len(self.source)} source words"
            )

    @property
    def source_text(self) -> str:
        return self.source_joiner.join(self.source)

    @property
    def target_text(self) -> str:
        """The target as a tokenizer cuts it: words with a space between, whatever the custom."""
        return self.target_joiner.join(self.target)


class Numbered(NamedTuple):
    """A pair as ids: the source as the encoder reads it, the target without special tokens.

    aligned: a source position for each target token and for <EOS>, -1 where there is none.
    """

    source: list[int]
    target: list[int]
    aligned: list[int]


@dataclass(frozen=True)
class Dataset:
    """A task's sentences: "train" and further splits, each apart from it in its own way."""

    name: str
    splits: Mapping[str, Sequence[Pair]] = field(repr=False)

    def __getitem__(self, split: str) -> Sequence[Pair]:
        if split not in self.splits:
            known = ", ".join(self.splits)
            raise KeyError(f"{self.name} has no split {split!r}, its splits are {known}")
        return self.splits[split]

    def texts(self, split: str = "train") -> Iterator[tuple[str, str]]:
        """(source, target) texts with spaces between the words, as tokenizers are built from."""
        return ((pair.source_text, pair.target_text) for pair in self[split])

    def longest(self, split: str = "train") -> tuple[int, int]:
        """The most source words and the most target words of a sentence."""
        pairs = self[split]
        return max(len(p.source) for p in pairs), max(len(p.target) for p in pairs)

    def templates(self) -> list[str]:
        """The sentence patterns of the training split, in alphabetical order."""
        return sorted({pair.template for pair in self["train"]})


def numbered(pair: Pair, tokenizer: Tokenizer) -> Numbered:
    """A pair as ids; ValueError if the tokenizer cuts it at other places than between the words."""
    source = tokenizer.encode_source(pair.source_text)
    target = tokenizer.encode_target(pair.target_text)
    first = int(tokenizer.source_prefix)
    words = len(source.ids) - first - int(tokenizer.source_suffix)
    if words != len(pair.source) or len(target.ids) != len(pair.target):
        raise ValueError(
            f"{pair.source_text!r} - {pair.target_text!r} has {len(pair.source)} and "
            f"{len(pair.target)} words, the tokenizer found {words} and {len(target.ids)}"
        )
    moved = [position + first if position != NONE else NONE for position in pair.aligned]
    return Numbered(source.ids, target.ids, moved)


def unknown_share(pairs: Iterable[Pair], tokenizer: Tokenizer) -> float:
    """The share of source sentences that contain an unknown word."""
    counts = [UNKNOWN_ID in tokenizer.encode_source(pair.source_text).ids for pair in pairs]
    return sum(counts) / max(1, len(counts))
