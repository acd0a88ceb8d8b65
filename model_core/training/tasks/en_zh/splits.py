"""Training sentences, and two test splits that say things no training sentence says.

A triple is (subject, verb, object): lemmas of the head noun or pronoun, the verb and the
object's head; the place with its preposition takes the object's part for a verb without object
("cat/sleep/on table"), the adjective or noun after "to be". Relative clauses have triples of
their own. Intransitive sentences without a place have none. Every sentence of "held_out" has a
triple, and none of its triples occurs in training. Triples of two pronouns ("he/like/her") are
all shown: there are few, and they are what a newcomer types first.

Every sentence of "unseen_pairs" has an adjective-noun pair ("red apple", "the apple is red")
that never occurs in training. Pairs with "old" are all shown: whether it is 旧 or 年老 of a noun
can only be learnt from that noun.
"""

from __future__ import annotations

from collections.abc import Iterable

from model_core.training.datasets import Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import adjectives_for, nouns
from model_core.training.tasks.en_zh.noun_phrases import OBJECT_PRONOUNS, SUBJECT_PRONOUNS
from model_core.training.tasks.en_zh.sentences import drawn
from model_core.training.tasks.keeping import kept
from model_core.training.tasks.secret_facts import Secrets as FactSecrets
from model_core.training.tasks.secret_facts import dataset, facts_of, training

TRAIN_SIZE = 40_000
HELD_OUT_SIZE = 1_000
UNSEEN_SIZE = 500
UNKNOWN_SHARE = 0.15
# Short sentences are few, and a model that meets them once does not learn them.
MOST_COPIES = 16
# Words of either language.
LEAST_SEEN = 60

# Shares of all possible triples and pairs that are kept from training.
HELD_OUT_PERMILLE = 100
UNSEEN_PERMILLE = 70


class Secrets(FactSecrets):
    """Which triples and adjective-noun pairs training must not see."""

    def has(self, fact: str) -> bool:
        """Whether this fact is kept from training; those `shown` in examples never are."""
        if fact.startswith("adjective:old "):
            return False
        if fact.startswith("triple:"):
            subject, _, thing = fact.removeprefix("triple:").split("/")
            if subject in SUBJECT_PRONOUNS and thing in OBJECT_PRONOUNS:
                return False
        permille = HELD_OUT_PERMILLE if fact.startswith("triple:") else UNSEEN_PERMILLE
        return fact not in self._shown and kept(self._seed, fact, permille)

    def unseen_pairs(self) -> list[str]:
        """The adjective-noun pairs that are kept from training."""
        pairs = (f"{a.en} {noun.en}" for noun in nouns() for a in adjectives_for(noun))
        return [pair for pair in dict.fromkeys(pairs) if self.has(f"adjective:{pair}")]

    def for_unseen(self, pair: Pair) -> bool:
        # "the apple is red" is a triple as well; as a pair it may be tested here
        quality = pair.template.startswith(("quality", "question quality"))
        _, others = facts_of(pair)
        return any(map(self.has, others)) if quality else super().for_unseen(pair)


def _words(pair: Pair) -> tuple[str, ...]:
    return pair.source + pair.target


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
