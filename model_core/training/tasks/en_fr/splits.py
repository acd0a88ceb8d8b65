"""Training sentences, and two test splits that say things no training sentence says.

A triple is (subject, verb, object): lemmas of the head noun or pronoun, the verb, and the object's
head or the place with its preposition ("cat/sleep/in garden"). Every sentence of "held_out" has
triples, none of which occurs in training. Every sentence of "unseen_pairs" has an adjective-noun
pair ("red apple", "the apple is red") that never occurs in training.
"""

from __future__ import annotations

from collections.abc import Iterable

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import adjectives_for, nouns
from model_core.training.tasks.en_fr.noun_phrases import OBJECT_PRONOUNS, SUBJECT_PRONOUNS
from model_core.training.tasks.en_fr.sentences import drawn
from model_core.training.tasks.keeping import kept
from model_core.training.tasks.secret_facts import Secrets as FactSecrets
from model_core.training.tasks.secret_facts import dataset, training

TRAIN_SIZE = 40_000
HELD_OUT_SIZE = 1_000
UNSEEN_SIZE = 500
UNKNOWN_SHARE = 0.1
# Short sentences are few, and a model that meets them once does not learn them.
MOST_COPIES = 16
# Words of either language.
LEAST_SEEN = 40
# Shares of all possible triples and pairs that are kept from training.
HELD_OUT_PERMILLE = 100
UNSEEN_PERMILLE = 70


class Secrets(FactSecrets):
    """Which triples and adjective-noun pairs training must not see."""

    def __init__(self, seed: int, shown: Iterable[str] = ()) -> None:
        super().__init__(seed, shown)
        # the same facts come again and again
        self._known: dict[str, bool] = {}

    def has(self, fact: str) -> bool:
        """Whether this fact is kept from training; those `shown` in examples never are."""
        secret = self._known.get(fact)
        if secret is None:
            secret = self._known[fact] = self._found(fact)
        return secret

    def _found(self, fact: str) -> bool:
        if fact in self._shown:
            return False
        if fact.startswith("triple:"):
            subject, _, thing = fact.removeprefix("triple:").split("/")
            # there are few of two pronouns, and they are what a newcomer types first
            if subject in SUBJECT_PRONOUNS and thing in OBJECT_PRONOUNS:
                return False
            return kept(self._seed, fact, HELD_OUT_PERMILLE)
        return kept(self._seed, fact, UNSEEN_PERMILLE)

    def unseen_pairs(self) -> list[str]:
        """The adjective-noun pairs that are kept from training."""
        pairs = [f"{a.en} {noun.en}" for noun in nouns() for a in adjectives_for(noun)]
        return [pair for pair in pairs if self.has(f"adjective:{pair}")]


def _words(pair: Pair) -> list[tuple[str, str]]:
    # "long" is a word of both languages
    return [*(("en", word) for word in pair.source), *(("fr", word) for word in pair.target)]


def split(name: str, seed: int, shown: Iterable[str] = ()) -> Dataset:
    """The splits "train", "held_out" and "unseen_pairs"."""
    secrets = Secrets(seed, shown)

    def train(chance: Chance) -> list[Pair]:
        return training(
            lambda: drawn(chance, with_unknown=chance.happens(UNKNOWN_SHARE)),
            TRAIN_SIZE,
            secrets.for_training,
            _words,
            MOST_COPIES,
            LEAST_SEEN,
        )

    def whole(chance: Chance) -> Pair:
        return drawn(chance, whole=True)

    return dataset(name, seed, secrets, train, whole, HELD_OUT_SIZE, UNSEEN_SIZE)
