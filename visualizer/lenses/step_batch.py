"""The batch of a training step: what is read and what is to be predicted, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from visualizer.i18n import tr
from visualizer.inquiries.step import shown_step
from visualizer.lenses.token_labels import token_labels
from visualizer.state import ViewState

# "counted" for what counts in the loss, "padding" for what fills up, "unknown" for <UNK>.
CellKind = Literal["plain", "counted", "padding", "unknown"]


@dataclass(frozen=True)
class BatchCell:
    """A token, its id in the vocabulary, what it is there for; whether it counts in the loss."""

    text: str
    id: int
    kind: CellKind = "plain"
    counts: bool = False


@dataclass(frozen=True)
class BatchRow:
    """One line of tokens. pair: its number, on the first line of each pair    reads: what it is
    side: lines of one side stand below each other, position by position
    """

    pair: str
    reads: str
    side: Literal["source", "target"]
    cells: tuple[BatchCell, ...]


@dataclass(frozen=True)
class BatchGrid:
    """rows: three for each pair    legend: what the kinds of cells mean, in words"""

    rows: tuple[BatchRow, ...]
    legend: tuple[tuple[CellKind, str], ...]


def batch_grid(state: ViewState) -> BatchGrid | None:
    """What encoder and decoder read and what is to be predicted, padding included."""
    step = shown_step(state)
    if step is None:
        return None
    words, batch, in_loss = step.model.tokenizer, step.batch, step.counted
    rows: list[BatchRow] = []
    met: set[CellKind] = set()

    def cells(
        ids: list[int], tokens: list[str], real: list[bool], kind: CellKind
    ) -> tuple[BatchCell, ...]:
        found = []
        for token, number, is_real in zip(token_labels(tokens), ids, real, strict=True):
            unknown = number == words.unknown_id
            own: CellKind = "unknown" if unknown else kind
            counts = kind == "counted" and is_real
            found.append(BatchCell(token, number, own if is_real else "padding", counts))
        met.update(cell.kind for cell in found)
        return tuple(found)

    for pair in range(len(batch.source_ids)):
        source, target = batch.source_ids[pair].tolist(), batch.target_ids[pair].tolist()
        labels, counted = batch.labels[pair].tolist(), in_loss[pair].tolist()
        number = str(pair + state.count_from)
        read = cells(source, words.source_tokens(source), batch.source_mask[pair].tolist(), "plain")
        rows.append(BatchRow(number, tr("step.encoder"), "source", read))
        read = cells(target, words.target_tokens(target), batch.target_mask[pair].tolist(), "plain")
        rows.append(BatchRow("", tr("step.decoder"), "target", read))
        wanted = cells(labels, words.target_tokens(labels), counted, "counted")
        rows.append(BatchRow("", tr("step.labels"), "target", wanted))
    kinds: tuple[CellKind, ...] = ("counted", "padding", "unknown")
    legend = tuple((kind, tr(f"step.batch.{kind}")) for kind in kinds if kind in met)
    return BatchGrid(tuple(rows), legend)
