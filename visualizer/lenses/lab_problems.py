"""Why settings cannot work, in the form's own words: the core names them as its files do. No Qt."""

from __future__ import annotations

import re

from model_core.training.problems import Problem
from model_core.training.settings import FIELDS, Settings
from visualizer.i18n import tr
from visualizer.lenses.lab_numbers import COUNTED, cut_digits
from visualizer.lenses.numbers import short_power
from visualizer.reasons import translated

_NAMES = sorted((field.name for field in FIELDS), key=len, reverse=True)
# A name that is a word of the language as well is meant where the sentence begins with it.
_PARTED = "|".join(name for name in _NAMES if re.search(r"[_\d]", name))
_NAME = re.compile(rf"^(?:{'|'.join(_NAMES)})\b|\b(?:{_PARTED})\b", re.ASCII)
# Between two Chinese letters there is no space.
_HAN_SPACE = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


def problem_said(problem: Problem, settings: Settings | None = None, first: int = 1) -> str:
    """Why a setting cannot work and what to do instead, in the language in use.

    settings: they have the sizes that a layer or a head is beyond    first: what is counted from
    """
    if settings is not None and problem.field in COUNTED:
        count = settings.decoder_depth if problem.field == COUNTED[0] else settings.n_heads
        value = getattr(settings, problem.field) + first
        bounds = {"low": first, "high": count - 1 + first}
        return cut_digits(tr(f"lab.beyond.{problem.field}", value=value, **bounds))
    said = {"reason": problem.reason, "suggestion": problem.suggestion}
    parts = {name: short_power(translated(text)) for name, text in said.items()}
    return tr("lab.problem", **{name: labelled(text) for name, text in parts.items()})


def labelled(sentence: str) -> str:
    """A sentence of the core with the labels of the form for the names of settings."""
    named = _NAME.sub(lambda match: label(match[0]), sentence)
    return cut_digits(_HAN_SPACE.sub("", named))


def label(name: str) -> str:
    """What the form calls a setting."""
    return tr(f"training.{name}.label")
