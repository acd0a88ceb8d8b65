"""New sentences for the model in use, from the generator of the task it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from visualizer.state import ModelEntry


def generator_of(entry: ModelEntry | None) -> Callable[[int], str] | None:
    """Number -> sentence, where the model's card names a built-in task that has a generator."""
    card = getattr(entry.model, "card", None) if entry is not None else None
    name = card.get("task") if isinstance(card, dict) else None
    if not isinstance(name, str):
        return None
    from model_core.training import tasks

    return partial(tasks.new_sentence, name) if name in tasks.TASKS else None
