"""Slips and fillers: a question as somebody may type it who did not read the table."""

from __future__ import annotations

import numpy as np

# Stands for a character that the vocabulary lacks.
UNKNOWN_CHARACTER = "\ufffd"

IN_FRONT = ("请问", "那", "嗯，", "你好，", "请问一下，", "那么", "对了，")
BEHIND = ("？", "。", "！", "呢", "啊", "呀", "吧", "呢？", "啊！", "吗？", "了")
# Without these a question would mean something else.
MEANINGFUL = frozenset("不没你我您他明今一二三为什么还再")

FILLED = 0.5
SLIPPED = 0.35
DELETED = 0.08
UNKNOWN = 0.05


def filled(question: str, generator: np.random.Generator) -> str:
    """A question with a filler in front of it, behind it, or both."""
    if generator.random() < 0.4:
        question = IN_FRONT[generator.integers(len(IN_FRONT))] + question
    if generator.random() < 0.8:
        question += BEHIND[generator.integers(len(BEHIND))]
    return question


def slipped(question: str, kept: str, generator: np.random.Generator) -> str:
    """A question with characters left out or unknown, `kept` and the telling ones excepted."""
    start = question.find(kept) if kept else -1
    safe = range(start, start + len(kept)) if start >= 0 else range(0)
    characters = []
    for place, character in enumerate(question):
        chance = generator.random()
        if place in safe or character in MEANINGFUL or len(question) < 4:
            characters.append(character)
        elif chance < DELETED:
            continue
        elif chance < DELETED + UNKNOWN:
            characters.append(UNKNOWN_CHARACTER)
        else:
            characters.append(character)
    return "".join(characters)


def noisy(question: str, kept: str, generator: np.random.Generator) -> str:
    """A question as it is, with fillers, with slips, or with both."""
    if generator.random() < SLIPPED:
        question = slipped(question, kept, generator)
    if generator.random() < FILLED:
        question = filled(question, generator)
    return question


def bare(question: str) -> str:
    """A question without the fillers and signs around it: what is left is what is asked."""
    while True:
        shorter = question.strip(" ，。！？")
        for filler in IN_FRONT:
            shorter = shorter.removeprefix(filler)
        for filler in BEHIND:
            shorter = shorter.removesuffix(filler)
        if shorter in ("", question):
            return question
        question = shorter
