"""What becomes of the two texts of a row: a pair, or why there is none."""

from __future__ import annotations

import re

from model_core.training.text_files import BROKEN

# No part of a text; line breaks of all kinds are spaces.
CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f]")


def as_read(texts: tuple[str, str], longest: int) -> tuple[tuple[str, str], str]:
    """Source and target as they are learned from, and "" or the kind of line that gives no pair.

    longest: characters of a side at most    kinds: of `cleaning.KINDS`
    """
    # a line break inside a cell is a space; runs of spaces stay as they are
    source, target = (" ".join(text.strip().splitlines()) for text in texts)
    fault = ""
    if any(CONTROL.search(text) for text in texts):
        fault = "control"
    elif not source or not target:
        fault = "empty"
    elif any(not text.isascii() and BROKEN.search(text) for text in (source, target)):
        # JSON may bring half a surrogate pair, which no file can hold
        fault = "half"
    elif max(len(source), len(target)) > longest:
        fault = "too_long"
    return (source, target), fault
