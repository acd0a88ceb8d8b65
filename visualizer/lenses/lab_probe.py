"""What of the lab's probe the model does not know: said, and marked in the film. No Qt."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from model_core.chat import source_of
from visualizer.i18n import tr, tr_count
from visualizer.lab import Training
from visualizer.lenses.token_labels import token_label

# So many unknown pieces are named, and so much of each is quoted: it is one line.
MOST_NAMED, LONGEST = 6, 12
BLANKS = " \u00a0\u3000"


@lru_cache(maxsize=2)
def _unknown(tokenizer: Any, source: str) -> tuple[tuple[int, str], ...]:
    try:
        read = tokenizer.encode_source(source)
    except ValueError:
        return ()
    return tuple((piece.position, piece.text) for piece in read.unknown)


def unknown_of(training: Training | None, probe: str) -> tuple[tuple[int, str], ...]:
    """(position among the tokens, what was typed) of all that the model reads as <UNK>."""
    if training is None or training.tokenizer is None or not probe:
        return ()
    return _unknown(training.tokenizer, source_of(training.card or {}, probe))


def unknown_said(training: Training | None, probe: str) -> str:
    """Which characters or words of the probe are unknown, each named once; "" where none is."""
    pieces = tuple(dict.fromkeys(text for _, text in unknown_of(training, probe)))
    if training is None or not pieces:
        return ""
    names = [
        tr("lab.probe.blank") if text in BLANKS else _short(text) for text in pieces[:MOST_NAMED]
    ]
    if len(pieces) > MOST_NAMED:
        names.append("…")
    unit = "characters" if training.tokenizer.source_unit == "characters" else "words"
    mark = training.tokenizer.source_vocabulary[training.tokenizer.unknown_id]
    named = " · ".join(names)
    return tr_count(f"lab.probe.unknown.{unit}", len(pieces), pieces=named, mark=mark)


def marked_columns(
    training: Training | None, probe: str, columns: tuple[str, ...]
) -> tuple[str, ...]:
    """The labels of the source's tokens; an unknown character is itself with a question mark, which
    has room above its column where <UNK> would take the place of the next label. The sign of a
    blank is as wide as that already.
    """
    if training is None or getattr(training.tokenizer, "source_unit", "") != "characters":
        return columns
    typed = dict(unknown_of(training, probe))
    return tuple(
        _marked(typed[place]) if place in typed else label for place, label in enumerate(columns)
    )


def _marked(typed: str) -> str:
    return token_label(typed) if typed in BLANKS else f"{token_label(typed)}?"


def _short(typed: str) -> str:
    label = token_label(typed)
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
