"""Compare training curves with PyTorch's; for development, not a test.

    python tools/compare_training.py [TASK ...] [--steps 100] [--write FILE]

needs torch. Trains the model of each built-in task (all of them without names) by its recipe,
without dropout: once by the project's own loop, once in PyTorch, from the same first parameters
over the same batches, in float32 and in float64. Two schedules: the recipe's own, of which 100
steps are little more than its warm-up, and that of a run that ends after so many steps. Prints the
largest difference of the losses, and exits with 1 where one is above 1e-3.

--write puts PyTorch's float64 losses of the run that ends into a file, for
tests/core/test_against_pytorch_losses.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

from model_core.training import tasks
from tests.benchmarks import torch_training
from tests.core.training_curves import (
    digest,
    examples_of,
    first_model,
    our_losses,
    short_recipe,
    undropped,
)

LARGEST = 1e-3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(tasks.TASKS))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--write", type=Path, metavar="FILE")
    given = parser.parse_args()
    torch.set_num_threads(1)
    worst, written = 0.0, {}
    for name in given.tasks or tasks.TASKS:
        schedules = {
            "recipe's schedule": undropped(name),
            f"schedule of {given.steps} steps": short_recipe(name, given.steps),
        }
        for (said, recipe), dtype in (
            (schedule, dtype) for dtype in ("float64", "float32") for schedule in schedules.items()
        ):
            recipe = replace(recipe, steps=max(recipe.steps, given.steps))
            model = first_model(name, dtype)
            examples = examples_of(name, model)
            steps = torch_training.train(model, examples, recipe)
            theirs = [next(steps) for _ in range(given.steps)]
            ours = our_losses(model, examples, recipe, given.steps)
            off = max(abs(a.loss - b.loss) for a, b in zip(ours, theirs, strict=True))
            line = (
                f"{name}, {dtype}, {said}: losses {theirs[0].loss:.3f} to {theirs[-1].loss:.3f}, "
                f"largest difference {off:.1e}"
            )
            if recipe.guided is not None:
                aligned = max(
                    abs(a.alignment_loss - b.alignment_loss)  # type: ignore[operator]
                    for a, b in zip(ours, theirs, strict=True)
                )
                line += f", of the alignment loss {aligned:.1e}"
                off = max(off, aligned)
            # nan counts as too much
            is_close = off <= LARGEST
            worst = max(worst, off) if is_close else float("inf")
            print(line if is_close else f"{line}  TOO MUCH", flush=True)
            if dtype == "float64" and recipe.steps == given.steps:
                written[name] = {
                    "batches": digest(examples, recipe, model, given.steps),
                    "losses": [losses.loss for losses in theirs],
                    "alignment_losses": [losses.alignment_loss for losses in theirs],
                }
    if given.write:
        given.write.write_text(json.dumps(written, indent=0) + "\n", encoding="utf-8")
    print(f"largest of all: {worst:.1e}, allowed {LARGEST:g}")
    return 0 if worst <= LARGEST else 1


if __name__ == "__main__":
    sys.exit(main())
