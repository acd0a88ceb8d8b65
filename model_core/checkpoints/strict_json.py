"""JSON out of a file that a stranger may have written: one meaning or an error."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from typing import Any

from model_core.checkpoints.errors import CheckpointError, quoted

DEEPEST = 32


def parse(text: str, file: str | os.PathLike[str], what: str) -> Any:
    """The values in `text`; CheckpointError names the file and `what` (such as "the header").

    Beyond JSON's grammar this refuses what readers disagree on or choke on: keys that occur
    twice, NaN and infinities, numbers too large for a float, half surrogate pairs and
    nesting beyond DEEPEST.
    """
    expected = "JSON"
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
        if _depth_exceeds(value, DEEPEST):
            raise RecursionError
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        found, expected = f"{what} nests too deeply", f"at most {DEEPEST} levels"
    except UnicodeEncodeError:
        found, expected = f"{what} has half a surrogate pair", "Unicode text"
    except ValueError as error:
        found = f"{what} cannot be read ({error})"
    else:
        return value
    raise CheckpointError(file, found, expected)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {quoted(twice)} occurs twice")
    return values


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return True
