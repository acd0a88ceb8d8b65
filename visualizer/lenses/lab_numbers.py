"""Numbers of the lab's settings: as they are typed, read, and said. No Qt."""

from __future__ import annotations

import math
import re
from typing import Any

from visualizer.i18n import tr
from visualizer.lenses.numbers import short_power

# Of these None is a value: it follows another setting.
FOLLOWING = (
    "n_encoder_layers",
    "n_decoder_layers",
    "dropout_attention",
    "dropout_ffn",
    "dropout_sublayer",
)
WHOLE = frozenset(
    {
        *("vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_seq_len", "epochs"),
        *("batch_size", "n_encoder_layers", "n_decoder_layers", "steps", "warmup_steps"),
        *("alignment_layer", "alignment_head", "seed", "min_count"),
    }
)
# Layers and heads are counted from where the user counts from.
COUNTED = ("alignment_layer", "alignment_head")
# One comma before three digits parts thousands for some and whole from part for others.
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
# More digits than these are cut where a sentence names them.
MOST_DIGITS, MOST_LETTERS = 16, 24


class Unreadable(ValueError):
    """What was typed is no value; key: of the sentence that says why."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key, self.text = key, text

    @property
    def said(self) -> str:
        return tr(self.key, text=shortened(self.text), plain=shortened(self.text.replace(",", "")))


def number_text(value: Any) -> str:
    """A number as one would type it, in as few digits as give it again; nothing for None."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.10g}"
    return short_power(text if float(text) == value else repr(value))


def read_value(name: str, text: str, first: int = 0) -> Any:
    """What was typed into a field, as a value; Unreadable where it is none.

    first: what is counted from, where layers or heads are
    """
    plain = text.strip().replace("\u2212", "-")
    if not plain:
        if name in FOLLOWING:
            return None
        raise Unreadable("lab.unread.empty", plain)
    if THOUSANDS.fullmatch(plain):
        if name not in WHOLE and plain.count(",") == 1:
            raise Unreadable("lab.unread.comma", plain)
        plain = plain.replace(",", "")
    plain = plain.replace(",", ".")
    if name in WHOLE:
        return _whole(plain) - first * (name in COUNTED)
    value = _real(plain)
    if not math.isfinite(value):
        raise Unreadable("lab.unread", plain)
    return value


def _whole(plain: str) -> int:
    try:
        return int(plain)
    except ValueError:
        value = _real(plain)
    if not math.isfinite(value):
        raise Unreadable("lab.unread", plain)
    if not value.is_integer():
        raise Unreadable("lab.unread.whole", plain)
    return int(value)


def _real(plain: str) -> float:
    try:
        return float(plain)
    except ValueError:
        raise Unreadable("lab.unread", plain) from None


def unread_said(name: str, text: str, first: int = 0) -> str:
    """Why what stands in a field is no value of its setting."""
    try:
        read_value(name, text, first)
    except Unreadable as found:
        return found.said
    return ""


def shortened(text: str) -> str:
    """What somebody typed, no longer than a line of the form bears."""
    text = cut_digits(text)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def cut_digits(sentence: str) -> str:
    """A sentence with the digits left out that nobody reads."""
    return re.sub(rf"\d{{{MOST_DIGITS + 1},}}", lambda run: f"{run[0][:6]}…{run[0][-3:]}", sentence)
