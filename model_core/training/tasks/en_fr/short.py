"""What is no sentence: a noun phrase alone, a greeting."""

from __future__ import annotations

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import nouns, nouns_with
from model_core.training.tasks.en_fr.noun_phrases import SUBJECT, Determiners, noun_phrase
from model_core.training.tasks.en_fr.phrase import pair_of, words

# English, and French tokens each with the number of the English word it is from.
GREETINGS = (
    ("hello", "bonjour:0"),
    ("good morning", "bonjour:1"),
    ("good evening", "bonsoir:1"),
    ("good night", "bonne:0 nuit:1"),
    ("goodbye", "au:0 revoir:0"),
    ("thank you", "merci:0"),
)
ADDRESSED = Determiners(((1, "possessive"),), ((1, "possessive"),), ())
ALONE = Determiners(
    (*SUBJECT.singular, (20, "a")),
    ((38, "the"), (20, ""), (8, "these"), (16, "possessive"), (10, "numeral"), (7, "many")),
    SUBJECT.mass,
)


def noun_alone(chance: Chance) -> Pair:
    """ "the red apple": la pomme rouge."""
    phrase = noun_phrase(chance, chance.one_of(nouns()), ALONE, adjectives=0.6)
    return pair_of(phrase.english, phrase.french, "noun", phrase.facts)


def greeting(chance: Chance) -> Pair:
    """ "good night my friend": bonne nuit mon ami."""
    said, told = chance.one_of(GREETINGS)
    english = words(said)
    parts = (part.split(":") for part in told.split())
    french = tuple((token, english[int(number)]) for token, number in parts)
    if not chance.happens(0.5):
        return pair_of(english, french, "greeting")
    noun = chance.one_of([n for n in nouns_with("person") if "unowned" not in n.tags])
    phrase = noun_phrase(chance, noun, ADDRESSED, adjectives=0.0, may_be_unknown=False)
    return pair_of(english + phrase.english, french + phrase.french, "greeting")
