"""A model: config, parameters and tokenizer; text in, tapes and translations out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from model_core import chat
from model_core.beams import BeamStep, Hypothesis, Wording
from model_core.config import ModelConfig
from model_core.constraints import BoundConstraints, Constraints
from model_core.decoding import Step, Strategy, decode_batch, decode_beams
from model_core.generation import Choice
from model_core.generation import Generation as Generation
from model_core.ops import CrossEntropy
from model_core.ops.base import Array
from model_core.parameters import pack_projections
from model_core.reading import check_ids, read_ids, read_mask, read_texts
from model_core.runner import GrowingRun, Runner
from model_core.tape import Tape
from model_core.tokenizers import Tokenizer


class Model:
    """An encoder-decoder Transformer with its tokenizer; all maths in NumPy.

    A worked example has its own input matrix, `inputs` (S,D); other models have None there.
    """

    def __init__(
        self,
        config: ModelConfig,
        parameters: Mapping[str, Array],
        tokenizer: Tokenizer,
        card: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
        inputs: Array | None = None,
    ) -> None:
        self.config, self.tokenizer = config, tokenizer
        self.parameters = pack_projections(parameters)
        self.card: dict[str, Any] = dict(card or {})
        self.warnings = list(warnings)
        self.inputs = inputs
        self.dtype = str(next(iter(parameters.values())).dtype)
        self._runner = Runner(config, self.parameters, self.dtype)

    def __repr__(self) -> str:
        c = self.config
        return (
            f"Model({c.n_encoder_layers}+{c.n_decoder_layers} layers, d_model {c.d_model}, "
            f"{c.n_heads} heads, {self.parameter_count} parameters, {self.dtype})"
        )

    @property
    def sites(self) -> list[str]:
        """The names of all records that a run of this model has, in order."""
        return self._runner.plan.sites

    @property
    def parameter_count(self) -> int:
        return sum(value.size for value in self.parameters.values())

    def trace(
        self,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        *,
        source_ids: Any = None,
        target_ids: Any = None,
        source_mask: Any = None,
        target_mask: Any = None,
        inputs: Any = None,
    ) -> Tape:
        """Run the model and keep every operation.

        source, target: text, or lists of texts (padded to a batch); the start token is put in
        front of the target. Without a target the model's own greedy output is traced.
        A chat model is traced with the prompt of the question, or with a prompt as it is.
        source_ids, target_ids: (T,) or (B,T), exactly what encoder and decoder read.
        source_mask, target_mask: True = real; without one, a trailing run of PAD is masked.
        inputs: (S,D) or (B,S,D), for a model that reads a matrix; without it, its own is traced.
        """
        if self.config.input == "matrix":
            if any(
                given is not None
                for given in (source, target, source_ids, target_ids, source_mask, target_mask)
            ):
                raise ValueError("this model reads a matrix: give inputs, not a source or target")
            return self._trace_matrix(self.inputs if inputs is None else inputs)
        if inputs is not None:
            raise ValueError("this model reads tokens: give a source or source_ids, not inputs")
        batched = not isinstance(source, str) and source is not None
        ids, mask = self._read("source", source, source_ids, source_mask)
        if target is None and target_ids is None:
            if batched or ids.shape[0] > 1:
                raise ValueError("a batch of sources needs targets to be traced with")
            limit, rules = self.bounds((), None, True)
            return self._generate(ids, mask, Strategy(), limit, (), rules)[0].tape
        decoder_ids, decoder_mask = self._read("target", target, target_ids, target_mask)
        if decoder_ids.shape[0] != ids.shape[0]:
            raise ValueError(
                f"{ids.shape[0]} sources and {decoder_ids.shape[0]} targets do not pair up"
            )
        tape = self._runner.trace(ids, decoder_ids, mask, decoder_mask)
        self._name_tokens(tape)
        return tape

    def _trace_matrix(self, inputs: Any) -> Tape:
        d_model = self.config.d_model
        array = np.asarray(inputs)
        if array.ndim == 2:
            array = array[None]
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ValueError("inputs hold something else than finite numbers")
        if array.ndim != 3 or array.shape[2] != d_model or 0 in array.shape:
            raise ValueError(
                f"inputs have shape {array.shape}, expected (S,{d_model}) or (B,S,{d_model})"
            )
        tape = self._runner.trace_matrix(array.astype(self.dtype, order="C"))
        self._name_tokens(tape)
        return tape

    def prepare(self, source_length: int, cancelled: Callable[[], bool] = lambda: False) -> bool:
        """Do ahead what decodings of sentences of so many tokens would otherwise stop to do.

        cancelled: asked every few milliseconds at most; then the work is left off
        returns: whether anything was done; once False, such sentences are at their quickest.
        """
        return self._runner.prepare(source_length, cancelled)

    def loss(self, tape: Tape, labels: Any, label_smoothing: float = 0.0) -> float:
        """Record the cross-entropy of the tape's predictions against labels (B,T), PAD ignored."""
        shape = tape.target_ids.shape
        wanted = np.asarray(labels, dtype=np.int64)
        if wanted.ndim == 1:
            wanted = wanted[None]
        if wanted.shape != shape:
            raise ValueError(f"labels have shape {wanted.shape}, the decoder read {shape}")
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.config.tgt_vocab_size:
            raise ValueError(
                f"labels run from {wanted.min()} to {wanted.max()}, expected 0 to "
                f"{self.config.tgt_vocab_size - 1}"
            )
        op = CrossEntropy(label_smoothing, self.tokenizer.pad_id)
        record = tape.add("loss", op, "log_probs", "labels", axes=(), labels=wanted)
        return float(record.value)

    @property
    def constraints(self) -> Constraints:
        """What the checkpoint's own generation settings constrain, `card["generation"]`."""
        return Constraints.from_settings(self.card.get("generation") or {})

    def decode(
        self,
        source: str,
        strategy: str = "greedy",
        *,
        history: chat.History = (),
        max_new_tokens: int | None = None,
        prefix_ids: Sequence[int] = (),
        constraints: bool | Constraints = True,
        **choice: Unpack[Choice],
    ) -> Iterator[Step]:
        """Yield the tokens of one sentence as they are chosen, the end token included.

        strategy: "greedy", "sample" or "beam"; a step of a beam search is its best hypothesis so
        far, with all others in `step.hypotheses`
        constraints: True for the checkpoint's own, False for none, or others in their place
        history: of a chat model, the exchanges before this question, oldest first
        """
        ids, mask = self._read("source", chat.source_of(self.card, source, history), None, None)
        run = self._runner.begin(ids, mask)
        chosen = Strategy(strategy, **choice)
        prefix = self._prefix(prefix_ids)
        limit, rules = self.bounds(prefix, max_new_tokens, constraints)
        for steps in self._decode(run, 1, chosen, limit, prefix, rules):
            assert steps[0] is not None
            yield steps[0]

    def generate(
        self,
        source: str | Sequence[str],
        strategy: str = "greedy",
        *,
        history: chat.History | Sequence[chat.History] = (),
        max_new_tokens: int | None = None,
        prefix_ids: Sequence[int] = (),
        constraints: bool | Constraints = True,
        on_step: Callable[[int], None] | None = None,
        on_beam: Callable[[BeamStep], None] | None = None,
        on_token: Callable[[Step], None] | None = None,
        **choice: Unpack[Choice],
    ) -> Any:
        """Decode a sentence to its end; a list of sources gives a list of results.

        A list is decoded as one batch; by a beam search, one sentence after the other.
        The arguments are those of `decode`; with a list, `history` is a list too, one for each
        question. on_step: called with each position once it is decoded; what it raises ends the
        run. on_beam: called before it with each step of a beam search, on_token: with each step of
        the first sentence.
        """
        chosen = Strategy(strategy, **choice)
        prefix = self._prefix(prefix_ids)
        limit, rules = self.bounds(prefix, max_new_tokens, constraints)
        told = (on_step, on_beam, on_token)
        if isinstance(source, str):
            [text] = texts = chat.sources_of(self.card, [source], [history])
            encoding = self.tokenizer.encode_source(text)
            ids = np.array([encoding.ids], dtype=np.int64)
            mask = np.ones_like(ids, dtype=bool)
            check_ids("source", ids, self.config)
            [result] = self._generate(ids, mask, chosen, limit, prefix, rules, *told)
            return replace(self._prompted([result], texts)[0], encoding=encoding)
        if not isinstance(source, Sequence):
            raise ValueError(f"the source is {source!r}, expected text or a list of texts")
        if not source:
            return []
        texts = chat.sources_of(self.card, source, history)
        ids, mask = self._read("source", texts, None, None)
        if chosen.name != "beam":
            results = self._generate(ids, mask, chosen, limit, prefix, rules, *told)
            return self._prompted(results, texts)
        results = []
        for row, real in zip(ids, mask, strict=True):
            one, full = row[None, real], np.ones((1, int(real.sum())), dtype=bool)
            results += self._generate(one, full, chosen, limit, prefix, rules, *told)
        return self._prompted(results, texts)

    def _prompted(self, results: list[Generation], texts: Sequence[str]) -> list[Generation]:
        """A chat model's results, each with the prompt that was read for it."""
        if chat.rules_of(self.card) is None:
            return results
        return [replace(r, prompt=text) for r, text in zip(results, texts, strict=True)]

    def bounds(
        self, prefix: Sequence[int], max_new_tokens: int | None, constraints: bool | Constraints
    ) -> tuple[int, BoundConstraints | None]:
        """How many tokens may follow the prefix, and the constraints if there are any."""
        if constraints is True:
            constraints = self.constraints
        elif constraints is False:
            constraints = Constraints()
        elif not isinstance(constraints, Constraints):
            raise ValueError(
                f"constraints are {constraints!r}, expected True, False or a Constraints"
            )
        prompt_length = 1 + len(prefix)
        limit = self.config.max_seq_len - len(prefix)
        if max_new_tokens is not None:
            most: Any = max_new_tokens
            if not isinstance(most, int) or isinstance(most, bool) or most < 1:
                raise ValueError(f"max_new_tokens is {most!r}, expected 1 or more")
            limit = (
                min(limit, max_new_tokens) if self.config.position == "learned" else max_new_tokens
            )
        elif constraints.max_length is not None:
            limit = min(limit, max(1, constraints.max_length - prompt_length))
        rules = constraints.at(
            self.config.tgt_vocab_size,
            (self.tokenizer.end_id,),
            prompt_length,
            prompt_length + limit,
        )
        return limit, rules if rules.is_active else None

    def _decode(
        self,
        run: GrowingRun,
        batch: int,
        strategy: Strategy,
        limit: int,
        prefix: Sequence[int],
        rules: BoundConstraints | None,
    ) -> Iterator[Sequence[Step | None]]:
        tokenizer = self.tokenizer
        start, end = tokenizer.start_id, tokenizer.end_id

        def name(i: int) -> str:
            return tokenizer.target_tokens([i])[0]

        if strategy.name == "beam":
            wording = Wording((start, *prefix), name, lambda ids: tokenizer.decode(list(ids)))
            for step in decode_beams(run, wording, end, strategy, limit, rules):
                yield [step]
        else:
            yield from decode_batch(run, batch, start, end, strategy, limit, prefix, name, rules)

    def _generate(
        self,
        ids: Array,
        mask: Array,
        strategy: Strategy,
        limit: int,
        prefix: Sequence[int],
        rules: BoundConstraints | None,
        on_step: Callable[[int], None] | None = None,
        on_beam: Callable[[BeamStep], None] | None = None,
        on_token: Callable[[Step], None] | None = None,
    ) -> list[Generation]:
        run = self._runner.begin(ids, mask)
        batch = ids.shape[0]
        rows: list[list[Step]] = [[] for _ in range(batch)]
        for position, steps in enumerate(self._decode(run, batch, strategy, limit, prefix, rules)):
            if on_beam is not None and steps[0] is not None and steps[0].beam is not None:
                on_beam(steps[0].beam)
            if on_token is not None and steps[0] is not None:
                on_token(steps[0])
            if on_step is not None:
                on_step(position)
            for row, step in zip(rows, steps, strict=True):
                if step is not None:
                    row.append(step)
        start = [self.tokenizer.start_id, *prefix]
        results = []
        for row in rows:
            hypotheses: Sequence[Hypothesis] = ()
            if row[-1].beam is not None:
                hypotheses = row[-1].beam.ranking[: strategy.n_best]
                chosen, log_probs = hypotheses[0].ids, hypotheses[0].log_probs
            else:
                chosen = start + [step.id for step in row]
                log_probs = [step.log_prob for step in row]
            results.append(
                Generation(
                    ids=chosen,
                    tokens=self.tokenizer.target_tokens(chosen),
                    text=self.tokenizer.decode(chosen[1:]),
                    log_probs=log_probs,
                    finished=chosen[-1] == self.tokenizer.end_id,
                    steps=row,
                    encoding=None,
                    _run=run,
                    _grown=self._growth(run, chosen, hypotheses),
                    hypotheses=hypotheses,
                )
            )
        return results

    def _growth(
        self, run: GrowingRun, chosen: Sequence[int], hypotheses: Sequence[Hypothesis]
    ) -> Callable[[Hypothesis | None], Tape]:
        """What joins the rows of a decoding to a tape: of all its sentences, or one hypothesis."""

        def grown(hypothesis: Hypothesis | None) -> Tape:
            if hypothesis is None and hypotheses:
                hypothesis = hypotheses[0]
            tape = run.tape() if hypothesis is None else run.tape_of(hypothesis.rows)
            ids = chosen if hypothesis is None else hypothesis.ids
            if tape.target_ids.shape[0] == 1:
                tape.chosen_ids = np.array([ids[1:]])
            self._name_tokens(tape)
            return tape

        return grown

    def _prefix(self, prefix_ids: Sequence[int]) -> list[int]:
        prefix = [int(i) for i in prefix_ids]
        size = self.config.tgt_vocab_size
        for i in prefix:
            if not 0 <= i < size:
                raise ValueError(f"prefix id {i} is outside the target vocabulary of {size}")
        return prefix

    def _read(
        self, side: str, text: str | Sequence[str] | None, ids: Any, mask: Any
    ) -> tuple[Array, Array]:
        """Ids (B,L) and their mask (B,L) from text or from ids."""
        if (text is None) == (ids is None):
            raise ValueError(f"give either {side} text or {side}_ids")
        if text is None:
            array, real = read_ids(side, ids, self.tokenizer.pad_id)
        else:
            texts = [text] if isinstance(text, str) else list(text)
            if side == "source":
                # an empty source is the special tokens alone, of a chat model too
                texts = [chat.source_of(self.card, t) if t.strip() else t for t in texts]
            array, real = read_texts(side, texts, self.tokenizer)
        check_ids(side, array, self.config)
        return array, real if mask is None else read_mask(side, mask, array.shape)

    def _name_tokens(self, tape: Tape) -> None:
        source = [self.tokenizer.source_tokens(row) for row in tape.source_ids.tolist()]
        target = [self.tokenizer.target_tokens(row) for row in tape.target_ids.tolist()]
        predicted = [self.tokenizer.target_tokens(row) for row in tape.predicted_ids.tolist()]
        single = len(source) == 1
        tape.source_tokens = source[0] if single else source
        tape.target_tokens = target[0] if single else target
        tape.predicted_tokens = predicted[0] if single else predicted
