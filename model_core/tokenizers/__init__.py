"""Text to ids and back: one file per kind of tokenizer."""

from __future__ import annotations

from model_core.tokenizers.base import (
    END_ID,
    PAD_ID,
    SPECIAL_TOKENS,
    START_ID,
    UNKNOWN_ID,
    Encoding,
    Tokenizer,
    Unknown,
    shown,
)
from model_core.tokenizers.char import CharTokenizer
from model_core.tokenizers.glued import GluedTokenizer
from model_core.tokenizers.rows import RowTokenizer
from model_core.tokenizers.word import WordTokenizer

KINDS: dict[str, type[WordTokenizer] | type[CharTokenizer]] = {
    WordTokenizer.kind: WordTokenizer,
    CharTokenizer.kind: CharTokenizer,
    GluedTokenizer.kind: GluedTokenizer,
}


def from_dict(values: object) -> Tokenizer:
    """The tokenizer that a file describes; ValueError with one sentence if it is nonsense."""
    if not isinstance(values, dict):
        raise ValueError(f"a tokenizer is {shown(values)}, expected a mapping")
    kind = values.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(
            f"the tokenizer's kind is {shown(kind)}, expected {' or '.join(sorted(KINDS))}"
        )
    return KINDS[kind].from_dict(values)


__all__ = [
    "END_ID",
    "PAD_ID",
    "SPECIAL_TOKENS",
    "START_ID",
    "UNKNOWN_ID",
    "CharTokenizer",
    "Encoding",
    "GluedTokenizer",
    "RowTokenizer",
    "Tokenizer",
    "Unknown",
    "WordTokenizer",
    "from_dict",
]
