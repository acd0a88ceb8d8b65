"""A strict reader of NumPy archives: sizes are checked before anything is unpacked.

Format: a zip archive with one .npy file per array; a .npy is a magic number, a version, a header
(a Python dict as text: descr, fortran_order, shape) and the numbers
(https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). NumPy's own reader
allocates what a header declares, and unpacks whatever an archive expands to.
"""

from __future__ import annotations

import ast
import io
import math
import zipfile
import zlib
from typing import Any

import numpy as np

from model_core.checkpoints.errors import CheckpointError, quoted
from model_core.checkpoints.sniffing import open_regular
from model_core.checkpoints.whole_file import PathLike

Array = np.ndarray[Any, Any]

LARGEST_FILE = 2**25
LARGEST_CONTENT = 2**25
MOST_ARRAYS = 1000
LONGEST_NAME = 100
LONGEST_HEADER = 4096
HIGHEST_RANK = 4
CHUNK_BYTES = 2**20
CENTRAL_ENTRY = b"PK\x01\x02"
# What can go wrong inside zipfile with a file that somebody damaged or made up.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
    OverflowError,
)


def read_arrays(path: PathLike) -> dict[str, Array]:
    """Every array of an archive by its name; numbers as float64, text as it is.

    CheckpointError when the file is not exactly what the format says, when it would unpack to
    more than LARGEST_CONTENT, or when an array holds Python objects, which are never unpickled.
    """
    raw = _content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            _check_members(members, path)
            arrays: dict[str, Array] = {}
            room = LARGEST_CONTENT
            for member in members:
                name = member.filename.removesuffix(".npy")
                arrays[name] = _array(archive, member, room, path)
                room -= arrays[name].nbytes
    except CheckpointError:
        raise
    except ZIP_ERRORS as error:
        raise CheckpointError(
            path, f"is a damaged NumPy archive ({error})", "an .npz file as np.savez writes it"
        ) from error
    return arrays


def _content(path: PathLike) -> bytes:
    stream, size = open_regular(path)
    with stream:
        if size > LARGEST_FILE:
            raise CheckpointError(path, f"has {size} bytes", f"at most {LARGEST_FILE} in an .npz")
        try:
            raw = stream.read(size + 1)
            while len(raw) < size and (part := stream.read(size + 1 - len(raw))):
                raw += part
        except OSError as error:
            found = f"cannot be read ({error.strerror or error})"
            raise CheckpointError(path, found, "a file that can be read") from error
    if len(raw) != size:
        raise CheckpointError(path, "changed while it was read", f"{size} bytes")
    # zipfile makes an object per entry before anyone can count them.
    if raw.count(CENTRAL_ENTRY) > MOST_ARRAYS:
        raise CheckpointError(path, "has too many arrays", f"at most {MOST_ARRAYS}")
    return raw


def _check_members(members: list[zipfile.ZipInfo], path: PathLike) -> None:
    names: set[str] = set()
    for member in members:
        name = member.filename
        if not name.endswith(".npy") or len(name) > LONGEST_NAME:
            raise CheckpointError(path, f"holds the file {quoted(name)}", "arrays (.npy) alone")
        if name in names:
            raise CheckpointError(path, f"holds {quoted(name)} twice", "each array once")
        names.add(name)
        if member.flag_bits & 0x1:
            raise CheckpointError(path, f"{quoted(name)} is encrypted", "readable arrays")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            found = f"{quoted(name)} is compressed by method {member.compress_type}"
            raise CheckpointError(
                path, found, "arrays as np.savez or np.savez_compressed packs them"
            )
    total = sum(member.file_size for member in members)
    if total > LARGEST_CONTENT:
        raise CheckpointError(path, f"would unpack to {total} bytes", f"at most {LARGEST_CONTENT}")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: int, path: PathLike) -> Array:
    """One array, which may take `room` bytes of memory."""
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as stream:
        start = stream.read(8)
        if start[:6] != b"\x93NUMPY":
            raise CheckpointError(path, f"{quoted(name)} is no NumPy array", "arrays (.npy) alone")
        n_length = 2 if start[6:7] == b"\1" else 4
        length = int.from_bytes(stream.read(n_length), "little")
        if length > LONGEST_HEADER:
            found = f"{quoted(name)} has a header of {length} bytes"
            raise CheckpointError(path, found, f"at most {LONGEST_HEADER}")
        dtype, shape, fortran = _header(stream.read(length), name, path)
        wanted = math.prod(shape) * dtype.itemsize
        held = member.file_size - 8 - n_length - length
        if wanted != held:
            raise CheckpointError(
                path,
                f"{quoted(name)} declares {_short(wanted)} bytes of numbers and holds {held}",
                "an array that is all there",
            )
        # Small numbers grow when they become float64.
        if max(wanted, math.prod(shape) * (8 if dtype.kind != "U" else 1)) > room:
            raise CheckpointError(
                path, f"{quoted(name)} has the shape {shape}", f"{LARGEST_CONTENT} bytes in all"
            )
        # What a member really unpacks to may be less or more than it declares.
        data = bytearray()
        while len(data) <= wanted and (part := stream.read(CHUNK_BYTES)):
            data += part
    if len(data) != wanted:
        raise CheckpointError(
            path, f"{quoted(name)} unpacks to {len(data)} bytes", f"the {wanted} that it declares"
        )
    array = np.empty(shape, dtype)
    if wanted:
        array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    return array.copy(order="C") if dtype.kind == "U" else array.astype(np.float64, order="C")


def _header(raw: bytes, name: str, path: PathLike) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    try:
        header = ast.literal_eval(raw.decode("latin-1").strip())
        text, shape, fortran = header["descr"], header["shape"], header["fortran_order"]
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        raise CheckpointError(
            path, f"{quoted(name)} has no readable header", "an array as np.save writes it"
        ) from None
    if not isinstance(text, str):
        raise CheckpointError(path, f"{quoted(name)} is a table of records", "plain numbers")
    if text in ("|O", "O", "object"):
        raise CheckpointError(
            path,
            f"{quoted(name)} holds Python objects, which are not safe to read",
            "plain numbers (rows of one length make them)",
        )
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError):
        dtype = np.dtype(np.void)
    if dtype.kind not in "fiuU" or dtype.itemsize == 0 or dtype.itemsize > LONGEST_HEADER:
        raise CheckpointError(
            path, f"{quoted(name)} has the type {quoted(text)}", "real numbers or text"
        )
    sound = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if not sound or len(shape) > HIGHEST_RANK or type(fortran) is not bool:
        raise CheckpointError(
            path, f"{quoted(name)} has the shape {str(shape)[:60]}", "a few sizes from 0 on"
        )
    return dtype, shape, fortran


def _short(n_bytes: int) -> str:
    return str(n_bytes) if n_bytes < 2**63 else "far too many"
