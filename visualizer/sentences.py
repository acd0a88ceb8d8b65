"""New sentences for the model in use, from the generator of the task it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import model_core
from visualizer.state import ModelEntry

_TASKS = Path(model_core.__file__).parent / "training" / "tasks"


def generator_of(entry: ModelEntry | None) -> Callable[[int], str] | None:
    """Number -> sentence, where the model's card names a built-in task that has a generator."""
    name = task_of(entry)
    if not name:
        return None

    def sentence(number: int) -> str:
        # imported when first asked for: a grammar takes longer to load than the window
        from model_core.training import tasks

        return str(tasks.new_sentence(name, number))

    return sentence


def task_of(entry: ModelEntry | None) -> str:
    """The built-in task that the model's card names; empty where it names none."""
    card = getattr(entry.model, "card", None) if entry is not None else None
    name = card.get("task") if isinstance(card, dict) else None
    return name if isinstance(name, str) and _is_built_in(name) else ""


def pairs_of(entry: ModelEntry | None) -> Callable[[int, int], tuple[tuple[str, str], ...]] | None:
    """(number, how many) -> pairs of source and target, where a task's generator gives any.

    The targets are written as the model's own output is.
    """
    name = task_of(entry)
    if entry is None or not name:
        return None
    words = entry.model.tokenizer

    def pairs(number: int, count: int) -> tuple[tuple[str, str], ...]:
        from model_core.training import step_sources

        drawn = step_sources.drawn_pairs(name, number, count)
        return tuple((source, step_sources.as_written(words, target)) for source, target in drawn)

    return pairs


def _is_built_in(name: str) -> bool:
    """Whether a task has this name; a card may come from a stranger's file."""
    package = name.replace("-", "_")
    return package.isidentifier() and (_TASKS / package).is_dir()
