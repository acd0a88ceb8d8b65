"""Strings backwards: right reversals, right alignments, strings kept apart."""

from __future__ import annotations

from collections import Counter
from string import ascii_lowercase

import numpy as np
import pytest

from model_core.tokenizers import UNKNOWN_ID
from model_core.training.datasets import Dataset, numbered
from model_core.training.tasks import reverse
from model_core.training.tasks.reverse import strings

SEED = reverse.recipe.SEED
BY_HAND = {"a": "a", "ab": "ba", "stressed": "desserts", "level": "level", "glass": "ssalg"}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return reverse.generate(SEED)


@pytest.mark.parametrize("text", BY_HAND)
def test_a_string_is_reversed_as_by_hand(text: str) -> None:
    pair = strings.reversal(text)
    assert (pair.source_text, pair.target_text) == (text, BY_HAND[text])


def test_each_letter_is_from_where_it_stood(data: Dataset) -> None:
    for pair in data["train"]:
        assert pair.aligned[-1] == -1
        assert [pair.source[at] for at in pair.aligned[:-1]] == list(pair.target)
        assert sorted(pair.aligned[:-1]) == list(range(len(pair.source)))


def test_no_held_out_string_is_trained_and_every_letter_is(data: Dataset) -> None:
    trained = {pair.source_text for pair in data["train"]}
    held_out = [pair.source_text for pair in data["held_out"]]
    assert len(set(held_out)) == len(held_out) == strings.HELD_OUT_SIZE
    assert trained.isdisjoint(held_out)
    assert set(ascii_lowercase) <= trained
    assert set(reverse.EXAMPLES) <= trained


def test_every_length_is_trained_as_often(data: Dataset) -> None:
    lengths = Counter(len(pair.source) for pair in data["train"])
    assert sorted(lengths) == list(range(1, 13))
    assert min(lengths.values()) > 800
    assert {len(pair.source) for pair in data["held_out"]} == set(range(2, 13))


def test_an_unknown_character_is_reversed_too(data: Dataset) -> None:
    tokenizer = reverse.tokenizer(data)
    assert set(tokenizer.source_vocabulary[4:]) == set(ascii_lowercase)
    unknown = [p for p in data["train"] if strings.UNKNOWN_CHARACTER in p.source_text]
    assert 0.03 < len(unknown) / len(data["train"]) < 0.09
    for pair in unknown:
        ids = numbered(pair, tokenizer)
        assert ids.source[:-1] == ids.target[::-1]
        assert ids.source.count(UNKNOWN_ID) == 1


def test_the_same_seed_gives_the_same_strings_and_another_seed_others(data: Dataset) -> None:
    again, other = reverse.generate(SEED), reverse.generate(SEED + 1)
    for split in ("train", "held_out"):
        assert data[split] == again[split]
        assert data[split] != other[split]
    fresh = [reverse.sentence(np.random.default_rng(n)).source_text for n in range(20)]
    assert fresh == [reverse.sentence(np.random.default_rng(n)).source_text for n in range(20)]
    assert len(set(fresh)) > 15
