"""JSON out of a file that a stranger may have written: one meaning or an error."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from typing import Any

from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.sniffing import open_regular

DEEPEST = 32
# What a value takes in memory beside its text, by the sign that comes with each of its kind.
BYTES_PER_SIGN = {b"[": 88, b"{": 232, b",": 40, b'"': 45}
MOST_MEMORY = 2**30


def read_file(
    path: str | os.PathLike[str],
    what: str,
    largest: int,
    allow_constants: bool = False,
    expected: str | None = None,
) -> Any:
    """The values in a file of at most `largest` bytes of UTF-8; see `parse`.

    A file that would unpack to far more than its own size is refused before it is parsed.
    expected: what the file should be, for one that is not there
    """
    stream, size = open_regular(path, expected)
    with stream:
        if size > largest:
            raise CheckpointError(path, f"has {size} bytes", f"a JSON file of at most {largest}")
        raw = bytearray()
        try:
            while len(raw) <= size and (part := stream.read(2**22)):
                raw += part
        except OSError as error:
            found = f"cannot be read ({error.strerror or error})"
            raise CheckpointError(path, found, "a file that can be read") from error
    if len(raw) != size:
        raise CheckpointError(path, "changed while it was read", f"{size} bytes")
    memory = sum(raw.count(sign) * n_bytes for sign, n_bytes in BYTES_PER_SIGN.items())
    if memory > MOST_MEMORY:
        raise CheckpointError(
            path,
            f"would take {memory // 2**20} MB of memory to read",
            f"at most {MOST_MEMORY // 2**20} MB",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"is not in UTF-8 (byte 0x{raw[error.start]:02x} at {error.start})"
        raise CheckpointError(path, found, "text in UTF-8") from None
    del raw
    return parse(text, path, what, allow_constants)


def parse(text: str, file: str | os.PathLike[str], what: str, allow_constants: bool = False) -> Any:
    """The values in `text`; CheckpointError names the file and `what` (such as "the header").

    Beyond JSON's grammar this refuses what readers disagree on or choke on: keys that occur
    twice, NaN and infinities, numbers too large for a float, half surrogate pairs and
    nesting beyond DEEPEST.
    allow_constants: let NaN, infinities and what is too large for a float through, for a caller
    who checks, and can say where they are.
    """
    expected = "JSON"
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=float if allow_constants else _refuse_constant,
            parse_float=None if allow_constants else _finite,
        )
        if _depth_exceeds(value, DEEPEST):
            raise RecursionError
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        found, expected = f"{what} nests too deeply", f"at most {DEEPEST} levels"
    except UnicodeEncodeError:
        found, expected = f"{what} has half a surrogate pair", "Unicode text"
    except json.JSONDecodeError as error:
        found = f"{what} cannot be read ({error})"
        ending = {"{": "}", "[": "]"}.get(text.lstrip()[:1], "")
        if not text.strip():
            found = f"{what} cannot be read: there is nothing in it"
        elif error.msg == "Extra data":
            found = f"{what} cannot be read: something follows its end, in line {error.lineno}"
        elif ending and (error.pos >= len(text.rstrip()) or not text.rstrip().endswith(ending)):
            found = f"{what} cannot be read: it ends in the middle, in line {error.lineno}"
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
