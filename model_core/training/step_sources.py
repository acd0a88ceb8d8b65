"""What a step under the glass is taken of: the model's own recipe, fresh weights, drawn pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from model_core.model import Model
from model_core.parameters import initialise
from model_core.tokenizers import Tokenizer
from model_core.training.batching import Example
from model_core.training.datasets import Pair, numbered
from model_core.training.loop import Recipe
from model_core.transformer import Dropout

# For a model whose card tells none, as many are dropped as in the paper.
USUAL_DROPOUT = Dropout(ffn=0.1, sublayer=0.1)


def recipe_of(card: Mapping[str, Any]) -> Recipe:
    """One step as this model was trained, at its full learning rate and without a guided head.

    What the card does not tell, or tells wrongly, is as usual.
    """
    told = card.get("recipe")
    told = told if isinstance(told, Mapping) else {}
    rates = told.get("dropout")
    rates = rates if isinstance(rates, Mapping) else {}
    names = ("attention", "ffn", "sublayer")
    # one that drops nothing anywhere has told so
    known = any(_number(rates, name) is not None for name in names)
    places = {name: _share(rates, name, 0.0) for name in names}
    return Recipe(
        steps=1,
        learning_rate=_positive(told, "learning_rate", 1e-3),
        warmup_steps=0,
        beta1=_share(told, "beta1", 0.9),
        beta2=_share(told, "beta2", 0.98),
        epsilon=_positive(told, "epsilon", 1e-9),
        max_norm=_positive(told, "max_norm", 1.0),
        label_smoothing=_share(told, "label_smoothing", 0.0),
        dropout=Dropout(**places) if known else USUAL_DROPOUT,
    )


def warmup_of(card: Mapping[str, Any]) -> int:
    """Over how many steps the model's training warmed up; 0 where its card tells none."""
    told = card.get("recipe")
    steps = told.get("warmup_steps") if isinstance(told, Mapping) else None
    return steps if isinstance(steps, int) and not isinstance(steps, bool) and steps > 0 else 0


def _number(told: Mapping[str, Any], name: str) -> float | None:
    value = told.get(name)
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if sound and math.isfinite(value) else None  # type: ignore[arg-type]


def _share(told: Mapping[str, Any], name: str, usual: float) -> float:
    value = _number(told, name)
    return value if value is not None and 0.0 <= value < 1.0 else usual


def _positive(told: Mapping[str, Any], name: str, usual: float) -> float:
    value = _number(told, name)
    return value if value is not None and value > 0.0 else usual


def fresh(model: Model, seed: int = 0) -> Model:
    """A model of the same shape and words that has learned nothing yet."""
    parameters = initialise(model.config, np.random.default_rng([seed, 3]), model.dtype)
    return Model(model.config, parameters, model.tokenizer, model.card)


def as_written(words: Tokenizer, text: str) -> str:
    """A target as the model writes its output: "twenty-six" for "twenty- six".

    As it is where the model does not know all of it, or would read something else then.
    """
    read = words.encode_target(text)
    written = words.decode(read.ids)
    same = not read.unknown and words.encode_target(written).ids == read.ids
    return written if same else text


def drawn_pairs(name: str, number: int, count: int) -> tuple[tuple[str, str], ...]:
    """The `number`-th so many fresh pairs of a built-in task's generator, as texts.

    The targets have spaces between all words (see `as_written`).
    """
    module, generator = _task(name), np.random.default_rng([number, 11])
    found = []
    for _ in range(count):
        thing = module.sentence(generator)
        if isinstance(thing, Pair):
            found.append((thing.source_text, thing.target_text))
        else:
            found.append((module.prompt(thing), thing.answer))
    return tuple(found)


def drawn_examples(name: str, model: Model, count: int, seed: int = 0) -> list[Example]:
    """Fresh examples of a built-in task as ids, with their alignments where it has any."""
    module, generator = _task(name), np.random.default_rng([seed, 13])
    words, found = model.tokenizer, []
    for _ in range(count):
        thing = module.sentence(generator)
        if isinstance(thing, Pair):
            found.append(Example(*numbered(thing, words)))
        else:
            source = words.encode_source(module.prompt(thing)).ids
            found.append(Example(source, words.encode_target(thing.answer).ids))
    return found


def _task(name: str) -> Any:
    # the tasks' grammars take longer to load than all else here
    from model_core.training.tasks import task

    return task(name)
