"""What a checkpoint's generation settings forbid or force, each as a stage of its own.

Settings and stages have the names, the meaning and the order that `transformers` gives them
(5.24, generation/logits_process.py and GenerationMixin._get_logits_processor). Lengths count
what its `input_ids` hold: the start token, a forced prefix, and all tokens generated so far.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ids = np.ndarray[Any, np.dtype[np.int64]]

# Settings that change what is generated too, but are not built here: better said than ignored.
UNKNOWN_TO_US = {
    "sequence_bias": None,
    "encoder_repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "exponential_decay_length_penalty": None,
    "guidance_scale": 1.0,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
    "penalty_alpha": None,
    "min_p": None,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
}


@dataclass(frozen=True, eq=False)
class ConstraintStage:
    """What one constraint made of the logits: before and after, (V,) float64, read-only.

    `name` is the setting's. A constraint that does nothing at this position has `after` the same
    array as `before`.
    """

    name: str
    before: Floats
    after: Floats

    @property
    def touched(self) -> Ids:
        """The ids whose logits it changed."""
        if self.after is self.before:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.before != self.after)


@dataclass(frozen=True)
class Constraints:
    """The settings of one model or run; the defaults constrain nothing."""

    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    bad_words_ids: tuple[tuple[int, ...], ...] = ()
    min_length: int = 0
    min_new_tokens: int = 0
    max_length: int | None = None
    forced_bos_token_id: int | None = None
    forced_eos_token_id: tuple[int, ...] = ()
    suppress_tokens: tuple[int, ...] = ()
    begin_suppress_tokens: tuple[int, ...] = ()
    renormalize_logits: bool = False

    def __post_init__(self) -> None:
        penalty = self.repetition_penalty
        if not _is_real(penalty) or not 0.0 < penalty < math.inf:
            raise ValueError(f"repetition_penalty is {penalty!r}, expected a finite number above 0")
        for name in ("no_repeat_ngram_size", "min_length", "min_new_tokens"):
            if not _is_whole(getattr(self, name)):
                value = getattr(self, name)
                raise ValueError(f"{name} is {value!r}, expected a whole number >= 0")
        if self.max_length is not None and not (_is_whole(self.max_length) and self.max_length > 1):
            # position 0 is the start token's
            raise ValueError(f"max_length is {self.max_length!r}, expected a whole number >= 2")
        if self.forced_bos_token_id is not None and not _is_whole(self.forced_bos_token_id):
            value = self.forced_bos_token_id
            raise ValueError(f"forced_bos_token_id is {value!r}, expected a token id, or None")
        for name in ("forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens"):
            self._check_ids(name, getattr(self, name))
        first = self.forced_bos_token_id
        for name, forced in (
            ("forced_bos_token_id", () if first is None else (first,)),
            ("forced_eos_token_id", self.forced_eos_token_id),
        ):
            if forced and set(forced) <= set(self.suppress_tokens):
                raise ValueError(f"{name} is {forced!r}, which suppress_tokens forbids")
        words: Any = self.bad_words_ids
        if not isinstance(words, tuple):
            raise ValueError(f"bad_words_ids is {words!r}, expected lists of token ids")
        for word in words:
            self._check_ids("bad_words_ids", word)
            if not word:
                raise ValueError("bad_words_ids is empty in one place, expected lists of token ids")
        switch: Any = self.renormalize_logits
        if not isinstance(switch, bool):
            raise ValueError(f"renormalize_logits is {switch!r}, expected true or false")

    @staticmethod
    def _check_ids(name: str, ids: Any) -> None:
        if not isinstance(ids, tuple) or not all(_is_whole(i) for i in ids):
            raise ValueError(f"{name} is {ids!r}, expected a list of token ids")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Constraints:
        """The constraints among a checkpoint's generation settings; null is as good as absent.

        Other settings (temperature, num_beams, …) are left to whoever reads them.
        """
        given: Any = settings
        if not isinstance(given, Mapping):
            raise ValueError(f"generation settings are {settings!r}, expected names and values")
        names = {field.name for field in fields(cls)}
        found = {n: v for n, v in settings.items() if n in names and v is not None}
        if _is_whole(found.get("forced_eos_token_id")):
            found["forced_eos_token_id"] = (found["forced_eos_token_id"],)
        for name in ("forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens"):
            if isinstance(found.get(name), list):
                found[name] = tuple(found[name])
        words = found.get("bad_words_ids")
        if isinstance(words, list | tuple):
            found["bad_words_ids"] = tuple(tuple(w) if isinstance(w, list) else w for w in words)
        return cls(**found)

    def at(
        self, vocabulary: int, end_ids: Sequence[int], prompt_length: int, max_length: int
    ) -> BoundConstraints:
        """The constraints for one decoding.

        prompt_length: the start token and a forced prefix   max_length: with the prompt
        """
        return BoundConstraints(self, vocabulary, end_ids, prompt_length, max_length)


def unsupported(settings: Mapping[str, Any]) -> list[str]:
    """The generation settings that would act in `transformers` and do not act here."""
    return [
        name
        for name, harmless in UNKNOWN_TO_US.items()
        if settings.get(name) not in (None, harmless)
    ]


class BoundConstraints:
    """Constraints that know the vocabulary, the end tokens and the lengths of one decoding."""

    def __init__(
        self,
        constraints: Constraints,
        vocabulary: int,
        end_ids: Sequence[int],
        prompt_length: int,
        max_length: int,
    ) -> None:
        self.constraints, self.vocabulary = constraints, vocabulary
        self.prompt_length, self.max_length = prompt_length, max_length
        self._end_ids = np.array(end_ids, dtype=np.int64)
        c = constraints
        forced = () if c.forced_bos_token_id is None else (c.forced_bos_token_id,)
        self._forced_first = self._ids("forced_bos_token_id", forced)
        self._forced_last = self._ids("forced_eos_token_id", c.forced_eos_token_id)
        self._suppressed = self._ids("suppress_tokens", c.suppress_tokens)
        self._suppressed_first = self._ids("begin_suppress_tokens", c.begin_suppress_tokens)
        # forbidding the end token alone would never end: transformers leaves it out too
        words = [w for w in c.bad_words_ids if not (len(w) == 1 and w[0] in end_ids)]
        self._ids("bad_words_ids", tuple(i for word in words for i in word))
        self._bad_tokens = np.array([w[0] for w in words if len(w) == 1], dtype=np.int64)
        self._bad_sequences = [w for w in words if len(w) > 1]

    def _ids(self, name: str, ids: Sequence[int]) -> Ids:
        for i in ids:
            if i >= self.vocabulary:
                raise ValueError(
                    f"{name} holds {i}, expected token ids from 0 to {self.vocabulary - 1}"
                )
        return np.array(ids, dtype=np.int64)

    @property
    def is_active(self) -> bool:
        """Whether any constraint could ever act."""
        c = self.constraints
        return bool(
            c.repetition_penalty != 1.0
            or c.no_repeat_ngram_size
            or self._bad_tokens.size
            or self._bad_sequences
            or c.min_length
            or c.min_new_tokens
            or self._forced_first.size
            or self._forced_last.size
            or self._suppressed.size
            or self._suppressed_first.size
            or c.renormalize_logits
        )

    def stages(
        self, logits: Any, ids: Sequence[int], log_probabilities: bool = False
    ) -> list[ConstraintStage]:
        """The active constraints, in order, on the logits (V,) of the token that follows `ids`.

        log_probabilities: what is given are log-probabilities, as in beam search. Only then is
        renormalising a stage; a softmax of what was drawn from does it otherwise.
        ValueError where no token is left; in a beam search other hypotheses may go on.
        """
        values = np.array(logits, dtype=np.float64)
        values.setflags(write=False)
        found: list[ConstraintStage] = []

        def stage(name: str, after: Floats | None) -> None:
            nonlocal values
            if after is not None:
                after.setflags(write=False)
            found.append(ConstraintStage(name, values, values if after is None else after))
            values = found[-1].after

        c, length = self.constraints, len(ids)
        if c.repetition_penalty != 1.0:
            stage("repetition_penalty", _penalised(values, ids, c.repetition_penalty))
        if c.no_repeat_ngram_size:
            again = _completing(ids, c.no_repeat_ngram_size)
            stage("no_repeat_ngram_size", _without(values, again))
        if self._bad_tokens.size or self._bad_sequences:
            bad = [*self._bad_tokens.tolist(), *_ending(ids, self._bad_sequences)]
            stage("bad_words_ids", _without(values, bad))
        if c.min_length:
            ends = self._end_ids if length < c.min_length else ()
            stage("min_length", _without(values, ends))
        if c.min_new_tokens:
            ends = self._end_ids if length - self.prompt_length < c.min_new_tokens else ()
            stage("min_new_tokens", _without(values, ends))
        if self._forced_first.size:
            stage("forced_bos_token_id", _only(values, self._forced_first, length == 1))
        if self._forced_last.size:
            is_last = length == self.max_length - 1
            stage("forced_eos_token_id", _only(values, self._forced_last, is_last))
        if self._suppressed.size:
            stage("suppress_tokens", _without(values, self._suppressed))
        if self._suppressed_first.size:
            first = self.prompt_length
            if first == 1 and self._forced_first.size:
                first += 1
            suppressed = self._suppressed_first if length == first else ()
            stage("begin_suppress_tokens", _without(values, suppressed))
        if values.max() == -math.inf:
            if log_probabilities:
                return found
            raise ValueError(
                f"the constraints leave no token at position {length}, expected at least one"
            )
        if c.renormalize_logits and log_probabilities:
            peak = values.max()
            stage("renormalize_logits", values - (peak + np.log(np.exp(values - peak).sum())))
        return found


def _penalised(logits: Floats, ids: Sequence[int], penalty: float) -> Floats:
    """Tokens met before made less likely: Keskar et al. 2019, with the sign taken care of."""
    after = logits.copy()
    met = np.unique(np.array(ids, dtype=np.int64))
    met = met[met < logits.size]
    after[met] = np.where(after[met] < 0.0, after[met] * penalty, after[met] / penalty)
    return after


def _completing(ids: Sequence[int], size: int) -> list[int]:
    """What would complete an n-gram that is there already."""
    if len(ids) < size:
        return []
    ids = list(ids)
    suffix = ids[len(ids) + 1 - size :]
    starts = range(len(ids) - size + 1)
    return [ids[i + size - 1] for i in starts if ids[i : i + size - 1] == suffix]


def _ending(ids: Sequence[int], sequences: Sequence[tuple[int, ...]]) -> list[int]:
    """What would complete one of these sequences."""
    found = []
    for sequence in sequences:
        start = len(ids) - (len(sequence) - 1)
        if start >= 0 and tuple(ids[start:]) == sequence[:-1]:
            found.append(sequence[-1])
    return found


def _without(logits: Floats, ids: Any) -> Floats | None:
    if not len(ids):
        return None
    after = logits.copy()
    after[np.asarray(ids, dtype=np.int64)] = -np.inf
    return after


def _only(logits: Floats, ids: Ids, here: bool) -> Floats | None:
    """Nothing but these, at 0: a forced token adds nothing to a score."""
    if not here:
        return None
    after = np.full_like(logits, -np.inf)
    after[ids] = 0.0
    return after


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
