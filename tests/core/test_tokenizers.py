"""Tokenizers: text to ids and back, unknown text, and what a stranger's file may not hold."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_core.tokenizers import (
    END_ID,
    SPECIAL_TOKENS,
    START_ID,
    UNKNOWN_ID,
    CharTokenizer,
    Unknown,
    WordTokenizer,
    from_dict,
)

PAIRS = [
    ("I love the cat", "我 爱 猫"),
    ("the cat sleeps", "猫 睡觉"),
    ("the cats don't sleep", "猫 不 睡觉"),
    ("Sunday", "星期天"),
    ("every day", "每天"),
    ("day", "天"),
]
WORDS = WordTokenizer.build(PAIRS)
SOURCE_WORDS = WORDS.source_vocabulary[4:]
TARGET_WORDS = WORDS.target_vocabulary[4:]
FRENCH = WordTokenizer.build([("the cat", "le chat"), ("a kitten", "un chaton")], target_joiner=" ")
CHARS = CharTokenizer.build([("abc cab", "天气很好"), ("ab", "好")])


def tokens(text: str) -> list[str]:
    return WORDS.encode_source(text).tokens


def test_vocabularies_start_with_the_four_specials_and_go_on_by_count_then_text() -> None:
    counted = WordTokenizer.build([("b a b", "y x"), ("c a b", "x z")])
    assert counted.source_vocabulary == [*SPECIAL_TOKENS, "b", "a", "c"]
    assert counted.target_vocabulary == [*SPECIAL_TOKENS, "x", "y", "z"]
    assert [counted.pad_id, counted.start_id, counted.end_id, counted.unknown_id] == [0, 1, 2, 3]


def test_rare_words_are_left_out_of_the_vocabulary() -> None:
    assert WordTokenizer.build([("b a b", "x")], min_count=2).source_vocabulary[4:] == ["b"]


def test_words_made_unknown_in_the_data_are_no_words_of_the_vocabulary() -> None:
    masked = WordTokenizer.build([("the <UNK> sleeps", "<UNK> 睡觉")])
    assert masked.source_vocabulary == [*SPECIAL_TOKENS, "sleeps", "the"]
    assert masked.target_vocabulary == [*SPECIAL_TOKENS, "睡觉"]
    assert masked.encode_source("the <UNK> sleeps").ids[1] == UNKNOWN_ID
    assert masked.encode_target("<UNK> 睡觉").ids[0] == UNKNOWN_ID


def test_source_ends_with_the_end_token_unless_the_traits_say_otherwise() -> None:
    assert tokens("the cat") == ["the", "cat", "<EOS>"]
    both = WordTokenizer.build(PAIRS, source_prefix=True, source_suffix=False)
    assert both.encode_source("the cat").tokens == ["<SOS>", "the", "cat"]


@pytest.mark.parametrize("typed", ["I love the cat", "i love the cat", "I LOVE The Cat"])
def test_case_of_the_source_does_not_matter(typed: str) -> None:
    assert tokens(typed) == ["i", "love", "the", "cat", "<EOS>"]


def test_case_matters_to_a_tokenizer_that_keeps_it() -> None:
    exact = WordTokenizer.build(PAIRS, lowercase=False)
    assert exact.encode_source("I i").tokens == ["I", "<UNK>", "<EOS>"]


@pytest.mark.parametrize(
    "typed", ["the cat sleeps.", "the cat sleeps?", "“The cat”, sleeps …", '(the "cat" sleeps)!']
)
def test_punctuation_around_words_is_no_unknown_word(typed: str) -> None:
    assert tokens(typed) == ["the", "cat", "sleeps", "<EOS>"]


def test_punctuation_in_the_vocabulary_is_a_token_of_its_own() -> None:
    asking = WordTokenizer.build([("do cats sleep ?", "猫 睡觉 吗 ？")])
    assert asking.encode_source("do cats sleep?").tokens[3:] == ["?", "<EOS>"]
    assert asking.encode_target("猫睡觉吗？").tokens == ["猫", "睡觉", "吗", "？"]


@pytest.mark.parametrize("apostrophe", ["'", "\u2019", "\u2018", "\u02bc"])
def test_apostrophes_of_every_keyboard_are_read(apostrophe: str) -> None:
    assert tokens(f"the cats don{apostrophe}t sleep") == [
        *("the", "cats", "don't", "sleep", "<EOS>")
    ]


def test_an_unknown_word_is_reported_where_it_stands_and_as_it_was_typed() -> None:
    encoding = WORDS.encode_source("the Zebra, sleeps")
    assert encoding.tokens == ["the", "<UNK>", "sleeps", "<EOS>"]
    assert encoding.unknown == [Unknown(1, "Zebra")]
    prefixed = WordTokenizer.build(PAIRS, source_prefix=True)
    assert prefixed.encode_source("zebra").unknown == [Unknown(1, "zebra")]


@pytest.mark.parametrize("special", SPECIAL_TOKENS)
def test_a_special_token_typed_by_a_person_is_an_unknown_word(special: str) -> None:
    source = WORDS.encode_source(f"the {special}")
    assert source.ids[1] == UNKNOWN_ID
    assert source.unknown == [Unknown(1, special)]
    target = WORDS.encode_target(special)
    assert target.ids == [UNKNOWN_ID]
    exact = WordTokenizer.build(PAIRS, lowercase=False)
    assert exact.encode_source(special).ids[0] == UNKNOWN_ID
    assert set(CHARS.encode_source(special).ids[:-1]) <= {UNKNOWN_ID, *range(4, 99)}


def test_empty_text_is_the_special_tokens_alone() -> None:
    for text in ("", "   ", "."):
        assert WORDS.encode_source(text).ids == [END_ID]
        assert WORDS.encode_target(text).ids == []
    assert CHARS.encode_source("").ids == [END_ID]


def test_unspaced_target_is_cut_into_the_longest_words() -> None:
    assert WORDS.encode_target("猫每天睡觉").tokens == ["猫", "每天", "睡觉"]
    assert WORDS.encode_target("猫 睡觉 天").tokens == ["猫", "睡觉", "天"]


def test_a_stretch_of_target_that_no_word_fits_is_one_unknown() -> None:
    encoding = WORDS.encode_target("猫老虎睡觉xyz。")
    assert encoding.tokens == ["猫", "<UNK>", "睡觉", "<UNK>"]
    assert encoding.unknown == [Unknown(1, "老虎"), Unknown(3, "xyz")]


def test_spaced_target_words_are_never_cut() -> None:
    encoding = FRENCH.encode_target("un chatons, chat")
    assert encoding.tokens == ["un", "<UNK>", "chat"]
    assert encoding.unknown == [Unknown(1, "chatons")]
    assert FRENCH.decode(FRENCH.encode_target("le chat").ids) == "le chat"


def test_decoding_stops_at_the_end_and_leaves_out_start_and_padding() -> None:
    cat, sleeps = WORDS.encode_target("猫睡觉").ids
    assert WORDS.decode([START_ID, cat, sleeps, END_ID, cat, 0]) == "猫睡觉"
    assert WORDS.decode([START_ID, cat, 0, 0]) == "猫"
    assert WORDS.decode([cat, UNKNOWN_ID]) == "猫<UNK>"


@pytest.mark.parametrize("token_id", [-1, 4000])
def test_an_id_outside_the_vocabulary_is_refused(token_id: int) -> None:
    with pytest.raises(ValueError, match=str(token_id)):
        WORDS.decode([token_id])
    with pytest.raises(ValueError, match=str(token_id)):
        WORDS.source_tokens([token_id])


def test_completions_are_the_words_with_this_beginning_in_order() -> None:
    assert WORDS.complete("S") == ["sleep", "sleeps", "sunday"]
    assert WORDS.complete("cat") == ["cat", "cats"]
    assert WORDS.complete("<") == []
    assert WORDS.complete("don\u2019") == ["don't"]
    assert WORDS.complete("") == sorted(SOURCE_WORDS)


def test_characters_are_tokens_and_strange_ones_are_unknown() -> None:
    encoding = CHARS.encode_source("a bz☃")
    assert encoding.tokens == ["a", " ", "b", "<UNK>", "<UNK>", "<EOS>"]
    assert encoding.unknown == [Unknown(3, "z"), Unknown(4, "☃")]
    assert CHARS.decode(CHARS.encode_target("天好").ids) == "天好"
    prefixed = CharTokenizer.build([("ab", "好")], source_prefix=True, source_suffix=False)
    assert prefixed.encode_source("bz").tokens == ["<SOS>", "b", "<UNK>"]
    assert prefixed.encode_source("bz").unknown == [Unknown(2, "z")]


@given(st.lists(st.sampled_from(TARGET_WORDS), max_size=12))
def test_known_target_words_come_back_as_they_went(words: list[str]) -> None:
    encoding = WORDS.encode_target(" ".join(words))
    assert encoding.tokens == words
    assert WORDS.decode(encoding.ids) == "".join(words)
    assert WORDS.encode_target("".join(words)).unknown == []


@given(st.lists(st.sampled_from(SOURCE_WORDS), max_size=12))
def test_known_source_words_come_back_as_they_went(words: list[str]) -> None:
    encoding = WORDS.encode_source(" ".join(words))
    assert encoding.tokens == [*words, "<EOS>"]
    assert WORDS.source_tokens(encoding.ids) == encoding.tokens


@given(st.text(alphabet="天气很好", max_size=12))
def test_known_characters_come_back_as_they_went(text: str) -> None:
    assert CHARS.decode(CHARS.encode_target(text).ids) == text


@given(st.text(max_size=30))
def test_any_text_whatever_can_be_encoded(text: str) -> None:
    for tokenizer in (WORDS, FRENCH, CHARS):
        for encoding in (tokenizer.encode_source(text), tokenizer.encode_target(text)):
            assert len(encoding.ids) == len(encoding.tokens)
            unknown_at = [u.position for u in encoding.unknown]
            assert unknown_at == [i for i, t in enumerate(encoding.ids) if t == UNKNOWN_ID]
            assert all(u.text for u in encoding.unknown)


@pytest.mark.parametrize("tokenizer", [WORDS, FRENCH, CHARS], ids=["word", "french", "char"])
def test_a_description_survives_json_and_gives_the_same_tokenizer(
    tokenizer: WordTokenizer | CharTokenizer,
) -> None:
    again = from_dict(json.loads(json.dumps(tokenizer.to_dict())))
    assert again.to_dict() == tokenizer.to_dict()
    assert again.encode_source("the cat") == tokenizer.encode_source("the cat")


def changed(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(WORDS.to_dict()), **fields}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in WORDS.to_dict().items() if key != name}


NONSENSE: dict[str, tuple[object, str]] = {
    "not a mapping": ([], "mapping"),
    "no kind": (without("kind"), "kind"),
    "unhashable kind": (changed(kind=["word"]), "kind"),
    "another kind": (changed(kind="syllable"), "syllable"),
    "missing field": (without("target_vocabulary"), "target_vocabulary"),
    "unknown field": (changed(colour="red"), "colour"),
    "vocabulary not a list": (changed(source_vocabulary={"a": 0}), "source_vocabulary"),
    "vocabulary a text": (changed(source_vocabulary="abc"), "source_vocabulary"),
    "too short for the specials": (changed(target_vocabulary=["<PAD>"]), "<PAD>"),
    "specials in another order": (
        changed(source_vocabulary=["<SOS>", "<PAD>", "<EOS>", "<UNK>", "a"]),
        "starts with",
    ),
    "a word twice": (changed(source_vocabulary=[*SPECIAL_TOKENS, "a", "b", "a"]), "already at 4"),
    "a special twice": (changed(source_vocabulary=[*SPECIAL_TOKENS, "<PAD>"]), "already at 0"),
    "a hole": (changed(source_vocabulary=[*SPECIAL_TOKENS, None, "b"]), "None"),
    "an empty word": (changed(source_vocabulary=[*SPECIAL_TOKENS, ""]), "empty"),
    "a number": (changed(target_vocabulary=[*SPECIAL_TOKENS, 7]), "7"),
    "two words in one": (changed(target_vocabulary=[*SPECIAL_TOKENS, "a b"]), "space"),
    "half a surrogate pair": (changed(target_vocabulary=[*SPECIAL_TOKENS, "\ud800"]), "Unicode"),
    "capitals nobody can type": (changed(source_vocabulary=[*SPECIAL_TOKENS, "The"]), "The"),
    "trait of another type": (changed(source_prefix=1), "source_prefix"),
    "joiner of another type": (changed(target_joiner=None), "target_joiner"),
    "two characters in one token": (
        {**CHARS.to_dict(), "source_vocabulary": [*SPECIAL_TOKENS, "ab"]},
        "2 characters",
    ),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused_with_one_sentence(name: str) -> None:
    values, told = NONSENSE[name]
    with pytest.raises(ValueError) as error:
        from_dict(values)
    sentence = str(error.value)
    assert told in sentence
    assert "\n" not in sentence and len(sentence) < 250


def test_long_nonsense_is_quoted_in_short() -> None:
    with pytest.raises(ValueError) as error:
        from_dict(changed(kind="x" * 100_000))
    assert len(str(error.value)) < 250
