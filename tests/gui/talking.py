"""A chat model of random parameters, and its conversation in a live window."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np

from model_core.model import Model
from model_core.parameters import initialise
from model_core.tokenizers import CharTokenizer
from tests.core.models import SPECIALS, small_config
from visualizer import actions, chat_actions
from visualizer.run import compute
from visualizer.state import ModelEntry, ViewState

CHARACTERS = "用户助手: \n你好吗甲乙丙abc"
CARD: dict[str, Any] = {
    "chat": {"turns": 2, "user": "用户", "assistant": "助手", "history": 3},
    "examples": ["你好", "甲", "乙", "丙"],
    "about": "It cannot say anything sensible.",
}


def talker(seed: int = 4, **card: Any) -> ModelEntry:
    """What it says is nonsense, a few characters long."""
    tokenizer = CharTokenizer(SPECIALS + list(CHARACTERS), SPECIALS + list(CHARACTERS))
    size = len(SPECIALS) + len(CHARACTERS)
    config = small_config(src_vocab_size=size, tgt_vocab_size=size, max_seq_len=40)
    parameters = initialise(config, np.random.default_rng(seed), "float32")
    model = Model(config, parameters, tokenizer, {**CARD, **card})
    whole = model.generate

    def generate(source: Any, strategy: str = "greedy", **options: Any) -> Any:
        return whole(source, strategy, **{**options, "max_new_tokens": 4})

    model.generate = generate  # type: ignore[method-assign]
    return ModelEntry(model, "talker")


def started(entry: ModelEntry) -> ViewState:
    """Just opened, its first run computed."""
    state = actions.open_model(ViewState(), entry)
    return actions.show_run(state, compute(entry, state.inputs, number=1))


def said(state: ViewState, *questions: str, text: str | None = None) -> ViewState:
    """The state once these were asked and answered; text: said in place of what the model says."""
    for question in questions:
        state = chat_actions.ask(state, question)
        assert state.model is not None and state.run is not None
        run = compute(state.model, state.inputs, number=state.run.number + 1)
        if text is not None:
            object.__setattr__(run, "text", text)
        state = chat_actions.show_run(state, run)
    return state


class Slowly:
    """Makes a model wait before each reply, until `go`; cancelled it waits no longer."""

    def __init__(self, entry: ModelEntry) -> None:
        self.go = Event()
        self.began = 0
        self._plain: Callable[..., Any] = entry.model.generate
        entry.model.generate = self._generate

    def _generate(self, *arguments: Any, **options: Any) -> Any:
        self.began += 1
        while not self.go.wait(0.002):
            options["on_step"](0)
        return self._plain(*arguments, **options)


class Faltering:
    """Lets a model say its first tokens and then wait, until `go`."""

    def __init__(self, entry: ModelEntry) -> None:
        self.go = Event()
        self._plain: Callable[..., Any] = entry.model.generate
        entry.model.generate = self._generate

    def _generate(self, *arguments: Any, **options: Any) -> Any:
        check, told = options["on_step"], []

        def step(position: int) -> None:
            told.append(position)
            time.sleep(0.04)
            while len(told) == 3 and not self.go.wait(0.002):
                check(0)
            check(position)

        return self._plain(*arguments, **{**options, "on_step": step})
