"""Random strings of small letters and their reversals; whole strings are kept from training."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from model_core.training.datasets import NONE, Dataset, Pair
from model_core.training.tasks.chance import Chance
from model_core.training.tasks.keeping import kept

LONGEST = 12
TRAIN_SIZE = 12_000
HELD_OUT_SIZE = 1_000
HELD_OUT_PERMILLE = 100
# One letter of so many strings is a character that nobody knows.
UNKNOWN_SHARE = 0.06
UNKNOWN_CHARACTER = "\ufffd"


def reversal(text: str) -> Pair:
    """A string and the same backwards; each letter comes from where it stood."""
    last = len(text) - 1
    aligned = (*(last - i for i in range(len(text))), NONE)
    template = f"{len(text)} letters"
    return Pair(tuple(text), tuple(text[::-1]), aligned, template, (), "", "")


def string(chance: Chance, length: int) -> str:
    return "".join(chance.one_of(ascii_lowercase) for _ in range(length))


def drawn(chance: Chance) -> str:
    """A string of 1 to 12 letters, each length as likely."""
    return string(chance, 1 + chance.below(LONGEST))


def is_kept(seed: int, text: str, shown: frozenset[str]) -> bool:
    """Whether training must not see this string; single letters it sees all."""
    return len(text) > 1 and text not in shown and kept(seed, text, HELD_OUT_PERMILLE)


def with_unknown(chance: Chance, text: str) -> str:
    at = chance.below(len(text))
    return text[:at] + UNKNOWN_CHARACTER + text[at + 1 :]


def split(name: str, seed: int, shown: frozenset[str]) -> Dataset:
    """Training strings, all single letters and `shown` among them, and strings apart from them."""
    streams = [Chance(np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(2)]
    texts = [*ascii_lowercase, *sorted(shown)]
    chance = streams[0]
    while len(texts) < TRAIN_SIZE:
        text = drawn(chance)
        if is_kept(seed, text, shown):
            continue
        texts.append(with_unknown(chance, text) if chance.happens(UNKNOWN_SHARE) else text)
    held_out: dict[str, Pair] = {}
    while len(held_out) < HELD_OUT_SIZE:
        text = drawn(streams[1])
        if is_kept(seed, text, shown):
            held_out[text] = reversal(text)
    train = [reversal(text) for text in texts]
    return Dataset(name, {"train": train, "held_out": list(held_out.values())})
