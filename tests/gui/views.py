"""States of the view over small real models, for tests without a window."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from tests.core.models import small_model
from visualizer import actions, navigation
from visualizer.run import compute, open_entry
from visualizer.state import Inputs, ModelEntry, Run, ViewState

SENTENCE = "s4 s7 s5 nonsense s9"
# Three tokens and the end token, read as <SOS> t4 t6 t5.
TARGET = "t4 t6 t5"
CROSS = "decoder.layers.0.cross_attn.weights"


@cache
def entry(**changes: Any) -> ModelEntry:
    """A 2+2 model with random parameters: 3 heads of 5, d_model 12, d_ff 14, 13 and 11 words."""
    model = small_model("float32", **changes)
    model.card = {
        "guided_head": {"site": CROSS, "head": 1},
        "examples": [SENTENCE, "s5 s6"],
    }
    return ModelEntry(model, "small")


@cache
def run(source: str = SENTENCE, target: str | None = TARGET, **changes: Any) -> Run:
    return compute(entry(**changes), Inputs(source=source, target=target), number=1)


def view(source: str = SENTENCE, target: str | None = TARGET, **changes: Any) -> ViewState:
    """A fresh start with a sentence stepped into; four decoder rows over six source tokens."""
    state = actions.open_model(ViewState(), entry(**changes))
    state = replace(state, inputs=Inputs(source=source, target=target))
    return actions.show_run(state, run(source, target, **changes))


def worked_view(name: str = "encoder-layer") -> ViewState:
    """A bundled worked example, just opened."""
    state = actions.open_model(ViewState(), open_entry(name))
    assert state.model is not None
    return actions.show_run(state, compute(state.model, state.inputs, number=1))


def at(site: str, token: int = 3, head: int = 1, **traits: object) -> ViewState:
    """A view that has walked to a site at a decoder row."""
    state = navigation.go_to_site(navigation.go_to_token(view(**traits), token), site)
    return actions.select_head(state, head)
