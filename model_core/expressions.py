"""Reads the NumPy expressions that ops write about themselves, and works them out in float64.

Only the kinds of syntax and the names listed here are known. So an expression can compute and
do nothing else, whatever has found its way into it.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from model_core.ops.base import Array, Op, Operand

MODULES = {"np": np, "math": math}
FUNCTIONS: dict[str, Any] = {"float": float, "len": len, "max": max, "min": min}
OF_MODULES = {
    "np": frozenset(
        "abs add arange broadcast_to cos exp float32 float64 inf int64 isfinite log maximum "
        "minimum ones ones_like ravel_multi_index sign sin sqrt take_along_axis tanh uint16 "
        "uint64 vectorize where zeros zeros_like".split()
    ),
    "math": frozenset("cos erf exp inf log pi sin sqrt tanh".split()),
}
OF_INPUTS = frozenset(
    "T argmax astype copy dtype integers max mean min ndim reshape shape size sum swapaxes "
    "view".split()
)
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def in_float64(value: Any) -> Any:
    """Floats as float64; numbers of other kinds as they are."""
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def evaluated(expression: str, values: Mapping[str, Any]) -> Array:
    """The result of an expression over these values, as float64.

    ValueError for what no expression of an op needs.
    """
    # a hidden score is -inf on purpose
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.asarray(_Reading(values).of(_parsed(expression)), dtype=np.float64)


def recomputed(op: Op, operands: Sequence[Operand]) -> tuple[Array, Array]:
    """A record by its op's expression in float64, and what rounding errors measure against.

    returns: the value and the sum of the sizes of each cell's terms, both of its shape
    """
    values = [in_float64(operand.value) for operand in operands]
    names = [f"x{number}" for number in range(len(values))]
    value = evaluated(op.expression(names), dict(zip(names, values, strict=True)))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return value, np.asarray(op.magnitude(value, values), dtype=np.float64)


@lru_cache(maxsize=512)
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


class _Reading:
    """One expression being worked out, from the inside outwards."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._names = {**MODULES, **FUNCTIONS, **values}

    def of(self, node: ast.expr) -> Any:
        """The value of one part of the expression."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return BINARY[type(op)](self.of(left), self.of(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                return UNARY[type(op)](self.of(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return COMPARISONS[type(op)](self.of(left), self.of(right))
            case ast.Subscript(value=value, slice=index):
                return self.of(value)[self.of(index)]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(
                    *(None if edge is None else self.of(edge) for edge in (lower, upper, step))
                )
            case ast.Tuple(elts=parts):
                return tuple(self._all(parts))
            case ast.List(elts=parts):
                return self._all(parts)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(owner, name)
            case ast.Call(func=function, args=arguments, keywords=named) if all(
                entry.arg for entry in named
            ):
                by_name = {str(entry.arg): self.of(entry.value) for entry in named}
                return self.of(function)(*self._all(arguments), **by_name)
        raise ValueError(f"an op's expression has no place for {ast.unparse(node)!r}")

    def _all(self, nodes: Sequence[ast.expr]) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self.of(node.value))
            else:
                values.append(self.of(node))
        return values

    def _attribute(self, owner: ast.expr, name: str) -> Any:
        of_module = isinstance(owner, ast.Name) and owner.id in MODULES
        known = OF_MODULES[owner.id] if of_module else OF_INPUTS  # type: ignore[attr-defined]
        if name not in known:
            raise ValueError(f"an op's expression has no place for {name!r}")
        return getattr(self.of(owner), name)
