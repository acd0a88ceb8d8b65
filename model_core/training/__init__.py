"""Training: data sets, batches, the optimiser, the loop, the built-in tasks."""

from __future__ import annotations

from model_core.training.loop import train
from model_core.training.optimiser import Adam, clip_gradients

__all__ = ["Adam", "clip_gradients", "train"]
