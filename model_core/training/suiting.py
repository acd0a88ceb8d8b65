"""Settings that suit data: what somebody has set stays, the rest is chosen to go with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from model_core.tokenizers import UNKNOWN_ID
from model_core.training.batching import n_batches
from model_core.training.estimates import memory_at_most
from model_core.training.lab_data import (
    Facts,
    LabData,
    TaskSource,
    encoded,
    sample,
    task_settings,
)
from model_core.training.settings import Settings, TokenizerKind, checked

STEPS_TO_START_WITH = 2_000
LONGEST_IN_CHARACTERS = 60
# The most frequent tokens of a side that are kept; rarer ones are seen too seldom to be learned.
MOST_TOKENS = 8_000
# Where more of the words than these would be unknown, characters say more.
MOST_UNKNOWN = 0.2
# A run that nobody has sized stays below this.
COMFORTABLE = 2**30
SMALLEST_BATCH = 2
# So many of the pairs have to fit where the longest ones would take too much.
MOST_PAIRS = 0.99
LEAST_LENGTH = 16


def suited_settings(data: LabData, given: Mapping[str, Any] = {}) -> Settings:
    """Settings to start from: a task's own; for a file, long enough for all of its pairs.

    given: settings by name that are taken as they are; ValueError where there is none such
    """
    given = checked(given)
    if isinstance(data.source, TaskSource):
        return _with_warmup(task_settings(data.source.name), data, given)
    settings = Settings(**given)
    if "tokenizer" not in given:
        settings = msgspec.structs.replace(settings, tokenizer=tokenizer_for(data, settings))
    facts = data.facts(settings)
    if (
        "vocab_size" not in given
        and max(facts.n_source_tokens, facts.n_target_tokens) > MOST_TOKENS
    ):
        settings = msgspec.structs.replace(settings, vocab_size=MOST_TOKENS)
        facts = data.facts(settings)
    settings = _sized(settings, facts, given)
    if "epochs" not in given:
        per_epoch = max(1, n_batches(facts.n_train, settings.batch_size))
        epochs = -(-STEPS_TO_START_WITH // per_epoch)
        settings = msgspec.structs.replace(settings, epochs=epochs)
    return _with_warmup(settings, data, given)


def tokenizer_for(data: LabData, settings: Settings) -> TokenizerKind:
    """Characters where texts are short, else words, unless most of them are seldom seen."""
    chars = msgspec.structs.replace(settings, tokenizer="char")
    if int(data.facts(chars).lengths.max(initial=1)) <= LONGEST_IN_CHARACTERS:
        return "char"
    words = msgspec.structs.replace(
        settings, tokenizer="word", vocab_size=settings.vocab_size or MOST_TOKENS
    )
    return "word" if max(unknown_shares(data, words)) <= MOST_UNKNOWN else "char"


def unknown_shares(data: LabData, settings: Settings) -> tuple[float, float]:
    """The shares of source and target tokens that the vocabularies do not have, by a sample of
    what is held out: of what is learned from everything may be known.
    """
    examples = encoded(sample(data.held_out or data.train), data.tokenizer(settings))
    return unknown_share(e.source for e in examples), unknown_share(e.target for e in examples)


def unknown_share(texts: Iterable[Sequence[int]]) -> float:
    """The share of all tokens that no vocabulary has; 0 where there are none."""
    seen, missing = 0, 0
    for text in texts:
        seen += len(text)
        missing += list(text).count(UNKNOWN_ID)
    return missing / max(1, seen)


def _sized(settings: Settings, facts: Facts, given: Mapping[str, Any]) -> Settings:
    """Lengths and batches that let every pair in, or nearly every one where a few are too long."""
    lengths = facts.lengths.max(axis=1, initial=1)
    wanted = [int(lengths.max(initial=1))]
    if len(lengths):
        wanted.append(int(np.quantile(lengths, MOST_PAIRS, method="higher")))
    for longest in dict.fromkeys(wanted):
        if "max_seq_len" not in given:
            # somewhat longer, for the sample of the lengths may miss the longest
            size = max(LEAST_LENGTH, -(-longest * 5 // 4))
            settings = msgspec.structs.replace(settings, max_seq_len=size)
        if memory_at_most(settings, facts)[0] <= COMFORTABLE:
            return settings
    while "batch_size" not in given and settings.batch_size > SMALLEST_BATCH:
        settings = msgspec.structs.replace(settings, batch_size=settings.batch_size // 2)
        if memory_at_most(settings, facts)[0] <= COMFORTABLE:
            break
    return settings


def _with_warmup(settings: Settings, data: LabData, given: Mapping[str, Any]) -> Settings:
    """What is given, and a warm-up that leaves most of the run to the peak and what follows."""
    settings = msgspec.structs.replace(settings, **given)
    if "warmup_steps" in given:
        return settings
    total = settings.total_steps(max(1, data.facts(settings).n_train))
    if settings.warmup_steps < total:
        return settings
    return msgspec.structs.replace(settings, warmup_steps=max(0, total // 4))
