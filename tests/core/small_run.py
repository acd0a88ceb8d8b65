"""A small training on pairs of numbers, for the tests of what becomes of a run."""

from __future__ import annotations

from pathlib import Path

import msgspec

from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun, Watching
from model_core.training.settings import Settings

SETTINGS = Settings(
    d_model=16,
    n_heads=2,
    d_ff=16,
    n_layers=1,
    batch_size=8,
    steps=60,
    warmup_steps=5,
    dropout_rate=0.1,
    max_seq_len=32,
    held_out_share=0.1,
)


def write_pairs(folder: Path) -> Path:
    """90 multiples of 7, and how they are written in ones and zeros."""
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{i * 7}\t{i * 7:b}\n" for i in range(90)), "utf-8")
    return path


def begin(pairs: Path, **changes: object) -> LabRun:
    settings = msgspec.structs.replace(SETTINGS, **changes)
    return LabRun.begin(FileSource(str(pairs)), settings, Watching(20, 10))
