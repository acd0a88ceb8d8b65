"""The film of a training run: its parameters at every so-manieth step, within a budget of memory.

When the budget is full the interval doubles, and for each new picture the oldest one of those that
no longer belong to it goes: what is kept at the interval is evenly spaced from the first step on,
the newer half at half of it as long as there is room, and the film stays as full as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
StoredAs = Literal["float16", "float32"]
FEWEST = 2


class Schedule:
    """Which steps are kept: multiples of an interval that doubles; needs no parameters.

    So a process that trains and one that keeps the film agree without a word.
    """

    def __init__(self, n_parameters: int, budget: int, interval: int, stored_as: StoredAs) -> None:
        if interval < 1:
            raise ValueError(f"the interval of snapshots is {interval}, expected 1 or more")
        size = n_parameters * np.dtype(stored_as).itemsize
        # one place is for the last picture, which may lie between two that are due
        self.capacity = budget // max(1, size) - 1
        if self.capacity < FEWEST:
            raise ValueError(
                f"the budget of snapshots is {budget:,} bytes, expected at least "
                f"{(FEWEST + 1) * size:,} for {n_parameters:,} parameters"
            )
        self.interval = interval
        self.count = 0

    def is_due(self, step: int) -> bool:
        """Whether a step is one of those that are kept."""
        return step % self.interval == 0

    def keep(self, step: int) -> None:
        """Count a step that is due; steps come in order, so the interval follows from them."""
        self.count = step // self.interval + 1
        while self.count > self.capacity:
            self.interval *= 2
            self.count = step // self.interval + 1


@dataclass(frozen=True, eq=False)
class Frame:
    """A snapshot: the step after which it was taken, all parameters behind each other (n,)."""

    step: int
    flat: Array


class Film:
    """Snapshots of the parameters of one model, `stored_as` float16 or float32.

    A frame with a number beyond float16 is stored in float32.
    """

    def __init__(
        self,
        shapes: Mapping[str, Sequence[int]],
        budget: int,
        interval: int = 10,
        stored_as: StoredAs = "float16",
    ) -> None:
        self._shapes = {name: tuple(shape) for name, shape in shapes.items()}
        self._sizes = [math.prod(shape) for shape in self._shapes.values()]
        self.stored_as: StoredAs = stored_as
        self._schedule = Schedule(sum(self._sizes), budget, interval, stored_as)
        self._frames: list[Frame] = []
        self._last: Frame | None = None

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def frames(self) -> list[Frame]:
        """In the order of their steps; behind those of the film the last that was offered."""
        if self._last is None or (self._frames and self._last.step <= self._frames[-1].step):
            return self._frames
        return [*self._frames, self._last]

    @property
    def steps(self) -> list[int]:
        return [frame.step for frame in self.frames]

    @property
    def interval(self) -> int:
        return self._schedule.interval

    @property
    def n_bytes(self) -> int:
        return sum(frame.flat.nbytes for frame in self.frames)

    def is_due(self, step: int) -> bool:
        """Whether a step belongs into the film."""
        return self._schedule.is_due(step)

    def offer(self, step: int, parameters: Mapping[str, Array]) -> bool:
        """Take a copy of the parameters if the step is due; whether it was."""
        if not self.is_due(step):
            return False
        self.add(step, flattened(parameters, self._shapes, self.stored_as))
        return True

    def add(self, step: int, flat: Array) -> None:
        """Take parameters (n,) that another process has flattened; those of a step not due are
        kept as the last picture alone.
        """
        if flat.shape != (sum(self._sizes),):
            raise ValueError(f"a snapshot has shape {flat.shape}, expected ({sum(self._sizes)},)")
        frame = Frame(step, flat)
        if not self.is_due(step):
            self._last = frame
            return
        if self._frames and step <= self._frames[-1].step:
            # a run that was taken up again films the same steps again
            self._frames = [kept for kept in self._frames if kept.step < step]
        self._frames.append(frame)
        self._schedule.keep(step)
        while len(self._frames) > self._schedule.capacity:
            self._frames.remove(next(kept for kept in self._frames if not self.is_due(kept.step)))

    def snapshot(self, number: int) -> dict[str, Array]:
        """The parameters of a frame, float32, fresh arrays; negative numbers count from the end."""
        flat = self.frames[number].flat.astype(np.float32)
        pieces, start = {}, 0
        for (name, shape), size in zip(self._shapes.items(), self._sizes, strict=True):
            pieces[name] = flat[start : start + size].reshape(shape)
            start += size
        return pieces

    def nearest(self, step: int) -> int:
        """The number of the frame closest to a step; ValueError while there is none."""
        if not self.frames:
            raise ValueError("there is no snapshot yet")
        return min(range(len(self.frames)), key=lambda i: abs(self.frames[i].step - step))


def flattened(
    parameters: Mapping[str, Array], names: Mapping[str, Any], stored_as: StoredAs
) -> Array:
    """All parameters behind each other (n,) in the order of `names`.

    float32 in place of float16 where a number is too large for it.
    """
    flat = np.concatenate([np.asarray(parameters[name], np.float32).ravel() for name in names])
    if stored_as == "float16" and np.abs(flat).max(initial=0.0) <= np.finfo(np.float16).max:
        return flat.astype(np.float16)
    return flat
