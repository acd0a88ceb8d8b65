"""What the lab says of a training: its heading, its pace, the line below, frames, tables. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from visualizer.i18n import has, tr, tr_count
from visualizer.lab import (
    Lab,
    Shot,
    Training,
    chosen_steps,
    marked_step,
    shot_at,
    shown_step,
    site_of,
    snapshot_steps,
)
from visualizer.lab_film import due_steps
from visualizer.lab_film import task_name as task_name
from visualizer.lab_unfinished import data_wanted
from visualizer.lenses.lab_charts import fitting, scientific, three_digits
from visualizer.lenses.lab_form import bytes_text, duration_text
from visualizer.lenses.lab_picture import Detail, Frame, NormBar, Sample
from visualizer.lenses.lab_probe import marked_columns
from visualizer.lenses.token_labels import NOTHING, token_labels
from visualizer.reasons import as_sentence, translated

if TYPE_CHECKING:
    from model_core.training.held_out import Evaluation


# Of what cannot be used so much is quoted.
LONGEST_QUOTED = 30


def facts(training: Training) -> str:
    """What the model is, beside its name."""
    config = training.config
    if config is None:
        return ""
    too_long = training.too_long
    left_out = (tr_count("lab.model.too_long", too_long),) if too_long else ()
    return " · ".join(
        (
            tr(
                "lab.model.layers",
                encoder=config.n_encoder_layers,
                decoder=config.n_decoder_layers,
            ),
            f"d_model {config.d_model}",
            tr("shape.heads.one") if config.n_heads == 1 else tr("shape.heads", n=config.n_heads),
            tr("lab.model.parameters", n=f"{training.n_parameters:,}"),
            bytes_text(training.n_bytes),
            *left_out,
        )
    )


def pace(training: Training) -> str:
    """How far it has come, how fast it is, how long it will still take."""
    parts = []
    if training.total:
        parts.append(tr("lab.pace.step", n=f"{reached(training):,}", all=f"{training.total:,}"))
    if training.seconds_a_step is not None:
        milliseconds = 1000 * training.seconds_a_step
        shown = f"{milliseconds:.0f}" if milliseconds >= 9.95 else f"{milliseconds:.1f}"
        parts.append(tr("lab.pace.speed", ms=shown))
    left = training.seconds_left
    if training.status == "running" and left is not None:
        parts.append(tr("lab.pace.left", time=duration_text(left)))
    elif training.status != "running":
        parts.append(tr(f"lab.status.{training.status}"))
    return " · ".join(parts)


def reached(training: Training) -> int:
    """The step it came to; where it failed, its model is of an earlier one."""
    return max(training.step, int(training.steps[-1, 0]) if len(training.steps) else 0)


def line_below(training: Training, short: bool = False) -> tuple[str, ...]:
    """Where the model is, once it is in a file: the rest may have no room. Then gradient norm, the
    size of the last measured update, the snapshots and their memory.

    short: for narrow places
    """
    parts = []
    path = kept_at(training)
    if path is not None:
        parts.append(tr("lab.below.kept", file=path.name))
    form = ".short" if short else ""
    last = training.last
    if last is not None:
        norm, clipped = fitting(last.gradient_norm, 2), fitting(last.clipped_norm, 2)
        parts.append(tr(f"lab.below.norm{form}", norm=norm, clipped=clipped))
    ratio = update_ratio(training)
    if ratio is not None:
        parts.append(tr(f"lab.below.update{form}", ratio=scientific(ratio)))
    if training.snapshots and training.began:
        n, began = len(training.snapshots), f"{training.began:,}"
        parts.append(tr(f"lab.below.since{form}", n=n, began=began))
    elif training.snapshots:
        parts.append(
            tr(
                f"lab.below.snapshots{form}",
                n=len(training.snapshots),
                used=bytes_text(training.bytes_kept),
                budget=bytes_text(training.budget),
            )
        )
    if not training.is_over and training.config is not None:
        parts.append(saving(training))
    return tuple(parts)


def kept_at(training: Training) -> Path | None:
    """The file that the trained model is in, once it is."""
    return None if training.final is None else training.final.path


def about_line(training: Training) -> str:
    """The whole line below, and the whole path of the file."""
    told, path = " · ".join(line_below(training)), kept_at(training)
    return told if path is None else f"{told}\n{path}"


def saving(training: Training) -> str:
    """When it was saved last, and how often it is."""
    if not training.checkpoint:
        return tr("lab.below.unsaved")
    minutes = f"{training.save_seconds / 60:g}"
    if training.saved_step is None:
        return tr("lab.below.saves", m=minutes)
    return tr("lab.below.saved", n=f"{training.saved_step:,}", m=minutes)


def refusal(text: str, key: str, values: dict[str, object]) -> str:
    """Why what was typed cannot be what the film is of."""
    shown = text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1]}…"
    reason = translated(str(values.get("reason", "")))
    return tr(key, **{**values, "text": shown, "reason": reason})


def update_ratio(training: Training) -> float | None:
    """The norm of the last measured update over that of all parameters."""
    measured = norms_at(training, None)
    rows = () if measured is None else measured[1]
    parameters = sum(row.parameters**2 for row in rows) ** 0.5
    if not parameters:
        return None
    return float(sum(row.update**2 for row in rows) ** 0.5 / parameters)


def said(reason: str, title: str = "") -> str:
    """A sentence of the core in the language in use, with its first letter large.

    title: the data's, which may be a file's name and stays as it is
    """
    return as_sentence(translated(reason), title)


def why_ended(training: Training, can_go_on: bool) -> str:
    """Why a training has failed, and where it can go on from."""
    reason, step = said(training.reason, training.subject.title), training.saved_step
    if not can_go_on or step is None:
        return reason
    folder = data_wanted(training, training.reason)
    if folder is not None:
        return tr("error.training.saved.data", reason=reason, step=f"{step:,}", folder=folder)
    return tr("error.training.saved", reason=reason, step=f"{step:,}")


def plain(title: str) -> str:
    """A title as the beginning of a file's name."""
    stem = title.rsplit(".", 1)[0] if "." in title[1:] else title
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in stem).strip("-") or "training"


# The film.


def frames(lab: Lab, room: int) -> tuple[Frame, ...]:
    """The film; a frame whose picture is not known yet keeps its place. () before the first."""
    known = known_steps(lab)
    here = nearest(known, shown_step(lab))
    if here is None:
        return ()
    chosen = chosen_steps(tuple(sorted({*due_steps(lab), *known})), room, here)
    found = (frame_at(lab, step, step == here, "") or coming(step) for step in chosen)
    return tuple(found)


def coming(step: int) -> Frame:
    """A frame without a picture so far."""
    return Frame(step, tr("lab.film.step", n=f"{step:,}"), np.zeros((0, 0)), "")


def detail(lab: Lab) -> Detail | None:
    """The frame that is looked at, with its words; None where there is none yet.

    The encoder's rows are tokens of the source: none of them writes a token of the output, so there
    is no title for what they write.
    """
    frame = frame_at(lab, nearest(known_steps(lab), shown_step(lab)), True, "")
    if frame is None:
        return None
    return Detail(
        frame,
        expected_words(frame),
        tr(f"lab.detail.hint.{lab.attention}"),
        tr("lab.detail.rows"),
        "" if lab.attention == "encoder" else tr("lab.detail.tokens"),
        tr("lab.detail.sure"),
        tr("lab.detail.cell"),
    )


def expected_words(frame: Frame) -> str:
    """What should have come, "" where nobody knows."""
    if frame.expected is None:
        return ""
    return tr("lab.detail.expected", text=frame.expected or NOTHING)


def known_steps(lab: Lab) -> tuple[int, ...]:
    """The steps of the snapshots whose picture of the probe is known."""
    known = {shot.step for shot in lab.shots if shot.probe == lab.probe}
    return tuple(step for step in snapshot_steps(lab) if step in known)


def nearest(steps: Iterable[int], wish: int | None) -> int | None:
    steps = tuple(steps)
    if not steps or wish is None:
        return None
    return min(steps, key=lambda step: abs(step - wish))


def frame_at(lab: Lab, step: int | None, chosen: bool, mark: str) -> Frame | None:
    """What a snapshot makes of the probe, as a picture."""
    shot = None if step is None else shot_at(lab, step)
    site = site_of(lab)
    if shot is None or site not in shot.attentions:
        return None
    weights = shot.attentions[site]
    head = min(lab.head, len(weights) - 1)
    rows, columns = labels(lab, shot)
    return Frame(
        shot.step,
        tr("lab.film.step", n=f"{shot.step:,}"),
        weights[head],
        shot.output,
        shot.is_right,
        chosen,
        mark,
        rows,
        columns,
        shot.expected,
        token_labels(shot.predicted),
        shot.probabilities,
        shot.is_ended,
    )


def labels(lab: Lab, shot: Shot) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens of the rows and columns of the attention on show."""
    rows, columns = token_labels(shot.rows), token_labels(shot.columns)
    columns = marked_columns(lab.training, shot.probe, columns)
    if lab.attention == "encoder":
        return columns, columns
    return rows, rows if lab.attention == "decoder" else columns


def pair(lab: Lab) -> tuple[Frame, ...]:
    """The two snapshots that are compared, the earlier one first; () while one is unknown."""
    known = known_steps(lab)
    steps = sorted({nearest(known, marked_step(lab)), nearest(known, shown_step(lab))} - {None})  # type: ignore[type-var]
    if len(steps) != 2:
        return ()
    found = [frame_at(lab, step, False, mark) for step, mark in zip(steps, "AB", strict=True)]
    return tuple(frame for frame in found if frame is not None) if all(found) else ()


# Tables.


def layer_name(name: str, count_from: int) -> str:
    """ "encoder.layers.0" in words."""
    parts = name.split(".")
    if len(parts) == 3 and parts[1] == "layers":
        return tr(f"lab.layer.{parts[0]}", n=int(parts[2]) + count_from)
    key = f"lab.part.{parts[0]}"
    return tr(key) if has(key) else name


class Norms(NamedTuple):
    """The norms of a layer's parameters and of an update."""

    layer: str
    parameters: float
    update: float


def norms_at(training: Training, step: int | None) -> tuple[int, tuple[Norms, ...]] | None:
    """The norms that were measured last up to a step, or first behind it, and after which step;
    None for the step takes the newest. None where there are none.
    """
    rows = training.norm_rows
    if not len(rows):
        return None
    wish = np.inf if step is None else step
    row = rows[max(int(np.searchsorted(rows[:, 0], wish, side="right")) - 1, 0)]
    pairs = zip(training.layers, row[1:].reshape(-1, 2).tolist(), strict=True)
    return int(row[0]), tuple(Norms(name, *pair) for name, pair in pairs)


def norm_bars(measured: Iterable[Norms], count_from: int) -> tuple[NormBar, ...]:
    """The norms of every layer and of an update of it."""
    bars = []
    for row in measured:
        ratio = row.update / row.parameters if row.parameters else 0.0
        texts = (three_digits(row.parameters), three_digits(row.update), scientific(ratio))
        name = layer_name(row.layer, count_from)
        bars.append(NormBar(name, row.parameters, row.update, texts))
    return tuple(bars)


def evaluation_at(training: Training, step: int | None) -> Evaluation | None:
    """The last evaluation up to a step, or the first one behind it; None takes the newest."""
    known = training.evaluations or (() if training.evaluation is None else (training.evaluation,))
    before = [done for done in known if step is None or done.step <= step]
    return before[-1] if before else known[0] if known else None


def samples(evaluation: Evaluation | None) -> tuple[Sample, ...]:
    """Held-out examples as an evaluation decoded them."""
    shown = () if evaluation is None else evaluation.shown
    return tuple(Sample(s.source, s.expected, s.output, s.is_right) for s in shown)


def at_step(words: str, step: int | None) -> str:
    """The heading of a column behind the step that a table is of, which is never to be cut."""
    if step is None:
        return words
    return f"{tr('lab.film.step', n=f'{step:,}')} · {words}"
