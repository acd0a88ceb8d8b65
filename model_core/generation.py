"""What decoding a sentence gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from model_core.beams import EarlyStopping, Hypothesis
from model_core.decoding import Step
from model_core.runner import GrowingRun
from model_core.tape import Tape
from model_core.tokenizers import Encoding


class Choice(TypedDict, total=False):
    """How tokens are chosen; names, defaults and meaning are those of `decoding.Strategy`.

    For "sample": temperature, top_k, top_p, seed. For "beam": beams, length_penalty,
    early_stopping, n_best.
    """

    temperature: float
    top_k: int | None
    top_p: float | None
    seed: int
    beams: int
    length_penalty: float
    early_stopping: EarlyStopping
    n_best: int | None


@dataclass(frozen=True, eq=False)
class Generation:
    """One decoded sentence: `ids` and `tokens` begin with the start token, the rest per new id.

    `log_probs` are the model's own. Of a beam search, whose best hypothesis this is, they are
    those that the search added up, after the constraints; `hypotheses` are the best `n_best` that
    it finished, this one first, and `steps` are those of the search, of which there may be more
    than this sentence has tokens. `prompt` is the text that a chat model read, None of any other.
    """

    ids: list[int]
    tokens: list[str]
    text: str
    log_probs: list[float]
    finished: bool
    steps: list[Step] = field(repr=False)
    encoding: Encoding | None = field(repr=False)
    _run: GrowingRun = field(repr=False)
    _grown: Callable[[Hypothesis | None], Tape] = field(repr=False)
    hypotheses: Sequence[Hypothesis] = field(default=(), repr=False)
    prompt: str | None = None

    @property
    def score(self) -> float:
        """The mean log-probability per generated token, the end token included.

        Of a beam search: its sum / length ** length_penalty.
        """
        if self.hypotheses:
            return self.hypotheses[0].score
        return sum(self.log_probs) / len(self.log_probs) if self.log_probs else 0.0

    @property
    def tape(self) -> Tape:
        """The tape that grew while decoding: what it shows is what the tokens were chosen from.

        Of a batch it holds all sentences.
        """
        tape = self.__dict__.get("_tape")
        if tape is None:
            tape = self.__dict__["_tape"] = self.tape_of(None)
        return tape

    def tape_of(self, hypothesis: Hypothesis | None) -> Tape:
        """The grown tape of one of `hypotheses`; any other is traced: model.trace(target_ids=…)."""
        if hypothesis is not None and hypothesis not in self.hypotheses:
            raise ValueError(f"hypothesis {hypothesis.number} is not one of this result's")
        return self._grown(hypothesis)
