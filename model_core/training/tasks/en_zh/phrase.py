"""A phrase in both languages at once, so that alignments follow from how it was put together."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.training.datasets import NONE, Pair


class Word:
    """One English word of one sentence; Chinese tokens point at it, wherever it ends up."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


English = tuple[Word, ...]
Chinese = tuple[tuple[str, Word | None], ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """English words, and Chinese tokens each with the English word that gave rise to it."""

    english: English = ()
    chinese: Chinese = ()
    facts: tuple[str, ...] = ()


def words(text: str) -> English:
    """New English words, split at spaces."""
    return tuple(Word(part) for part in text.split())


def tokens(text: str, cause: Word | None) -> Chinese:
    """Chinese tokens, split at spaces, all from one English word."""
    if text and " " not in text:
        return ((text, cause),)
    return tuple((part, cause) for part in text.split())


def simple(english: str, chinese: str) -> Phrase:
    """One English word that becomes one or several Chinese tokens."""
    word = Word(english)
    return Phrase((word,), tokens(chinese, word))


def pair_of(english: English, chinese: Chinese, template: str, facts: tuple[str, ...] = ()) -> Pair:
    """The finished sentence with its alignment as positions; <EOS> is aligned to nothing."""
    position = {id(word): i for i, word in enumerate(english)}
    aligned = [NONE if cause is None else position[id(cause)] for _, cause in chinese]
    return Pair(
        tuple(word.text for word in english),
        tuple(token for token, _ in chinese),
        (*aligned, NONE),
        template,
        tuple(dict.fromkeys(facts)),
    )
