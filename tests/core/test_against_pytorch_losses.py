"""The training loop against PyTorch: the losses of 100 steps, which PyTorch has put into a file.

The file is made by `python tools/compare_training.py en-zh reverse numbers --write
tests/data/pytorch_losses.json` (PyTorch 2.13.0, float64; tests/benchmarks/torch_training.py is the
model): forward pass, gradients, clipping, Adam and schedule are PyTorch's, the first parameters and
the batches follow from the recipe's seed. PyTorch is not needed here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.training_curves import (
    digest,
    examples_of,
    first_model,
    our_losses,
    short_recipe,
)

FILE = Path(__file__).parent.parent / "data" / "pytorch_losses.json"


@pytest.mark.parametrize(
    ("name", "dtype", "largest"),
    [
        ("reverse", "float64", 1e-9),
        ("numbers", "float32", 1e-4),
        ("en-zh", "float32", 1e-4),
    ],
)
def test_the_losses_of_the_loop_are_those_of_pytorch(name: str, dtype: str, largest: float) -> None:
    theirs = json.loads(FILE.read_text(encoding="utf-8"))[name]
    recipe = short_recipe(name, len(theirs["losses"]))
    model = first_model(name, dtype)
    examples = examples_of(name, model)
    assert digest(examples, recipe, model, recipe.steps) == theirs["batches"], (
        f"{name} has other data or another size than when {FILE.name} was made: make it anew"
    )
    ours = our_losses(model, examples, recipe, recipe.steps)
    close = pytest.approx(theirs["losses"], rel=0, abs=largest)
    assert [losses.loss for losses in ours] == close
    if recipe.guided is not None:
        close = pytest.approx(theirs["alignment_losses"], rel=0, abs=largest)
        assert [losses.alignment_loss for losses in ours] == close
    # the curve says nothing of a model that stays as it was
    assert recipe.steps == 100 and theirs["losses"][-1] < 0.75 * theirs["losses"][0]
