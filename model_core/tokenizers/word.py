"""Words as tokens: source and target are split at spaces, unspaced target text by its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from model_core.tokenizers.base import (
    SPECIAL_TOKENS,
    UNKNOWN_ID,
    Encoding,
    Unknown,
    VocabularyTokenizer,
    checked_fields,
    ranked,
    shown,
)

# Marks a person puts around words. Angle brackets are absent: "<EOS>" must stay one typed word.
PUNCTUATION = frozenset('.,!?;:"()[]…—。，！？；：、“”（）《》')

# Keyboards and word processors write apostrophes in several ways; vocabularies in one.
APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'"})

FIELDS: dict[str, type] = {
    "source_vocabulary": list,
    "target_vocabulary": list,
    "source_prefix": bool,
    "source_suffix": bool,
    "lowercase": bool,
    "target_joiner": str,
}


class WordTokenizer(VocabularyTokenizer):
    """Words separated by spaces.

    Punctuation around a word is peeled off; a mark that is a word of the vocabulary becomes a
    token, any other mark is dropped, so "the cat sleeps." reads like "the cat sleeps".
    `lowercase` lower-cases the source, so "I" and "The" are the words "i" and "the".
    `target_joiner` stands between target words in decoded text: "" for Chinese, " " for French.
    With joiner "" a target chunk that is no word is cut greedily into the longest words it
    starts with, and each stretch where none fits becomes one <UNK>.
    """

    kind = "word"

    def __init__(
        self,
        source_vocabulary: Sequence[str],
        target_vocabulary: Sequence[str],
        *,
        lowercase: bool = True,
        target_joiner: str = "",
        source_prefix: bool = False,
        source_suffix: bool = True,
    ) -> None:
        super().__init__(
            source_vocabulary,
            target_vocabulary,
            source_prefix=source_prefix,
            source_suffix=source_suffix,
        )
        self.lowercase = lowercase
        self.target_joiner = target_joiner
        for side, ids in (("source", self._source_ids), ("target", self._target_ids)):
            for word in ids:
                if word.split() != [word]:
                    raise ValueError(f"the {side} word {shown(word)} contains a space")
        for word in self._source_ids:
            if self._normalised(word) != word:
                raise ValueError(f"the source word {shown(word)} can never be read as typed")
        self._longest_target = max((len(word) for word in self._target_ids), default=1)

    @classmethod
    def build(
        cls, pairs: Iterable[tuple[str, str]], min_count: int = 1, **traits: Any
    ) -> WordTokenizer:
        """The tokenizer of a data set: (source, target) texts with spaces between the words.

        A word replaced by "<UNK>" in the data is no word of the vocabulary. Words seen fewer
        than `min_count` times are left out. `traits` as in the constructor.
        """
        reader = cls(ranked((), 1), ranked((), 1), **traits)
        sources: list[str] = []
        targets: list[str] = []
        for source, target in pairs:
            spoken = (word for word in source.split() if word not in SPECIAL_TOKENS)
            sources.extend(reader._normalised(word) for word in spoken)
            targets.extend(target.split())
        return cls(ranked(sources, min_count), ranked(targets, min_count), **traits)

    @classmethod
    def from_dict(cls, values: object) -> WordTokenizer:
        """The tokenizer that a file describes; ValueError says what is wrong with it."""
        return cls(**checked_fields(values, cls.kind, FIELDS))

    def to_dict(self) -> dict[str, Any]:
        traits = {"lowercase": self.lowercase, "target_joiner": self.target_joiner}
        return {**super().to_dict(), **traits}

    def encode_source(self, text: str) -> Encoding:
        """The ids that the encoder reads, the special tokens of the source included."""
        ids: list[int] = []
        unknown: list[Unknown] = []
        for chunk in text.translate(APOSTROPHES).split():
            for piece in peeled(chunk, lambda piece: self._normalised(piece) in self._source_ids):
                token_id = self._source_ids.get(self._normalised(piece))
                if token_id is None and piece in PUNCTUATION:
                    continue
                if token_id is None:
                    unknown.append(Unknown(len(ids), piece))
                ids.append(UNKNOWN_ID if token_id is None else token_id)
        return self._wrapped_source(ids, unknown)

    def encode_target(self, text: str) -> Encoding:
        """Target ids without special tokens."""
        ids: list[int] = []
        unknown: list[Unknown] = []
        for chunk in text.split():
            for piece in peeled(chunk, self._target_ids.__contains__):
                for word in [piece] if self.target_joiner else self._cut(piece):
                    token_id = self._target_ids.get(word)
                    if token_id is None and word in PUNCTUATION:
                        continue
                    if token_id is None:
                        unknown.append(Unknown(len(ids), word))
                    ids.append(UNKNOWN_ID if token_id is None else token_id)
        return Encoding(ids, self.target_tokens(ids), unknown)

    def decode(self, ids: Iterable[int]) -> str:
        """Target ids as text, up to the first <EOS>; <UNK> is shown, other specials are not."""
        return self.target_joiner.join(self._spoken(ids))

    def complete(self, prefix: str) -> list[str]:
        return super().complete(self._normalised(prefix))

    def _normalised(self, text: str) -> str:
        text = text.translate(APOSTROPHES)
        return text.lower() if self.lowercase else text

    def _cut(self, chunk: str) -> list[str]:
        """The words an unspaced chunk consists of, longest first; gaps between them stay whole."""
        if chunk in self._target_ids:
            return [chunk]
        words: list[str] = []
        gap = ""
        at = 0
        while at < len(chunk):
            ends = range(min(len(chunk), at + self._longest_target), at, -1)
            end = next((end for end in ends if chunk[at:end] in self._target_ids), None)
            if end is None and chunk[at] not in PUNCTUATION:
                gap += chunk[at]
                at += 1
                continue
            if gap:
                words.append(gap)
                gap = ""
            words.append(chunk[at:end] if end else chunk[at])
            at = end or at + 1
        return [*words, gap] if gap else words


def peeled(chunk: str, is_word: Any) -> list[str]:
    """A chunk cut into leading marks, the word itself and trailing marks."""
    before: list[str] = []
    after: list[str] = []
    while len(chunk) > 1 and not is_word(chunk) and chunk[0] in PUNCTUATION:
        before.append(chunk[0])
        chunk = chunk[1:]
    while len(chunk) > 1 and not is_word(chunk) and chunk[-1] in PUNCTUATION:
        after.append(chunk[-1])
        chunk = chunk[:-1]
    return [*before, chunk, *reversed(after)]
