"""Long sentences: a step through the attention of 512 tokens, in the real window.

A model with random parameters, made for it. Each length of the target is measured in a process
of its own; `python -m tests.benchmarks.long 64` is what such a process runs.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.figures import Figure, LeftOut
from tests.benchmarks.sizes import SPECIALS
from tests.benchmarks.window import fresh_window, in_own_process, percentiles, until, where_shown

SOURCE, TARGETS = 512, (64, 512)
D_MODEL, HEADS, D_FF, LAYERS, VOCABULARY = 256, 8, 512, 3, 2000
# Rows of the target at which the whole decoder is walked, as shares of its length.
STOPS = (0.1, 0.5, 1.0)
TOKEN_STEPS, HEAD_TURNS = 40, 4
STEP_TARGET, MEMORY_TARGET = 50.0, 1500.0
KINDS = ("self_attn", "cross_attn")


def run() -> Iterator[Figure | LeftOut]:
    """Steps and peak memory, with 64 and with 512 target tokens."""
    where = where_shown()
    for rows in TARGETS:
        found = in_own_process("tests.benchmarks.long", str(rows))
        size = f"{SOURCE} source and {rows} target tokens, {HEADS} heads, {LAYERS}+{LAYERS} layers"
        for name, what in (
            ("ops", "step through the attention"),
            ("tokens", "next token at attention weights"),
            ("heads", "another head"),
        ):
            targets = (None, STEP_TARGET)
            yield from percentiles(f"{what}, {size}", found[name], targets, where)
        slowest = ", ".join(f"{site} {ms:.0f} ms" for site, ms in found["slowest"])
        note = f"Slowest sites: {slowest}."
        yield Figure(f"peak memory, {size}", [found["megabytes"]], "MB", MEMORY_TARGET, note)


# What runs in the measured process.


def long_model(heads: int = HEADS) -> Any:
    """Random parameters for sentences of 512 tokens."""
    from model_core.config import ModelConfig
    from model_core.model import Model
    from model_core.parameters import initialise
    from model_core.threads import limit_blas_threads
    from model_core.tokenizers import WordTokenizer

    config = ModelConfig(
        src_vocab_size=VOCABULARY,
        tgt_vocab_size=VOCABULARY,
        d_model=D_MODEL,
        n_heads=heads,
        d_ff=D_FF,
        n_encoder_layers=LAYERS,
        n_decoder_layers=LAYERS,
        max_seq_len=SOURCE,
    )
    limit_blas_threads(config)
    words = SPECIALS + [f"w{number}" for number in range(4, VOCABULARY)]
    parameters = initialise(config, np.random.default_rng(0))
    return Model(config, parameters, WordTokenizer(words, words, target_joiner=" "))


def texts(model: Any, rows: int) -> tuple[str, str]:
    """A source that fills the model's length, and a target of `rows` decoder rows."""
    generator = np.random.default_rng(1)
    extra = len(model.tokenizer.encode_source("w4").ids) - 1
    source = generator.integers(4, VOCABULARY, SOURCE - extra)
    target = generator.integers(4, VOCABULARY, rows - 1)
    return (" ".join(f"w{n}" for n in source), " ".join(f"w{n}" for n in target))


def long_window(rows: int, heads: int = HEADS) -> tuple[Any, Any]:
    """The window with the long sentence on show."""
    from visualizer import actions
    from visualizer.state import ModelEntry

    app, session = fresh_window()
    model = long_model(heads)
    source, target = texts(model, rows)
    session.store.dispatch(actions.open_model, ModelEntry(model, "long"))
    session.store.dispatch(actions.edit_source, source)
    session.store.dispatch(actions.force_target, target)

    def shown() -> bool:
        run = session.store.state.run
        return run is not None and run.inputs == session.store.state.inputs

    until(app, shown, patience=60.0)
    until(app, lambda: settled(session))
    return app, session


def settled(session: Any) -> bool:
    """Whether every panel has painted where the cursor stands, and all that was set since."""
    from visualizer.navigation import current_index

    here = current_index(session.store.state)
    return all(
        canvas.painted[1:] == (here,) and not canvas.is_stale
        for panel in session.window.panels
        for canvas in panel.carriers
        if canvas.isVisible()
    )


def measure(rows: int) -> dict[str, Any]:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from visualizer import navigation
    from visualizer.navigation import current_index, current_place

    app, session = long_window(rows)
    store, window = session.store, session.window
    stage = window.stage
    stage.setFocus()
    by_site: dict[str, list[float]] = {}

    def timed(press: Callable[[], None]) -> float:
        before = current_index(store.state), store.state.head
        start = time.perf_counter()
        press()
        until(app, lambda: settled(session))
        taken = time.perf_counter() - start
        assert (current_index(store.state), store.state.head) != before
        return taken

    def key(which: Any, held: Any = Qt.KeyboardModifier.NoModifier) -> Callable[[], None]:
        return lambda: QTest.keyClick(stage, which, held)

    def walk(steps: int) -> list[float]:
        found = []
        for _ in range(steps):
            taken = timed(key(Qt.Key.Key_Right))
            place = current_place(store.state)
            if place.kind in KINDS:
                found.append(taken)
                by_site.setdefault(place.site, []).append(1000 * taken)
        return found

    along = navigation.current_walk(store.state)
    last = along.rows - 1
    assert along.rows == rows
    store.dispatch(navigation.go_to_index, 0)
    until(app, lambda: settled(session))
    ops = walk(len(along.route.encoder) - 1)
    for share in STOPS:
        token = round(share * last)
        start = along.index(along.route.decoder[0].site, token)
        store.dispatch(navigation.go_to_index, start)
        until(app, lambda: settled(session))
        ops += walk(len(along.route.decoder) - 1)
    tokens, heads = [], []
    for site in (f"decoder.layers.1.{kind}.weights" for kind in KINDS):
        store.dispatch(navigation.go_to_index, along.index(site, max(last - TOKEN_STEPS, 0)))
        until(app, lambda: settled(session))
        for _ in range(TOKEN_STEPS):
            tokens.append(timed(key(Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)))
        for _ in range(HEAD_TURNS * HEADS):
            wanted = (store.state.head + 1) % HEADS
            heads.append(timed(key(Qt.Key(Qt.Key.Key_1 + wanted))))
    means = {site: sum(values) / len(values) for site, values in by_site.items()}
    slowest = sorted(means.items(), key=lambda pair: -pair[1])[:3]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    window.close()
    return {
        "ops": ops,
        "tokens": tokens,
        "heads": heads,
        "slowest": slowest,
        "megabytes": peak * 1024 * 1024 / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
