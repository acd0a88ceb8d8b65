"""Invented pictures, blocks and segments for the gallery; the numbers are random."""

from __future__ import annotations

import numpy as np

from visualizer.lenses.picture import Bars, Matrix
from visualizer.widgets.model_map import Block
from visualizer.widgets.timeline import Segment

SOURCE = "the black cat sleeps on the table today <EOS>".split()
TARGET = ["<SOS>", "今天", "黑", "猫", "在", "桌子", "上"]
NEXT = [*TARGET[1:], "睡觉"]
LONG_SOURCE = [*SOURCE[:-1], "while", "grandmother", "reads", "quietly", "<EOS>"]
LONG_TARGET = ["<SOS>", *"今天 黑 猫 在 桌子 上 睡觉 祖母 安静地 读 一 本 书".split()]
rng = np.random.default_rng(7)


def attention(rows: int, columns: int, sharp: float = 3.0) -> np.ndarray:
    x = rng.normal(size=(rows, columns)) * sharp
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


def weights(rows: list[str], columns: list[str], notes: list[str], **more: object) -> Matrix:
    return Matrix(
        values=attention(len(rows), len(columns)),
        hidden=None,
        row_labels=tuple(rows),
        column_labels=tuple(columns),
        row_notes=tuple(f"→ {n}" for n in notes),
        row_title="queries: target token → the token it predicts",
        column_title="keys: source tokens (memory) → each row sums to 1.00",
        palette="sequential",
        low=0.0,
        high=1.0,
        **more,  # type: ignore[arg-type]
    )


def causal_scores(masked: bool) -> Matrix:
    n = len(TARGET)
    values = (rng.normal(size=(n, n)) * 2.2).astype(np.float32)
    hidden = np.triu(np.ones((n, n), bool), 1)
    if masked:
        values = np.where(hidden, np.float32(-np.inf), values)
    return Matrix(
        values=values,
        hidden=hidden if masked else None,
        row_labels=tuple(TARGET),
        column_labels=tuple(TARGET),
        row_notes=tuple(f"→ {n}" for n in NEXT),
        row_title="queries: target token → the token it predicts",
        column_title="keys: target tokens read so far",
        low=-6.2,
        high=6.2,
        current_row=6,
    )


def wide(rows: list[str], columns: int) -> Matrix:
    return Matrix(
        values=rng.normal(size=(len(rows), columns)).astype(np.float32),
        hidden=None,
        row_labels=tuple(rows),
        column_labels=tuple(str(i) for i in range(columns)),
        row_notes=tuple(f"→ {n}" for n in rows),
        row_title="target token",
        column_title=f"d_model: {columns} features",
        low=-3.0,
        high=3.0,
        current_row=3,
    )


def logits() -> Matrix:
    words = [f"词{i}" if i % 3 else f"word{i}" for i in range(300)]
    return Matrix(
        values=(rng.normal(size=(12, 300)) * 4).astype(np.float32),
        hidden=None,
        row_labels=tuple(LONG_TARGET[:12]),
        column_labels=tuple(words),
        column_title="target vocabulary",
        low=-14.0,
        high=14.0,
    )


def mask() -> Matrix:
    n = len(TARGET)
    return Matrix(
        values=np.tril(np.ones((n, n), bool)),
        hidden=None,
        row_labels=tuple(TARGET),
        column_labels=tuple(TARGET),
        row_title="queries",
        column_title="keys that may be attended",
        palette="mask",
    )


def masked_weights() -> Matrix:
    n = len(TARGET)
    hidden = np.triu(np.ones((n, n), bool), 1)
    values = np.where(hidden, 0, attention(n, n, 1.5))
    return Matrix(
        values=values / values.sum(axis=1, keepdims=True),
        hidden=hidden,
        row_labels=tuple(TARGET),
        column_labels=tuple(TARGET),
        row_notes=tuple(f"→ {n}" for n in NEXT),
        row_title="queries: target token → the token it predicts",
        column_title="keys: target tokens read so far",
        palette="sequential",
        current_row=6,
    )


def one_column() -> Matrix:
    return Matrix(
        values=rng.normal(size=(7, 1)).astype(np.float32),
        hidden=None,
        row_labels=tuple(TARGET),
        column_labels=("μ",),
        column_title="mean over d_model",
        low=-2.0,
        high=2.0,
    )


def bars(chosen: int | None) -> Bars:
    values = np.array(
        [0.7421846, 0.131, 0.0491, 0.031, 0.018, 0.011, 0.0052, 0.00031, 3.1e-5, 2e-9], np.float32
    )
    labels = ("睡觉", "睡", "在", "上", "跑", "吃", "喝水", "<EOS>", "grandmother", "的")
    return Bars(labels, values, np.arange(10) < 3, "logits", 0.91, chosen)


def blocks(layers: int, current: str) -> tuple[Block, ...]:
    found = [("encoder.embed", "Embed + position", "encoder", "")]
    for i in range(layers):
        for part, label in (
            ("self", "Self-attention"),
            ("norm1", "Add & Norm"),
            ("ffn", "Feed forward"),
            ("norm2", "Add & Norm"),
        ):
            found.append((f"encoder.{i}.{part}", label, "encoder", f"encoder {i + 1}"))
    found.append(("decoder.embed", "Embed + position", "decoder", ""))
    for i in range(layers):
        for part, label in (
            ("self", "Self-attention"),
            ("norm1", "Add & Norm"),
            ("cross", "Cross-attention"),
            ("norm2", "Add & Norm"),
            ("ffn", "Feed forward"),
            ("norm3", "Add & Norm"),
        ):
            found.append((f"decoder.{i}.{part}", label, "decoder", f"decoder {i + 1}"))
    found.append(("output", "Logits → softmax", "output", ""))
    at = [f[0] for f in found].index(current)
    states = ["done"] * at + ["current"] + ["todo"] * (len(found) - at - 1)
    return tuple(Block(*f, state=s) for f, s in zip(found, states))  # type: ignore[arg-type]


def segments(tokens: list[str]) -> tuple[Segment, ...]:
    front = (
        Segment("embed", "encoder", 3),
        Segment("encoder 1", "encoder", 20),
        Segment("encoder 2", "encoder", 20),
    )
    return front + tuple(Segment(f"t={i} {t}", "decoder", 28) for i, t in enumerate(tokens, 1))
