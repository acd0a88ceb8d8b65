"""What is no sentence yet: greetings, and the noun phrases that stand there while one types."""

from __future__ import annotations

from model_core.training.datasets import Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import nouns, nouns_with, unknown_noun
from model_core.training.tasks.en_zh.noun_phrases import (
    OBJECT,
    SUBJECT,
    SUBJECT_PRONOUNS,
    Determiners,
    noun_phrase,
    possessive,
    subject_pronoun,
)
from model_core.training.tasks.en_zh.phrase import Chinese, English, Word, pair_of, tokens

# English, and the Chinese of each word.
GREETINGS = (
    (("hello", "你 好"),),
    (("goodbye", "再见"),),
    (("good", ""), ("morning", "早上 好")),
    (("good", ""), ("night", "晚安")),
    (("thank", "谢谢"), ("you", "你")),
)
BARE = Determiners(((1, ""),), ((1, ""),), ((1, ""),))
ADDRESSED = ("friend", "kin", "infant", "kid", "teacher", "doctor", "student", "nurse")


def noun_alone(chance: Chance) -> Pair:
    """ "the black cat", "a glass of water", "apples", "they"."""
    if chance.happens(0.06):
        subject = subject_pronoun(chance.one_of((*SUBJECT_PRONOUNS, "it")))
        return pair_of(subject.english, subject.chinese, "fragment")
    determiners = chance.weighted((25, BARE), (40, SUBJECT), (35, OBJECT))
    what = noun_phrase(chance, chance.one_of(nouns()), determiners, adjectives=0.45)
    return pair_of(what.english, what.chinese, "fragment", what.facts)


def greeting(chance: Chance) -> Pair:
    """ "hello", "thank you my friend", "good morning children"."""
    english: English = ()
    chinese: Chinese = ()
    for text, meaning in chance.one_of(GREETINGS):
        word = Word(text)
        english, chinese = (*english, word), chinese + tokens(meaning, word)
    if chance.happens(0.3):
        return pair_of(english, chinese, "greeting")
    if chance.happens(0.4):
        mine = possessive("my")
        english, chinese = english + mine.english, chinese + mine.chinese
    noun = chance.one_of(nouns_with(*ADDRESSED))
    noun = chance.known_or(noun, unknown_noun(noun))
    many = bool(noun.plural) and chance.happens(0.3)
    whom = Word(noun.plural if many else noun.en)
    chinese += ((noun.zh, whom),)
    if many and "person" in noun.tags:
        chinese += (("们", whom),)
    return pair_of((*english, whom), chinese, "greeting")
