"""How a model does on examples that it is not trained on, measured while it trains."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model_core.decoding import Strategy, decode_batch
from model_core.model import Model
from model_core.ops import CrossEntropy
from model_core.runner import Runner
from model_core.training.batching import Example, collate, pad

BATCH_SIZE = 64
# So many examples give the loss, so many of these are decoded: an evaluation stays below a second.
LOSS_EXAMPLES = 256
DECODED_EXAMPLES = 64
# Of texts longer than this fewer at a time, for attention takes room and time by its square.
USUAL_LENGTH = 128


@dataclass(frozen=True, slots=True)
class Decoded:
    """One held-out example as text: what was read, what should come, and what came.

    Evaluations are kept by the hundred and their examples are the same: equal texts are one string.
    """

    source: str
    expected: str
    output: str
    is_right: bool

    def __post_init__(self) -> None:
        for name in ("source", "expected", "output"):
            object.__setattr__(self, name, sys.intern(getattr(self, name)))


@dataclass(frozen=True)
class Evaluation:
    """The mean loss of a token (without label smoothing or dropout), and the exact matches.

    shown: all that was decoded
    """

    step: int
    loss: float
    exact: int
    decoded: int
    shown: tuple[Decoded, ...] = ()

    @property
    def exact_share(self) -> float:
        return self.exact / max(1, self.decoded)


def rows_at_a_time(longest: int) -> int:
    """How many texts of so many tokens are measured in one batch."""
    return max(1, min(BATCH_SIZE, BATCH_SIZE * USUAL_LENGTH**2 // longest**2))


def decoded_at_most(longest: int) -> int:
    """How many texts of so many tokens an evaluation decodes, to count the exact matches."""
    return max(1, min(DECODED_EXAMPLES, DECODED_EXAMPLES * USUAL_LENGTH // longest))


class HeldOut:
    """The same sample of held-out examples, measured again and again."""

    def __init__(self, model: Model, examples: Sequence[Example]) -> None:
        if not examples:
            raise ValueError("there is nothing to measure on: no example is held out")
        self._model = model
        self._runner = Runner(model.config, model.parameters, model.dtype)
        # by length, so that little of a batch is padding
        sample = sorted(examples[:LOSS_EXAMPLES], key=lambda e: (len(e.source), len(e.target)))
        longest = max(max(len(e.source), len(e.target) + 1) for e in sample)
        self._rows = rows_at_a_time(longest)
        self._batches = [sample[i : i + self._rows] for i in range(0, len(sample), self._rows)]
        self._decoded = list(examples[: decoded_at_most(longest)])

    def measure(self, step: int) -> Evaluation:
        """The model as it is now; its parameters and the random streams of training stay."""
        # a model that has run away is measured as it is
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._measure(step)

    def _measure(self, step: int) -> Evaluation:
        outputs = self._outputs()
        hits = [out == list(e.target) for out, e in zip(outputs, self._decoded, strict=True)]
        shown = tuple(
            self._told(example, output, hit)
            for example, output, hit in zip(self._decoded, outputs, hits, strict=True)
        )
        return Evaluation(step, self._loss(), sum(hits), len(hits), shown)

    def _loss(self) -> float:
        words = self._model.tokenizer
        # no dropout in this plan, so that nothing is drawn from it
        unused = np.random.default_rng(0)
        total, tokens = 0.0, 0
        for rows in self._batches:
            batch = collate(rows, words.pad_id, words.start_id, words.end_id)
            tape = self._runner.trace(
                batch.source_ids,
                batch.target_ids,
                batch.source_mask,
                batch.target_mask,
                generator=unused,
            )
            op = CrossEntropy(0.0, words.pad_id)
            tape.add("loss", op, "log_probs", "labels", axes=(), labels=batch.labels)
            n_tokens = int(batch.target_mask.sum())
            total += float(tape["loss"].value) * n_tokens
            tokens += n_tokens
        return total / max(1, tokens)

    def _outputs(self) -> list[list[int]]:
        """The target ids that greedy decoding gives, without the end token.

        A row is cut one token behind the longest reference: by then it is wrong anyway.
        """
        lots = range(0, len(self._decoded), self._rows)
        return [ids for i in lots for ids in self._outputs_of(self._decoded[i : i + self._rows])]

    def _outputs_of(self, examples: Sequence[Example]) -> list[list[int]]:
        words = self._model.tokenizer
        ids, mask = pad([e.source for e in examples], words.pad_id)
        limit = min(self._model.config.max_seq_len, max(len(e.target) for e in self._decoded) + 2)
        outputs: list[list[int]] = [[] for _ in examples]
        ended = [False] * len(outputs)
        run = self._runner.begin(ids, mask)
        steps = decode_batch(
            run, len(outputs), words.start_id, words.end_id, Strategy(), limit, (), str, None
        )
        for row_steps in steps:
            for row, step in enumerate(row_steps):
                if step is not None and step.id == words.end_id:
                    ended[row] = True
                elif step is not None:
                    outputs[row].append(step.id)
        # a text that found no end is not the reference, even if it starts like it
        return [[*o, words.pad_id] if not e else o for o, e in zip(outputs, ended, strict=True)]

    def _told(self, example: Example, output: list[int], hit: bool) -> Decoded:
        words = self._model.tokenizer
        tokens = words.source_tokens(
            i for i in example.source if i not in (words.start_id, words.end_id)
        )
        source = ("" if words.source_unit == "characters" else " ").join(tokens)
        return Decoded(source, words.decode(example.target), words.decode(output), hit)
