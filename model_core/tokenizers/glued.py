"""Words of which some are written together with the next: "l'" before "arbre", "twenty-"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from model_core.tokenizers.base import (
    SPECIAL_TOKENS,
    UNKNOWN_ID,
    Encoding,
    Unknown,
    checked_fields,
    ranked,
    shown,
)
from model_core.tokenizers.word import APOSTROPHES, PUNCTUATION, WordTokenizer, peeled

# A target word that ends in one of these stands right before the next one.
GLUE = "'-"

FIELDS: dict[str, type] = {
    "source_vocabulary": list,
    "target_vocabulary": list,
    "source_prefix": bool,
    "source_suffix": bool,
    "lowercase": bool,
    "source_characters": bool,
}


class GluedTokenizer(WordTokenizer):
    """Target words with spaces between them, but none behind an apostrophe or hyphen.

    "l' arbre" is decoded as "l'arbre" and "twenty- three" as "twenty-three"; either way of
    writing is read. `source_characters`: each character of the source is a token, as in figures.
    """

    kind = "glued"

    def __init__(
        self,
        source_vocabulary: Sequence[str],
        target_vocabulary: Sequence[str],
        *,
        lowercase: bool = True,
        source_characters: bool = False,
        source_prefix: bool = False,
        source_suffix: bool = True,
    ) -> None:
        super().__init__(
            source_vocabulary,
            target_vocabulary,
            lowercase=lowercase,
            target_joiner=" ",
            source_prefix=source_prefix,
            source_suffix=source_suffix,
        )
        self.source_characters = source_characters
        self.source_unit = "characters" if source_characters else "words"
        for token in self._source_ids if source_characters else ():
            if len(token) != 1:
                raise ValueError(
                    f"the source token {shown(token)} has {len(token)} characters, expected 1"
                )

    @classmethod
    def build(
        cls, pairs: Iterable[tuple[str, str]], min_count: int = 1, **traits: Any
    ) -> GluedTokenizer:
        """The tokenizer of a data set: (source, target) texts with spaces between target words."""
        reader = cls(ranked((), 1), ranked((), 1), **traits)
        sources: list[str] = []
        targets: list[str] = []
        for source, target in pairs:
            if reader.source_characters:
                sources.extend(map(reader._normalised, source))
            else:
                spoken = (word for word in source.split() if word not in SPECIAL_TOKENS)
                sources.extend(reader._normalised(word) for word in spoken)
            targets.extend(target.split())
        return cls(ranked(sources, min_count), ranked(targets, min_count), **traits)

    @classmethod
    def from_dict(cls, values: object) -> GluedTokenizer:
        """The tokenizer that a file describes; ValueError says what is wrong with it."""
        return cls(**checked_fields(values, cls.kind, FIELDS))

    def to_dict(self) -> dict[str, Any]:
        values = super().to_dict()
        del values["target_joiner"]
        return {**values, "source_characters": self.source_characters}

    def encode_source(self, text: str) -> Encoding:
        """The ids that the encoder reads, the special tokens of the source included."""
        if not self.source_characters:
            return super().encode_source(text)
        ids = [self._source_ids.get(self._normalised(c), UNKNOWN_ID) for c in text]
        unknown = [Unknown(i, text[i]) for i, token_id in enumerate(ids) if token_id == UNKNOWN_ID]
        return self._wrapped_source(ids, unknown)

    def encode_target(self, text: str) -> Encoding:
        """Target ids without special tokens."""
        ids: list[int] = []
        unknown: list[Unknown] = []
        for chunk in text.translate(APOSTROPHES).split():
            for piece in peeled(chunk, self._is_target):
                for word in self._unglued(piece):
                    token_id = self._target_ids.get(word)
                    if token_id is None and word in PUNCTUATION:
                        continue
                    if token_id is None:
                        unknown.append(Unknown(len(ids), word))
                    ids.append(UNKNOWN_ID if token_id is None else token_id)
        return Encoding(ids, self.target_tokens(ids), unknown)

    def decode(self, ids: Iterable[int]) -> str:
        """Target ids as text, up to the first <EOS>; <UNK> is shown, other specials are not."""
        spoken = self._spoken(ids)
        return "".join(word if word[-1] in GLUE else f"{word} " for word in spoken).rstrip(" ")

    def _is_target(self, piece: str) -> bool:
        return all(word in self._target_ids for word in self._unglued(piece))

    def _unglued(self, chunk: str) -> list[str]:
        """The words of a chunk: those that end in a mark are cut off its front, longest first."""
        words: list[str] = []
        while chunk not in self._target_ids:
            ends = (end for end in range(len(chunk) - 1, 0, -1) if chunk[end - 1] in GLUE)
            end = next((end for end in ends if chunk[:end] in self._target_ids), None)
            if end is None:
                break
            words.append(chunk[:end])
            chunk = chunk[end:]
        return [*words, chunk]
