"""Words written together with the next: read either way, written the one way."""

from __future__ import annotations

import copy

import pytest

from model_core.tokenizers import UNKNOWN_ID, GluedTokenizer, Unknown, from_dict

FRENCH = GluedTokenizer.build(
    [
        ("the tree", "l' arbre"),
        ("I love you", "je t' aime"),
        ("does he sleep today", "est-ce qu' il dort aujourd'hui"),
        ("my <UNK>", "mon <UNK>"),
    ]
)
FIGURES = GluedTokenizer.build(
    [("23", "twenty- three"), ("1,020", "one thousand and twenty")], source_characters=True
)


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ("l' arbre", "l'arbre"),
        ("je t' aime", "je t'aime"),
        ("est-ce qu' il dort aujourd'hui", "est-ce qu'il dort aujourd'hui"),
        ("", ""),
    ],
)
def test_either_way_of_writing_is_read_and_decoded_as_french_is_written(
    apart: str, together: str
) -> None:
    ids = FRENCH.encode_target(apart).ids
    assert FRENCH.encode_target(apart).tokens == apart.split()
    assert FRENCH.encode_target(together).ids == ids
    assert FRENCH.encode_target(together.replace("'", "’")).ids == ids
    assert FRENCH.decode(ids) == together


def test_punctuation_around_glued_words_is_dropped() -> None:
    encoding = FRENCH.encode_target("« l'arbre. »".replace("«", "(").replace("»", ")"))
    assert encoding.tokens == ["l'", "arbre"]


def test_what_is_unknown_is_one_unknown_word() -> None:
    encoding = FRENCH.encode_target("l'oiseau dort")
    assert encoding.tokens == ["l'", "<UNK>", "dort"]
    assert encoding.unknown == [Unknown(1, "oiseau")]
    assert FRENCH.decode(encoding.ids) == "l'<UNK> dort"
    assert FRENCH.encode_target("peut-être").unknown == [Unknown(0, "peut-être")]
    assert FRENCH.encode_source("my House").unknown == [Unknown(1, "House")]
    assert "<UNK>" not in FRENCH.source_vocabulary[4:] + FRENCH.target_vocabulary[4:]


def test_figures_are_read_one_by_one() -> None:
    encoding = FIGURES.encode_source("1,0x")
    assert encoding.tokens == ["1", ",", "0", "<UNK>", "<EOS>"]
    assert encoding.unknown == [Unknown(3, "x")]
    assert encoding.ids[3] == UNKNOWN_ID
    ids = FIGURES.encode_target("twenty-three").ids
    assert FIGURES.target_tokens(ids) == ["twenty-", "three"]
    assert FIGURES.decode(ids) == "twenty-three"
    assert FIGURES.decode(FIGURES.encode_target("one thousand and twenty").ids) == (
        "one thousand and twenty"
    )
    assert (FIGURES.source_unit, FRENCH.source_unit) == ("characters", "words")


@pytest.mark.parametrize("tokenizer", [FRENCH, FIGURES])
def test_a_file_gives_the_same_tokenizer(tokenizer: GluedTokenizer) -> None:
    values = tokenizer.to_dict()
    again = from_dict(copy.deepcopy(values))
    assert isinstance(again, GluedTokenizer)
    assert again.to_dict() == values
    assert again.source_characters == tokenizer.source_characters
    for field in values:
        broken = {name: value for name, value in values.items() if name != field}
        with pytest.raises(ValueError, match=field):
            from_dict(broken)


def test_a_source_of_characters_has_no_longer_tokens() -> None:
    with pytest.raises(ValueError, match="'ab' has 2 characters, expected 1"):
        from_dict({**FIGURES.to_dict(), "source_vocabulary": [*FIGURES.source_vocabulary, "ab"]})
