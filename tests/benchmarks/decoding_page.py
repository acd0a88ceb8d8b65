"""The decoding bench at a vocabulary of 60,000: a slider moved to the page painted.

The moves come as those of a drag do, 60 a second, while the engine decodes what follows from them.
`python -m tests.benchmarks.decoding_page measure` is what runs in a process of its own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.figures import Figure
from tests.benchmarks.sizes import SPECIALS
from tests.benchmarks.window import fresh_window, in_own_process, percentiles, until, where_shown

VOCABULARY = 60_000
# So few positions that the runs behind the sliders come to an end.
LENGTH = 16
MOVES, WARM_UP = 400, 40
BETWEEN = 1 / 60
TARGET = 16.0


def run() -> Iterator[Figure]:
    """The figures of the page and of the panel that takes its place on other pages."""
    found = in_own_process("tests.benchmarks.decoding_page", "measure")
    for place, name in (("decoding", "the page"), ("record", "the panel at the right")):
        for kind in ("top_k", "all"):
            what = "top-k on" if kind == "top_k" else "top-k and top-p off"
            yield from percentiles(
                f"slider to {name} painted, {VOCABULARY} tokens, {what}",
                found[f"{place} {kind}"],
                (None, TARGET),
                where_shown(),
            )


# What runs in the measured process.


def large_model() -> Any:
    """Few layers under a large vocabulary, with logits as peaked as a trained model's."""
    import numpy as np

    from model_core.config import ModelConfig
    from model_core.model import Model
    from model_core.parameters import initialise
    from model_core.threads import limit_blas_threads
    from model_core.tokenizers import WordTokenizer

    config = ModelConfig(
        src_vocab_size=VOCABULARY,
        tgt_vocab_size=VOCABULARY,
        d_model=64,
        n_heads=4,
        d_ff=128,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_seq_len=LENGTH,
    )
    limit_blas_threads(config)
    parameters = initialise(config, np.random.default_rng(0))
    scale = 2.5 / float(parameters["output.W"].std() * np.sqrt(config.d_model))
    parameters["output.W"] *= np.float32(scale)
    words = SPECIALS + [f"w{number}" for number in range(4, VOCABULARY)]
    return Model(config, parameters, WordTokenizer(words, words, target_joiner=" "))


def _measure() -> dict[str, list[float]]:
    from visualizer import actions
    from visualizer.state import ModelEntry

    app, session = fresh_window()
    store = session.store
    store.dispatch(actions.open_model, ModelEntry(large_model(), "large"))
    store.dispatch(actions.edit_source, "w10 w20 w30 w40 w50")
    store.dispatch(actions.set_temperature, 0.8)

    def shown() -> bool:
        run = store.state.run
        return run is not None and run.inputs == store.state.inputs

    found = {}
    for page in ("decoding", "record"):
        for kind, top_k in (("all", None), ("top_k", 40)):
            store.dispatch(actions.show_page, page)
            store.dispatch(actions.set_temperature, 0.8)
            store.dispatch(actions.set_top_k, top_k)
            store.dispatch(actions.set_top_p, None if top_k is None else 0.9)
            until(app, shown, patience=60.0)
            found[f"{page} {kind}"] = _drag(app, session, page)
    session.window.close()
    return found


def _drag(app: Any, session: Any, page: str) -> list[float]:
    """Seconds from each move of the temperature to what shows it painted."""
    window = session.window
    stage = window.stage.pages["decoding"]
    panel = window.prediction
    canvases = (stage.columns, stage.bar) if page == "decoding" else (panel.bars,)
    slider = (stage if page == "decoding" else panel).sampling.temperature.slider
    act = slider.SliderAction
    times = []
    for number in range(WARM_UP + MOVES):
        up = (number // 12) % 2 == 0
        start = time.perf_counter()
        slider.triggerAction(act.SliderSingleStepAdd if up else act.SliderSingleStepSub)
        assert any(canvas.is_stale for canvas in canvases)
        until(app, lambda: not any(canvas.is_stale for canvas in canvases))
        now = time.perf_counter()
        times.append(now - start)
        while time.perf_counter() - start < BETWEEN:
            app.processEvents()
            time.sleep(0.001)
    return times[WARM_UP:]


if __name__ == "__main__":
    print(json.dumps({"measure": _measure}[sys.argv[1]]()))
