"""Sentences with a verb of doing: who does what, where and when."""

from __future__ import annotations

from functools import cache

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import Noun, Verb, nouns_with, unknown_verb, verbs
from model_core.training.tasks.en_zh.noun_phrases import (
    ASKED,
    CLASHING,
    DENIED,
    NEW_ON_STAGE,
    NUMERALS,
    OBJECT,
    OBJECT_PRONOUNS,
    SUBJECT,
    SUBJECT_PRONOUNS,
    Determiners,
    NounPhrase,
    Relative,
    joined,
    noun_phrase,
    object_pronoun,
    subject_pronoun,
)
from model_core.training.tasks.en_zh.phrase import Chinese, English, Phrase, Word, pair_of, simple
from model_core.training.tasks.en_zh.places import in_time, place_of_action, place_to_stay
from model_core.training.tasks.en_zh.relatives import relative_for
from model_core.training.tasks.en_zh.verb_phrases import Setting, setting_for, verb_parts

# Things without a measure word here: (English, Chinese).
NAMED = {
    "music": ("music", "音乐"),
    "football": ("football", "足球"),
    "television": ("TV", "电视"),
    "language": ("", ""),
}
MASCULINE = frozenset(("he", "boy", "man", "father"))
ARTICLES = ("a", "an", "the", "this", "that", "some", "many", *NUMERALS)
LANGUAGES = {"Chinese": "中文", "English": "英语"}


@cache
def transitive_verbs() -> tuple[Verb, ...]:
    """Those with an object; the "common" ones are there twice."""
    return tuple(v for v in verbs() if v.objects for _ in range(2 if "common" in v.flags else 1))


@cache
def intransitive_verbs() -> tuple[Verb, ...]:
    return tuple(v for v in verbs() if not v.objects and "seat" not in v.flags)


@cache
def seat_verbs() -> tuple[Verb, ...]:
    return tuple(v for v in verbs() if "seat" in v.flags)


def subject_of(
    chance: Chance, verb: Verb, *, extended: bool = True, asking: bool = False
) -> NounPhrase:
    """Somebody who may do it: a pronoun, a noun, a noun with a clause, or two nouns.

    `asking`: in a question, where nobody asks about "I".
    """
    personal = not {"person", "adult", "kid"}.isdisjoint(verb.subjects)
    beastly = "animal" in verb.subjects
    if personal and chance.happens(0.33):
        first = ("you", "you") if asking else ("I", "I", "we")
        return subject_pronoun(chance.one_of((*first, "you", "he", "she", "they")))
    if beastly and chance.happens(0.1):
        return subject_pronoun("it")
    nouns = nouns_with(*verb.subjects)
    noun = chance.one_of(nouns)
    if extended and chance.happens(0.07):
        if personal and chance.happens(0.25):
            friend = noun_phrase(chance, noun, SUBJECT, adjectives=0.1, plural=0.2)
            return joined(friend, subject_pronoun("I"))
        return pair_of_nouns(chance, noun, nouns, SUBJECT)
    relative: Relative | None = None
    if extended and chance.happens(0.1):
        relative = relative_for(chance, noun)
    determiners = ASKED if asking else SUBJECT
    return noun_phrase(
        chance,
        noun,
        determiners,
        plural=0.3,
        relative=relative,
        may_be_unknown="special" not in verb.flags,
    )


def pair_of_nouns(
    chance: Chance, noun: Noun, nouns: tuple[Noun, ...], determiners: Determiners
) -> NounPhrase:
    """ "the cat and my dog": two different nouns of one kind."""
    other = chance.one_of([other for other in nouns if other.en != noun.en])
    left = noun_phrase(chance, noun, determiners, adjectives=0.1, plural=0.25)
    right = noun_phrase(chance, other, determiners, adjectives=0.1, plural=0.25)
    return joined(left, right)


def named(kind: str, chance: Chance) -> NounPhrase:
    english, chinese = NAMED[kind]
    if kind == "language":
        english = chance.one_of(tuple(LANGUAGES))
        chinese = LANGUAGES[english]
    *articles, noun = (Word(part) for part in english.split())
    return NounPhrase((*articles, noun), ((chinese, noun),), (), (noun.text,), "is")


def other_pronoun(chance: Chance, subject: NounPhrase, *, persons_only: bool = False) -> NounPhrase:
    """ "me", "him", …, but not the subject itself."""
    clashing = {word for head in subject.heads for word in CLASHING.get(head, ())}
    if persons_only:
        clashing.add("it")
    return object_pronoun(chance.one_of([p for p in OBJECT_PRONOUNS if p not in clashing]))


def object_of(
    chance: Chance,
    verb: Verb,
    subject: NounPhrase,
    determiners: Determiners = OBJECT,
    *,
    extended: bool = True,
) -> NounPhrase:
    """Somebody or something to which the subject may do it."""
    kind = chance.one_of(verb.objects)
    if kind in ("pronoun", "somebody"):
        return other_pronoun(chance, subject, persons_only=kind == "somebody")
    if kind in NAMED:
        return named(kind, chance)
    nouns = tuple(n for n in nouns_with(kind) if n.en not in subject.heads)
    if not MASCULINE.isdisjoint(subject.heads) and "clothes" in verb.objects:
        nouns = tuple(n for n in nouns if n.en != "dress")
    if not nouns:
        return object_of(chance, verb, subject, determiners, extended=extended)
    noun = chance.one_of(nouns)
    countable = bool(noun.measure)
    if extended and countable and len(nouns) > 1 and chance.happens(0.05):
        return pair_of_nouns(chance, noun, nouns, determiners)
    relative: Relative | None = None
    if extended and countable and chance.happens(0.07):
        relative = relative_for(chance, noun)
    return noun_phrase(
        chance,
        noun,
        determiners,
        plural=0.42,
        relative=relative,
        may_be_unknown="special" not in verb.flags,
    )


def triples(subject: NounPhrase, verb: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Who does what to whom, as facts: one for each subject and each object."""
    return tuple(f"triple:{s}/{verb}/{o}" for s in subject.heads for o in others)


def place_facts(subject: NounPhrase, verb: str, place: Phrase) -> tuple[str, ...]:
    where = tuple(fact.removeprefix("place:") for fact in place.facts if fact.startswith("place:"))
    return triples(subject, verb, where)


def shown_facts(*parts: tuple[str, ...]) -> tuple[str, ...]:
    """The facts that splits are kept apart by; the bare places are no such fact."""
    return tuple(fact for part in parts for fact in part if not fact.startswith("place:"))


def timed(
    chance: Chance, setting: Setting, english: English, chinese: Chinese, *, front: float = 0.3
) -> tuple[English, Chinese]:
    """The sentence with its time phrase: at either end in English, in front in Chinese."""
    if setting.time is None:
        return english, chinese
    time = in_time(setting.time)
    first = chance.happens(front)
    english = time.english + english if first else english + time.english
    return english, time.chinese + chinese


def transitive(chance: Chance) -> Pair:
    """ "yesterday the girl ate a red apple in the garden"."""
    verb = chance.one_of(transitive_verbs())
    subject = subject_of(chance, verb)
    verb = chance.known_or(verb, unknown_verb(verb))
    setting = setting_for(chance, verb, subject.third)
    determiners = DENIED if setting.negated else NEW_ON_STAGE if "have" in verb.flags else OBJECT
    thing = object_of(chance, verb, subject, determiners, extended=not subject.has_relative)
    place = Phrase()
    crowded = subject.has_relative or thing.has_relative or len(thing.heads) > 1
    if "stative" not in verb.flags and "here" not in verb.flags and not crowded:
        place = place_of_action(chance, verb, subject.heads) if chance.happens(0.2) else place
    parts = verb_parts(chance, verb, subject.be, setting)
    preposition = tuple(Word(word) for word in verb.preposition.split())
    english = (
        *subject.english,
        *parts.auxiliary,
        *parts.main,
        *preposition,
        *thing.english,
        *place.english,
    )
    where = place.chinese[1:] if parts.at_is_said else place.chinese
    chinese = subject.chinese + parts.before + where + parts.verb + parts.after + thing.chinese
    front = 1.0 if thing.has_relative else 0.3
    english, chinese = timed(chance, setting, english, chinese, front=front)
    facts = shown_facts(
        triples(subject, verb.en, thing.heads), subject.facts, thing.facts, place.facts
    )
    return pair_of(english, chinese, f"transitive {setting.kind}", facts)


@cache
def verbs_for_pronouns() -> tuple[Verb, ...]:
    wanted = {"pronoun", "somebody"}
    return tuple(v for v in transitive_verbs() if not wanted.isdisjoint(v.objects))


def with_pronoun(chance: Chance) -> Pair:
    """ "he likes her", "the cat did not see me": short, and the first things people type."""
    verb = chance.one_of(verbs_for_pronouns())
    subject = subject_of(chance, verb, extended=False)
    if "person" in verb.subjects and chance.happens(0.5):
        subject = subject_pronoun(chance.one_of(tuple(SUBJECT_PRONOUNS)))
    setting = setting_for(chance, verb, subject.third)
    thing = other_pronoun(chance, subject, persons_only="somebody" in verb.objects)
    parts = verb_parts(chance, verb, subject.be, setting)
    preposition = tuple(Word(word) for word in verb.preposition.split())
    english = subject.english + parts.auxiliary + parts.main + preposition + thing.english
    chinese = subject.chinese + parts.before + parts.verb + parts.after + thing.chinese
    english, chinese = timed(chance, setting, english, chinese)
    facts = shown_facts(triples(subject, verb.en, thing.heads), subject.facts)
    return pair_of(english, chinese, f"pronoun {setting.kind}", facts)


def intransitive(chance: Chance) -> Pair:
    """ "the black cat sleeps on the table today"."""
    verb = chance.one_of(intransitive_verbs())
    subject = subject_of(chance, verb)
    verb = chance.known_or(verb, unknown_verb(verb))
    setting = setting_for(chance, verb, subject.third)
    place = Phrase()
    if not subject.has_relative and chance.happens(0.5):
        place = place_of_action(chance, verb, subject.heads)
    parts = verb_parts(chance, verb, subject.be, setting)
    english = subject.english + parts.auxiliary + parts.main + place.english
    where = place.chinese[1:] if parts.at_is_said else place.chinese
    chinese = subject.chinese + parts.before + where + parts.verb + parts.after
    english, chinese = timed(chance, setting, english, chinese)
    facts = shown_facts(place_facts(subject, verb.en, place), subject.facts, place.facts)
    return pair_of(english, chinese, f"intransitive {setting.kind}", facts)


def seated(chance: Chance) -> Pair:
    """ "the cat sits on the chair": in Chinese, too, the place follows the verb (坐 在 椅子 上)."""
    verb = chance.one_of(seat_verbs())
    subject = subject_of(chance, verb)
    setting = setting_for(chance, verb, subject.third)
    place = place_to_stay(chance, verb, subject.heads)
    if setting.tense == "present" and chance.happens(0.35):
        return sitting(chance, verb, subject, place)
    parts = verb_parts(chance, verb, subject.be, setting)
    english = subject.english + parts.auxiliary + parts.main + place.english
    chinese = subject.chinese + parts.before + parts.verb + place.chinese
    english, chinese = timed(chance, setting, english, chinese)
    facts = shown_facts(place_facts(subject, verb.en, place), subject.facts, place.facts)
    return pair_of(english, chinese, f"seated {setting.kind}", facts)


def sitting(chance: Chance, verb: Verb, subject: NounPhrase, place: Phrase) -> Pair:
    """ "is sitting on the chair" is 坐 在 椅子 上 as well, without 正在."""
    be, word = Word(subject.be), Word(verb.ing)
    english = (*subject.english, be, word, *place.english)
    chinese = (*subject.chinese, (verb.zh, word), *place.chinese)
    facts = shown_facts(place_facts(subject, verb.en, place), subject.facts, place.facts)
    return pair_of(english, chinese, "seated now", facts)


def going(chance: Chance) -> Pair:
    """ "she went to the park yesterday", "I go home every day"."""
    verb = GO
    subject = subject_of(chance, verb)
    setting = setting_for(chance, verb, subject.third)
    parts = verb_parts(chance, verb, subject.be, setting)
    english = subject.english + parts.auxiliary + parts.main
    chinese = subject.chinese + parts.before
    if chance.happens(0.2):
        home = simple("home", "家")
        english += home.english
        chinese += (("回", parts.main[-1]), *home.chinese, *parts.after)
        facts = triples(subject, "go", ("home",))
    elif chance.happens(0.2):
        to, school = Word("to"), Word("school")
        english += (to, school)
        chinese += (*parts.verb, *parts.after, ("学校", school))
        facts = triples(subject, "go", ("school",))
    else:
        noun = chance.one_of([n for n in nouns_with("place") if n.en != "house"])
        place = noun_phrase(chance, noun, GOALS, adjectives=0.18, plural=0.0)
        english += (Word("to"), *place.english)
        chinese += (*parts.verb, *parts.after, *place.chinese)
        facts = triples(subject, "go", place.heads) + place.facts
    english, chinese = timed(chance, setting, english, chinese)
    facts = shown_facts(facts, subject.facts)
    return pair_of(english, chinese, f"going {setting.kind}", facts)


def giving(chance: Chance) -> Pair:
    """ "the teacher gave me a book", "she gives a book to her friend": 给 me the book."""
    subject = subject_of(chance, GIVE, extended=False)
    setting = setting_for(chance, GIVE, subject.third)
    parts = verb_parts(chance, GIVE, subject.be, setting)
    if chance.happens(0.5):
        receiver = other_pronoun(chance, subject)
    else:
        nouns = [n for n in nouns_with("person", "pet") if n.en not in subject.heads]
        receiver = noun_phrase(chance, chance.one_of(nouns), RECEIVERS, adjectives=0.1, plural=0.2)
    gift = object_of(chance, GIVE, subject, NOT_HERS if setting.negated else HANDED, extended=False)
    # "gave her white dresses" may as well mean that they are hers
    two_ways = receiver.heads == ("her",) and gift.english[0].text not in ARTICLES
    if two_ways or chance.happens(0.4):
        whole = (*gift.english, Word("to"), *receiver.english)
    else:
        whole = receiver.english + gift.english
    english = subject.english + parts.auxiliary + parts.main + whole
    chinese = (
        subject.chinese + parts.before + parts.verb + parts.after + receiver.chinese + gift.chinese
    )
    english, chinese = timed(chance, setting, english, chinese)
    facts = shown_facts(
        triples(subject, "give", gift.heads), subject.facts, receiver.facts, gift.facts
    )
    return pair_of(english, chinese, f"giving {setting.kind}", facts)


GO = Verb("go", "goes", "went", "going", "去", ("person",), (), "", frozenset())
GIVE = Verb(
    "give",
    "gives",
    "gave",
    "giving",
    "给",
    ("person",),
    ("present", "present", "food", "drink"),
    "",
    frozenset(),
)
GOALS = Determiners(((70, "the"), (8, "a"), (4, "this"), (14, "possessive")), (), ())
# "gives you your hat" would stutter in Chinese: 给 你 你 的 帽子.
HANDED = Determiners(
    ((36, "the"), (50, "a"), (8, "this"), (6, "that")),
    ((20, "the"), (40, ""), (25, "numeral"), (8, "some"), (7, "many")),
    ((50, ""), (10, "the"), (10, "some"), (30, "glass")),
)
NOT_HERS = Determiners(
    ((55, "the"), (45, "denied a")), ((35, "the"), (65, "")), ((75, ""), (25, "the"))
)
RECEIVERS = Determiners(((60, "the"), (40, "possessive")), ((60, "the"), (40, "possessive")), ())
