"""Chance for a grammar: every choice comes from one random generator, drawn in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
BLOCK = 512


class Chance:
    """Choices from a generator, and the one word of a sentence that shall be unknown.

    A call of the generator costs as much as many choices, so uniform numbers are drawn ahead.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._ahead: list[float] = []
        self._words_until_unknown = -1

    def uniform(self) -> float:
        if not self._ahead:
            self._ahead = self._generator.random(BLOCK).tolist()
        return self._ahead.pop()

    def happens(self, probability: float) -> bool:
        if not self._ahead:
            self._ahead = self._generator.random(BLOCK).tolist()
        return self._ahead.pop() < probability

    def below(self, count: int) -> int:
        return int(self.uniform() * count)

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[int(self.uniform() * len(items))]

    def weighted(self, *choices: tuple[float, Item]) -> Item:
        """One item of (weight, item) choices."""
        total = 0.0
        for weight, _ in choices:
            total += weight
        left = self.uniform() * total
        for weight, item in choices:
            left -= weight
            if left < 0:
                return item
        return choices[-1][1]

    def start_sentence(self, unknown_word: int = -1) -> None:
        """From here on the word with this number (from 0) is unknown; -1: none is."""
        self._words_until_unknown = unknown_word

    def known_or(self, word: Item, unknown: Item) -> Item:
        """The word, or `unknown` in its place if it is this word's turn to be unknown."""
        self._words_until_unknown -= 1
        return unknown if self._words_until_unknown == -1 else word

    @property
    def unknown_is_due(self) -> bool:
        """Whether the sentence's unknown word is still to come."""
        return self._words_until_unknown >= 0
