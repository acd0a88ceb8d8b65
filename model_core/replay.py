"""Passes that are run again in the memory of an earlier one, once nobody holds any of it."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from model_core.capture import CannotCaptureError, Capture, Captured
from model_core.ops.base import Array
from model_core.plan import Step, Values

# One is shown while the next is computed.
PASSES_PER_SHAPE = 2
MOST_SHAPES = 32
MOST_BYTES = 96 * 2**20
# Shapes met once are not worth it: a capture takes as long as some five passes.
SHAPES_REMEMBERED = 256


@dataclass(frozen=True)
class Given:
    """What a pass starts from: slot -> array.

    constants are the same in every run; lasting: slots of what follows from them alone
    """

    template: Values
    inputs: Mapping[int, Array]
    constants: Mapping[int, Array]
    parameters: Mapping[int, Array]
    lasting: Set[int]


Cancelled = Callable[[], bool]


def never() -> bool:
    return False


def as_constant(slot: int, value: Array, lasting: Set[int]) -> Array:
    """A result that no kept call computes: right where it is the same in every run."""
    if slot not in lasting:
        raise CannotCaptureError(f"the value in slot {slot} was made behind the capture's back")
    value.setflags(write=False)
    return value


class CaptureStopped(Exception):
    """A capture that nobody waits for any more was left off."""


class Replay:
    """One captured pass: its calls, the arrays they read the inputs from, and what they leave."""

    def __init__(self, steps: Sequence[Step], given: Given, cancelled: Cancelled = never) -> None:
        """Run the steps once and keep all calls; CaptureStopped once it is cancelled."""
        self._cancelled = cancelled
        self._inputs: list[tuple[int, Array]] = []
        self._held: list[Array] = []
        self._capture(steps, given)
        # counted only here, where all that the capture itself has held is gone
        self._idle = list(map(sys.getrefcount, self._held))

    def _capture(self, steps: Sequence[Step], given: Given) -> None:
        capture, values = Capture(), given.template.copy()
        for slot, array in given.inputs.items():
            values[slot] = capture.empty(array.shape, array.dtype)
            self._inputs.append((slot, capture.plain(values[slot])))
        for slot, array in given.parameters.items():
            values[slot] = capture.watch(array)
        for slot, array in given.constants.items():
            array.setflags(write=False)
            values[slot] = array
        self._fill(given.inputs)
        known = {id(value) for value in values}
        self._run_steps(steps, values)
        lasting = [*given.parameters.values(), *given.constants.values()]
        lasting += self._capture_more(capture, values)
        for slot, value in enumerate(values):
            if slot in given.parameters:
                values[slot] = given.parameters[slot]
            elif isinstance(value, Captured):
                values[slot] = capture.plain(value)
                self._held.append(values[slot])
            elif isinstance(value, np.ndarray) and id(value) not in known:
                lasting.append(as_constant(slot, value, given.lasting))
        capture.check(lasting)
        self._held += capture.blocks
        self._values, self._calls, self.n_bytes = values, capture.calls, capture.n_bytes

    def _run_steps(self, steps: Sequence[Step], values: Values) -> None:
        for step in steps:
            if self._cancelled():
                raise CaptureStopped
            step(values)

    def _capture_more(self, capture: Capture, values: Values) -> list[Array]:
        """What a kind of pass captures behind the steps; the constants that it reads."""
        return []

    def _fill(self, inputs: Mapping[int, Array]) -> None:
        for slot, array in self._inputs:
            np.copyto(array, inputs[slot])

    def claim(self) -> Values | None:
        """The values to be written over, None while anybody holds one of the arrays.

        A view of an array, however it came about, holds a reference to the array or to the
        block of memory below it, so that the counts alone tell.
        """
        if list(map(sys.getrefcount, self._held)) != self._idle:
            return None
        # the copy holds every array, so that nobody else can claim them from now on
        return self._values.copy()

    def run(self, inputs: Mapping[int, Array]) -> None:
        """Compute the pass anew; only for whom has claimed it."""
        self._fill(inputs)
        for function, arguments in self._calls:
            function(*arguments)


Pass = TypeVar("Pass", bound=Replay)


class Replays(Generic[Pass]):
    """Captured passes of one kind and runner: some, the longest unused shape forgotten first."""

    def __init__(self, most_shapes: int = MOST_SHAPES, most_bytes: int = MOST_BYTES) -> None:
        self.most_shapes, self.most_bytes = most_shapes, most_bytes
        self._lock = Lock()
        self._passes: OrderedDict[Hashable, list[Pass]] = OrderedDict()
        # the shapes met, and whether they may be captured at their next pass
        self._met: OrderedDict[Hashable, bool] = OrderedDict()
        # without the counts nothing tells whether an array is still held
        self._refused = not hasattr(sys, "getrefcount")

    def __len__(self) -> int:
        return sum(map(len, self._passes.values()))

    @property
    def n_bytes(self) -> int:
        return sum(kept.n_bytes for passes in self._passes.values() for kept in passes)

    def claim(self, key: Hashable) -> tuple[Pass, Values] | None:
        """A captured pass for these shapes that nobody uses, and its values."""
        with self._lock:
            passes = self._passes.get(key)
            if passes is None:
                return None
            self._passes.move_to_end(key)
            for kept in passes:
                values = kept.claim()
                if values is not None:
                    return kept, values
            return None

    def wanted(self, key: Hashable) -> bool:
        """Whether a pass of these shapes should be captured: not the first, nor a third of them."""
        with self._lock:
            if self._refused:
                return False
            if key in self._met:
                return self._met[key] and len(self._passes.get(key, ())) < PASSES_PER_SHAPE
            self._met[key] = True
            if len(self._met) > SHAPES_REMEMBERED:
                self._met.popitem(last=False)
            return False

    def missing(self, key: Hashable) -> bool:
        """Whether there could be one more captured pass of these shapes."""
        with self._lock:
            possible = not self._refused and self._met.setdefault(key, True)
            return possible and len(self._passes.get(key, ())) < PASSES_PER_SHAPE

    def refuse(self) -> None:
        """Capture no more: some op of this plan does not let itself be captured."""
        self._refused = True

    def keep(self, key: Hashable, captured: Pass) -> Values:
        """Take up a captured pass; the values that it has just computed, claimed."""
        with self._lock:
            values = captured.claim()
            assert values is not None  # nobody else knows of it yet
            if captured.n_bytes * PASSES_PER_SHAPE > self.most_bytes:
                self._met[key] = False
                return values
            self._passes.setdefault(key, []).append(captured)
            self._passes.move_to_end(key)
            while len(self._passes) > self.most_shapes or self.n_bytes > self.most_bytes:
                self._passes.popitem(last=False)
            return values
