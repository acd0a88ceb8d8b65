"""The command that trains a built-in task's model, or one on a file of pairs: with a bar,
checkpoints and a way to go on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from model_core.checkpoints import Saved
from model_core.command_line import above_0, file_name, from_0, reason, tell
from model_core.threads import limit_blas_threads
from model_core.training import file_options
from model_core.training.file_words import chosen, recognised, sizes, verdict
from model_core.training.guard import DivergedError
from model_core.training.held_out import Evaluation
from model_core.training.lab_data import FileSource, TaskSource, load, task_settings
from model_core.training.lab_run import LabRun, Watching
from model_core.training.outputs import (
    check_apart,
    check_format,
    check_model_place,
    check_run_place,
    checkpoint_of,
    free_name,
    model_of,
    save_somewhere,
)
from model_core.training.problems import Problem, problems
from model_core.training.progress_bar import Bar, Waiting
from model_core.training.resume import is_run, previous_of, read_run, remove_run
from model_core.training.run_lock import running_at
from model_core.training.settings import Settings
from model_core.training.stopping import Stopped, StopSign, stopping_in_order
from model_core.training.suiting import suited_settings
from model_core.training.text_files import UndecidedError

# What is not settled by a run that is gone on with, and by the recipe of a built-in task.
FOR_ALL = frozenset({"out", "save_steps", "save_minutes", "evaluate_steps"})
FOR_A_RUN = FOR_ALL | {"resume"}
FOR_A_TASK = FOR_ALL | {"name", "seed", "steps", "anew"}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What `train` takes beside the name of a task."""
    data = command.add_argument_group("a file of sentence pairs")
    data.add_argument(
        "--data", type=file_name, metavar="PAIRS", help="TSV, CSV, JSON lines or lines"
    )
    data.add_argument(
        "--config", type=file_name, metavar="SETTINGS.json", help="else they are chosen"
    )
    data.add_argument(
        "--resume", type=file_name, metavar="RUN", help="go on with an interrupted run"
    )
    file_options.add_arguments(data)
    data.add_argument(
        "--save-steps", type=from_0, default=0, help="a checkpoint every so many steps"
    )
    data.add_argument("--save-minutes", type=above_0, default=2.0, help="or minutes")
    data.add_argument("--evaluate-steps", type=from_0, default=100)
    data.add_argument(
        "--anew", action="store_true", help="throw an unfinished training of --out away"
    )
    command.set_defaults(usual=command)


def check_options(options: argparse.Namespace) -> None:
    """ValueError for options that have no meaning beside the others."""
    usual = vars(options.usual.parse_args([]))
    given = {name for name, value in vars(options).items() if value != usual[name]}
    if options.name is not None:
        if given & {"data", "resume"}:
            raise ValueError("give the name of a task or a file of pairs, not both")
        _refuse(given - FOR_A_TASK, "a built-in task is trained by its recipe, on its own data")
    elif (options.data is None) == (options.resume is None):
        raise ValueError("give the name of a task, or --data with pairs, or --resume with a run")
    elif options.resume is not None:
        _refuse(given - FOR_A_RUN, "a run goes on with the data and the settings it began with")
    elif options.out is None:
        raise ValueError("--data needs --out, the file that the model is written to")


def _refuse(names: set[str], why: str) -> None:
    if names:
        told = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(names))
        raise ValueError(f"{told} cannot be given here: {why}")


def run(options: argparse.Namespace) -> None:
    """Train to the end, or until a signal stops it; then it can be gone on with."""
    try:
        _run(options)
    except MemoryError:
        raise ValueError(
            "there is not enough memory for this run; make it smaller: its batch_size, its "
            "max_seq_len or its d_model"
        ) from None


def _run(options: argparse.Namespace) -> None:
    resumed: Path | None = options.resume
    if resumed is not None and not (is_run(resumed) or previous_of(resumed).exists()):
        # tells what it is instead
        read_run(resumed)
    out = _place(options)
    checkpoint = resumed or checkpoint_of(out)
    check_apart(out, checkpoint, {"the data": options.data, "the settings": options.config})
    check_model_place(out)
    with running_at(checkpoint):
        _run_at(checkpoint, out, options)


def _place(options: argparse.Namespace) -> Path:
    """Where the model is to be written."""
    if options.out is not None or options.name is None:
        return options.out or model_of(options.resume)
    # all tasks: no other command is to wait for them
    from model_core.training.tasks import default_place

    is_usual = options.steps is None and options.seed in (None, task_settings(options.name).seed)
    return default_place(options.name, is_usual)


def _run_at(checkpoint: Path, out: Path, options: argparse.Namespace) -> None:
    watching = Watching(options.evaluate_steps, norms_every=0)
    if options.resume is None:
        check_run_place(checkpoint, options.anew)
        begin = _fresh if options.name is None else _of_a_task
        training = begin(options, watching)
    else:
        training = _resumed(checkpoint, watching)
        source = training.data.source
        if isinstance(source, FileSource):
            check_apart(out, checkpoint, {"the data": Path(source.path)})
    check_format(out, training.model)
    if options.anew:
        remove_run(checkpoint)
    limit_blas_threads(training.model.config)
    _work(training, checkpoint, out, options)


def _resumed(checkpoint: Path, watching: Watching) -> LabRun:
    with Waiting(f"reading {checkpoint.name} and its data", sys.stderr) as waiting:
        training = LabRun.resume(checkpoint, watching, waiting.tell)
    if training.warning:
        tell(f"warning: {training.warning}")
    return training


def _fresh(options: argparse.Namespace, watching: Watching) -> LabRun:
    # not resolved: a link that leads to itself is told of by whoever opens it
    source = FileSource(str(options.data.absolute()), file_options.reading_of(options))
    given = file_options.settings_given(options)
    _check(problems(Settings(**given)))
    with Waiting(f"reading {options.data.name}", sys.stderr) as waiting:
        try:
            data = load(source, Settings(**given), waiting.tell)
        except UndecidedError as error:
            raise ValueError(file_options.said(error)) from None
    settings = suited_settings(data, given)
    _check(problems(settings, data.facts(settings)))
    _tell(() if data.look is None else recognised(data.look))
    _tell(() if data.report is None else data.report.sentences())
    with Waiting("turning the pairs into tokens", sys.stderr):
        training = LabRun(data, settings, watching)
    _tell(chosen(training))
    return training


def _of_a_task(options: argparse.Namespace, watching: Watching) -> LabRun:
    """By its recipe, but for what is given; to the same weights as `tasks.train_task`."""
    settings = task_settings(options.name)
    if options.seed is not None:
        settings = msgspec.structs.replace(settings, seed=options.seed)
    if options.steps is not None:
        if options.steps < 1:
            raise ValueError(f"steps is {options.steps}, expected 1 or more")
        warmup = min(settings.warmup_steps, options.steps // 4)
        settings = msgspec.structs.replace(settings, steps=options.steps, warmup_steps=warmup)
    _check(problems(settings))
    with Waiting(f"making the sentences of {options.name}", sys.stderr):
        data = load(TaskSource(options.name, whole=True), settings)
    with Waiting("turning them into tokens", sys.stderr):
        training = LabRun(data, settings, watching)
    _tell(sizes(training))
    return training


def _check(found: Sequence[Problem]) -> None:
    if found:
        raise ValueError(str(found[0]))


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        tell(sentence)


def _work(training: LabRun, checkpoint: Path, out: Path, options: argparse.Namespace) -> None:
    bar, current = Bar(training.total_steps, training.step, sys.stderr), Path.cwd()
    with stopping_in_order() as sign:
        try:
            evaluation = _train(training, checkpoint, options, bar, sign)
            bar.close()
            if sign.signal and not training.is_finished:
                raise Stopped(_stopped(training, checkpoint, current), sign.code)
            _finish(training, checkpoint, out, current)
        except DivergedError as error:
            bar.close()
            # what lies at `out` may be better than what has come to nothing
            beside = out.with_name(f"{out.stem}-step-{error.good_step}{out.suffix}")
            kept, why = save_somewhere(free_name(beside), current, training.save_model)
            if kept is None:
                raise ValueError(f"{error}, and is lost: {beside} {why}") from None
            raise ValueError(
                f"{error}, and is written to {kept}" + (f" ({beside} {why})" if why else "")
            ) from None
        except Stopped:
            raise
        except KeyboardInterrupt:
            bar.close()
            said = "stopped at once"
            if training.has_saved(checkpoint):
                said += f"; go on from the last checkpoint with --resume {checkpoint}"
            raise Stopped(said, 130) from None
    if said := verdict(training, evaluation):
        tell(f"warning: {said}")


def _train(
    training: LabRun, checkpoint: Path, options: argparse.Namespace, bar: Bar, sign: StopSign
) -> Evaluation | None:
    """Up to the end or a signal; the last evaluation, if there was one."""
    saved_at, evaluation = time.monotonic(), None
    for progress in training:
        bar.show(progress)
        evaluation = progress.evaluation or evaluation
        if sign.signal:
            return evaluation
        by_steps = options.save_steps and progress.step % options.save_steps == 0
        if by_steps or time.monotonic() - saved_at > 60 * options.save_minutes:
            saved_at = time.monotonic()
            try:
                checkpoint.parent.mkdir(parents=True, exist_ok=True)
                training.save_run(checkpoint)
            except (ValueError, OSError) as error:
                # a disk may be full for a while
                bar.close()
                tell(f"warning: {error}; training goes on")
    return evaluation


def _stopped(training: LabRun, checkpoint: Path, current: Path) -> str:
    """Keep what a signal has broken off, and how to go on with it."""
    place, why = save_somewhere(checkpoint, current, training.save_run)
    if place is None:
        return f"stopped; the training is lost, for {checkpoint} {why}, nor can any other place"
    said = f"stopped; go on with --resume {place}"
    return f"{said} (it lies there because {checkpoint} {why})" if why else said


def _finish(training: LabRun, checkpoint: Path, out: Path, current: Path) -> None:
    """Write the model, and only then forget the checkpoint; ValueError where it is not at `out`."""
    written: list[Saved] = []
    place, why = save_somewhere(
        out, current, lambda place: written.append(training.save_model(place))
    )
    if place is None:
        raise ValueError(_without_model(training, checkpoint, out, why))
    try:
        training.remove_run(checkpoint)
    except OSError as error:
        tell(f"warning: {checkpoint} is not needed any more but stays ({reason(error)})")
    if why:
        raise ValueError(f"{out} {why}; the trained model is written to {place} instead")
    print(f"written to {place} ({written[0].n_bytes:,} bytes)")


def _without_model(training: LabRun, checkpoint: Path, out: Path, why: str) -> str:
    """What is left of a training whose model can be written nowhere."""
    said = f"{out} {why}, and the model can be written to no other place either"
    try:
        training.save_run(checkpoint)
    except (ValueError, OSError):
        if training.has_saved(checkpoint) and checkpoint.exists():
            return f"{said}; go on from the last checkpoint with --resume {checkpoint}"
        return f"{said}: it is lost"
    return f"{said}; the training is kept: --resume {checkpoint} writes its model to another --out"
