"""The traced forward pass against PyTorch eager, which keeps no intermediate values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.benchmarks import peer
from tests.benchmarks.figures import Figure, LeftOut, ratio
from tests.benchmarks.sizes import DEMO, MARIAN, NO_TORCH, Size, has_torch, random_model, sentences
from tests.benchmarks.turns import Contestant, race

THREADS = 2


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
    for label, size, activation, target, rounds, repeats in (
        ("demo size, gelu", DEMO, "gelu", 0.8, 60, 20),
        ("demo size, relu", DEMO, "relu", 0.8, 60, 20),
        ("Marian-base size, relu", MARIAN, "relu", 1.25, 15, 3),
    ):
        name = f"traced forward / PyTorch eager untraced, {label}"
        if not has_torch():
            yield LeftOut(name, NO_TORCH)
            continue
        times = race(
            {
                "traced": Contestant(traced, (size, activation), THREADS),
                "eager": Contestant(eager, (size, activation), THREADS),
            },
            rounds,
            repeats,
        )
        yield ratio(name, times["traced"], times["eager"], target, f"PyTorch on {THREADS} threads.")
