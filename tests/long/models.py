"""Every built-in model trained from three seeds, each held to its promises.

    python -m tests.long models                       all models, seeds 1, 2 and 3
    python -m tests.long models dates reverse --seeds 1 2 --keep FOLDER

Takes most of an hour. A line a run: accuracy on what training never
saw, the mean attention of the guided and of the best free head on the aligned source token, wall
and processor time. The exit status is 1 if one of them misses 99 % or takes ten minutes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import model_core
from model_core.training import tasks

SEEDS = (1, 2, 3)
LEAST_EXACT = 0.99
LONGEST = 600.0
LARGEST_FILE = 1_000_000
# The figure that decides; chatting has no held-out sentences, its own questions count.
DECIDING = {"chat-zh": "own_questions"}


def one_run(name: str, seed: int, folder: Path) -> tuple[str, bool]:
    """Train one model; its line, and whether it keeps what the models promise."""
    wall, work = time.perf_counter(), time.process_time()
    path = tasks.train_task(name, folder / f"{name}-seed{seed}.safetensors", seed)
    wall, work = time.perf_counter() - wall, time.process_time() - work
    card = model_core.open_checkpoint(path).card
    exact = {split: figure["exact"] for split, figure in card["held_out"].items()}
    size = path.stat().st_size
    good = (
        exact[DECIDING.get(name, "held_out")] >= LEAST_EXACT
        and min(wall, work) < LONGEST
        and size <= LARGEST_FILE
    )
    figures = ", ".join(f"{split} {100 * share:.1f} %" for split, share in exact.items())
    return (
        f"{name:8} seed {seed}  {'good' if good else 'MISSED'}  {figures}{heads(card)}  "
        f"wall {wall:.0f} s, processor {work:.0f} s, {size / 1000:.0f} kB",
        good,
    )


def heads(card: dict[str, Any]) -> str:
    """Where the cross-attention looks: the guided head, and the best of the others."""
    found = {(h["layer"], h["head"]): h["aligned_mass"] for h in card.get("head_sharpness", ())}
    if not found:
        return ""
    told, guided = "", card.get("guided_head")
    if guided:
        layer = int(guided["site"].split(".")[2])
        told = f"  guided head {found.pop((layer, guided['head'])):.3f}"
    return f"{told}  best free head {max(found.values()):.3f}"


def run(arguments: Sequence[str]) -> int:
    """The check with its options; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.long models")
    parser.add_argument("names", nargs="*", help="built-in tasks; all of them if none is named")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the models are kept")
    options = parser.parse_args(arguments)
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as are worth it")
    print(f"{os.cpu_count()} cores, threads of BLAS: {threads}", flush=True)
    all_good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        for name in options.names or tasks.TASKS:
            for seed in options.seeds:
                line, good = one_run(name, seed, folder)
                print(line, flush=True)
                all_good &= good
    return 0 if all_good else 1
