"""The walk back along a run: each op's backward, from the last record to the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from model_core.ops.base import Array
from model_core.ops.norm import Normalise, layer_norm_backward
from model_core.plan import Plan

ValueOf = Callable[[str], Any]
# input -> the records that read it and pass a gradient on, each with the number of the input
Readers = dict[str, list[tuple[str, int]]]


class Gradients(Mapping[str, Array]):
    """The gradients of one target with respect to every site, beside the tape.

    A site or parameter that the target does not depend on has a gradient of zeros.
    """

    def __init__(
        self,
        plan: Plan,
        value_of: ValueOf,
        parameters: Mapping[str, Array],
        target: str,
        slots: list[Array | None],
    ) -> None:
        self._plan, self._value_of, self._parameters = plan, value_of, parameters
        self.target, self._slots = target, slots

    def __getitem__(self, site: str) -> Array:
        if site not in self._plan:
            raise KeyError(f"no site {site!r} is recorded in this run")
        name = self._plan.aliases.get(site, site)
        gradient = self._slots[self._plan.slots[name]]
        if gradient is None:
            gradient = np.zeros(np.shape(self._value_of(name)), self._dtype)
        view = np.asarray(gradient).view()
        view.flags.writeable = False
        return view

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.asarray(self._slots[self._plan.slots[self.target]]).dtype

    def __iter__(self) -> Iterator[str]:
        return iter(self._plan.sites)

    def __len__(self) -> int:
        return len(self._plan.instructions)

    @property
    def parameters(self) -> dict[str, Array]:
        """The gradient of every parameter, zeros where the target does not depend on it."""
        slots = self._plan.slots
        found: dict[str, Array] = {}
        for name, value in self._parameters.items():
            gradient = self._slots[slots[name]] if name in slots else None
            found[name] = np.zeros_like(value) if gradient is None else gradient
        return found


def walk_back(
    plan: Plan,
    value_of: ValueOf,
    site: str,
    gradient: Array,
    norms: Mapping[str, tuple[str, ...]] | None = None,
    readers: Readers | None = None,
    keep: bool = True,
) -> list[Array | None]:
    """The gradient in every slot of the plan, from that of `site` on.

    norms: the groups of sites to be passed in one go, by their last
    readers: filled, where given, with who passed a gradient to whom, in the plan's order
    keep: the gradients of sites too; without them, each finds the last one's memory, still warm
    """
    slots: list[Array | None] = [None] * plan.n_slots
    slots[plan.slots[site]] = gradient
    for instruction in reversed(plan.instructions[: plan.number(site) + 1]):
        d_out = slots[plan.slots[instruction.site]]
        if d_out is None:
            continue
        if not keep:
            slots[plan.slots[instruction.site]] = None
        if norms and instruction.site in norms:
            names, shares = _norm_backward(plan, value_of, norms[instruction.site], d_out)
        else:
            names = instruction.inputs
            operands = [value_of(name) for name in names]
            shares = instruction.op.backward(d_out, value_of(instruction.site), *operands)
        for which, (name, share) in enumerate(zip(names, shares, strict=True)):
            if share is None:
                continue
            if readers is not None:
                readers.setdefault(name, []).append((instruction.site, which))
            slot = plan.slots[name]
            before = slots[slot]
            if before is None:
                slots[slot] = share
            elif keep or np.may_share_memory(share, d_out):
                # a new array: a share may be the very array that another input received
                slots[slot] = before + share
            else:
                slots[slot] = np.add(before, share, out=share)
    if readers is not None:
        for found in readers.values():
            found.sort(key=lambda reader: (plan.number(reader[0]), reader[1]))
    return slots


def _norm_backward(
    plan: Plan, value_of: ValueOf, group: tuple[str, ...], d_out: Array
) -> tuple[tuple[str, ...], tuple[Array | None, ...]]:
    mean, variance, normalised, out = group
    x = plan.instruction(mean).inputs[0]
    gamma, beta = plan.instruction(out).inputs[1:]
    op = plan.instruction(normalised).op
    assert isinstance(op, Normalise)
    return (x, gamma, beta), layer_norm_backward(
        d_out, value_of(normalised), value_of(variance), op.eps, value_of(gamma)
    )
