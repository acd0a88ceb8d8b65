"""Sentences and questions about what somebody or something is, and where."""

from __future__ import annotations

from functools import cache

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import Adjective, Noun, adjectives_for, nouns
from model_core.training.tasks.en_fr.noun_phrases import (
    ASKED,
    DENIED_ON_STAGE,
    ON_STAGE,
    SUBJECT,
    SUBJECT_PRONOUNS,
    Determiners,
    NounPhrase,
    noun_phrase,
    subject_pronoun,
)
from model_core.training.tasks.en_fr.phrase import English, French, Word, pair_of
from model_core.training.tasks.en_fr.places import IN, place_to_be, where
from model_core.training.tasks.en_fr.verb_groups import (
    BE,
    WAS,
    around,
    denied,
    in_time,
    time_for,
)

# Masculine and feminine; French has no article before them.
PROFESSIONS = {
    "student": ("étudiant", "étudiante"),
    "teacher": ("professeur", "professeure"),
    "doctor": ("médecin", "médecin"),
}
# What can be asked where it is, and what can be there.
MOVABLE = frozenset({"person", "animal", "thing", "clothes", "food", "drink"})
SMALL = frozenset({"animal", "thing", "clothes", "food", "drink"})
POINTED = Determiners(((50, "a"), (40, "possessive"), (8, "owned")), (), ())


def be_of(
    chance: Chance, subject: NounPhrase, negated: bool, past: bool = False
) -> tuple[English, French]:
    """ "is not", "were": est … pas, étaient; the French adjective or noun follows."""
    be = subject.be
    if past:
        be = "were" if be == "are" else "was"
    english, no = denied(chance, be, negated)
    finite = (WAS if past else BE)[subject.person]
    return english, around((finite, english[0]), (), no)


@cache
def qualities(noun: Noun) -> tuple[Adjective, ...]:
    return tuple(a for a in adjectives_for(noun) if not a.attributive)


@cache
def with_qualities() -> tuple[Noun, ...]:
    return tuple(noun for noun in nouns() if qualities(noun))


@cache
def qualities_of_people() -> tuple[Adjective, ...]:
    """What a pronoun may be."""
    boy = next(noun for noun in nouns() if noun.en == "boy")
    return tuple(a for a in qualities(boy) if a.en not in ("small", "beautiful"))


@cache
def movables() -> tuple[Noun, ...]:
    return tuple(noun for noun in nouns() if noun.is_a(MOVABLE))


@cache
def on_stage() -> tuple[Noun, ...]:
    return tuple(noun for noun in movables() if not noun.is_a(("kin",)))


@cache
def counted() -> tuple[Noun, ...]:
    return tuple(noun for noun in nouns() if noun.plural)


@cache
def findable() -> tuple[Noun, ...]:
    return tuple(noun for noun in counted() if noun.en != "story")


def described(
    chance: Chance, determiners: Determiners
) -> tuple[NounPhrase, Adjective, tuple[str, ...]]:
    """Somebody or something and what may be said of it, with the facts."""
    if chance.happens(0.3):
        subject = subject_pronoun(chance.one_of(tuple(SUBJECT_PRONOUNS)))
        adjective = chance.one_of(qualities_of_people())
        return subject, adjective, (f"triple:{subject.heads[0]}/be/{adjective.en}",)
    noun = chance.one_of(with_qualities())
    subject = noun_phrase(chance, noun, determiners, adjectives=0.0)
    adjective = chance.one_of(qualities(noun))
    return subject, adjective, (f"adjective:{adjective.en} {noun.en}",)


def predicate(
    chance: Chance, subject: NounPhrase, adjective: Adjective, simple: bool
) -> tuple[English, French]:
    """ "very tired": très fatiguée, in the subject's gender and number."""
    word = Word(adjective.en)
    french: French = ((adjective.form(subject.feminine, subject.plural), word),)
    if simple or adjective.colour or not chance.happens(0.25):
        return (word,), french
    very = Word("very")
    return (very, word), (("très", very), *french)


def quality(chance: Chance) -> Pair:
    """ "the house is white", "she was very tired"."""
    subject, adjective, facts = described(chance, SUBJECT)
    negated, past = chance.happens(0.2), chance.happens(0.25)
    be, est = be_of(chance, subject, negated, past)
    said, dit = predicate(chance, subject, adjective, negated)
    kind = "past" if past else "present"
    english = (*subject.english, *be, *said)
    return pair_of(english, subject.french + est + dit, f"quality {kind}", facts)


def whether_being(chance: Chance) -> Pair:
    """ "are you tired": est-ce que tu es fatigué."""
    subject, adjective, facts = described(chance, ASKED)
    be = Word(subject.be)
    said, dit = predicate(chance, subject, adjective, True)
    english = (be, *subject.english, *said)
    finite = (BE[subject.person], be)
    french = (("est-ce", be), ("que", be), *subject.french, finite, *dit)
    return pair_of(english, french, "question quality", facts)


def profession(chance: Chance) -> Pair:
    """ "she is a student": elle est étudiante. No fact to be kept: the word is met here alone."""
    subject = subject_pronoun(chance.one_of(("I", "you", "he", "she")))
    english, french = be_of(chance, subject, chance.happens(0.2))
    name = chance.one_of(tuple(PROFESSIONS))
    noun = Word(name)
    title = PROFESSIONS[name][int(subject.feminine)]
    whole = (*subject.english, *english, Word("a"), noun)
    return pair_of(whole, (*subject.french, *french, (title, noun)), "profession")


def movable(chance: Chance) -> Noun:
    return chance.one_of(movables())


def location(chance: Chance) -> Pair:
    """ "my keys are on the table"."""
    noun = movable(chance)
    if noun.is_a(("person",)) and chance.happens(0.4):
        subject = subject_pronoun(chance.one_of(tuple(SUBJECT_PRONOUNS)))
    else:
        subject = noun_phrase(chance, noun, SUBJECT, adjectives=0.2)
    place = place_to_be(chance, subject.heads, noun.is_a(SMALL))
    past = chance.happens(0.2)
    be, est = be_of(chance, subject, chance.happens(0.15), past)
    facts = (
        *(f"triple:{head}/be/{place.place}" for head in subject.heads),
        *subject.facts,
        *place.facts,
    )
    english = (*subject.english, *be, *place.english)
    french = subject.french + est + place.french
    return pair_of(english, french, f"location {'past' if past else 'present'}", facts)


def existence(chance: Chance) -> Pair:
    """ "there is no cat in the garden": il n'y a pas de chat dans le jardin."""
    noun = chance.one_of(on_stage())
    negated = chance.happens(0.25)
    thing = noun_phrase(chance, noun, DENIED_ON_STAGE if negated else ON_STAGE, adjectives=0.25)
    there, be = Word("there"), Word(thing.be)
    place = (
        place_to_be(chance, thing.heads, noun.is_a(SMALL))
        if chance.happens(0.8)
        else where(chance, IN, thing.heads)
    )
    no = thing.english[0]
    french: French = (("il", there), ("y", there), ("a", be))
    if negated:
        french = (("il", there), ("ne", no), ("y", there), ("a", be), ("pas", no))
    english = (there, be, *thing.english, *place.english)
    facts = (f"triple:{noun.en}/there/{place.place}", *thing.facts, *place.facts)
    return pair_of(english, french + thing.french + place.french, "existence", facts)


def pointing(chance: Chance) -> Pair:
    """ "this is my house": c'est ma maison."""
    noun = chance.one_of(counted())
    phrase = noun_phrase(chance, noun, POINTED, adjectives=0.3, plural=0.0)
    this = Word("this")
    if chance.happens(0.25):
        be, no = denied(chance, "is", True)
        french: French = (("ce", this), ("ne", no), ("est", be[0]), ("pas", no))
    else:
        be = (Word("is"),)
        french = (("c'", this), ("est", be[0]))
    facts = (f"triple:this/be/{phrase.heads[0]}", *phrase.facts)
    return pair_of((this, *be, *phrase.english), french + phrase.french, "pointing", facts)


def sought(chance: Chance) -> NounPhrase:
    if chance.happens(0.3):
        return subject_pronoun(chance.one_of(tuple(SUBJECT_PRONOUNS)))
    noun = chance.one_of(findable())
    return noun_phrase(chance, noun, ASKED, adjectives=0.2)


def asked_where(chance: Chance) -> Pair:
    """ "where are my keys": où sont mes clés; of a pronoun, "où est-il"."""
    subject = sought(chance)
    ask, be = Word("where"), Word(subject.be)
    french: French = (("où", ask), (BE[subject.person], be), *subject.french)
    if subject.heads[0] in SUBJECT_PRONOUNS:
        # the hyphen makes the verb and its pronoun one word
        french = (("où", ask), (f"{BE[subject.person]}-", be), *subject.french)
    english: English = (ask, be, *subject.english)
    time = time_for(chance, "now", 0.4)
    if time is not None:
        now, maintenant = in_time(time)
        english, french = english + now, french + maintenant
    return pair_of(english, french, "question where", subject.facts)
