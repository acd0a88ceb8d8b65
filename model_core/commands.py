"""The command line of the core: python -m model_core info | translate | trace | train | check."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import model_core
from model_core import translate_command
from model_core.command_line import CommandParser, file_name, number, reason, tell, whole
from model_core.model import Model
from model_core.threads import limit_blas_threads
from model_core.training import train_command
from model_core.training.stopping import Stopped


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did its work, 2 with one sentence when the input was bad."""
    _replace_closed_streams()
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
        return 0
    except BrokenPipeError:
        # whoever read the output has had enough
        return 0
    except (ValueError, OSError) as error:
        said = reason(error) if isinstance(error, OSError) else error
        tell(f"{parser.prog}: {said}")
        return 2
    except MemoryError:
        tell(f"{parser.prog}: there is not enough memory for this")
        return 2
    except KeyboardInterrupt as stopped:
        tell(f"{parser.prog}: {str(stopped) or 'stopped'}")
        return stopped.code if isinstance(stopped, Stopped) else 130
    finally:
        _leave_nothing_to_flush()


def _leave_nothing_to_flush() -> None:
    """Python flushes both streams at exit; a pipe that nobody reads would make that a failure."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _replace_closed_streams() -> None:
    """A program whose output was closed has none; Python has no stream for it either then."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="python -m model_core",
        description="Open, run, train and check encoder-decoder Transformers in NumPy.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    checkpoint = "a checkpoint file or the name of a bundled model"

    info = commands.add_parser("info", help="what a checkpoint holds")
    info.add_argument("checkpoint", help=checkpoint)
    _add_openings(info)
    info.set_defaults(run=_info)

    translate = commands.add_parser("translate", help="decode a sentence, or a file of them")
    translate.add_argument("checkpoint", help=checkpoint)
    translate_command.add_arguments(translate)
    _add_openings(translate)
    translate.set_defaults(run=_translate)

    trace = commands.add_parser("trace", help="write every record of a run to a file")
    trace.add_argument("checkpoint", help=checkpoint)
    trace.add_argument("--source", help="text; without a target the greedy output is traced")
    trace.add_argument("--target", help="text")
    trace.add_argument("--source-ids", type=_ids, help="numbers such as 5,9,2, read as they are")
    trace.add_argument("--target-ids", type=_ids)
    trace.add_argument("--dtype", choices=("float32", "float64"))
    _add_openings(trace)
    trace.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    trace.set_defaults(run=_trace)

    train = commands.add_parser("train", help="train a built-in task's model, or one of your own")
    train.add_argument("name", nargs="?", help="a built-in task")
    train.add_argument("--seed", type=whole, help="another run than the bundled one")
    train.add_argument("--steps", type=whole, help="fewer or more steps than the recipe's")
    train.add_argument(
        "--out",
        type=file_name,
        metavar="FILE.safetensors",
        help="a task's bundled model where nothing is given, ./NAME.safetensors with --seed or "
        "--steps",
    )
    train_command.add_arguments(train)
    train.set_defaults(run=_train)

    check = commands.add_parser("check", help="held-out accuracy and heads of a bundled model")
    check.add_argument("name", help="a built-in task")
    check.add_argument("--checkpoint", help="another model of the task than the bundled one")
    check.set_defaults(run=_check)
    return parser


def _add_openings(command: argparse.ArgumentParser) -> None:
    """What a checkpoint may leave open, as `open_checkpoint` takes it."""
    command.add_argument("--variant", help="another computation of a worked example: multi_head")
    command.add_argument("--activation", help="relu, gelu, gelu_tanh or silu")
    command.add_argument("--norm-eps", type=number)


def _ids(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of numbers such as 5,9,2"
        ) from None


def _open(options: argparse.Namespace, dtype: str | None = None) -> Model:
    model = model_core.open_checkpoint(
        options.checkpoint, dtype, options.variant, options.activation, options.norm_eps
    )
    return _announced(model)


def _announced(model: Model) -> Model:
    limit_blas_threads(model.config)
    for warning in model.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return model


def _info(options: argparse.Namespace) -> None:
    model = _open(options)
    for key, value in model.config.to_dict().items():
        print(f"{key:18} {value}")
    print(f"{'parameters':18} {model.parameter_count}")
    print(f"{'tokenizer':18} {model.tokenizer.kind}")
    if model.card:
        print("card")
        print(json.dumps(model.card, ensure_ascii=False, indent=2))


def _translate(options: argparse.Namespace) -> None:
    translate_command.check(options)
    translate_command.run(_open(options), options)


def _trace(options: argparse.Namespace) -> None:
    model = _open(options, options.dtype)
    tape = model.trace(
        options.source,
        options.target,
        source_ids=options.source_ids,
        target_ids=options.target_ids,
    )
    arrays: dict[str, Any] = {site: tape[site].value for site in tape.sites}
    arrays |= {name: tape[name].value for name in tape.plan.aliases}
    arrays["source_ids"], arrays["target_ids"] = tape.source_ids, tape.target_ids
    arrays["source_tokens"] = np.array(tape.source_tokens, dtype=str)
    arrays["target_tokens"] = np.array(tape.target_tokens, dtype=str)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("wb") as file:
        # written through a handle, because savez puts .npz behind any other name
        np.savez(file, **arrays)
    print(f"{len(tape.sites)} records written to {options.out}")


def _train(options: argparse.Namespace) -> None:
    train_command.check_options(options)
    train_command.run(options)


def _check(options: argparse.Namespace) -> None:
    from model_core.training import tasks

    model = _announced(model_core.open_checkpoint(options.checkpoint or options.name))
    for line in tasks.check_task(options.name, model):
        print(line, flush=True)
