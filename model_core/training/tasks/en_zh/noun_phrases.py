"""Noun phrases and pronouns: determiner, measure word, relative clause, adjectives, noun."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import (
    Adjective,
    Noun,
    adjectives_before,
    unknown_adjective,
    unknown_noun,
)
from model_core.training.tasks.en_zh.phrase import Chinese, English, Phrase, Word, simple, tokens

SUBJECT_PRONOUNS = {"I": "我", "you": "你", "he": "他", "she": "她", "we": "我们", "they": "他们"}
OBJECT_PRONOUNS = {
    "me": "我",
    "you": "你",
    "him": "他",
    "her": "她",
    "us": "我们",
    "them": "他们",
    "it": "它",
}
# "I see me" needs "myself", which is not in the vocabulary.
CLASHING = {
    "I": ("me", "us"),
    "you": ("you",),
    "he": ("him",),
    "she": ("her",),
    "it": ("it",),
    "we": ("us", "me"),
    "they": ("them",),
}
POSSESSIVES = {"my": "我", "your": "你", "his": "他", "her": "她", "our": "我们", "their": "他们"}
OWN = {"I": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their"}
NUMERALS = {"two": "两", "three": "三", "four": "四", "five": "五"}
POINTING = {"this": "这", "that": "那"}
POINTING_PLURAL = {"these": "这些", "those": "那些"}

# Before a relative clause: "my friend who likes cats", 我 喜欢 猫 的 朋友, can be read in two ways.
WITH_RELATIVE = ("the", "a", "", "many", "some")

# A relative clause for a noun, singular or plural.
Relative = Callable[[Chance, Noun, bool], Phrase]
Choices = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Determiners:
    """Weighted determiners for one place in a sentence; "" stands for none."""

    singular: Choices
    plural: Choices
    mass: Choices


SUBJECT = Determiners(
    ((50, "the"), (12, "a"), (7, "this"), (5, "that"), (18, "possessive"), (1, "one")),
    (
        (30, "the"),
        (28, ""),
        (6, "these"),
        (4, "those"),
        (9, "numeral"),
        (7, "many"),
        (3, "some"),
        (12, "possessive"),
    ),
    ((20, ""), (50, "the"), (6, "this"), (20, "possessive")),
)
# Questions are asked of somebody known: "does a girl love us" is no question in Chinese.
ASKED = Determiners(
    ((52, "the"), (9, "this"), (9, "that"), (30, "possessive")),
    ((36, "the"), (20, ""), (9, "these"), (9, "those"), (26, "possessive")),
    ((60, "the"), (40, "possessive")),
)
OBJECT = Determiners(
    ((32, "the"), (34, "a"), (6, "this"), (4, "that"), (18, "possessive"), (3, "one")),
    (
        (18, "the"),
        (32, ""),
        (5, "these"),
        (4, "those"),
        (16, "numeral"),
        (8, "many"),
        (7, "some"),
        (9, "possessive"),
    ),
    ((50, ""), (20, "the"), (9, "some"), (10, "possessive"), (40, "glass")),
)
# What is denied has no number in Chinese: "does not eat an apple" is 不 吃 苹果.
DENIED = Determiners(
    ((35, "the"), (30, "denied a"), (7, "this"), (4, "that"), (15, "possessive")),
    ((20, "the"), (45, ""), (5, "these"), (4, "those"), (10, "possessive")),
    ((60, ""), (20, "the"), (10, "possessive")),
)
INNER = Determiners(
    ((60, "the"), (20, "a"), (20, "possessive")),
    ((30, "the"), (70, "")),
    ((75, ""), (25, "the")),
)
NEW_ON_STAGE = Determiners(
    ((80, "a"), (8, "one")),
    ((20, ""), (30, "numeral"), (20, "many"), (15, "some")),
    ((60, ""), (15, "some"), (20, "glass")),
)
DENIED_ON_STAGE = Determiners(((1, "denied a"),), ((1, ""),), ((1, ""),))
KNOWN_PLACE = Determiners(
    ((70, "the"), (6, "a"), (4, "this"), (2, "that"), (14, "possessive")), (), ()
)


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase: `heads` are its nouns' or pronouns' lemmas, `be` its form of "to be"."""

    english: English
    chinese: Chinese
    facts: tuple[str, ...]
    heads: tuple[str, ...]
    be: str
    has_relative: bool = False

    @property
    def third(self) -> bool:
        """Whether its verb ends in -s."""
        return self.be == "is"


def subject_pronoun(english: str) -> NounPhrase:
    be = {"I": "am", "he": "is", "she": "is", "it": "is"}.get(english, "are")
    chinese = SUBJECT_PRONOUNS.get(english, "它")
    phrase = simple(english, chinese)
    return NounPhrase(phrase.english, phrase.chinese, (), (english,), be)


def object_pronoun(english: str) -> NounPhrase:
    phrase = simple(english, OBJECT_PRONOUNS[english])
    return NounPhrase(phrase.english, phrase.chinese, (), (english,), "is")


def noun_phrase(
    chance: Chance,
    noun: Noun,
    determiners: Determiners,
    *,
    adjectives: float = 0.3,
    plural: float = 0.35,
    relative: Relative | None = None,
    may_be_unknown: bool = True,
    as_predicate: bool = False,
    not_of: str = "",
) -> NounPhrase:
    """A phrase around `noun`: plural and with an adjective with these probabilities.

    `as_predicate`: it stands after "are", where 们 is not said (他们 是 我 的 朋友).
    `not_of`: the pronoun of whom it shall not be ("I am my nurse").
    """
    many = bool(noun.plural) and chance.happens(plural)
    counted = bool(noun.measure)
    choices = determiners.plural if many else determiners.singular if counted else determiners.mass
    determiner = chance.weighted(*choices)
    if "kin" in noun.tags:
        determiner = "possessive"
    elif determiner == "possessive" and "unowned" in noun.tags:
        determiner = "the"
    clause = relative(chance, noun, many) if relative and determiner in WITH_RELATIVE else None
    if clause:
        adjectives /= 2
    described = noun_with_adjectives(chance, noun, many, adjectives, may_be_unknown)
    if determiner == "glass":
        return in_a_glass(chance, noun, described)
    noun_word = described.english[-1]
    measure = "" if many and determiner != "numeral" else described.measure
    if determiner == "possessive":
        before = possessive(chance.one_of([p for p in POSSESSIVES if p != OWN.get(not_of)]))
    else:
        before = determined(chance, determiner, described.english[0].text, measure, noun_word)
    chinese = before.chinese + (clause.chinese if clause else ()) + described.chinese
    if described.personal and many and determiner in ("the", "possessive") and not as_predicate:
        chinese += (("们", noun_word),)
    english = before.english + described.english + (clause.english if clause else ())
    facts = described.facts + (clause.facts if clause else ())
    be = "are" if many or "plural" in noun.tags else "is"
    return NounPhrase(english, chinese, facts, (described.lemma,), be, clause is not None)


@dataclass(frozen=True)
class Described:
    """A noun and its adjectives, and what the determiner must know of it."""

    english: English
    chinese: Chinese
    facts: tuple[str, ...]
    lemma: str
    measure: str
    personal: bool


def noun_with_adjectives(
    chance: Chance, noun: Noun, many: bool, probability: float, may_be_unknown: bool
) -> Described:
    shown = chance.known_or(noun, unknown_noun(noun)) if may_be_unknown else noun
    chosen = chosen_adjectives(chance, noun) if chance.happens(probability) else []
    if shown is not noun:
        chosen = [a for a in chosen if a.sort != "old"]
    english: English = ()
    chinese: Chinese = ()
    facts: list[str] = []
    for adjective in chosen:
        word = Word(adjective.en)
        facts.append(f"adjective:{adjective.en} {noun.en}")
        very = len(chosen) == 1 and adjective.sort != "colour" and chance.happens(0.08)
        if very:
            emphasis = simple("very", "非常")
            english += emphasis.english
            chinese += emphasis.chinese
        english += (word,)
        chinese += ((adjective.zh, word),)
        if very or len(adjective.zh) > 1:
            chinese += (("的", word),)
    word = Word(shown.plural if many else shown.en)
    return Described(
        (*english, word),
        (*chinese, (shown.zh, word)),
        tuple(facts),
        shown.en,
        shown.measure,
        "person" in shown.tags,
    )


def chosen_adjectives(chance: Chance, noun: Noun) -> list[Adjective]:
    """One adjective, sometimes with a colour behind it: 大 黑 猫, 漂亮 的 红 花."""
    fitting = adjectives_before(noun)
    if not fitting:
        return []
    first = chance.one_of(fitting)
    first = chance.known_or(first, unknown_adjective(first))
    may_join = first.sort == "size" or (first.sort in ("plain", "state") and len(first.zh) > 1)
    colours = [a for a in fitting if a.sort == "colour"]
    if may_join and colours and chance.happens(0.22):
        return [first, chance.one_of(colours)]
    return [first]


def determined(
    chance: Chance, determiner: str, next_word: str, measure: str, noun_word: Word
) -> Phrase:
    """The determiner, with the measure word that the noun asks for."""
    measured = tokens(measure, noun_word)
    if determiner == "":
        return Phrase()
    if determiner == "the":
        return Phrase((Word("the"),))
    if determiner in ("a", "denied a", "one"):
        article = Word("one" if determiner == "one" else article_before(next_word))
        chinese = () if determiner == "denied a" else tokens("一", article) + measured
        return Phrase((article,), chinese)
    if determiner in POINTING:
        phrase = simple(determiner, POINTING[determiner])
        return Phrase(phrase.english, phrase.chinese + measured)
    if determiner in POINTING_PLURAL:
        return simple(determiner, POINTING_PLURAL[determiner])
    if determiner == "numeral":
        numeral = chance.one_of(tuple(NUMERALS))
        phrase = simple(numeral, NUMERALS[numeral])
        return Phrase(phrase.english, phrase.chinese + measured)
    if determiner == "many":
        return simple("many", "很多")
    if determiner == "some":
        return simple("some", "一些")
    raise ValueError(f"there is no determiner {determiner!r}")


def possessive(owner: str) -> Phrase:
    return simple(owner, f"{POSSESSIVES[owner]} 的")


def article_before(next_word: str) -> str:
    return "an" if next_word[0] in "aeiou" else "a"


def in_a_glass(chance: Chance, noun: Noun, described: Described) -> NounPhrase:
    """ "a glass of water", "two cups of tea": 杯 is the measure word."""
    if "drink" not in noun.tags:
        chinese = described.chinese
        return NounPhrase(
            described.english, chinese, described.facts, (described.lemma,), be_of(noun)
        )
    vessel = "cup" if noun.en in ("tea", "coffee") else "glass"
    number = chance.weighted((60, "a"), (25, "two"), (15, "three"))
    many = number != "a"
    vessel_word = Word({"cup": "cups", "glass": "glasses"}[vessel] if many else vessel)
    count = simple(number, {"a": "一", **NUMERALS}[number])
    english = (*count.english, vessel_word, Word("of"), *described.english)
    chinese = (*count.chinese, ("杯", vessel_word), *described.chinese)
    return NounPhrase(
        english, chinese, described.facts, (described.lemma,), "are" if many else "is"
    )


def be_of(noun: Noun) -> str:
    return "are" if "plural" in noun.tags else "is"


def joined(left: NounPhrase, right: NounPhrase) -> NounPhrase:
    """ "the boy and the girl": 男孩 和 女孩."""
    link = simple("and", "和")
    return NounPhrase(
        left.english + link.english + right.english,
        left.chinese + link.chinese + right.chinese,
        left.facts + right.facts,
        left.heads + right.heads,
        "are",
    )
