"""Source text that prints a number on show, written from the ops' NumPy expressions."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from model_core.ops.base import Array, Index, Op, Operand
from model_core.shares import Share

# An array of more numbers is loaded from a file.
LONGEST_INLINE = 64
DATA_FILE = "glassformer-arrays.npz"
NUMBERS_PER_LINE = 6
# No names for inputs: what a snippet calls something else, and what np.savez does.
RESERVED = frozenset(
    {"np", "math", "inf", "nan", "data", "value", "file", "allow_pickle", *keyword.kwlist}
)


@dataclass(frozen=True, eq=False)
class Snippet:
    """Source text that prints the value on show, and the arrays that it loads from a file.

    arrays: by the names that the variables have in the text; empty where all stands in the text
    """

    text: str
    arrays: Mapping[str, Array]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the arrays as the .npz file that the text loads."""
        arrays: dict[str, Any] = dict(self.arrays)
        np.savez(path, **arrays)


def forward_snippet(
    site: str,
    op: Op,
    operands: Sequence[Operand],
    value: Array,
    index: Index | None = None,
    data: str | None = DATA_FILE,
) -> Snippet:
    """How a record comes about: all of it, or of one cell with no more than that reads.

    data: the file that long arrays are loaded from; None writes all of them into the text
    """
    names = variable_names([operand.name for operand in operands])
    parts, inner = (None, ()) if index is None else op.reads(index, operands)
    variables = []
    for number, (name, operand) in enumerate(zip(names, operands, strict=True)):
        part = None if parts is None else parts[number]
        variables.append(_Variable(name, operand.name, *_taken(operand.value, part)))
    said = ", ".join(operand.name for operand in operands)
    title = f"{_place(site, value.shape, index)}: {op.name} of {said}"
    lines = [f"value = {op.expression(names)}"]
    return _written([title], variables, lines, None if index is None else inner, data)


def gradient_snippet(
    site: str,
    target: str,
    shares: Sequence[Share],
    value: Array,
    index: Index | None = None,
    data: str | None = DATA_FILE,
    said: str = "",
) -> Snippet:
    """How a gradient comes about: the sum of the shares of all records that read the site.

    value: the gradient   said: what the target is, in words: "log p(cat | position 2)"
    """
    labels: dict[tuple[str, str], Any] = {}
    for share in shares:
        labels.setdefault((share.d_out.name, "gradient"), share.d_out.value)
        for operand in (share.out, *share.operands):
            labels.setdefault((operand.name, "value"), operand.value)
    names = dict(zip(labels, variable_names([_label(*key) for key in labels]), strict=True))
    lines, read = [], ""
    for number, share in enumerate(shares, 1):
        text = share.op.backward_expression(
            share.which,
            names[share.d_out.name, "gradient"],
            names[share.out.name, "value"],
            [names[operand.name, "value"] for operand in share.operands],
        )
        read += f"{text}\n"
        lines += [f"# through {share.consumer_site} ({share.op.name})", f"share_{number} = {text}"]
    if shares:
        total = " + ".join(f"share_{number}" for number in range(1, len(shares) + 1))
    else:
        constant = "ones" if site == target else "zeros"
        total = f"np.{constant}({value.shape}, dtype=np.{value.dtype})"
    lines.append(f"value = {total}")
    words = set(re.findall(r"\w+", read))
    variables = [
        _Variable(
            names[key], f"the gradient of {key[0]}" if key[1] == "gradient" else key[0], held, ""
        )
        for key, held in labels.items()
        if names[key] in words
    ]
    title = f"the gradient of {said or target} with respect to {_place(site, value.shape, index)}"
    # a token may hold a line break, which would end the comment
    return _written([" ".join(title.split())], variables, lines, index, data)


def parameter_snippet(
    name: str, value: Array, index: Index | None = None, data: str | None = DATA_FILE
) -> Snippet:
    """The numbers of a parameter: given ones, that nothing is reckoned from."""
    (short,) = variable_names([name])
    title = [f"the learned numbers {_place(name, value.shape, index)}"]
    part = None if index is None else [slice(place, place + 1) for place in index]
    taken, written = _taken(value, part)
    cell = None if index is None else (0,) * len(index)
    given = [_Variable(short, name, taken, written)]
    return _written(title, given, [f"value = {short}"], cell, data)


class _Variable(NamedTuple):
    """An input of a snippet: what it is called, what it is, and which part of it is taken."""

    name: str
    origin: str
    value: Any
    part: str


def _written(
    title: Sequence[str],
    variables: Sequence[_Variable],
    lines: Sequence[str],
    cell: Index | None,
    data: str | None,
) -> Snippet:
    arrays: dict[str, Array] = {}
    given = []
    for variable in variables:
        shape = np.shape(variable.value)
        given.append(f"# {variable.origin}{variable.part}, shape {shape}")
        if data is not None and np.size(variable.value) > LONGEST_INLINE:
            arrays[variable.name] = np.ascontiguousarray(variable.value)
            given.append(f'{variable.name} = data["{variable.name}"]')
        else:
            given.append(f"{variable.name} = {array_text(variable.value)}")
    if arrays:
        given.insert(0, f"data = np.load({data!r})")
    if cell is None:
        # every digit that it takes to tell a number from its neighbours
        shown = ['np.set_printoptions(threshold=10**9, floatmode="unique")', "print(value)"]
    else:
        shown = [f"print(value[{', '.join(map(str, cell)) or '()'}])"]
    body = "\n".join([*given, *lines, *shown])
    imports = ["import numpy as np"]
    if re.search(r"\bmath\.", body):
        imports.insert(0, "import math")
    if used := [name for name in ("inf", "nan") if re.search(rf"(?<![.\w]){name}\b", body)]:
        imports.append(f"from numpy import {', '.join(used)}")
    heading = [f"# {line}" for line in title]
    text = "\n".join([*heading, "", *imports, "", body]) + "\n"
    return Snippet(text, arrays)


def _taken(value: Any, part: Sequence[Any] | None) -> tuple[Any, str]:
    """A part of an input, and what to write behind its name: "[0:1, :]"."""
    if part is None or not isinstance(value, np.ndarray):
        return value, ""
    taken = value[tuple(part)]
    if taken.shape == value.shape:
        return taken, ""
    written = ["..." if axis is ... else f"{_edge(axis.start)}:{_edge(axis.stop)}" for axis in part]
    return taken, f"[{', '.join(written)}]"


def _edge(place: int | None) -> str:
    return "" if place is None else str(place)


def _place(site: str, shape: tuple[int, ...], index: Index | None) -> str:
    if index is None:
        return f"{site}, shape {shape}"
    return f"{site}[{', '.join(map(str, index))}] of shape {shape}"


def _label(name: str, of: str) -> str:
    """A name to take a variable's from: the last word of a gradient begins with d_."""
    *words, last = name.split(".")
    return ".".join([*words, last if of == "value" else f"d_{last}"])


def variable_names(inputs: Sequence[str]) -> list[str]:
    """Short distinct Python names for record inputs: the last words of each."""
    chosen: list[str] = []
    for name in inputs:
        words = re.sub(r"[^0-9A-Za-z_.]", "_", name).split(".")
        for length in range(1, len(words) + 1):
            short = "_".join(words[-length:])
            if short not in chosen and short not in RESERVED and not short[0].isdigit():
                break
        while short in chosen or short in RESERVED:
            short += "_"
        chosen.append(short)
    return chosen


def array_text(value: Any) -> str:
    """An array as NumPy source text that gives the same bits; a generator cannot be written."""
    if isinstance(value, np.random.Generator):
        return "None  # the random stream of the training step"
    array = np.asarray(value)
    flat = array.reshape(-1)
    numbers = [str(item) for item in (flat if array.dtype == np.float32 else flat.tolist())]
    rows = [
        ", ".join(numbers[start : start + NUMBERS_PER_LINE])
        for start in range(0, len(numbers), NUMBERS_PER_LINE)
    ]
    inside = f"[{''.join(rows)}]" if len(rows) < 2 else "[\n    " + ",\n    ".join(rows) + ",\n]"
    text = f"np.array({inside}, dtype=np.{array.dtype})"
    return text if array.ndim == 1 else f"{text}.reshape({array.shape})"
