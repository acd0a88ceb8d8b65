"""What the process that trains tells, as values of the lab's training. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visualizer.i18n import tr
from visualizer.lab import Damaged, Subject, Training, Unfinished
from visualizer.lab_film import name_of
from visualizer.state import ModelEntry

if TYPE_CHECKING:
    from model_core.training import lab as core


def unfinished_at(path: Path) -> Unfinished | Damaged | None:
    """What lies at a place: a training that can go on, or one that cannot any more; None where
    that is no training.
    """
    import msgspec

    from model_core.checkpoints.errors import CheckpointError
    from model_core.training.lab_data import DataSource, FileSource
    from model_core.training.resume import is_run, latest_run, previous_of
    from model_core.training.settings import Settings

    try:
        when = (path if path.exists() else previous_of(path)).stat().st_mtime
    except OSError:
        return None
    try:
        saved, _ = latest_run(path)
        source = msgspec.convert(saved.description.source, DataSource)
        settings = msgspec.convert(saved.description.settings, Settings)
    except (ValueError, OSError) as error:
        # a sound file of another kind is nobody's training
        if not is_run(path) and not is_run(previous_of(path)) and is_sound(path):
            return None
        return Damaged(
            path, error.found if isinstance(error, CheckpointError) else str(error), when
        )
    title = Path(source.path).name if isinstance(source, FileSource) else source.name
    return Unfinished(path, Subject(source, title, settings), saved.position.step, when)


def is_sound(path: Path) -> bool:
    """Whether a file can be opened as a checkpoint of whatever kind."""
    from model_core.checkpoints.safetensors_file import SafetensorsFile

    try:
        with SafetensorsFile(path):
            return True
    except (ValueError, OSError):
        return False


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


def last_good(client: core.Training, training: Training | None, event: Any) -> dict[str, Any]:
    """The model as it was before a training came to nothing, where there is one."""
    if not event.parameters or training is None:
        return {}
    title = tr("lab.snapshot", name=name_of(training), step=f"{event.good_step:,}")
    return {"final": ModelEntry(client.model(), title)}


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
        "checkpoint": client.start.checkpoint,
        "save_seconds": client.start.save_seconds,
        "evaluate_every": client.start.evaluate_every,
    }
    if client.saved_step is not None or not client.start.checkpoint:
        # until then it is the step of the checkpoint that it was taken up from
        values["saved_step"] = client.saved_step
    if client.film is not None:
        values |= {
            "snapshots": tuple(client.film.frames),
            "bytes_kept": client.film.n_bytes,
            "budget": client.start.film_budget,
        }
    if client.state in STATUSES:
        values["status"] = STATUSES[client.state]
    return values
