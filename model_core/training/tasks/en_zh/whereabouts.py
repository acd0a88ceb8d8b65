"""Where somebody or something is: "the book is on the table", "there is a cat in the garden"."""

from __future__ import annotations

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.actions import place_facts, shown_facts, timed, triples
from model_core.training.tasks.en_zh.being import PAST_BE, any_time, opened
from model_core.training.tasks.en_zh.lexicon import Noun, nouns_with
from model_core.training.tasks.en_zh.noun_phrases import (
    DENIED_ON_STAGE,
    NEW_ON_STAGE,
    SUBJECT_PRONOUNS,
    Determiners,
    noun_phrase,
    subject_pronoun,
)
from model_core.training.tasks.en_zh.phrase import (
    Chinese,
    English,
    Phrase,
    Word,
    pair_of,
    tokens,
)
from model_core.training.tasks.en_zh.places import at_home_or_school, nouns_at, place_phrase
from model_core.training.tasks.en_zh.verb_phrases import Setting, not_words


def somewhere(chance: Chance, noun: Noun) -> Phrase:
    """Where somebody or something of this kind may be."""
    if "person" in noun.tags:
        side = chance.weighted((66, "in"), (12, "next to"), (8, "behind"), (14, "at"))
        return at_home_or_school(chance) if side == "at" else place_phrase(chance, side)
    if "fish" in noun.tags:
        return place_phrase(chance, "in", water=True)
    if "animal" in noun.tags:
        side = chance.weighted((46, "in"), (20, "on"), (16, "under"), (9, "next to"), (9, "behind"))
        return place_phrase(chance, side)
    if "drink" in noun.tags:
        side = chance.weighted((60, "in"), (40, "on"))
        spots = nouns_with("cup", "cup", "kitchen") if side == "in" else nouns_at("on")
        return place_phrase(chance, side, nouns=spots)
    if "plant" in noun.tags:
        side = chance.weighted((70, "in"), (16, "next to"), (14, "behind"))
        grounds = nouns_with("outdoors") if side == "in" else nouns_with("building", "river")
        return place_phrase(chance, side, nouns=grounds)
    if "large" in noun.tags:
        side = chance.weighted((70, "in"), (15, "next to"), (15, "behind"))
        rooms = nouns_with("home", "classroom", "office", "restaurant")
        spots = rooms if side == "in" else nouns_with("doorway", "tree")
        return place_phrase(chance, side, nouns=spots)
    side = chance.weighted((38, "in"), (44, "on"), (18, "under"))
    inside = nouns_with("container", "room", "kitchen", "car", "office", "classroom")
    spots = inside if side == "in" else nouns_at(side)
    if "building" in noun.tags or "driven" in noun.tags:
        side, spots = "in", nouns_with("town")
    return place_phrase(chance, side, nouns=tuple(n for n in spots if n.en != noun.en))


MOVABLE = ("person", "animal", "food", "mass", "drink", "thing", "thing", "plant")


def location(chance: Chance) -> Pair:
    """ "the book is on the table": 书 在 桌子 上."""
    noun = chance.one_of(nouns_with(chance.one_of(MOVABLE)))
    subject = noun_phrase(chance, noun, LOCATED, adjectives=0.25)
    if "person" in noun.tags and chance.happens(0.5):
        subject = subject_pronoun(chance.one_of(tuple(SUBJECT_PRONOUNS)))
    place = somewhere(chance, noun)
    tense = chance.weighted((78, "now"), (22, "past"))
    time = any_time(chance, tense, 0.7 if tense == "past" else 0.12)
    if chance.happens(0.16):
        be, _, no = not_words(chance, PAST_BE[subject.be] if tense == "past" else subject.be)
        english, chinese = subject.english + be, subject.chinese + tokens("不", no)
    elif tense == "past":
        english, chinese = (*subject.english, Word(PAST_BE[subject.be])), subject.chinese
    else:
        english, chinese, _ = opened(chance, subject)
    english, chinese = english + place.english, chinese + place.chinese
    english, chinese = timed(chance, Setting(tense, time=time), english, chinese)
    facts = shown_facts(place_facts(subject, "be", place), subject.facts, place.facts)
    return pair_of(english, chinese, f"location {tense}", facts)


LOCATED = Determiners(
    ((62, "the"), (26, "possessive"), (6, "this"), (6, "that")),
    ((58, "the"), (28, "possessive"), (8, "these"), (6, "those")),
    ((76, "the"), (24, "possessive")),
)


def existence(chance: Chance) -> Pair:
    """ "there is a cat in the garden": 花园 里 有 一 只 猫."""
    noun = chance.one_of(nouns_with(chance.one_of(MOVABLE)))
    while "kin" in noun.tags:
        noun = chance.one_of(nouns_with("person"))
    place = somewhere(chance, noun)
    kind = chance.weighted((68, "there is"), (10, "there was"), (12, "no"), (10, "question"))
    choices = NEW_ON_STAGE if kind in ("there is", "there was") else DENIED_ON_STAGE
    if kind == "no":
        choices = NOTHING
    elif "place:in cup" in place.facts and choices is NEW_ON_STAGE:
        choices = IN_A_CUP
    what = noun_phrase(chance, noun, choices, adjectives=0.25, plural=0.5)
    be = Word(PAST_BE[what.be] if kind == "there was" else what.be)
    there = Word("there")
    front = place.chinese[1:]
    verb: Chinese = (("有", there),)
    first: English = (there, be)
    last: Chinese = ()
    if kind == "no":
        no = Word("no")
        first, verb = (there, be, no), (("没有", no),)
    if kind == "question":
        first, last = (be, there), (("吗", be),)
    english = first + what.english + place.english
    chinese = front + verb + what.chinese + last
    time = any_time(chance, "past", 0.7) if kind == "there was" else None
    english, chinese = timed(chance, Setting("past", time=time), english, chinese)
    heads = tuple(f.removeprefix("place:") for f in place.facts if f.startswith("place:"))
    facts = shown_facts(triples(what, "there", heads), what.facts, place.facts)
    return pair_of(english, chinese, f"existence {kind}", facts)


# no cup of tea in a cup
IN_A_CUP = Determiners(((1, "a"),), ((1, ""),), ((70, ""), (30, "some")))
NOTHING = Determiners(((1, ""),), ((1, ""),), ((1, ""),))
