"""Questions: 吗 at the end, and question words that stay where the answer would stand."""

from __future__ import annotations

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.actions import (
    intransitive_verbs,
    object_of,
    place_facts,
    seat_verbs,
    shown_facts,
    subject_of,
    transitive_verbs,
    triples,
)
from model_core.training.tasks.en_zh.being import (
    adjectives_of_pronoun,
    describable,
    pointing,
    said_of,
)
from model_core.training.tasks.en_zh.lexicon import (
    Verb,
    nouns_with,
    unknown_adjective,
)
from model_core.training.tasks.en_zh.noun_phrases import (
    DENIED,
    OBJECT,
    SUBJECT_PRONOUNS,
    Determiners,
    NounPhrase,
    noun_phrase,
    subject_pronoun,
)
from model_core.training.tasks.en_zh.phrase import Phrase, Word, pair_of, tokens
from model_core.training.tasks.en_zh.places import place_of_action
from model_core.training.tasks.en_zh.verb_phrases import MODALS
from model_core.training.tasks.en_zh.whereabouts import LOCATED, somewhere


def asker_verbs(kind: str) -> tuple[Verb, ...]:
    found = transitive_verbs() if kind == "transitive" else intransitive_verbs()
    return tuple(v for v in found if "result" not in v.flags)


def auxiliary_for(chance: Chance, verb: Verb, third: bool) -> tuple[str, str, bool]:
    """(English auxiliary, Chinese before the verb, past)."""
    choices = [(50.0, "does" if third else "do"), (10.0, "will")]
    if "stative" not in verb.flags:
        choices += [(22.0, "did"), (14.0, "can")]
    auxiliary = chance.weighted(*choices)
    skilled = auxiliary == "can" and "skill" in verb.flags
    chinese = {"will": "会", "can": "会" if skilled else MODALS["can"]}.get(auxiliary, "")
    return auxiliary, chinese, auxiliary == "did"


def whether_done(chance: Chance) -> Pair:
    """ "do you like cats", "did she sing": … 吗."""
    kind = chance.weighted((60, "transitive"), (40, "intransitive"))
    verb = chance.one_of(asker_verbs(kind))
    subject = subject_of(chance, verb, extended=False, asking=True)
    english_aux, chinese_aux, past = auxiliary_for(chance, verb, subject.third)
    auxiliary, word = Word(english_aux), Word(verb.en)
    before = tokens(chinese_aux, auxiliary)
    after = tokens("了", word) if past and "no_le" not in verb.flags else ()
    verb_chinese = tokens(verb.zh, word)
    if kind == "transitive":
        choices = DENIED if "have" in verb.flags else OBJECT
        thing = object_of(chance, verb, subject, choices, extended=False)
        preposition = tuple(Word(w) for w in verb.preposition.split())
        english = (auxiliary, *subject.english, word, *preposition, *thing.english)
        chinese = subject.chinese + before + verb_chinese + after + thing.chinese
        facts = shown_facts(triples(subject, verb.en, thing.heads), subject.facts, thing.facts)
    else:
        place = place_of_action(chance, verb, subject.heads) if chance.happens(0.4) else Phrase()
        english = (auxiliary, *subject.english, word, *place.english)
        chinese = subject.chinese + before + place.chinese + verb_chinese + after
        facts = shown_facts(place_facts(subject, verb.en, place), subject.facts, place.facts)
    chinese += (("吗", auxiliary),)
    return pair_of(english, chinese, f"question {english_aux}", facts)


def whether_doing(chance: Chance) -> Pair:
    """ "is the cat sleeping": 猫 正在 睡觉 吗."""
    verbs = [v for v in asker_verbs("intransitive") + asker_verbs("transitive") if v.ing]
    verb = chance.one_of([v for v in verbs if "lasting" not in v.flags])
    subject = subject_of(chance, verb, extended=False, asking=True)
    be, word = Word(subject.be), Word(verb.ing)
    english = (be, *subject.english, word)
    chinese = (*subject.chinese, ("正在", be), *tokens(verb.zh, word))
    facts = subject.facts
    if verb.objects:
        thing = object_of(chance, verb, subject, OBJECT, extended=False)
        english += (*(Word(w) for w in verb.preposition.split()), *thing.english)
        chinese += thing.chinese
        facts += triples(subject, verb.en, thing.heads) + thing.facts
    chinese += (("吗", be),)
    return pair_of(english, chinese, "question doing", shown_facts(facts))


def whether_being(chance: Chance) -> Pair:
    """ "are you tired", "is she a teacher", "is the cat in the garden"."""
    kind = chance.weighted((45, "quality"), (30, "identity"), (25, "location"))
    if kind == "quality":
        return whether_so(chance)
    if kind == "identity":
        subject = asked(chance)
        noun = chance.one_of(
            nouns_with("job", "friend")
            if subject.heads[0] in SUBJECT_PRONOUNS
            else nouns_with("animal", "thing", "food")
        )
        plural = 1.0 if subject.be == "are" and subject.heads[0] != "you" else 0.0
        what = noun_phrase(
            chance,
            noun,
            DENIED_WHAT,
            adjectives=0.2,
            plural=plural,
            may_be_unknown=bool(noun.measure) and not plural,
            as_predicate=True,
            not_of=subject.heads[0],
        )
        be = Word(subject.be)
        english = (be, *subject.english, *what.english)
        chinese = (*subject.chinese, ("是", be), *what.chinese, ("吗", be))
        facts = shown_facts(triples(subject, "be", what.heads), what.facts)
        return pair_of(english, chinese, "question identity", facts)
    noun = chance.one_of(nouns_with("person", "animal", "thing"))
    subject = noun_phrase(chance, noun, LOCATED, adjectives=0.15)
    if "person" in noun.tags and chance.happens(0.5):
        subject = subject_pronoun(chance.one_of(("you", "he", "she", "they")))
    place = somewhere(chance, noun)
    be = Word(subject.be)
    english = (be, *subject.english, *place.english)
    chinese = (*subject.chinese, *place.chinese, ("吗", be))
    facts = shown_facts(place_facts(subject, "be", place), subject.facts, place.facts)
    return pair_of(english, chinese, "question location", facts)


DENIED_WHAT = Determiners(
    ((60, "denied a"), (40, "possessive")), ((55, ""), (45, "possessive")), ()
)


def asked(chance: Chance) -> NounPhrase:
    if chance.happens(0.6):
        return subject_pronoun(chance.one_of(("you", "he", "she", "they")))
    return pointing(chance.one_of(("this", "that", "these", "those", "it")))


def whether_so(chance: Chance) -> Pair:
    """ "are you tired": 你 累 吗, without 很; "is the car red": 汽车 是 红色 的 吗."""
    if chance.happens(0.5):
        pronoun = chance.one_of(("you", "you", "he", "she", "they", "it"))
        subject = subject_pronoun(pronoun)
        adjective = chance.one_of(adjectives_of_pronoun(pronoun))
        described: tuple[str, ...] = ()
    else:
        noun = chance.one_of(describable())
        adjective = said_of(chance, noun)
        described = (f"adjective:{adjective.en} {noun.en}",)
        known = adjective.sort == "old"
        subject = noun_phrase(chance, noun, LOCATED, adjectives=0.0, may_be_unknown=not known)
    adjective = chance.known_or(adjective, unknown_adjective(adjective))
    be, word = Word(subject.be), Word(adjective.en)
    english = (be, *subject.english, word)
    chinese = subject.chinese
    if adjective.sort == "colour":
        chinese += (("是", be), (adjective.predicate, word), ("的", word))
    else:
        chinese += ((adjective.predicate, word),)
    chinese += (("吗", be),)
    facts = shown_facts(triples(subject, "be", (adjective.en,)), subject.facts, described)
    return pair_of(english, chinese, "question quality", facts)


def where(chance: Chance) -> Pair:
    """ "where is my cat": 我 的 猫 在 哪里; "where do you live": 你 住 在 哪里."""
    question = Word("where")
    if chance.happens(0.55):
        noun = chance.one_of(nouns_with("person", "animal", "thing", "building"))
        subject = noun_phrase(chance, noun, LOCATED, adjectives=0.2)
        if "person" in noun.tags and chance.happens(0.5):
            subject = subject_pronoun(chance.one_of(("you", "he", "she", "they")))
        be = Word(subject.be)
        english = (question, be, *subject.english)
        chinese = (*subject.chinese, ("在", be), ("哪里", question))
        return pair_of(english, chinese, "question where is", shown_facts(subject.facts))
    verb = chance.one_of((*intransitive_verbs(), *seat_verbs()))
    subject = subject_of(chance, verb, extended=False, asking=True)
    auxiliary, word = Word("does" if subject.third else "do"), Word(verb.en)
    english = (question, auxiliary, *subject.english, word)
    spot = (("在", question), ("哪里", question))
    if "seat" in verb.flags:
        chinese = (*subject.chinese, *tokens(verb.zh, word), *spot)
    else:
        chinese = (*subject.chinese, *spot, *tokens(verb.zh, word))
    return pair_of(english, chinese, "question where does", shown_facts(subject.facts))


ASKED_THINGS = ("eat", "drink", "buy", "sell", "like", "want", "need", "read", "write", "draw")


def what(chance: Chance) -> Pair:
    """ "what does the cat eat": 猫 吃 什么; "what is this"; "what is on the table"."""
    question = Word("what")
    if chance.happens(0.12):
        place = somewhere(chance, chance.one_of(nouns_with("thing", "animal")))
        be = Word("is")
        chinese = (*place.chinese[1:], ("有", be), ("什么", question))
        facts = shown_facts(place.facts)
        return pair_of((question, be, *place.english), chinese, "question what is where", facts)
    if chance.happens(0.12):
        subject = pointing(chance.one_of(("this", "that", "these", "those")))
        be = Word(subject.be)
        chinese = (*subject.chinese, ("是", be), ("什么", question))
        return pair_of((question, be, *subject.english), chinese, "question what is")
    verbs = [
        v for v in transitive_verbs() if v.en in ASKED_THINGS and v.flags.isdisjoint(("special",))
    ]
    verb = chance.one_of(verbs)
    subject = subject_of(chance, verb, extended=False, asking=True)
    form = chance.weighted((50, "do"), (25, "did"), (25, "doing" if verb.ing else "do"))
    if "stative" in verb.flags:
        form = "do"
    after: tuple[tuple[str, Word | None], ...] = ()
    before = after
    if form == "doing":
        auxiliary, word = Word(subject.be), Word(verb.ing)
        before = (("正在", auxiliary),)
    else:
        auxiliary = Word("did" if form == "did" else "does" if subject.third else "do")
        word = Word(verb.en)
        after = (("了", word),) if form == "did" else ()
    english = (question, auxiliary, *subject.english, word)
    chinese = (*subject.chinese, *before, *tokens(verb.zh, word), *after, ("什么", question))
    return pair_of(english, chinese, f"question what {form}", shown_facts(subject.facts))


def who(chance: Chance) -> Pair:
    """ "who likes cats": 谁 喜欢 猫; "who is he": 他 是 谁; "who is in the garden"."""
    question = Word("who")
    if chance.happens(0.12):
        place = somewhere(chance, chance.one_of(nouns_with("person")))
        chinese = (("谁", question), *place.chinese)
        facts = shown_facts(place.facts)
        return pair_of(
            (question, Word("is"), *place.english), chinese, "question who is where", facts
        )
    if chance.happens(0.25):
        subject = asked_person(chance)
        be = Word(subject.be)
        chinese = (*subject.chinese, ("是", be), ("谁", question))
        facts = shown_facts(subject.facts)
        return pair_of((question, be, *subject.english), chinese, "question who is", facts)
    someone = NounPhrase((question,), (("谁", question),), (), ("who",), "is")
    verb = chance.one_of([v for v in asker_verbs("transitive") if "person" in v.subjects])
    past = chance.happens(0.35) and "stative" not in verb.flags
    thing = object_of(chance, verb, someone, OBJECT, extended=False)
    word = Word(verb.past if past else verb.third)
    preposition = tuple(Word(w) for w in verb.preposition.split())
    after = tokens("了", word) if past and "no_le" not in verb.flags else ()
    english = (question, word, *preposition, *thing.english)
    chinese = someone.chinese + tokens(verb.zh, word) + after + thing.chinese
    facts = shown_facts(triples(someone, verb.en, thing.heads), thing.facts)
    return pair_of(english, chinese, "question who does", facts)


def how(chance: Chance) -> Pair:
    """ "how are you": 你 好 吗."""
    subject = asked_person(chance)
    question, be = Word("how"), Word(subject.be)
    chinese = (*subject.chinese, ("好", question), ("吗", be))
    facts = shown_facts(subject.facts)
    return pair_of((question, be, *subject.english), chinese, "question how", facts)


def asked_person(chance: Chance) -> NounPhrase:
    if chance.happens(0.5):
        return subject_pronoun(chance.one_of(("you", "he", "she", "they")))
    noun = chance.one_of(nouns_with("adult", "kid"))
    return noun_phrase(chance, noun, LOCATED, adjectives=0.2)
