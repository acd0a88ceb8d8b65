"""Names for the rows of a matrix, where a model reads numbers in place of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from model_core.tokenizers.base import END_ID, PAD_ID, START_ID, UNKNOWN_ID, Encoding


class RowTokenizer:
    """Row i is called names[i]; a row beyond them is x and its number, counted from 1."""

    kind: ClassVar[str] = "rows"
    pad_id: ClassVar[int] = PAD_ID
    start_id: ClassVar[int] = START_ID
    end_id: ClassVar[int] = END_ID
    unknown_id: ClassVar[int] = UNKNOWN_ID

    source_unit = "rows"

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.source_vocabulary = list(names)
        self.target_vocabulary: list[str] = []
        self.source_prefix = self.source_suffix = False

    def encode_source(self, text: str) -> Encoding:
        raise ValueError("this model reads a matrix of numbers and no text")

    def encode_target(self, text: str) -> Encoding:
        raise ValueError("this model has no decoder that could read a target")

    def decode(self, ids: Iterable[int]) -> str:
        raise ValueError("this model has no decoder and so no text to give")

    def source_tokens(self, ids: Iterable[int]) -> list[str]:
        """The names of the rows."""
        names = self.source_vocabulary
        return [names[i] if i < len(names) else f"x{i + 1}" for i in ids]

    def target_tokens(self, ids: Iterable[int]) -> list[str]:
        """Nothing, of no ids."""
        return [f"x{i + 1}" for i in ids]

    def complete(self, prefix: str) -> list[str]:
        return []

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "names": list(self.source_vocabulary)}
