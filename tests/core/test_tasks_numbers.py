"""Figures to English words: spelling by hand, alignments, numbers kept apart."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from model_core.tokenizers import GluedTokenizer
from model_core.training.datasets import Dataset
from model_core.training.tasks import numbers
from model_core.training.tasks.numbers import splits
from model_core.training.tasks.numbers.spelling import pair_of, words_of

SEED = numbers.recipe.SEED
BY_HAND = {
    0: "zero",
    1: "one",
    5: "five",
    9: "nine",
    10: "ten",
    11: "eleven",
    12: "twelve",
    13: "thirteen",
    14: "fourteen",
    15: "fifteen",
    18: "eighteen",
    19: "nineteen",
    20: "twenty",
    21: "twenty-one",
    30: "thirty",
    40: "forty",
    44: "forty-four",
    50: "fifty",
    58: "fifty-eight",
    80: "eighty",
    90: "ninety",
    99: "ninety-nine",
    100: "one hundred",
    101: "one hundred and one",
    110: "one hundred and ten",
    115: "one hundred and fifteen",
    120: "one hundred and twenty",
    342: "three hundred and forty-two",
    800: "eight hundred",
    999: "nine hundred and ninety-nine",
    1000: "one thousand",
    1001: "one thousand and one",
    1012: "one thousand and twelve",
    1066: "one thousand and sixty-six",
    1100: "one thousand one hundred",
    1999: "one thousand nine hundred and ninety-nine",
    2024: "two thousand and twenty-four",
    10000: "ten thousand",
    10010: "ten thousand and ten",
    11011: "eleven thousand and eleven",
    40404: "forty thousand four hundred and four",
    90019: "ninety thousand and nineteen",
    100000: "one hundred thousand",
    100001: "one hundred thousand and one",
    101101: "one hundred and one thousand one hundred and one",
    313000: "three hundred and thirteen thousand",
    700070: "seven hundred thousand and seventy",
    123456: "one hundred and twenty-three thousand four hundred and fifty-six",
    999999: "nine hundred and ninety-nine thousand nine hundred and ninety-nine",
}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return numbers.generate(SEED)


@pytest.fixture(scope="module")
def tokenizer(data: Dataset) -> GluedTokenizer:
    return numbers.tokenizer(data)


@pytest.mark.parametrize("value", BY_HAND)
def test_a_number_is_spelled_as_by_hand(value: int, tokenizer: GluedTokenizer) -> None:
    for comma in (False, True):
        pair = pair_of(value, comma)
        assert pair.source_text == (f"{value:,}" if comma else str(value))
        ids = tokenizer.encode_target(pair.target_text).ids
        assert tokenizer.decode(ids) == BY_HAND[value]
        assert tokenizer.encode_target(BY_HAND[value]).ids == ids


def value_of(words: list[str]) -> int:
    """The number that is said, computed from the words alone."""
    units = "zero one two three four five six seven eight nine ten eleven twelve thirteen".split()
    units += "fourteen fifteen sixteen seventeen eighteen nineteen".split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    total = part = 0
    for word in words:
        word = word.rstrip("-")
        if word == "thousand":
            total, part = part * 1000, 0
        elif word == "hundred":
            part *= 100
        elif word != "and":
            part += units.index(word) if word in units else 10 * (2 + tens.index(word))
    return total + part


def test_the_words_say_the_number_and_no_two_numbers_are_said_alike() -> None:
    values = [*range(2200), *range(9_990, 12_000), *range(99_900, 102_000, 3), 1_000_000 - 1]
    said = {value: [word for word, _ in words_of(value)] for value in values}
    assert all(value_of(words) == value for value, words in said.items())
    assert len({" ".join(words) for words in said.values()}) == len(said)
    with pytest.raises(ValueError, match="1000000"):
        words_of(1_000_000)


def test_each_word_is_from_the_figure_that_it_says(data: Dataset) -> None:
    names = "zero one two three four five six seven eight nine".split()
    for pair in data["train"][:4000]:
        figures = "".join(pair.source).replace(",", "")
        for word, at in zip(pair.target, pair.aligned, strict=False):
            if word in names:
                assert pair.source[at] == str(names.index(word))
            elif word == "and":
                assert at == -1
            elif word in ("twenty", "twenty-"):
                assert pair.source[at] == "2"
            elif word == "thirteen":
                assert pair.source[at] == "3"
            elif word == "thousand":
                before = pair.source[: at + 1]
                assert len([c for c in before if c != ","]) == len(figures) - 3


def test_no_held_out_number_is_trained_with_or_without_a_comma(data: Dataset) -> None:
    trained, held_out = (
        [int(pair.source_text.replace(",", "")) for pair in data[split]]
        for split in ("train", "held_out")
    )
    assert set(trained).isdisjoint(held_out)
    assert len(set(held_out)) == len(held_out) == splits.HELD_OUT_SIZE
    assert set(range(100)) <= set(trained)
    assert {len(str(value)) for value in held_out} == {3, 4, 5, 6}


def test_every_length_is_trained_and_some_with_a_comma(data: Dataset) -> None:
    lengths = Counter(len(p.source_text.replace(",", "")) for p in data["train"])
    assert sorted(lengths) == [1, 2, 3, 4, 5, 6]
    assert min(lengths.values()) > 2000
    long = [p for p in data["train"] if len(p.source_text.replace(",", "")) > 3]
    share = sum("," in p.source_text for p in long) / len(long)
    assert share == pytest.approx(0.25, abs=0.03)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(data: Dataset) -> None:
    again, other = numbers.generate(SEED), numbers.generate(SEED + 1)
    for split in ("train", "held_out"):
        assert data[split] == again[split]
        assert data[split] != other[split]
    fresh = [numbers.sentence(np.random.default_rng(n)).source_text for n in range(20)]
    assert fresh == [numbers.sentence(np.random.default_rng(n)).source_text for n in range(20)]
    assert len(set(fresh)) > 15
