"""What a reader of checkpoints hands back, whatever the format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from model_core.checkpoints.errors import quoted
from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer

Array = np.ndarray[Any, Any]

KNOWN_FORMATS = (
    "one of Glassformer's own checkpoints (.safetensors), a JSON checkpoint (.json) or a worked "
    "example (.npz)"
)


# A stranger's file may hold any number of things that nobody knows.
MOST_NAMED = 5


@dataclass(frozen=True)
class Contents:
    """What a checkpoint holds; `warnings` are sentences about what is odd but usable.

    inputs: the matrix (S,D) of a model that reads one
    """

    config: ModelConfig
    parameters: dict[str, Array]
    tokenizer: Tokenizer
    card: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    inputs: Array | None = None


@dataclass(frozen=True)
class Saved:
    """What was written where: the summary of a save."""

    path: Path
    format: str
    n_bytes: int
    n_source_tokens: int
    n_target_tokens: int
    n_parameters: int

    def __str__(self) -> str:
        tokens = f"{self.n_source_tokens:,}"
        if self.n_source_tokens != self.n_target_tokens:
            tokens += f" + {self.n_target_tokens:,}"
        return (
            f"{self.path.name}: {self.n_bytes:,} bytes, {tokens} tokens, "
            f"{self.n_parameters:,} parameters"
        )


def named(found: Sequence[str], what: str) -> list[str]:
    """A warning for each of the names, the first few of them: "{name} {what}"."""
    sentences = [f"{quoted(name)} {what}" for name in found[:MOST_NAMED]]
    if len(found) > MOST_NAMED:
        sentences.append(f"{len(found) - MOST_NAMED} more: {what}")
    return sentences
