"""What a reader of checkpoints hands back, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from model_core.config import ModelConfig
from model_core.tokenizers import Tokenizer

Array = np.ndarray[Any, Any]

KNOWN_FORMATS = (
    "one of Glassformer's own checkpoints (.safetensors), a JSON checkpoint (.json) or a worked "
    "example (.npz)"
)


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
