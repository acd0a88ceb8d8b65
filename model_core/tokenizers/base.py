"""What every tokenizer has: two vocabularies with four special tokens, text to ids and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

SPECIAL_TOKENS = ("<PAD>", "<SOS>", "<EOS>", "<UNK>")
PAD_ID, START_ID, END_ID, UNKNOWN_ID = range(4)


@dataclass(frozen=True)
class Unknown:
    """A piece of text without an id of its own: where it stands among the ids, and as typed."""

    position: int
    text: str


@dataclass(frozen=True)
class Encoding:
    """A text as ids, the tokens of these ids, and what was unknown."""

    ids: list[int]
    tokens: list[str]
    unknown: list[Unknown]


class Tokenizer(Protocol):
    """What the rest of the program asks of a tokenizer."""

    kind: ClassVar[str]
    pad_id: ClassVar[int]
    start_id: ClassVar[int]
    end_id: ClassVar[int]
    unknown_id: ClassVar[int]
    source_vocabulary: list[str]
    target_vocabulary: list[str]
    source_prefix: bool
    source_suffix: bool
    source_unit: str

    def encode_source(self, text: str) -> Encoding: ...
    def encode_target(self, text: str) -> Encoding: ...
    def decode(self, ids: Iterable[int]) -> str: ...
    def source_tokens(self, ids: Iterable[int]) -> list[str]: ...
    def target_tokens(self, ids: Iterable[int]) -> list[str]: ...
    def complete(self, prefix: str) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...


class VocabularyTokenizer:
    """The common part of tokenizers whose ids are places in two lists of tokens.

    `source_prefix` puts <SOS> before the source ids, `source_suffix` puts <EOS> after them.
    `source_unit` is what the source's tokens are called, "words" or "characters".
    Text that happens to read like a special token is ordinary text, never the special id.
    """

    kind: ClassVar[str]
    pad_id: ClassVar[int] = PAD_ID
    start_id: ClassVar[int] = START_ID
    end_id: ClassVar[int] = END_ID
    unknown_id: ClassVar[int] = UNKNOWN_ID
    source_unit = "words"

    def __init__(
        self,
        source_vocabulary: Sequence[str],
        target_vocabulary: Sequence[str],
        *,
        source_prefix: bool,
        source_suffix: bool,
    ) -> None:
        self.source_vocabulary = checked_vocabulary("source_vocabulary", source_vocabulary)
        self.target_vocabulary = checked_vocabulary("target_vocabulary", target_vocabulary)
        self.source_prefix = source_prefix
        self.source_suffix = source_suffix
        self._source_ids = ids_of_words(self.source_vocabulary)
        self._target_ids = ids_of_words(self.target_vocabulary)

    def source_tokens(self, ids: Iterable[int]) -> list[str]:
        """The tokens of source ids, specials included."""
        return [named("source", self.source_vocabulary, i) for i in ids]

    def target_tokens(self, ids: Iterable[int]) -> list[str]:
        """The tokens of target ids, specials included."""
        return [named("target", self.target_vocabulary, i) for i in ids]

    def complete(self, prefix: str) -> list[str]:
        """The source words that start with `prefix`, in alphabetical order."""
        return sorted(word for word in self._source_ids if word.startswith(prefix))

    def to_dict(self) -> dict[str, Any]:
        """The tokenizer as plain values, as a checkpoint's metadata holds it."""
        return {
            "kind": self.kind,
            "source_vocabulary": list(self.source_vocabulary),
            "target_vocabulary": list(self.target_vocabulary),
            "source_prefix": self.source_prefix,
            "source_suffix": self.source_suffix,
        }

    def _wrapped_source(self, ids: list[int], unknown: list[Unknown]) -> Encoding:
        """Put the special tokens around the source and count positions from the first of them."""
        shift = int(self.source_prefix)
        all_ids = [START_ID] * shift + ids + [END_ID] * int(self.source_suffix)
        moved = [Unknown(u.position + shift, u.text) for u in unknown]
        return Encoding(all_ids, self.source_tokens(all_ids), moved)

    def _spoken(self, ids: Iterable[int]) -> list[str]:
        """The tokens that are part of the text: up to the first <EOS>, without <PAD> and <SOS>.

        <UNK> stays: it stands for a word that was said.
        """
        spoken = []
        for token_id in ids:
            if token_id == END_ID:
                break
            if token_id not in (PAD_ID, START_ID):
                spoken.append(named("target", self.target_vocabulary, token_id))
        return spoken


def named(side: str, vocabulary: list[str], token_id: int) -> str:
    """The token of one id; ValueError if there is none."""
    if not 0 <= token_id < len(vocabulary):
        raise ValueError(
            f"there is no {side} token {token_id}, the vocabulary has {len(vocabulary)} tokens"
        )
    return vocabulary[token_id]


def ids_of_words(vocabulary: list[str]) -> dict[str, int]:
    """Word to id, without the special tokens: nobody can type those."""
    return {word: i for i, word in enumerate(vocabulary) if i >= len(SPECIAL_TOKENS)}


def ranked(words: Iterable[str], min_count: int) -> list[str]:
    """A vocabulary: the special tokens, then words by count, equally frequent ones by text."""
    counts = Counter(words)
    for token in SPECIAL_TOKENS:
        counts.pop(token, None)
    kept = [word for word, count in counts.items() if count >= min_count]
    return [*SPECIAL_TOKENS, *sorted(kept, key=lambda word: (-counts[word], word))]


def checked_vocabulary(name: str, tokens: object) -> list[str]:
    """The list of tokens if it is a sound one; ValueError says what is wrong with it."""
    if not isinstance(tokens, list | tuple):
        raise ValueError(f"{name} is {shown(tokens)}, expected a list of tokens")
    for i, token in enumerate(tokens):
        if not isinstance(token, str):
            raise ValueError(f"{name}[{i}] is {shown(token)}, expected a text")
        if not token:
            raise ValueError(f"{name}[{i}] is an empty text, expected a token")
        if not token.isascii() and any("\ud800" <= c <= "\udfff" for c in token):
            raise ValueError(f"{name}[{i}] is {shown(token)}, which is not valid Unicode")
    if tuple(tokens[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
        found = shown(list(tokens[: len(SPECIAL_TOKENS)]))
        raise ValueError(f"{name} starts with {found}, expected {' '.join(SPECIAL_TOKENS)}")
    first: dict[str, int] = {}
    for i, token in enumerate(tokens):
        if token in first:
            raise ValueError(f"{name}[{i}] {shown(token)} is already at {first[token]}")
        first[token] = i
    return list(tokens)


def checked_fields(values: object, kind: str, fields: dict[str, type]) -> dict[str, Any]:
    """The description of a tokenizer if it has exactly these fields, of these types."""
    if not isinstance(values, dict):
        raise ValueError(f"a tokenizer is {shown(values)}, expected a mapping")
    if values.get("kind") != kind:
        raise ValueError(f"the tokenizer's kind is {shown(values.get('kind'))}, expected {kind!r}")
    for name in values:
        if name != "kind" and name not in fields:
            raise ValueError(f"a {kind} tokenizer has no field {shown(name)}")
    for name, wanted in fields.items():
        if name not in values:
            raise ValueError(f"a {kind} tokenizer needs the field {name!r}")
        if not isinstance(values[name], wanted):
            raise ValueError(f"{name} is {shown(values[name])}, expected {wanted.__name__}")
    return {name: values[name] for name in fields}


def shown(value: object, longest: int = 60) -> str:
    """A stranger's value, short enough for a sentence."""
    text = ascii(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."
