"""Sentences with "to be": how, what and where somebody or something is; "there is"."""

from __future__ import annotations

from functools import cache

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.actions import shown_facts, timed, triples
from model_core.training.tasks.en_zh.lexicon import (
    Adjective,
    Noun,
    Time,
    adjectives,
    adjectives_for,
    nouns,
    nouns_with,
    times,
    unknown_adjective,
)
from model_core.training.tasks.en_zh.noun_phrases import (
    SUBJECT_PRONOUNS,
    Determiners,
    NounPhrase,
    Relative,
    noun_phrase,
    subject_pronoun,
)
from model_core.training.tasks.en_zh.phrase import (
    Chinese,
    English,
    Word,
    pair_of,
    simple,
    tokens,
)
from model_core.training.tasks.en_zh.relatives import object_relative, relative_for
from model_core.training.tasks.en_zh.verb_phrases import ADVERBS, Setting, not_words

SHORT_BE = {
    "I": "I'm",
    "you": "you're",
    "he": "he's",
    "she": "she's",
    "we": "we're",
    "they": "they're",
    "it": "it's",
}
PAST_BE = {"am": "was", "is": "was", "are": "were"}


@cache
def describable() -> tuple[Noun, ...]:
    return tuple(n for n in nouns() if adjectives_for(n))


@cache
def adjectives_of_pronoun(pronoun: str) -> tuple[Adjective, ...]:
    kinds = {pronoun} if pronoun == "it" else {pronoun, "pronoun"}
    return tuple(a for a in adjectives() if not a.goes_with.isdisjoint(kinds))


def said_of(chance: Chance, noun: Noun) -> Adjective:
    """Something to say of the noun: its colour as often as anything else."""
    fitting = adjectives_for(noun)
    colours = [a for a in fitting if a.sort == "colour"]
    return chance.one_of(colours if colours and chance.happens(0.42) else fitting)


def any_time(chance: Chance, tense: str, probability: float) -> Time | None:
    return chance.one_of(times(tense)) if chance.happens(probability) else None


def opened(
    chance: Chance, subject: NounPhrase, short: float = 0.5
) -> tuple[English, Chinese, Word]:
    """Subject and "is": "she is" or "she's"; the word that says "is"."""
    if subject.heads[0] in SHORT_BE and len(subject.english) == 1 and chance.happens(short):
        word = Word(SHORT_BE[subject.heads[0]])
        return (word,), tuple((token, word) for token, _ in subject.chinese), word
    be = Word(subject.be)
    return (*subject.english, be), subject.chinese, be


def quality(chance: Chance) -> Pair:
    """ "the cat is black", "I am very tired today": 很, 非常, 不; a colour is 是 … 色 的."""
    if chance.happens(0.35):
        pronoun = chance.one_of((*SUBJECT_PRONOUNS, "it"))
        subject = subject_pronoun(pronoun)
        adjective = chance.one_of(adjectives_of_pronoun(pronoun))
        described: tuple[str, ...] = ()
    else:
        noun = chance.one_of(describable())
        adjective = said_of(chance, noun)
        subject = noun_phrase(
            chance,
            noun,
            SPOKEN_OF,
            adjectives=0.08,
            relative=relative_for(chance, noun) if chance.happens(0.25) else None,
            may_be_unknown=adjective.sort != "old",
        )
        described = (f"adjective:{adjective.en} {noun.en}",)
    adjective = chance.known_or(adjective, unknown_adjective(adjective))
    colour, passing = adjective.sort == "colour", adjective.sort == "state"
    tense = "now"
    if passing:
        tense = chance.weighted((56, "now"), (28, "past"), (16, "future"))
    elif not colour:
        tense = chance.weighted((92, "now"), (8, "past"))
    negated = tense != "future" and chance.happens(0.18)
    time = any_time(chance, tense, 0.14 if tense == "now" else 0.75) if passing else None
    adverb = ""
    if tense == "now" and not negated and not colour and time is None and chance.happens(0.25):
        often = ("always", "often", "sometimes", "usually") if passing else ()
        adverb = chance.one_of((*often, "also"))
    english, chinese = said_quality(chance, subject, adjective, tense, negated, adverb)
    english, chinese = timed(chance, Setting(tense, time=time), english, chinese)
    facts = shown_facts(triples(subject, "be", (adjective.en,)), subject.facts, described)
    return pair_of(english, chinese, f"quality {tense}", facts)


def said_quality(
    chance: Chance,
    subject: NounPhrase,
    adjective: Adjective,
    tense: str,
    negated: bool,
    adverb: str,
) -> tuple[English, Chinese]:
    word = Word(adjective.en)
    colour = adjective.sort == "colour"
    if negated:
        be = PAST_BE[subject.be] if tense == "past" else subject.be
        verb, be_word, no = not_words(chance, be)
        link = tokens("不", no) + (tokens("是", be_word) if colour else ())
        english, chinese = subject.english + verb, subject.chinese + link
    else:
        if tense == "now":
            english, chinese, be_word = opened(chance, subject)
        else:
            before = (Word("will"),) if tense == "future" else ()
            be_word = Word("be" if before else PAST_BE[subject.be])
            english = (*subject.english, *before, be_word)
            chinese = subject.chinese + tuple(("会", will) for will in before)
        if adverb:
            often = simple(adverb, ADVERBS[adverb])
            english, chinese = english + often.english, chinese + often.chinese
        if colour:
            chinese += (("是", be_word),)
        elif chance.happens(0.2):
            very = simple("very", "非常")
            english, chinese = english + very.english, chinese + very.chinese
        else:
            chinese += (("很", be_word),)
    english += (word,)
    chinese += ((adjective.predicate, word),)
    return english, chinese + ((("的", word),) if colour else ())


# Chinese has no "a bike is white"; what is spoken of is known, or all of its kind.
SPOKEN_OF = Determiners(
    ((56, "the"), (26, "possessive"), (10, "this"), (8, "that")),
    ((32, "the"), (32, ""), (18, "possessive"), (10, "these"), (8, "those")),
    ((56, "the"), (22, "possessive"), (14, ""), (8, "this")),
)


def weather(chance: Chance) -> Pair:
    """ "it is cold today": 今天 很 冷, without a subject in Chinese."""
    tense = chance.weighted((50, "now"), (25, "past"), (25, "future"))
    time = chance.one_of([t for t in times(tense) if t.en not in ("last year", "next year")])
    adjective = chance.one_of([a for a in adjectives() if a.en in ("hot", "cold")])
    nobody = NounPhrase((Word("it"),), (), (), ("it",), "is")
    negated = tense != "future" and chance.happens(0.2)
    english, chinese = said_quality(chance, nobody, adjective, tense, negated, "")
    english, chinese = timed(chance, Setting(tense, time=time), english, chinese)
    return pair_of(english, chinese, "weather")


JOBS = Determiners(((70, "a"), (30, "possessive")), ((70, ""), (30, "possessive")), ())
DENIED_JOBS = Determiners(
    ((70, "denied a"), (30, "possessive")), ((70, ""), (30, "possessive")), ()
)
THINGS = Determiners(
    ((62, "a"), (38, "possessive")), ((50, ""), (38, "possessive")), ((70, ""), (30, "possessive"))
)
DENIED_THINGS = Determiners(
    ((55, "denied a"), (45, "possessive")),
    ((50, ""), (50, "possessive")),
    ((70, ""), (30, "possessive")),
)


def identity(chance: Chance) -> Pair:
    """ "she is a teacher", "this is my book": 是; "a" vanishes where it is denied."""
    negated = chance.happens(0.18)
    if chance.happens(0.5):
        subject = somebody(chance)
        candidates = list(nouns_with("job", "friend"))
        if subject.heads[0] in SUBJECT_PRONOUNS:
            candidates = [
                n
                for n in nouns_with("job", "friend", "friend", "kid", "infant", "man", "woman")
                if n.en not in NOT_SAID_OF.get(subject.heads[0], ())
            ]
        noun = chance.one_of([n for n in candidates if n.en not in subject.heads])
        choices = DENIED_JOBS if negated else JOBS
    else:
        many = chance.happens(0.35)
        subject = pointing(chance.one_of(("these", "those") if many else ("this", "that", "it")))
        noun = chance.one_of(
            nouns_with("animal", "food", "mass", "drink", "thing", "tale", "plant", "building")
        )
        if many and not noun.plural:
            noun = chance.one_of(nouns_with("thing"))
        choices = DENIED_THINGS if negated else THINGS
    many = subject.be == "are"
    if subject.heads[0] == "you":
        many = False
    relative: Relative | None = None
    if "thing" in noun.tags and not negated and chance.happens(0.2):
        relative = object_relative
        choices = RELATED
    what = noun_phrase(
        chance,
        noun,
        choices,
        adjectives=0.22,
        plural=1.0 if many else 0.0,
        relative=relative,
        may_be_unknown=bool(noun.measure) and not many,
        as_predicate=True,
        not_of=subject.heads[0],
    )
    if negated:
        be, be_word, no = not_words(chance, subject.be)
        english = subject.english + be + what.english
        chinese = subject.chinese + tokens("不", no) + tokens("是", be_word) + what.chinese
    else:
        english, chinese, be_word = opened(chance, subject)
        english += what.english
        chinese += (("是", be_word), *what.chinese)
    facts = shown_facts(triples(subject, "be", what.heads), subject.facts, what.facts)
    return pair_of(english, chinese, "identity", facts)


NOT_SAID_OF = {"he": ("girl", "woman"), "she": ("boy", "man"), "it": ()}
RELATED = Determiners(((1, "the"),), ((1, "the"),), ((1, "the"),))


def somebody(chance: Chance) -> NounPhrase:
    if chance.happens(0.6):
        return subject_pronoun(chance.one_of(tuple(SUBJECT_PRONOUNS)))
    noun = chance.one_of(nouns_with("adult", "kin", "friend"))
    relative = relative_for(chance, noun) if chance.happens(0.2) else None
    return noun_phrase(chance, noun, SOMEBODY, adjectives=0.1, plural=0.15, relative=relative)


SOMEBODY = Determiners(
    ((50, "the"), (30, "possessive"), (10, "this"), (10, "that")),
    ((60, "the"), (40, "possessive")),
    (),
)


def pointing(english: str) -> NounPhrase:
    """ "this", "those" without a noun."""
    chinese = {"this": "这", "that": "那", "these": "这些", "those": "那些", "it": "它"}[english]
    phrase = simple(english, chinese)
    be = "are" if english in ("these", "those") else "is"
    return NounPhrase(phrase.english, phrase.chinese, (), (english,), be)
