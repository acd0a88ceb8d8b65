"""The built-in tasks: their data, their recipes, how their models are trained and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from model_core import bundled, checkpoints
from model_core.model import Model
from model_core.parameters import initialise
from model_core.threads import limit_blas_threads
from model_core.tokenizers import WordTokenizer
from model_core.training.batching import Example
from model_core.training.cards import card_of
from model_core.training.datasets import Dataset, Pair, numbered
from model_core.training.evaluation import cross_head_facts, pair_matches, share
from model_core.training.loop import Progress, train
from model_core.training.tasks import en_zh

TASKS: dict[str, ModuleType] = {en_zh.NAME: en_zh}


def task(name: str) -> ModuleType:
    """The module of a built-in task; ValueError names those that exist."""
    if name not in TASKS:
        raise ValueError(f"no built-in task is named {name!r}; there are: {', '.join(TASKS)}")
    return TASKS[name]


def examples(pairs: list[Pair], model: Model) -> list[Example]:
    """Pairs of sentences as ids."""
    return [Example(*numbered(pair, model.tokenizer)) for pair in pairs]


def train_task(
    name: str,
    path: Path | None = None,
    seed: int | None = None,
    steps: int | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Path:
    """Train a task's model by its recipe, write its card and save it; where it was saved.

    Data, first parameters and training all follow from the seed.
    """
    module = task(name)
    recipe = module.recipe.RECIPE
    if seed is not None:
        recipe = replace(recipe, seed=seed)
    if steps is not None:
        if steps < 1:
            raise ValueError(f"steps is {steps}, expected 1 or more")
        recipe = replace(recipe, steps=steps, warmup_steps=min(recipe.warmup_steps, steps // 4))
    data: Dataset = module.generate(recipe.seed)
    tokenizer = WordTokenizer.build(data.texts())
    config = module.recipe.config(tokenizer)
    limit_blas_threads(config)
    generator = np.random.default_rng([recipe.seed, 1])
    model = Model(config, initialise(config, generator), tokenizer)
    for progress in train(model, examples(list(data["train"]), model), recipe):
        report(progress)
    model.card = card_of(module, data, model, recipe)
    if path is None:
        path = bundled.resources() / "checkpoints" / f"{name}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoints.save(path, config, model.parameters, tokenizer, model.card)
    return path


def check_task(name: str, model: Model) -> Iterator[str]:
    """Measure a task's model and say in lines what came out."""
    module = task(name)
    seed = model.card.get("recipe", {}).get("seed", module.recipe.RECIPE.seed)
    data: Dataset = module.generate(seed)
    for split in data.splits:
        if split == "train":
            continue
        hits = pair_matches(model, data[split])
        yield f"{split}: {share(hits)} exactly right"
    free = module.free_sentences()
    references = [[plain(text) for text in texts] for _, texts in free]
    results = model.generate([source for source, _ in free])
    hits = [plain(r.text) in texts for r, texts in zip(results, references, strict=True)]
    yield f"written freely: {share(hits)} exactly right"
    yield "mean attention on the aligned source word, held_out:"
    guided = module.recipe.RECIPE.guided
    for fact in cross_head_facts(model, examples(list(data["held_out"]), model)):
        is_guided = guided is not None and (fact.layer, fact.head) == (guided.layer, guided.head)
        note = "  guided" if is_guided else ""
        yield (
            f"  decoder layer {fact.layer + 1} head {fact.head + 1}: {fact.aligned_mass:.3f}{note}"
        )


def plain(text: str) -> str:
    """Text without spaces: references may be written either way."""
    return "".join(text.split())


def new_sentence(name: str, number: int) -> str:
    """The `number`-th fresh source sentence of a task's generator, for whoever asks for one."""
    pair: Pair = task(name).sentence(np.random.default_rng([number, 7]))
    return pair.source_text
