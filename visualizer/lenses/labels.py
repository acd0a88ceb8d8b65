"""The words along a picture's edges: tokens, dimensions, the vocabulary; and the axis titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from model_core.tape import Record, Tape
from visualizer.i18n import tr
from visualizer.lenses.token_labels import token_label, token_labels
from visualizer.walkthrough import Place

# Sites whose last two axes are queries and keys, before any mask and after.
ATTENTION_ROLES = ("scores", "masked_scores", "weights")


@dataclass(frozen=True)
class Words:
    """What a picture needs beside the tape: target vocabulary, where to count from, decimals.

    typed: what stands in the sentence at the source positions that are read as <UNK>
    given: the model reads rows of numbers and there is no sentence
    """

    vocabulary: Sequence[str]
    count_from: int = 1
    decimals: int = 2
    typed: tuple[tuple[int, str], ...] = ()
    given: bool = False


def is_query_key(place: Place, axes: tuple[str, ...]) -> bool:
    """Whether rows are queries and columns are keys."""
    return place.role in ATTENTION_ROLES or (place.sublayer == "mask" and len(axes) == 4)


def cell_kind(place: Place, record: Record) -> Literal["attention", "dimension", "token", "plain"]:
    """What a cell is to its row and its column."""
    if is_query_key(place, record.axes):
        return "attention"
    return {"1": "plain", "V": "token"}.get("".join(record.axes[-1:]) or "1", "dimension")  # type: ignore[return-value]


def axis_labels(letter: str, size: int, tape: Tape, words: Words, single: str) -> tuple[str, ...]:
    """One label per position of an axis; `single` is the word for a broadcast axis."""
    if letter == "S":
        return token_labels(tape.source_tokens[:size])
    if letter == "T":
        return token_labels(tape.target_tokens[:size])
    if letter == "V":
        return tuple(words.vocabulary[:size])
    if letter == "1" or letter == "":
        return (single,) * size
    return _numbers(words.count_from, size)


def typed_notes(letter: str, size: int, words: Words) -> tuple[str, ...]:
    """Under each unknown source token the word that was typed; () where all are known."""
    if letter != "S" or not words.typed:
        return ()
    typed = dict(words.typed)
    return tuple(token_label(typed[n]) if n in typed else "" for n in range(size))


def row_notes(letter: str, size: int, tape: Tape, words: Words) -> tuple[str, ...]:
    """Beside each decoder row what it predicts, beside an unknown source token the word."""
    if letter != "T":
        return typed_notes(letter, size, words)
    return tuple(f"→ {token_label(token)}" for token in tape.predicted_tokens[:size])


@lru_cache(maxsize=64)
def _numbers(start: int, size: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(start, start + size))


def row_title(place: Place, record: Record, letter: str, words: Words) -> str:
    """What the rows are."""
    if is_query_key(place, record.axes):
        source = tr("axis.queries_given") if words.given else tr("axis.queries_source")
        return {"S": source, "T": tr("axis.queries_target")}.get(letter, "")
    if letter == "S" and place.side == "decoder":
        return tr("axis.rows_memory")
    source = tr("axis.rows_given") if words.given else tr("axis.rows_source")
    return {"S": source, "T": tr("axis.rows_target")}.get(letter, "")


def column_title(
    place: Place, record: Record, letter: str, size: int, heads: int, words: Words
) -> str:
    """What the columns are; of attention weights also what a row adds up to.

    Of other records of several heads, that the colours are the same for all of them.
    """
    if is_query_key(place, record.axes):
        if letter == "T":
            title = tr("axis.keys_target")
        elif place.side == "decoder":
            title = tr("axis.keys_memory")
        else:
            title = tr("axis.keys_given") if words.given else tr("axis.keys_source")
        if place.role == "weights" and record.direction == "forward":
            return f"{title} · {tr('axis.rows_sum_to_one')}"
        shared = "H" in record.axes and heads > 1
        return f"{title} · {tr('axis.shared_colours')}" if shared else title
    if letter == "D":
        title = tr("axis.columns_model", size=size)
        return f"{title} · {tr('axis.editable')}" if place.kind == "input" else title
    if letter == "K":
        title = tr("axis.columns_head", size=size)
        return f"{title} · {tr('axis.shared_colours')}" if heads > 1 else title
    if letter == "H*K":
        return tr("axis.columns_heads", heads=heads, size=size // max(heads, 1))
    if letter == "F":
        return tr("axis.columns_hidden", size=size)
    if letter == "V":
        return tr("axis.columns_vocabulary", size=size)
    if letter in ("1", ""):
        return ""
    return tr("axis.columns_plain", size=size)


def shape_text(place: Place, record: Record, rows: int) -> str:
    """The shape in words, as far as it is on show: "(4 heads, 7 queries, 9 keys)".

    rows: how many of the target positions are on show
    """
    parts = []
    axes = record.axes
    query_key = is_query_key(place, axes)
    for number, (letter, size) in enumerate(zip(axes, record.value.shape, strict=True)):
        shown = min(rows, size) if letter == "T" else size
        if letter in ("B", "1"):
            continue
        if letter == "H":
            parts.append(_counted("heads", shown))
        elif letter in ("S", "T"):
            last = number == len(axes) - 1
            word = ("keys" if last else "queries") if query_key else "tokens"
            parts.append(_counted(word, shown))
        elif letter == "V":
            parts.append(tr("shape.vocabulary", n=shown))
        else:
            name = {"D": "d_model", "K": "d_head", "F": "d_ff", "H*K": tr("shape.all_heads")}
            parts.append(f"{name.get(letter, letter)} {shown}")
    said = parts[0] if parts else tr("shape.one_number")
    for part in parts[1:]:
        said = tr("shape.and", first=said, second=part)
    return tr("shape.brackets", parts=said)


def _counted(word: str, n: int) -> str:
    return tr(f"shape.{word}.one") if n == 1 else tr(f"shape.{word}", n=n)
