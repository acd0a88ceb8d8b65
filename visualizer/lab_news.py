"""What the process that trains tells, as values of the lab's training. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visualizer.lab import Subject, Unfinished

if TYPE_CHECKING:
    from model_core.training import lab as core


def unfinished_at(path: Path) -> Unfinished | None:
    """What can be gone on with at a place; None where that is nothing."""
    import msgspec

    from model_core.training.lab_data import DataSource, FileSource
    from model_core.training.resume import latest_run
    from model_core.training.settings import Settings

    try:
        when = path.stat().st_mtime
        saved, _ = latest_run(path)
        source = msgspec.convert(saved.description.source, DataSource)
        settings = msgspec.convert(saved.description.settings, Settings)
    except (ValueError, OSError):
        return None
    title = Path(source.path).name if isinstance(source, FileSource) else source.name
    return Unfinished(path, Subject(source, title, settings), saved.position.step, when)


def news(kind: str, event: Any) -> dict[str, Any]:
    """What an event changes of a training; the process's own state tells the rest."""
    taken = TAKEN.get(kind)
    return {} if taken is None else taken(event)


def _started(event: Any) -> dict[str, Any]:
    from model_core.config import ModelConfig
    from model_core.parameters import parameter_count
    from model_core.tokenizers import from_dict

    config = ModelConfig.from_dict(event.config)
    count = parameter_count(config)
    return {
        "config": config,
        "tokenizer": from_dict(event.tokenizer),
        "total": event.total_steps,
        "n_parameters": count,
        "n_bytes": 4 * count,
        "card": event.card,
        "too_long": event.too_long,
        "began": event.step,
        "watched": event.watched,
        "n_held_out": event.n_held_out,
    }


def _steps(event: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"last": event.rows[-1]}
    evaluations = [row.evaluation for row in event.rows if row.evaluation is not None]
    if evaluations:
        values["evaluation"] = evaluations[-1]
        shown = evaluations[-1].shown
        if shown:
            values["probe"] = (shown[0].source, shown[0].expected)
    return values


TAKEN: dict[str, Callable[[Any], dict[str, Any]]] = {"Started": _started, "Steps": _steps}


def finished(event: Any) -> dict[str, Any]:
    """The training is over, by itself or because it was stopped."""
    return {"status": "finished" if event.is_whole else "stopped"}


STATUSES = {"loading": "starting", "running": "running", "paused": "paused"}


def standing(client: core.Training) -> dict[str, Any]:
    """Where the process stands: its history, its film, its pace."""
    values: dict[str, Any] = {
        "step": client.step,
        "steps": client.history.steps.rows,
        "layers": client.history.layers,
        "norm_rows": client.history.norms.rows,
        "evaluations": tuple(client.evaluations),
        "seconds_a_step": client.seconds_per_step,
        "saved_step": client.saved_step,
        "checkpoint": client.start.checkpoint,
        "save_seconds": client.start.save_seconds,
    }
    if client.film is not None:
        values |= {
            "snapshots": tuple(client.film.frames),
            "bytes_kept": client.film.n_bytes,
            "budget": client.start.film_budget,
        }
    if client.state in STATUSES:
        values["status"] = STATUSES[client.state]
    return values
