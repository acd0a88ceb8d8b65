"""A typed target beside what the model says freely: log-probabilities, scores, where they part."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from model_core.beams import BeamSettings
from model_core.likelihood import log_probs_of
from visualizer.i18n import tr
from visualizer.lenses.keeping import keep
from visualizer.lenses.numbers import exact, figure
from visualizer.lenses.token_labels import token_labels
from visualizer.state import Run, ViewState

DECIMALS = 2


@dataclass(frozen=True)
class Line:
    """One output, its start token left out.

    log_probs: of each token, the model's own   total: their sum   score: total / length **
    length_penalty, as a beam search scores it, the end token counted
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    total: float
    score: float

    @property
    def texts(self) -> tuple[str, ...]:
        """The log-probabilities as they stand below the tokens."""
        return tuple(figure(value, DECIMALS) for value in self.log_probs)


@dataclass(frozen=True)
class Comparison:
    """parting: the first position at which they differ, from 0; None where they are the same."""

    typed: Line
    free: Line
    parting: int | None


def comparison(run: Run | None) -> Comparison | None:
    """Both outputs of a run with a typed target; None of any other."""
    if run is None or run.tape is None or run.free is None:
        return None
    return keep(run, "comparison", None, lambda: _compared(run))


def own_line(run: Run | None) -> Line | None:
    """The output of a run as it stands on its tape."""
    if run is None or run.tape is None or not run.chosen:
        return None
    return keep(run, "own line", None, lambda: _own(run))


def _own(run: Run) -> Line:
    assert run.tape is not None
    log_probs = log_probs_of(run.tape.value_of("logits")[0], run.chosen)
    return _line(run, run.chosen, token_labels(run.tape.predicted_tokens), log_probs)


def _compared(run: Run) -> Comparison:
    typed = own_line(run)
    assert typed is not None and run.free is not None
    free = _line(run, run.free.ids, token_labels(run.free.tokens), run.free.log_probs)
    return Comparison(typed, free, parting(typed.ids, free.ids))


def _line(
    run: Run, ids: tuple[int, ...], tokens: tuple[str, ...], log_probs: tuple[float, ...]
) -> Line:
    total = fsum(log_probs)
    score = BeamSettings(length_penalty=run.inputs.length_penalty).score(total, len(ids))
    return Line(ids, tokens, log_probs, total, score)


def parting(one: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """The first position at which two outputs differ."""
    for position, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return position
    return None if len(one) == len(other) else min(len(one), len(other))


def sums(line: Line) -> str:
    """ "sum -8.31 · score -1.04"."""
    return tr(
        "forcing.sums", total=figure(line.total, DECIMALS), score=figure(line.score, DECIMALS)
    )


def sums_tip(state: ViewState, line: Line) -> str:
    """The same with every digit, and how it comes about."""
    penalty = state.inputs.length_penalty if state.run is None else state.run.inputs.length_penalty
    return tr(
        "forcing.sums.tip",
        total=exact(line.total),
        score=exact(line.score),
        n=len(line.ids),
        penalty=f"{penalty:g}",
    )


def parting_words(state: ViewState) -> str:
    """Where both outputs part, as a sentence."""
    found = comparison(state.run)
    if found is None:
        return ""
    if found.parting is None:
        return tr("forcing.same")
    return tr("forcing.parting", n=found.parting + state.count_from)
