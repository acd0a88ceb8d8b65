"""A model's card: what it was made for, from what, how, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from model_core.model import Model
from model_core.training.batching import Example
from model_core.training.datasets import Dataset, numbered
from model_core.training.evaluation import cross_head_facts, pair_matches
from model_core.training.loop import Recipe


def card_of(
    data: Dataset, model: Model, recipe: Recipe, title: str, about: str, shown: Sequence[str]
) -> dict[str, Any]:
    """The card of a freshly trained model; nothing in it depends on the day or the machine.

    shown: sentences to start from
    """
    target_unit = "words" if data["train"][0].target_joiner else "characters"
    tokenizer = model.tokenizer
    accuracy = {}
    for split, pairs in data.splits.items():
        if split == "train":
            continue
        hits = pair_matches(model, pairs)
        accuracy[split] = {"sentences": len(hits), "exact": round(sum(hits) / len(hits), 4)}
    heads = cross_head_facts(model, [Example(*numbered(p, tokenizer)) for p in data["held_out"]])
    longest_source, longest_target = data.longest()
    card: dict[str, Any] = {
        "title": title,
        "task": data.name,
        "about": about,
        "examples": list(shown),
        "recipe": msgspec.to_builtins(recipe),
        "training_sentences": len(data["train"]),
        f"longest_source_{model.tokenizer.source_unit}": longest_source,
        f"longest_target_{target_unit}": longest_target,
        "parameters": model.parameter_count,
        "held_out": accuracy,
        "head_sharpness": [
            {"layer": f.layer, "head": f.head, "aligned_mass": round(f.aligned_mass, 4)}
            for f in heads
        ],
    }
    if recipe.guided is not None:
        card["guided_head"] = {"site": recipe.guided.site, "head": recipe.guided.head}
    return card
