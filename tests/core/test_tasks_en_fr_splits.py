"""The en-fr splits: kept apart from training, every word often enough, the same for a seed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import numpy as np
import pytest

from model_core.tokenizers import GluedTokenizer
from model_core.training.datasets import Dataset, Pair, numbered, unknown_share
from model_core.training.tasks import en_fr
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr import lexicon, sentences, splits
from tests.core.task_data import sentences_of

SEED = en_fr.recipe.SEED
SPLITS = ("train", "held_out", "unseen_pairs")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return sentences_of("en-fr")


@pytest.fixture(scope="module")
def tokenizer(data: Dataset) -> GluedTokenizer:
    return en_fr.tokenizer(data)


def facts_of(pairs: list[Pair], kind: str) -> set[str]:
    return {fact for pair in pairs for fact in pair.facts if fact.startswith(kind)}


def test_splits_have_their_sizes(data: Dataset) -> None:
    assert len(data["train"]) >= splits.TRAIN_SIZE
    assert len(data["held_out"]) == splits.HELD_OUT_SIZE
    assert len(data["unseen_pairs"]) == splits.UNSEEN_SIZE
    assert data.longest("train")[0] == sentences.LONGEST_SOURCE


def test_no_held_out_triple_and_no_unseen_pair_occurs_in_training(data: Dataset) -> None:
    triples, pairs = (facts_of(list(data["train"]), kind) for kind in ("triple:", "adjective:"))
    held_out = facts_of(list(data["held_out"]), "triple:")
    assert len(held_out) > 200 and not held_out & triples
    assert all(any(f.startswith("triple:") for f in pair.facts) for pair in data["held_out"])
    for pair in data["unseen_pairs"]:
        assert {f for f in pair.facts if f.startswith("adjective:")} - pairs
    assert len(facts_of(list(data["unseen_pairs"]), "adjective:") - pairs) >= 20


def test_adjacent_words_too_show_that_unseen_pairs_are_unseen(data: Dataset) -> None:
    unseen = [pair.split() for pair in splits.Secrets(SEED, en_fr.SHOWN).unseen_pairs()]
    plural = {noun.en: noun.plural for noun in lexicon.nouns()}
    forbidden = {(a, n) for a, n in unseen} | {(a, plural[n]) for a, n in unseen}
    for pair in data["train"]:
        assert not forbidden & set(zip(pair.source, pair.source[1:], strict=False))


def test_no_test_sentence_is_a_training_sentence(data: Dataset) -> None:
    trained = {pair.source for pair in data["train"]}
    for split in SPLITS[1:]:
        heard = [pair.source for pair in data[split]]
        assert len(set(heard)) == len(heard)
        assert trained.isdisjoint(heard)


def test_test_splits_know_every_word_and_every_word_is_trained_often(
    data: Dataset, tokenizer: GluedTokenizer
) -> None:
    for split in SPLITS[1:]:
        assert unknown_share(data[split], tokenizer) == 0
        assert all(not tokenizer.encode_target(t).unknown for _, t in data.texts(split))
    for side in ("source", "target"):
        counts = Counter(word for pair in data["train"] for word in getattr(pair, side))
        assert [word for word in counts if counts[word] < splits.LEAST_SEEN] == []
    for example in en_fr.EXAMPLES:
        assert not tokenizer.encode_source(example).unknown, example


def test_a_tenth_of_the_training_sentences_has_one_unknown_noun(
    data: Dataset, tokenizer: GluedTokenizer
) -> None:
    assert unknown_share(data["train"], tokenizer) == pytest.approx(0.1, abs=0.01)
    for pair in data["train"]:
        assert pair.source.count("<UNK>") == pair.target.count("<UNK>") <= 1
        assert not [w for w in pair.source if re.search("<UNK>.", w)]


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for size in ("TRAIN_SIZE", "HELD_OUT_SIZE", "UNSEEN_SIZE"):
        monkeypatch.setattr(splits, size, 200)
    monkeypatch.setattr(splits, "LEAST_SEEN", 0)
    first, again, other = (en_fr.generate(seed) for seed in (SEED, SEED, SEED + 1))
    for split in SPLITS:
        assert first[split] == again[split]
        assert first[split] != other[split]
    fresh = [en_fr.sentence(np.random.default_rng(number)) for number in range(20)]
    assert fresh == [en_fr.sentence(np.random.default_rng(number)) for number in range(20)]
    assert len({pair.source for pair in fresh}) == 20


def test_pairs_become_ids_word_by_word(data: Dataset, tokenizer: GluedTokenizer) -> None:
    for pair in data["held_out"]:
        ids = numbered(pair, tokenizer)
        assert len(ids.target) == len(pair.target) == len(ids.aligned) - 1
        again = tokenizer.encode_target(tokenizer.decode(ids.target))
        assert again.ids == ids.target


def test_the_same_sentences_are_drawn_as_ever():
    # of the generator as it was before it was made faster: bundled models hang on it
    known = "3cb663146ce22b8f9e50eae7e69ec3dd721b26ff19fe0e0aef91fd0b3e0436c2"
    chance, digest = Chance(np.random.default_rng(7)), hashlib.sha256()
    for number in range(3000):
        pair = sentences.drawn(chance, with_unknown=number % 10 == 0)
        digest.update(repr(pair).encode())
    assert digest.hexdigest() == known
