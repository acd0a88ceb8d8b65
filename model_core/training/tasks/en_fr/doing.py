"""Sentences and questions about what somebody does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import Noun, Verb, nouns_with, verbs
from model_core.training.tasks.en_fr.noun_phrases import (
    ASKED,
    CLASHING,
    DENIED,
    LIKED,
    OBJECT,
    OBJECT_PRONOUNS,
    PLACE,
    SUBJECT,
    SUBJECT_PRONOUNS,
    Determiners,
    NounPhrase,
    joined,
    noun_phrase,
    subject_pronoun,
)
from model_core.training.tasks.en_fr.phrase import Word, pair_of, tokens, words
from model_core.training.tasks.en_fr.places import Where, place_of_action
from model_core.training.tasks.en_fr.verb_groups import (
    BE,
    GO,
    Setting,
    around,
    denied,
    in_time,
    setting_for,
    time_for,
    timed,
    verb_group,
)

WENT = {"present": "go", "past": "went"}


@cache
def transitive_verbs() -> tuple[Verb, ...]:
    return tuple(verb for verb in verbs() if verb.objects)


@cache
def intransitive_verbs() -> tuple[Verb, ...]:
    return tuple(verb for verb in verbs() if not verb.objects)


@cache
def verbs_for_pronouns() -> tuple[Verb, ...]:
    return tuple(verb for verb in verbs() if "pronoun" in verb.objects)


def subject_of(chance: Chance, verb: Verb, determiners: Determiners = SUBJECT) -> NounPhrase:
    """Somebody who can do it."""
    if "person" in verb.subjects and chance.happens(0.4):
        # I and you are what people type first
        return subject_pronoun(chance.one_of((*SUBJECT_PRONOUNS, "I", "you")))
    nouns = nouns_with(*verb.subjects)
    noun = chance.one_of(nouns)
    phrase = noun_phrase(chance, noun, determiners, adjectives=0.25, plural=0.3)
    if determiners is SUBJECT and chance.happens(0.06):
        other = chance.one_of([other for other in nouns if other.en != noun.en])
        return joined(phrase, noun_phrase(chance, other, ASKED, adjectives=0.1, plural=0.2))
    return phrase


@cache
def askers() -> tuple[Verb, ...]:
    return tuple(verb for verb in verbs() if "person" in verb.subjects)


def things_for(verb: Verb, subject: NounPhrase) -> tuple[Noun, ...]:
    return things_but(verb, subject.heads, subject.feminine)


@lru_cache(4096)
def things_but(verb: Verb, heads: tuple[str, ...], feminine: bool) -> tuple[Noun, ...]:
    """What one can do it to, but for oneself."""
    kinds = tuple(kind for kind in verb.objects if kind != "pronoun")
    found = tuple(noun for noun in nouns_with(*kinds) if noun.en not in heads)
    if verb.infinitive == "porter" and not feminine:
        return tuple(noun for noun in found if noun.en != "dress")
    return found


def triples(subject: NounPhrase, verb: str, *things: str) -> tuple[str, ...]:
    """Who does what to whom, as facts."""
    return tuple(f"triple:{s}/{verb}/{thing}" for s in subject.heads for thing in things if thing)


def transitive(chance: Chance) -> Pair:
    """ "yesterday the girl ate a red apple in the garden"."""
    verb = chance.one_of(transitive_verbs())
    subject = subject_of(chance, verb)
    setting = setting_for(chance, verb, subject)
    group = verb_group(chance, verb, subject, setting)
    determiners = LIKED if verb.liking else DENIED if setting.negated else OBJECT
    thing = noun_phrase(chance, chance.one_of(things_for(verb, subject)), determiners, plural=0.42)
    place = Where()
    if verb.ing and chance.happens(0.16):
        place = place_of_action(chance, (*subject.heads, *thing.heads))
    english = (
        *subject.english,
        *group.english,
        *group.particle,
        *thing.english,
        *place.english,
    )
    french = subject.french + group.french + thing.french + place.french
    english, french = timed(chance, setting, english, french)
    facts = (
        *triples(subject, verb.en, *thing.heads),
        *subject.facts,
        *thing.facts,
        *place.facts,
    )
    return pair_of(english, french, f"transitive {setting.kind}", facts)


def with_pronoun(chance: Chance) -> Pair:
    """ "I love you": the pronoun stands in front of the verb, je t'aime."""
    verb = chance.one_of(verbs_for_pronouns())
    subject = subject_of(chance, verb)
    clashing = {word for head in subject.heads for word in CLASHING.get(head, ())}
    pronoun = chance.one_of([p for p in OBJECT_PRONOUNS if p not in clashing])
    setting = setting_for(chance, verb, subject, pronoun=True)
    group = verb_group(chance, verb, subject, setting, pronoun)
    english = subject.english + group.english + group.particle
    english, french = timed(chance, setting, english, subject.french + group.french)
    facts = (*triples(subject, verb.en, pronoun), *subject.facts)
    return pair_of(english, french, f"pronoun {setting.kind}", facts)


def intransitive(chance: Chance) -> Pair:
    """ "the black cat sleeps in the garden today"."""
    verb = chance.one_of(intransitive_verbs())
    subject = subject_of(chance, verb)
    setting = setting_for(chance, verb, subject)
    group = verb_group(chance, verb, subject, setting)
    place = place_of_action(chance, subject.heads) if chance.happens(0.55) else Where()
    english = subject.english + group.english + place.english
    french = subject.french + group.french + place.french
    english, french = timed(chance, setting, english, french)
    facts = (*triples(subject, verb.en, place.place), *subject.facts, *place.facts)
    return pair_of(english, french, f"intransitive {setting.kind}", facts)


WALKERS = replace(verbs()[0], subjects=("person",))


def going(chance: Chance) -> Pair:
    """ "she went to the market yesterday": elle est allée, the participle agrees."""
    subject = subject_of(chance, WALKERS)
    tense = chance.weighted((45, "present"), (20, "now"), (20, "past"), (15, "future"))
    negated = chance.happens(0.2)
    setting = Setting(tense, negated, time_for(chance, tense, 0.3))
    person, third = subject.person, subject.third
    verb = Word("go")
    no: Word | None = None
    if tense in ("now", "future"):
        auxiliary = subject.be if tense == "now" else "will"
        english, no = denied(chance, auxiliary, negated)
        verb = Word("going") if tense == "now" else verb
        english = (*english, verb)
    elif negated:
        do = "did" if tense == "past" else "does" if third else "do"
        english, no = denied(chance, do, True)
        english = (*english, verb)
    else:
        verb = Word("goes" if third and tense == "present" else WENT[tense])
        english = (verb,)
    if tense == "past":
        participle = f"allé{'e' if subject.feminine else ''}{'s' if subject.plural else ''}"
        french = (*around((BE[person], verb), (), no), (participle, verb))
    elif tense == "future":
        french = (*around((GO[person], english[0]), (), no), ("aller", verb))
    else:
        french = around((GO[person], verb), (), no)
    if chance.happens(0.15):
        home = Word("home")
        place = Where((home,), tokens("à la maison", home), (), "home")
    else:
        goal = noun_phrase(
            chance, chance.one_of(nouns_with("goal", "park")), PLACE, adjectives=0.18, plural=0.2
        )
        to = Word("to")
        place = Where(
            (to, *goal.english), (("à", to), *goal.french), goal.facts, f"to {goal.heads[0]}"
        )
    english = (*subject.english, *english, *place.english)
    french = subject.french + french + place.french
    english, french = timed(chance, setting, english, french)
    facts = (*triples(subject, "go", place.place), *subject.facts, *place.facts)
    return pair_of(english, french, f"going {setting.kind}", facts)


def whether_done(chance: Chance) -> Pair:
    """ "does the girl like apples": est-ce que la fille aime les pommes."""
    verb = chance.one_of(verbs())
    subject = subject_of(chance, verb, ASKED)
    setting = Setting("present", False, time_for(chance, "present", 0.15))
    if not verb.participle:
        setting = Setting("present")
    do = Word("does" if subject.third else "do")
    bare = words(verb.en)
    english = (do, *subject.english, *bare)
    french = (
        *(("est-ce", do), ("que", do)),
        *subject.french,
        (verb.forms[subject.person], bare[0]),
    )
    facts = subject.facts
    if verb.objects:
        noun = chance.one_of(things_for(verb, subject))
        thing = noun_phrase(chance, noun, LIKED if verb.liking else OBJECT, plural=0.42)
        english, french = english + thing.english, french + thing.french
        facts = (*triples(subject, verb.en, *thing.heads), *facts, *thing.facts)
    if setting.time is not None:
        time, temps = in_time(setting.time)
        english, french = english + time, french + temps
    return pair_of(english, french, "question present", facts)


def what(chance: Chance) -> Pair:
    """ "what does the boy eat": qu'est-ce que le garçon mange."""
    verb = chance.one_of(transitive_verbs())
    subject = subject_of(chance, verb, ASKED)
    asks, do = Word("what"), Word("does" if subject.third else "do")
    bare = words(verb.en)
    english = (asks, do, *subject.english, *bare)
    french = (
        *(("que", asks), ("est-ce", asks), ("que", do)),
        *subject.french,
        (verb.forms[subject.person], bare[0]),
    )
    return pair_of(english, french, "question what", subject.facts)


def who(chance: Chance) -> Pair:
    """ "who eats the apple": qui mange la pomme."""
    verb = chance.one_of(askers())
    asks = Word("who")
    nobody = NounPhrase((asks,), (("qui", asks),), (), ("who",))
    setting = Setting("present")
    group = verb_group(chance, verb, nobody, setting)
    english = (asks, *group.english, *group.particle)
    french = nobody.french + group.french
    facts: tuple[str, ...] = ()
    if verb.objects:
        noun = chance.one_of(things_for(verb, nobody))
        thing = noun_phrase(chance, noun, LIKED if verb.liking else OBJECT, plural=0.42)
        english, french = english + thing.english, french + thing.french
        facts = (*triples(nobody, verb.en, *thing.heads), *thing.facts)
    return pair_of(english, french, "question who", facts)
