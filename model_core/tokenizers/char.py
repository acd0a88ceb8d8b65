"""Characters as tokens, spaces included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from model_core.tokenizers.base import (
    UNKNOWN_ID,
    Encoding,
    Unknown,
    VocabularyTokenizer,
    checked_fields,
    ranked,
    shown,
)

FIELDS: dict[str, type] = {
    "source_vocabulary": list,
    "target_vocabulary": list,
    "source_prefix": bool,
    "source_suffix": bool,
}


class CharTokenizer(VocabularyTokenizer):
    """Each character is a token; a character outside the vocabulary is <UNK>."""

    kind = "char"
    source_unit = "characters"

    def __init__(
        self,
        source_vocabulary: Sequence[str],
        target_vocabulary: Sequence[str],
        *,
        source_prefix: bool = False,
        source_suffix: bool = True,
    ) -> None:
        super().__init__(
            source_vocabulary,
            target_vocabulary,
            source_prefix=source_prefix,
            source_suffix=source_suffix,
        )
        for side, ids in (("source", self._source_ids), ("target", self._target_ids)):
            for token in ids:
                if len(token) != 1:
                    raise ValueError(
                        f"the {side} token {shown(token)} has {len(token)} characters, expected 1"
                    )

    @classmethod
    def build(
        cls, pairs: Iterable[tuple[str, str]], min_count: int = 1, **traits: Any
    ) -> CharTokenizer:
        """The tokenizer of a data set of (source, target) texts.

        Characters seen fewer than `min_count` times are left out.
        """
        sources: list[str] = []
        targets: list[str] = []
        for source, target in pairs:
            sources.extend(source)
            targets.extend(target)
        return cls(ranked(sources, min_count), ranked(targets, min_count), **traits)

    @classmethod
    def from_dict(cls, values: object) -> CharTokenizer:
        """The tokenizer that a file describes; ValueError says what is wrong with it."""
        return cls(**checked_fields(values, cls.kind, FIELDS))

    def encode_source(self, text: str) -> Encoding:
        """The ids that the encoder reads, the special tokens of the source included."""
        ids, unknown = encoded(text, self._source_ids)
        return self._wrapped_source(ids, unknown)

    def encode_target(self, text: str) -> Encoding:
        """Target ids without special tokens."""
        ids, unknown = encoded(text, self._target_ids)
        return Encoding(ids, self.target_tokens(ids), unknown)

    def decode(self, ids: Iterable[int]) -> str:
        """Target ids as text, up to the first <EOS>; <UNK> is shown, other specials are not."""
        return "".join(self._spoken(ids))


def encoded(text: str, ids: dict[str, int]) -> tuple[list[int], list[Unknown]]:
    """One id per character, and the characters that have none of their own."""
    unknown = [Unknown(i, character) for i, character in enumerate(text) if character not in ids]
    return [ids.get(character, UNKNOWN_ID) for character in text], unknown
