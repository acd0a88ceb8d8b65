"""Relative clauses: behind the noun in English, in front of it with 的 in Chinese."""

from __future__ import annotations

from functools import cache

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import Noun, Verb, nouns_with, verbs
from model_core.training.tasks.en_zh.noun_phrases import (
    INNER,
    NounPhrase,
    Relative,
    noun_phrase,
    subject_pronoun,
)
from model_core.training.tasks.en_zh.phrase import Chinese, Phrase, Word, tokens
from model_core.training.tasks.en_zh.places import place_of_action


def takes(kinds: tuple[str, ...], noun: Noun) -> bool:
    return noun.en in kinds or not noun.tags.isdisjoint(kinds)


@cache
def verbs_by(noun: Noun) -> tuple[Verb, ...]:
    """What the noun may do in a relative clause."""
    return tuple(v for v in verbs() if takes(v.subjects, noun) and plain(v))


@cache
def verbs_to(noun: Noun) -> tuple[Verb, ...]:
    """What a person may do to the noun in a relative clause."""
    return tuple(
        v
        for v in verbs()
        if takes(v.objects, noun)
        and plain(v)
        and "person" in v.subjects
        and "have" not in v.flags
        and not v.preposition
    )


def plain(verb: Verb) -> bool:
    """Verbs whose sense and tense show in the clause itself."""
    known_by_subject = "special" in verb.flags and not verb.objects
    return not (verb.same_past or known_by_subject) and verb.flags.isdisjoint(("seat", "result"))


def subject_relative(chance: Chance, noun: Noun, many: bool) -> Phrase:
    """ "who likes cats": 喜欢 猫 的."""
    verb = chance.one_of(verbs_by(noun))
    who = Word("who" if "person" in noun.tags else "that")
    past = chance.happens(0.35)
    word = Word(verb.past if past else verb.en if many else verb.third)
    after: Chinese = ()
    if past and verb.flags.isdisjoint(("stative", "no_le")):
        after = tokens("了", word)
    if not verb.objects:
        place = place_of_action(chance, verb, (noun.en,)) if chance.happens(0.35) else Phrase()
        english = (who, word, *place.english)
        # 在 公园 里 跑步 的 男孩: 了 before 的 would say that the deed is done and over
        chinese = (*place.chinese, *tokens(verb.zh, word), ("的", who))
        where = [f.removeprefix("place:") for f in place.facts if f.startswith("place:")]
        facts = tuple(f"triple:{noun.en}/{verb.en}/{w}" for w in where)
        return Phrase(english, chinese, facts + place.facts)
    things = [n for n in nouns_with(chance.one_of(verb.objects)) if n.en != noun.en]
    if not things:  # a pronoun, music, a language
        return subject_relative(chance, noun, many)
    thing = noun_phrase(chance, chance.one_of(things), INNER, adjectives=0.1, may_be_unknown=False)
    english = (who, word, *(Word(w) for w in verb.preposition.split()), *thing.english)
    chinese = (*tokens(verb.zh, word), *after, *thing.chinese, ("的", who))
    facts = tuple(f"triple:{noun.en}/{verb.en}/{head}" for head in thing.heads)
    return Phrase(english, chinese, facts + thing.facts)


def relative_for(chance: Chance, noun: Noun) -> Relative:
    """The kind of clause that suits the noun: people do things, things have things done to them."""
    if "person" in noun.tags or ("animal" in noun.tags and chance.happens(0.7)):
        return subject_relative
    return object_relative


def object_relative(chance: Chance, noun: Noun, many: bool) -> Phrase:
    """ "that the boy bought": 男孩 买 的."""
    fitting = verbs_to(noun)
    if not fitting:
        return Phrase()
    verb = chance.one_of(fitting)
    that = Word("that")
    doer: NounPhrase
    if chance.happens(0.5):
        doer = subject_pronoun(chance.one_of(("I", "you", "he", "she", "we", "they")))
    else:
        people = nouns_with(*(s for s in verb.subjects if s != "animal"))
        doer = noun_phrase(
            chance, chance.one_of(people), DOERS, adjectives=0.1, plural=0.2, may_be_unknown=False
        )
    past = chance.happens(0.5)
    word = Word(verb.past if past else verb.third if doer.third else verb.en)
    chinese = (*doer.chinese, *tokens(verb.zh, word), ("的", that))
    facts = tuple(f"triple:{head}/{verb.en}/{noun.en}" for head in doer.heads)
    return Phrase((that, *doer.english, word), chinese, facts + doer.facts)


DOERS = INNER
