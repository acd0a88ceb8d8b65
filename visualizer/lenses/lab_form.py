"""The form of a training's settings: fields, what stands in their way, what it will take. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from model_core.parameters import parameter_count
from model_core.training.estimates import Estimate
from model_core.training.held_out import decoded_at_most
from model_core.training.lab_data import Facts, TaskSource, task_settings
from model_core.training.problems import Problem, problems
from model_core.training.settings import FIELDS, SettingField, Settings
from model_core.training.tape_memory import BYTES
from visualizer.i18n import tr, tr_count
from visualizer.lab import Subject
from visualizer.lab_actions import pace_key, timing_key
from visualizer.lenses.lab_numbers import COUNTED, FOLLOWING, number_text, unread_said
from visualizer.lenses.lab_problems import label, problem_said

GROUPS = ("size", "training", "regularity", "architecture", "data")
# Of a file, what its tokens are comes first: the size of the vocabulary follows from it.
GROUPS_OF_FILES = ("data", *GROUPS[:-1])
# What the glossary says of a setting.
TERMS = {
    "vocab_size": "vocabulary",
    "d_model": "axis.D",
    "n_heads": "head",
    "d_ff": "axis.F",
    "n_layers": "layer",
    "max_seq_len": "token",
    "dropout_rate": "op.dropout_mask",
    "learning_rate": "learning_rate",
    "beta1": "first_moment",
    "beta2": "second_moment",
    "epsilon": "adam",
    "epochs": "epoch",
    "batch_size": "batch",
    "max_grad_norm": "gradient_clipping",
    "n_encoder_layers": "encoder",
    "n_decoder_layers": "decoder",
    "dropout_attention": "op.dropout_mask",
    "dropout_ffn": "op.dropout_mask",
    "dropout_sublayer": "op.dropout_mask",
    "steps": "training_step",
    "warmup_steps": "warm_up",
    "final_share": "learning_rate",
    "label_smoothing": "label_smoothing",
    "norm_position": "post_norm",
    "activation": "activation",
    "position": "position",
    "scale_embedding": "op.scale",
    "tying": "tied_embeddings",
    "alignment_loss": "op.alignment_loss",
    "alignment_layer": "guided_head",
    "alignment_head": "guided_head",
    "seed": "seed",
    "tokenizer": "tokenizer",
    "min_count": "unk",
    "held_out_share": "held_out",
}
# A task comes with its own tokenizer and its own held-out part.
OF_FILES = ("tokenizer", "min_count", "held_out_share")
OF_TASKS = ("alignment_loss", "alignment_layer", "alignment_head")
FLAGS = ("scale_embedding",)
PRESETS = ("small", "medium")
SIZES: dict[str, dict[str, Any]] = {
    "small": {"d_model": 32, "n_heads": 2, "d_ff": 64, "n_layers": 1, "learning_rate": 0.003},
    "medium": {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2, "learning_rate": 0.002},
}


@dataclass(frozen=True)
class FormRow:
    """A setting as the form shows it.

    kind: "number" | "choice" | "fixed", which comes with the data
    value: of the setting; text: what its field reads, "" for one that follows
    hint: its sensible range, and what files call it; first: what the field counts from
    problem: why it cannot work; fix: what is suggested instead, and how that is said
    is_read: whether its field holds a value    term: of the glossary
    """

    name: str
    group: str
    label: str
    kind: str
    text: str
    explanation: str
    hint: str
    placeholder: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    problem: str = ""
    unusual: bool = False
    fix: Any = None
    fix_said: str = ""
    term: str = ""
    value: Any = None
    first: int = 0
    is_read: bool = True


@dataclass(frozen=True)
class Form:
    """Everything that the page of the settings shows, and whether training can begin."""

    rows: tuple[FormRow, ...]
    facts: tuple[str, ...]
    estimate: tuple[tuple[str, str], ...]
    preset: str
    problems: tuple[str, ...]
    ready: bool
    groups: tuple[str, ...] = GROUPS


def form(subject: Subject, count_from: int = 1) -> Form:
    """The form of what is to be learned; layers and heads are counted from count_from."""
    settings, facts = subject.settings, subject.facts
    found: dict[str, Problem] = {}
    for problem in problems(settings, facts):
        found.setdefault(problem.field, problem)
    unread = dict(subject.unread)
    is_task = isinstance(subject.source, TaskSource)
    hidden = OF_FILES if is_task else OF_TASKS
    fields = [entry for entry in FIELDS if entry.name not in hidden]
    rows = tuple(
        fixed_vocabulary(entry, facts)
        if is_task and entry.name == "vocab_size"
        else _row(entry, settings, facts, found.get(entry.name), unread.get(entry.name), count_from)
        for entry in fields
    )
    sound = not found and not unread
    return Form(
        rows,
        () if facts is None else facts_said(facts, settings.max_seq_len),
        _said_of_run(subject) if sound and facts is not None else (),
        preset_of(subject),
        tuple(
            dict.fromkeys(problem_said(problem, settings, count_from) for problem in found.values())
        ),
        sound and facts is not None,
        GROUPS if is_task else GROUPS_OF_FILES,
    )


def fixed_vocabulary(entry: SettingField, facts: Facts | None) -> FormRow:
    """The vocabulary of a built-in task: as large as its tokenizer has made it."""
    name = entry.name
    text = "…" if facts is None else vocabulary_said(facts)
    words = (label(name), "fixed", text, tr(f"training.{name}.fixed"), "")
    return FormRow(name, entry.group, *words, term=TERMS[name])


def vocabulary_said(facts: Facts) -> str:
    """How many different tokens each side has."""
    source, target = f"{facts.n_source_tokens:,}", f"{facts.n_target_tokens:,}"
    return tr("lab.vocabulary", source=source, target=target)


def _row(
    entry: SettingField,
    settings: Settings,
    facts: Facts | None,
    problem: Problem | None,
    unread: str | None,
    count_from: int,
) -> FormRow:
    name = entry.name
    value = getattr(settings, name)
    first = count_from if name in COUNTED else 0
    kind = "choice" if entry.choices or name in FLAGS else "number"
    low, high = entry.low, entry.high
    unusual = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and low is not None
        and high is not None
        and not low <= value <= high
    )
    said = ""
    if unread is not None:
        said = unread_said(name, unread, first)
    elif problem is not None:
        said = problem_said(problem, settings, count_from)
    hint = ""
    if low is not None and high is not None:
        hint = tr("lab.range", low=number_text(low + first), high=number_text(high + first))
    if label(name).replace(" ", "") != name:
        hint = f"{hint} · {name}" if hint else name
    explanation = tr(f"training.{name}.explained", first=first)
    fix = problem.value if problem is not None and unread is None else None
    if name == "vocab_size" and facts is not None:
        explanation = tr("lab.vocabulary.now", explanation=explanation, now=vocabulary_said(facts))
    return FormRow(
        name,
        entry.group,
        label(name),
        kind,
        shown_value(value, first) if kind == "number" else str(value),
        explanation,
        hint,
        tr("lab.follows", value=number_text(_followed(settings, name))) if _follows(name) else "",
        choices_said(entry),
        said,
        unusual,
        fix,
        "" if fix is None else dict(choices_said(entry)).get(str(fix), shown_value(fix, first)),
        TERMS[name],
        value,
        first,
        unread is None,
    )


def shown_value(value: Any, first: int = 0) -> str:
    """A setting's number as its field reads it."""
    counted = value + first if first and value is not None else value
    return number_text(counted) if isinstance(value, int | float | None) else str(value)


def choices_said(entry: SettingField) -> tuple[tuple[str, str], ...]:
    """(value as text, words) of what a setting may be; of a yes or no, both."""
    if entry.name in FLAGS:
        return (("True", tr("lab.yes")), ("False", tr("lab.no")))
    return tuple((choice, tr(f"training.{entry.name}.{choice}")) for choice in entry.choices)


def chosen(name: str, text: str) -> Any:
    """The value of a setting by what was picked for it."""
    return text == "True" if name in FLAGS else text


def _follows(name: str) -> bool:
    return name in FOLLOWING


def _followed(settings: Settings, name: str) -> Any:
    return settings.n_layers if name.startswith("n_") else settings.dropout_rate


def preset_settings(subject: Subject, preset: str) -> Settings:
    """The settings of a preset: sizes and pace, or those of the task's own recipe."""
    if preset == "own" and isinstance(subject.source, TaskSource):
        return task_settings(subject.source.name)
    return _sized_as(subject.settings, preset)


def _sized_as(settings: Settings, preset: str) -> Settings:
    return msgspec.structs.replace(
        settings, n_encoder_layers=None, n_decoder_layers=None, **SIZES[preset]
    )


def presets(subject: Subject) -> tuple[tuple[str, str], ...]:
    """(name, words) of the presets that there are for the data."""
    names: tuple[str, ...] = PRESETS
    if isinstance(subject.source, TaskSource):
        own = task_settings(subject.source.name)
        # one that comes to the task's own settings would be the same choice twice
        others = [name for name in PRESETS if _sized_as(own, name) != own]
        names = ("own", *others)
    return tuple((name, tr(f"lab.preset.{name}")) for name in names)


def preset_of(subject: Subject) -> str:
    """Which preset the settings are those of; "" for none."""
    for name, _ in presets(subject):
        if preset_settings(subject, name) == subject.settings:
            return name
    return ""


# What is known of the data and of the run to come.


def facts_said(facts: Facts, max_seq_len: int) -> tuple[str, ...]:
    """The data in a few lines; what is too long for the model is said, too."""
    lines = [
        tr_count("lab.facts.pairs", facts.n_train, held=f"{facts.n_held_out:,}"),
        tr(
            "lab.facts.tokens",
            source=f"{facts.n_source_tokens:,}",
            target=f"{facts.n_target_tokens:,}",
        ),
    ]
    if len(facts.lengths):
        longest = min(int(facts.lengths.max()), max(max_seq_len, 1))
        decoded = decoded_at_most(longest)
        if decoded < facts.n_held_out:
            lines.insert(1, tr("lab.facts.decoded", n=decoded, held=f"{facts.n_held_out:,}"))
    if not facts.n_held_out:
        lines.append(tr("lab.facts.none_held"))
    if len(facts.lengths):
        source, target = facts.lengths.max(axis=0)
        lines.append(tr("lab.facts.longest", source=int(source), target=int(target)))
    longer = facts.longer_than(max_seq_len)
    if longer:
        lines.append(tr_count("lab.facts.longer", longer, limit=max_seq_len))
    return tuple(lines)


def _said_of_run(subject: Subject) -> tuple[tuple[str, str], ...]:
    """(what, how much) of the run to come; dots for what is being found out."""
    assert subject.facts is not None
    found = subject.estimate if subject.estimate_key == timing_key(subject) else None
    timed = subject.seconds_a_step if subject.seconds_key == pace_key(subject) else None
    facts = subject.facts
    config = subject.settings.sized(facts.n_source_tokens, facts.n_target_tokens)
    return estimate_said(parameter_count(config), found, timed)


def estimate_said(
    count: int, found: Estimate | None, seconds: float | None
) -> tuple[tuple[str, str], ...]:
    """count: the parameters    seconds: of a step, None as long as none was tried"""
    waiting = "…"
    size = memory = steps = epoch_steps = epoch = whole = waiting
    if found is not None:
        size, memory = bytes_text(BYTES * count), bytes_text(found.memory)
        steps, epoch_steps = f"{found.total_steps:,}", f"{found.steps_per_epoch:,}"
        epoch = whole = tr("lab.estimate.trying")
    if found is not None and seconds is not None:
        epoch = duration_text(seconds * min(found.steps_per_epoch, found.total_steps))
        whole = duration_text(seconds * found.total_steps)
    return (
        (tr("lab.estimate.parameters"), f"{count:,}"),
        (tr("lab.estimate.file"), size),
        (tr("lab.estimate.memory"), memory),
        (tr("lab.estimate.steps"), steps),
        (tr("lab.estimate.epoch_steps"), epoch_steps),
        (tr("lab.estimate.epoch"), epoch),
        (tr("lab.estimate.whole"), whole),
    )


def bytes_text(n_bytes: float) -> str:
    """As files' sizes are said, in thousands: "396 kB", "11 MB", "1.2 GB"."""
    for unit, size in (("kB", n_bytes / 1e3), ("MB", n_bytes / 1e6)):
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "kB" or size >= 9.95 else f"{size:.1f} {unit}"
    return f"{n_bytes / 1e9:.1f} GB"


def duration_text(seconds: float) -> str:
    """As long as something takes: "6 ms", "0.4 s", "41 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 0.0995:
        return tr("lab.milliseconds", n=f"{1000 * seconds:.0f}")
    if seconds < 9.95:
        return tr("lab.seconds", n=f"{seconds:.1f}")
    whole = round(seconds)
    if whole < 60:
        return tr("lab.seconds", n=whole)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return tr("lab.minutes", m=minutes, s=rest)
    return tr("lab.hours", h=minutes // 60, m=minutes % 60)
