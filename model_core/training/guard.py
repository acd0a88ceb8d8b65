"""Watches over a training run: stops it when the loss is no number any more, or runs away."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Losses are judged by their mean over so many steps: single batches may be hard.
WINDOW = 50
# A loss of so many times the one of guessing every token alike is no fluctuation.
RUNAWAY = 2.0
# A model that was once below this share of the guessing loss has learned something ...
LEARNED = 0.5
# ... and has lost it when it is above this share again.
FORGOTTEN = 0.95
# The mean may be so much above the best one for its parameters to count as good.
STILL_GOOD = 1.5
FASTEST_USUAL = 0.01


class DivergedError(ValueError):
    """Training came to nothing; the model has its last good parameters again.

    step: the step that failed; good_step: the one after which the parameters were taken
    """

    def __init__(self, sentence: str, step: int, good_step: int) -> None:
        super().__init__(sentence)
        self.step, self.good_step = step, good_step


class Guard:
    """Judges every step before its update, and keeps the last good parameters.

    learning_rate: the one that was set, which warm-up leads to; that of a step may be another
    """

    def __init__(
        self, parameters: Mapping[str, Array], n_target_tokens: int, learning_rate: float
    ) -> None:
        self._parameters = parameters
        self._learning_rate = learning_rate
        self._guessing = math.log(max(2, n_target_tokens))
        self._good = {name: value.copy() for name, value in parameters.items()}
        self.good_step = 0
        self._sum, self._count = 0.0, 0
        self._first: float | None = None
        self._best = math.inf

    def check(self, step: int, loss: float, gradient_norm: float, learning_rate: float) -> None:
        """Judge a step (from 1) whose update is still to come.

        DivergedError where it makes no sense to go on, with the good parameters put back.
        """
        if not math.isfinite(loss):
            self._stop(step, f"the loss of step {step} is {loss}", learning_rate)
        if not math.isfinite(gradient_norm):
            self._stop(step, f"the gradient norm of step {step} is {gradient_norm}", learning_rate)
        if self._first is None:
            # of the parameters as they were drawn: chance may do worse than guessing alike
            self._first = loss
        self._sum += loss
        self._count += 1
        if self._count < WINDOW:
            return
        mean = self._sum / self._count
        self._sum, self._count = 0.0, 0
        if mean > RUNAWAY * max(self._guessing, self._first):
            self._stop(
                step,
                f"the mean loss of the {WINDOW} steps up to {step} is {mean:.3g}, far above the "
                f"{self._guessing:.3g} of guessing every token alike",
                learning_rate,
            )
        if self._best < LEARNED * self._guessing and mean > FORGOTTEN * self._guessing:
            self._stop(
                step,
                f"the loss had come down to {self._best:.3g} and up to step {step} rose to "
                f"{mean:.3g} again, as high as that of guessing",
                learning_rate,
            )
        self._best = min(self._best, mean)
        if mean <= STILL_GOOD * self._best:
            # the update of this step is still to come: these are the parameters it was judged by
            self.keep(step - 1)

    def remember(self, losses: Iterable[float]) -> None:
        """Judge what follows as if the losses of all steps so far had been judged here."""
        self._sum, self._count = 0.0, 0
        self._first, self._best = None, math.inf
        for loss in losses:
            if self._first is None:
                self._first = loss
            self._sum += loss
            self._count += 1
            if self._count == WINDOW:
                self._best = min(self._best, self._sum / self._count)
                self._sum, self._count = 0.0, 0

    def keep(self, step: int) -> None:
        """Take the parameters, as they are after `step` steps, for good ones."""
        for name, value in self._parameters.items():
            np.copyto(self._good[name], value)
        self.good_step = step

    def _stop(self, step: int, found: str, learning_rate: float) -> None:
        for name, value in self._parameters.items():
            value[...] = self._good[name]
        is_fast = learning_rate > FASTEST_USUAL
        advice = "a smaller one, such as 0.001," if is_fast else "a smaller one or a longer warm-up"
        is_other = learning_rate != self._learning_rate
        set_to = f" (set to {self._learning_rate:g})" if is_other else ""
        raise DivergedError(
            f"training stopped: {found}; the learning rate was {learning_rate:.3g}{set_to}, "
            f"{advice} usually helps; the model is as it was after step {self.good_step}",
            step,
            self.good_step,
        )
