"""Noun phrases and pronouns: determiner, adjectives before and after the noun, whose it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import (
    PERSONS,
    Adjective,
    Noun,
    adjectives_for,
    nouns_with,
    unknown_noun,
)
from model_core.training.tasks.en_fr.phrase import (
    English,
    French,
    Word,
    starts_with_vowel,
    tokens,
)

# English -> French, its person, "to be", and whether adjectives are feminine and plural.
SUBJECT_PRONOUNS = {
    "I": ("je", "je", "am", False, False),
    "you": ("tu", "tu", "are", False, False),
    "he": ("il", "il", "is", False, False),
    "she": ("elle", "il", "is", True, False),
    "we": ("nous", "nous", "are", False, True),
    "they": ("ils", "ils", "are", False, True),
}
OBJECT_PRONOUNS = {
    "me": "me",
    "you": "te",
    "him": "le",
    "her": "la",
    "us": "nous",
    "them": "les",
}
# "I see me" needs "myself", which is not in the vocabulary.
CLASHING = {
    "I": ("me", "us"),
    "you": ("you",),
    "he": ("him",),
    "she": ("her",),
    "we": ("us", "me"),
    "they": ("them",),
}
# Masculine, feminine and plural.
POSSESSIVES = {
    "my": ("mon", "ma", "mes"),
    "your": ("ton", "ta", "tes"),
    "his": ("son", "sa", "ses"),
    "her": ("son", "sa", "ses"),
    "our": ("notre", "notre", "nos"),
    "their": ("leur", "leur", "leurs"),
}
NUMERALS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq"}

Choices = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Determiners:
    """Weighted determiners for one place in a sentence; "" stands for none."""

    singular: Choices
    plural: Choices
    mass: Choices


SUBJECT = Determiners(
    ((50, "the"), (9, "a"), (9, "this"), (22, "possessive"), (6, "owned")),
    (
        *((38, "the"), (8, "general"), (8, "these"), (16, "possessive")),
        *((10, "numeral"), (7, "many"), (4, "some")),
    ),
    ((70, "the"), (20, "possessive"), (8, "this")),
)
# Questions are asked of somebody known.
ASKED = Determiners(
    ((55, "the"), (12, "this"), (28, "possessive"), (4, "owned")),
    ((55, "the"), (14, "these"), (30, "possessive")),
    ((70, "the"), (30, "possessive")),
)
OBJECT = Determiners(
    ((32, "the"), (36, "a"), (8, "this"), (18, "possessive"), (5, "owned")),
    (
        *((18, "the"), (34, ""), (7, "these"), (11, "possessive")),
        *((14, "numeral"), (9, "many"), (9, "some")),
    ),
    ((50, ""), (22, "the"), (18, "some"), (10, "possessive")),
)
# Of what is denied there is "de" and no number.
DENIED = Determiners(
    ((34, "the"), (40, "denied a"), (8, "this"), (16, "possessive")),
    ((22, "the"), (40, "denied"), (14, "denied any"), (8, "these"), (14, "possessive")),
    ((50, "denied"), (20, "denied any"), (20, "the"), (10, "possessive")),
)
# What is liked in general: "les pommes".
LIKED = Determiners(
    ((45, "the"), (18, "this"), (34, "possessive"), (8, "owned")),
    ((26, "the"), (50, "general"), (10, "these"), (14, "possessive")),
    ((66, "general"), (22, "the"), (12, "possessive")),
)
PLACE = Determiners(((72, "the"), (6, "a"), (6, "this"), (16, "possessive")), (), ())
COMPANY = Determiners(
    ((45, "the"), (15, "a"), (40, "possessive")),
    ((40, "the"), (15, "numeral"), (45, "possessive")),
    (),
)
ON_STAGE = Determiners(
    ((1, "a"),), ((25, ""), (40, "numeral"), (20, "many"), (15, "some")), ((60, ""), (40, "some"))
)
DENIED_ON_STAGE = Determiners(((1, "denied no"),), ((1, "denied no"),), ((1, "denied no"),))


class NounPhrase(NamedTuple):
    """A noun phrase: `heads` are its nouns' or pronouns' lemmas.

    person: the column of a verb's forms it takes; be: its form of "to be".
    """

    english: English
    french: French
    facts: tuple[str, ...]
    heads: tuple[str, ...]
    person: int = 2
    be: str = "is"
    feminine: bool = False
    plural: bool = False

    @property
    def third(self) -> bool:
        """Whether its verb ends in -s."""
        return self.be == "is"


def subject_pronoun(english: str) -> NounPhrase:
    french, person, be, feminine, plural = SUBJECT_PRONOUNS[english]
    word = Word(english)
    number = PERSONS.index(person)
    return NounPhrase((word,), ((french, word),), (), (english,), number, be, feminine, plural)


def noun_phrase(
    chance: Chance,
    noun: Noun,
    determiners: Determiners,
    *,
    adjectives: float = 0.32,
    plural: float = 0.35,
    may_be_unknown: bool = True,
) -> NounPhrase:
    """A phrase around `noun`: plural and with an adjective with these probabilities."""
    many = bool(noun.plural) and bool(determiners.plural) and chance.happens(plural)
    choices = (
        determiners.plural if many else determiners.singular if noun.plural else determiners.mass
    )
    determiner = chance.weighted(*choices)
    if "kin" in noun.tags and not determiner.startswith("denied no"):
        determiner = "possessive"
    elif "unowned" in noun.tags and determiner == "possessive":
        # "ma fille" is a daughter
        determiner = "these" if many else "the"
    shown = chance.known_or(noun, unknown_noun(noun)) if may_be_unknown else noun
    chosen = chosen_adjectives(chance, noun) if chance.happens(adjectives) else []
    word = Word(shown.plural if many else shown.en)
    nominal: French = ((shown.fr_plural if many else shown.fr, word),)
    english: English = (word,)
    # from the noun outwards, for what stands in front sees what it stands before
    for adjective in reversed(chosen):
        said = Word(adjective.en)
        english = (said, *english)
        form = adjective.form(shown.feminine, many)
        if not adjective.before:
            nominal = (*nominal, (form, said))
            continue
        if not (shown.feminine or many) and starts_with_vowel(nominal[0][0]):
            form = adjective.before_vowel
        nominal = ((form, said), *nominal)
    in_front = any(adjective.before for adjective in chosen)
    facts = tuple(f"adjective:{adjective.en} {noun.en}" for adjective in chosen)
    heads = (shown.en,)
    person, be = (4, "are") if many else (2, "is")
    if determiner == "owned":
        owner = owner_of(chance, noun)
        *rest, last = owner.english
        # the apostrophe is part of the word, which French tokens go on pointing at
        last.text += "'s"
        article = tokens("la" if shown.feminine else "le", last)
        french = (*article, *nominal, ("de", last), *owner.french)
        facts += owner.facts
        return NounPhrase(
            (*rest, last, *english), french, facts, heads, person, be, shown.feminine, many
        )
    before, article = determined(chance, determiner, english, shown, many, in_front)
    return NounPhrase(
        (*before, *english), article + nominal, facts, heads, person, be, shown.feminine, many
    )


def owner_of(chance: Chance, owned: Noun) -> NounPhrase:
    """Somebody whose thing it is; never his own."""
    people = [noun for noun in nouns_with("person") if noun.en != owned.en]
    whose = Determiners(((60, "the"), (40, "possessive")), (), ())
    owner = chance.one_of(people)
    return noun_phrase(chance, owner, whose, adjectives=0.0, plural=0.0, may_be_unknown=False)


def chosen_adjectives(chance: Chance, noun: Noun) -> list[Adjective]:
    """One adjective, sometimes one more that stands behind the noun: le petit chat noir."""
    fitting = adjectives_for(noun)
    if not fitting:
        return []
    first = chance.one_of(fitting)
    behind = [a for a in fitting if not a.before]
    if first.before and behind and chance.happens(0.22):
        return [first, chance.one_of(behind)]
    return [first]


def determined(
    chance: Chance, determiner: str, following: English, noun: Noun, many: bool, in_front: bool
) -> tuple[English, French]:
    """English and French determiner of a noun phrase.

    following: the English words behind it; in_front: an adjective stands before the French noun.
    """
    head = following[-1]
    definite = "les" if many else "la" if noun.feminine else "le"
    if determiner in ("", "some", "general", "denied"):
        said = (Word("some"),) if determiner == "some" else ()
        cause = said[0] if said else head
        if determiner == "denied":
            text = "de"
        elif determiner == "general":
            text = definite
        elif many:
            text = "de" if in_front else "des"
        else:
            text = f"de {definite}"
        return said, tokens(text, cause)
    if determiner in ("denied a", "denied any", "denied no"):
        article = Word(article_before(following) if determiner == "denied a" else determiner[7:])
        return (article,), (("de", article),)
    if determiner == "numeral":
        numeral = chance.one_of(tuple(NUMERALS))
        word, text = Word(numeral), NUMERALS[numeral]
    elif determiner == "possessive":
        owner = chance.one_of(tuple(POSSESSIVES))
        word, text = Word(owner), POSSESSIVES[owner][2 if many else int(noun.feminine)]
    else:
        word = Word(article_before(following) if determiner == "a" else determiner)
        text = {
            "the": definite,
            "a": "une" if noun.feminine else "un",
            "this": "cette" if noun.feminine else "ce",
            "these": "ces",
            "many": "beaucoup de",
        }[determiner]
    return (word,), tokens(text, word)


def article_before(following: English) -> str:
    return "an" if following[0].text[0] in "aeiou" else "a"


def joined(left: NounPhrase, right: NounPhrase) -> NounPhrase:
    """ "the boy and the girl": feminine only if both are."""
    link = Word("and")
    return NounPhrase(
        (*left.english, link, *right.english),
        (*left.french, ("et", link), *right.french),
        left.facts + right.facts,
        left.heads + right.heads,
        4,
        "are",
        left.feminine and right.feminine,
        True,
    )
