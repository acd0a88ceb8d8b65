"""Greedy decoding of a sentence of 12 words, as it follows every key press."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.benchmarks.figures import Figure
from tests.benchmarks.sizes import DEMO, Size, random_model
from tests.benchmarks.turns import Contestant, race

WORDS, TOKENS = 12, 12


def decode(size: Size) -> Callable[[], object]:
    """Encode the sentence and decode TOKENS tokens; every record stays at hand."""
    model = random_model(size)
    # random parameters have no idea when to end
    model.parameters["output.b"][model.tokenizer.end_id] = -1e4
    words = model.tokenizer.source_vocabulary[4 : 4 + WORDS]
    text = " ".join(words)
    return lambda: model.generate(text, max_new_tokens=TOKENS)


def decode_and_read(size: Size) -> Callable[[], object]:
    """The same, then the value of every record of the tape that grew."""
    generate = decode(size)
    return lambda: [record.value for record in generate().tape]  # type: ignore[attr-defined]


def run() -> Iterator[Figure]:
    times = race(
        {
            "decode": Contestant(decode, (DEMO,), 1),
            "all records": Contestant(decode_and_read, (DEMO,), 1),
        },
        40,
        4,
    )
    for name, what in (("decode", ""), ("all records", ", every record read")):
        per_token = [1000 * seconds / TOKENS for seconds in times[name]]
        label = f"greedy decoding, demo size, {WORDS} words{what}"
        yield Figure(label, per_token, "ms a token", note="The encoder's pass included.")
