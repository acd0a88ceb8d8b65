"""The traced forward pass against PyTorch eager, which keeps no intermediate values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.benchmarks import peer
from tests.benchmarks.figures import Figure, LeftOut, ratio
from tests.benchmarks.sizes import DEMO, MARIAN, NO_TORCH, Size, has_torch, random_model, sentences
from tests.benchmarks.turns import Contestant, race


def traced(size: Size, activation: str) -> Callable[[], object]:
    """The model's own trace, from ids to a tape with every site."""
    model = random_model(size, activation)
    source, target = sentences(size)
    return lambda: model.trace(source_ids=source, target_ids=target)


def eager(size: Size, activation: str) -> Callable[[], object]:
    """The same model in PyTorch."""
    model = random_model(size, activation, limit_threads=False)
    run = peer.build(model.config, model.parameters)
    source, target = sentences(size)
    return lambda: run(source, target)


def run() -> Iterator[Figure | LeftOut]:
    # at demo size a second thread may cost PyTorch more than it gives: measured with both numbers
    for label, size, activation, threads, target, rounds, repeats in (
        ("demo size, gelu", DEMO, "gelu", (1, 2), 0.8, 60, 20),
        ("demo size, relu", DEMO, "relu", (1, 2), 0.8, 60, 20),
        ("Marian-base size, relu", MARIAN, "relu", (2,), 1.25, 15, 3),
    ):
        name = f"traced forward / PyTorch eager untraced, {label}"
        if not has_torch():
            yield LeftOut(name, NO_TORCH)
            continue
        contestants = {"traced": Contestant(traced, (size, activation), max(threads))}
        for number in threads:
            contestants[f"eager {number}"] = Contestant(eager, (size, activation), number)
        times = race(contestants, rounds, repeats)
        for number in threads:
            note = f"PyTorch on {number} thread{'s' * (number > 1)}."
            yield ratio(name, times["traced"], times[f"eager {number}"], target, note)
