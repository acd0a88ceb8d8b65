"""The built-in tasks: their data, their recipes, how their models are trained and checked.

A task is a package here with NAME, recipe (RECIPE, config), generate(seed) -> its data,
tokenizer(data), examples(data, model), card(data, model, recipe), check(data, model) -> lines, and
sentence(generator), a fresh one to look at.
"""

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
from model_core.training.loop import Progress, train
from model_core.training.outputs import check_format, check_model_place, save_somewhere
from model_core.training.tasks import chat_zh, dates, en_fr, en_zh, numbers, reverse

MODULES = (en_zh, chat_zh, en_fr, dates, reverse, numbers)
TASKS: dict[str, ModuleType] = {module.NAME: module for module in MODULES}


def task(name: str) -> ModuleType:
    """The module of a built-in task; ValueError names those that exist."""
    if name not in TASKS:
        raise ValueError(f"no built-in task is named {name!r}; there are: {', '.join(TASKS)}")
    return TASKS[name]


def train_task(
    name: str,
    path: Path | None = None,
    seed: int | None = None,
    steps: int | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Path:
    """Train a task's model by its recipe, write its card and save it; where it was saved.

    Data, first parameters and training all follow from the seed.
    path: None is the bundled model's own place where the recipe is the bundled model's own too,
    else NAME.safetensors in the current folder, where there is none yet
    ValueError where it could not be written there, with the place where it lies instead.
    """
    module, current = task(name), Path.cwd()
    recipe = module.recipe.RECIPE
    if path is None:
        path = default_place(name, is_bundled=steps is None and seed in (None, recipe.seed))
    check_model_place(path)
    if seed is not None:
        if seed < 0:
            raise ValueError(f"seed is {seed}, expected 0 or more")
        recipe = replace(recipe, seed=seed)
    if steps is not None:
        if steps < 1:
            raise ValueError(f"steps is {steps}, expected 1 or more")
        recipe = replace(recipe, steps=steps, warmup_steps=min(recipe.warmup_steps, steps // 4))
    data = module.generate(recipe.seed)
    tokenizer = module.tokenizer(data)
    config = module.recipe.config(tokenizer)
    limit_blas_threads(config)
    generator = np.random.default_rng([recipe.seed, 1])
    model = Model(config, initialise(config, generator), tokenizer)
    check_format(path, model)
    for progress in train(model, module.examples(data, model), recipe):
        report(progress)
    model.card = module.card(data, model, recipe)

    def save(place: Path) -> None:
        checkpoints.save(place, config, model.parameters, tokenizer, model.card)

    place, why = save_somewhere(path, current, save)
    if place is None:
        raise ValueError(
            f"{path} {why}, and the model can be written to no other place either: it is lost"
        )
    if why:
        raise ValueError(f"{path} {why}; the trained model is written to {place} instead")
    return path


def default_place(name: str, is_bundled: bool) -> Path:
    """Where a task's model goes if nobody says; ValueError where another file lies there.

    is_bundled: whether it is made as the bundled one, whose place it then takes
    """
    if is_bundled:
        return bundled.resources() / "checkpoints" / f"{name}.safetensors"
    path = Path(f"{name}.safetensors")
    if path.exists():
        raise ValueError(f"{path} is there already; name the file to be written with --out")
    return path


def check_task(name: str, model: Model) -> Iterator[str]:
    """Measure a task's model and say in lines what came out."""
    module = task(name)
    seed = model.card.get("recipe", {}).get("seed", module.recipe.RECIPE.seed)
    yield from module.check(module.generate(seed), model)


def new_sentence(name: str, number: int) -> str:
    """The `number`-th fresh source sentence of a task's generator, for whoever asks for one."""
    return str(task(name).sentence(np.random.default_rng([number, 7])).source_text)
