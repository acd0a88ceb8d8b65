"""A strict reader of safetensors files: the whole header is checked before any tensor is read.

Format: 8 bytes little-endian header length, a JSON header, then the tensors' bytes, row-major
and little-endian (https://huggingface.co/docs/safetensors, "Format"). The safetensors library
lets a name occur twice and has no bfloat16 for NumPy; it serves as this reader's test.
"""

from __future__ import annotations

import math
import os
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from model_core.checkpoints import strict_json
from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.sniffing import A_FILE, HEAD_LENGTH, looks_like, open_regular

Array = np.ndarray[Any, Any]
PathLike = str | os.PathLike[str]

# What a stranger's file may ask for. The format allows headers of 100 MB, but parsed JSON
# takes twenty times its length in memory; real headers stay below 2 MB.
LONGEST_HEADER = 16_000_000
MOST_TENSORS = 10_000
LONGEST_TENSOR_NAME = 256
HIGHEST_RANK = 8
CHUNK_BYTES = 1 << 22

# dtype name -> how it lies in the file; bfloat16 is read as the upper half of a float32.
STORED: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("u1"),
}
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})


class Entry(NamedTuple):
    """One tensor as the header declares it; `start` and `stop` count from the file's first byte."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


class SafetensorsFile:
    """An open safetensors file with a checked header; `tensor` reads one tensor at a time.

    metadata: the header's own text map; entries: name -> Entry, in file order.
    CheckpointError when the file is not exactly what the format says. Nothing is mapped into
    memory, and nothing is allocated that the file only declares and does not hold.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = path
        self._stream, self.size = open_regular(path)
        try:
            header, data_start = _read_header(self._stream, self.size, path)
            self.metadata = _metadata(header, path)
            self.entries = _entries(header, data_start, self.size, path)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> SafetensorsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

    def tensor(self, name: str, dtype: str | None = None) -> Array:
        """The tensor's values, in a fresh array of the shape that the header declares.

        Floats come as `dtype` ("float32" or "float64"); without one as they are stored, 16-bit
        ones as float32. Integers and booleans come as they are.
        """
        entry = self.entries[name]
        stored = STORED[entry.dtype]
        native = stored.newbyteorder("=")
        if entry.dtype == "BOOL":
            native = np.dtype(np.bool_)
        elif entry.dtype in FLOATS:
            native = np.dtype(dtype or ("float64" if entry.dtype == "F64" else "float32"))
        result = np.empty(entry.shape, native)
        flat = result.reshape(-1)
        self._stream.seek(entry.start)
        if native == stored:
            for part in _chunks(flat, stored.itemsize):
                _fill(self._stream, part, self.size, self.path)
            return result
        buffer = np.empty(min(flat.size, CHUNK_BYTES // stored.itemsize), stored)
        for part in _chunks(flat, stored.itemsize):
            raw = buffer[: part.size]
            _fill(self._stream, raw, self.size, self.path)
            self._convert(name, entry.dtype, raw, part)
        return result

    def _convert(self, name: str, dtype: str, raw: Array, part: Array) -> None:
        if dtype == "BOOL" and raw.size and raw.max() > 1:
            raise CheckpointError(
                self.path, f"{quoted(name)} has a BOOL of {raw.max()}", "only 0 and 1"
            )
        values = raw
        if dtype == "BF16":
            values = (raw.astype(np.uint32) << 16).view(np.float32)
        # A float64 beyond float32 becomes inf; whether that is an error is the reader's business.
        with np.errstate(over="ignore", invalid="ignore"):
            part[...] = values


def _chunks(flat: Array, stored_bytes: int) -> list[Array]:
    step = CHUNK_BYTES // stored_bytes
    return [flat[start : start + step] for start in range(0, flat.size, step)]


def _fill(stream: BinaryIO, part: Array, size: int, path: PathLike) -> None:
    """Read the next bytes into `part`, all of them or a CheckpointError."""
    view = part.view(np.uint8).data
    while view:
        try:
            # A file object without a buffer may give less than was asked for.
            count = stream.readinto(view)  # type: ignore[attr-defined]
        except OSError as error:
            raise _unreadable(path, error) from error
        if not count:
            raise CheckpointError(path, "became shorter while it was read", f"{size} bytes")
        view = view[count:]


def _unreadable(path: PathLike, error: OSError) -> CheckpointError:
    found = f"cannot be read ({error.strerror or error})"
    return CheckpointError(path, found, "a file that can be read")


def _read_header(stream: BinaryIO, size: int, path: PathLike) -> tuple[dict[str, Any], int]:
    """The parsed header, and where the tensors' bytes begin."""
    try:
        head = stream.read(HEAD_LENGTH)
    except OSError as error:
        raise _unreadable(path, error) from error
    looks = looks_like(head, size)
    if looks.kind not in ("safetensors", "unknown"):
        raise CheckpointError(path, looks.words, "a safetensors file")
    # The length of the header, then at least "{}".
    if size < 10 or len(head) < 10:
        raise CheckpointError(path, f"has {size} bytes", "a safetensors file of at least 10")
    length = int.from_bytes(head[:8], "little")
    if length > size - 8:
        if head[8:9] != b"{":
            # what stands there is no length, then
            raise CheckpointError(path, "is no safetensors file", A_FILE)
        raise CheckpointError(
            path,
            f"declares a header of {length} bytes in a file of {size} bytes",
            "a header that ends before the file does",
        )
    if length > LONGEST_HEADER:
        raise CheckpointError(
            path, f"has a header of {length} bytes", f"at most {LONGEST_HEADER} bytes"
        )
    raw = np.empty(length, np.uint8)
    stream.seek(8)
    _fill(stream, raw, size, path)
    try:
        text = raw.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"has a byte in its header that is not UTF-8 (at {error.start + 8})"
        raise CheckpointError(path, where, "a header in UTF-8") from None
    if not text.startswith("{"):
        raise CheckpointError(path, "has no header", 'a safetensors header that starts with "{"')
    header = strict_json.parse(text, path, "the safetensors header")
    assert isinstance(header, dict)  # JSON that starts with "{"
    return header, 8 + length


def _metadata(header: dict[str, Any], path: PathLike) -> dict[str, str]:
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise CheckpointError(
            path, "__metadata__ holds something other than text", "a map from text to text"
        )
    return metadata


def _entries(
    header: dict[str, Any], data_start: int, size: int, path: PathLike
) -> dict[str, Entry]:
    if len(header) > MOST_TENSORS:
        raise CheckpointError(path, f"has {len(header)} tensors", f"at most {MOST_TENSORS}")
    entries = {name: _entry(name, fields, data_start, path) for name, fields in header.items()}
    ordered = sorted(entries.items(), key=lambda item: (item[1].start, item[1].stop))
    reached, last = data_start, ""
    for name, entry in ordered:
        if entry.start < reached:
            raise CheckpointError(
                path, f"{quoted(name)} overlaps {quoted(last)}", "tensors one after the other"
            )
        if entry.start > reached:
            raise CheckpointError(
                path,
                f"has {entry.start - reached} bytes before {quoted(name)} that belong to no tensor",
                "tensors one after the other",
            )
        reached, last = entry.stop, name
    if reached > size:
        raise CheckpointError(
            path, f"has {size} bytes and is cut short", f"{reached} bytes, as its header declares"
        )
    if reached < size:
        raise CheckpointError(
            path, f"has {size - reached} bytes after its last tensor", f"{reached} bytes in all"
        )
    return dict(ordered)


def _entry(name: str, fields: Any, data_start: int, path: PathLike) -> Entry:
    if len(name) > LONGEST_TENSOR_NAME:
        raise CheckpointError(
            path,
            f"has a tensor name of {len(name)} letters",
            f"at most {LONGEST_TENSOR_NAME} letters",
        )
    if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
        raise CheckpointError(
            path, f"{quoted(name)} is not described", "its dtype, shape and data_offsets"
        )
    dtype, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if not isinstance(dtype, str) or dtype not in STORED:
        raise CheckpointError(
            path,
            f"{quoted(name)} has the dtype {quoted(str(dtype))}",
            f"one of {', '.join(STORED)}",
        )
    if not _whole_numbers(shape) or len(shape) > HIGHEST_RANK:
        raise CheckpointError(
            path,
            f"{quoted(name)} has the shape {_short(shape)}",
            f"at most {HIGHEST_RANK} whole numbers >= 0",
        )
    if not _whole_numbers(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise CheckpointError(
            path,
            f"{quoted(name)} has the data_offsets {_short(offsets)}",
            "a start and an end, both whole numbers >= 0",
        )
    # Python's integers do not wrap, so the product is the true one.
    wanted, held = math.prod(shape) * STORED[dtype].itemsize, offsets[1] - offsets[0]
    if wanted != held:
        raise CheckpointError(
            path,
            f"{quoted(name)} of shape {_short(shape)} in {dtype} has {held} bytes",
            f"{_short(wanted)} bytes",
        )
    # A tensor without elements takes no bytes, so the file bounds none of its other sizes.
    if math.prod(max(extent, 1) for extent in shape) > 2**40:
        raise CheckpointError(
            path, f"{quoted(name)} has the shape {_short(shape)}", "sizes that fit a file"
        )
    return Entry(dtype, tuple(shape), data_start + offsets[0], data_start + offsets[1])


def _whole_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and v >= 0 for v in values)


def _short(value: Any) -> str:
    # JSON whole numbers may have thousands of digits.
    if isinstance(value, int) and value.bit_length() > 128:
        return f"about 10^{int(value.bit_length() * math.log10(2))}"
    if isinstance(value, list):
        return "[" + ", ".join(_short(v) for v in value[: HIGHEST_RANK + 1]) + "]"
    return repr(value)[:60]
