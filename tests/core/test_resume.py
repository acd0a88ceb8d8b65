"""Training that is interrupted goes on to the same weights, whatever interrupts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
import safetensors.numpy

from model_core import CheckpointError, open_checkpoint
from model_core.training import resume as resume_module
from model_core.training.guard import WINDOW, DivergedError
from model_core.training.lab_data import FileSource
from model_core.training.lab_run import LabRun, Watching
from model_core.training.loop import train
from model_core.training.resume import latest_run, previous_of, read_run
from tests.core.small_run import SETTINGS, begin

ROOT = Path(__file__).parents[2]
# `python -m tests.long kill` has 20 of them
KILLS = 3


def weights(run: LabRun) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in run.model.parameters.items()}


# 80 pairs in batches of 8 are about ten steps an epoch: at its start, inside and at its end.
@pytest.mark.parametrize("at", [0, 1, 7, 10, 11, 33, 60])
def test_a_resumed_run_reaches_the_weights_of_an_uninterrupted_one(
    pairs: Path, tmp_path: Path, at: int
) -> None:
    whole = begin(pairs)
    rows = list(whole)
    first = begin(pairs)
    for _ in range(at):
        first.advance()
    path = tmp_path / "run.training"
    first.save_run(path)
    second = LabRun.resume(path, Watching(20, 10))
    assert (second.step, second.warning) == (at, "")
    assert list(second) == rows[at:]
    assert weights(second) == weights(whole)
    assert second.history.steps.column("loss").tolist() == [row.loss for row in rows]
    assert len(second.history.norms) == 6


@pytest.mark.parametrize(
    "changes",
    [
        {"tying": "all", "norm_position": "pre", "vocab_size": 9},
        {"tying": "output", "position": "learned", "label_smoothing": 0.1, "n_decoder_layers": 2},
        {"tokenizer": "word", "activation": "relu", "dropout_attention": 0.2},
    ],
)
def test_it_does_so_whatever_the_model_is_like(
    pairs: Path, tmp_path: Path, changes: dict[str, object]
) -> None:
    whole, first = begin(pairs, **changes), begin(pairs, **changes)
    list(whole)
    for _ in range(17):
        first.advance()
    first.save_run(tmp_path / "run.training")
    second = LabRun.resume(tmp_path / "run.training")
    list(second)
    assert weights(second) == weights(whole)


def test_saving_changes_nothing_of_the_run_that_is_saved(pairs: Path, tmp_path: Path) -> None:
    whole, saved = begin(pairs), begin(pairs)
    list(whole)
    for progress in saved:
        if progress.step % 7 == 0:
            saved.save_run(tmp_path / "run.training")
    assert weights(saved) == weights(whole)


def test_measuring_changes_nothing_of_the_run_that_is_measured(pairs: Path) -> None:
    watched = begin(pairs)
    blind = LabRun.begin(FileSource(str(pairs)), SETTINGS, Watching(0, 0))
    rows = list(watched)
    for _ in blind:
        pass
    assert weights(watched) == weights(blind)
    evaluated = [row for row in rows if row.evaluation is not None]
    assert [row.step for row in evaluated] == [20, 40, 60]
    assert evaluated[0].evaluation is not None
    assert evaluated[0].evaluation.decoded == len(watched.prepared.held_out)


def test_norms_are_those_of_the_parameters_and_of_their_change(pairs: Path) -> None:
    run = begin(pairs)
    for _ in range(9):
        run.advance()
    before = {name: value.copy() for name, value in run.model.parameters.items()}
    norms = {row.layer: row for row in run.advance().norms}
    after = run.model.parameters
    for layer in ("encoder.layers.0", "output", "src_embed"):
        names = [name for name in after if name.startswith(f"{layer}.")]
        moved = np.concatenate([(after[n] - before[n]).ravel() for n in names])
        size = np.concatenate([after[n].ravel() for n in names])
        assert norms[layer].parameters == pytest.approx(np.linalg.norm(size), rel=1e-5)
        assert norms[layer].update == pytest.approx(np.linalg.norm(moved), rel=1e-3)


def test_the_norm_after_clipping_is_the_one_that_clipping_leaves(pairs: Path) -> None:
    for row in begin(pairs, max_grad_norm=0.5):
        assert row.clipped_norm == pytest.approx(min(row.gradient_norm, 0.5), rel=1e-4)
    assert row.step == 60


# Kill.


def start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "model_core", "train", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_kill_9_at_any_moment_leaves_a_run_that_ends_in_the_same_bytes(
    pairs: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.json"
    # so long that no machine is through before it is killed
    settings = msgspec.structs.replace(SETTINGS, steps=300)
    config.write_text(json.dumps(msgspec.to_builtins(settings)), "utf-8")
    whole = begin(pairs, steps=300)
    list(whole)
    wanted = tmp_path / "whole.safetensors"
    whole.save_model(wanted)
    generator = np.random.default_rng(7)
    out, checkpoint = tmp_path / "out.safetensors", tmp_path / "out.safetensors.training"
    often = ["--out", str(out), "--save-steps", "1"]
    fresh = ["--data", str(pairs), "--config", str(config), *often]
    reached: list[int] = []
    while len(reached) < KILLS:
        going_on = checkpoint.exists() or previous_of(checkpoint).exists()
        process = start(["--resume", str(checkpoint), *often] if going_on else fresh)
        since = reached[-1] if reached else 0
        wait_for_checkpoint(process, checkpoint, since)
        time.sleep(float(generator.uniform(0, 0.1)))
        ended = process.poll() is not None
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        if ended:
            # it was through before it was killed: begin again
            assert process.returncode == 0, output
            assert out.read_bytes() == wanted.read_bytes()
            reached.append(300)
            continue
        reached.append(latest_run(checkpoint)[0].position.step)
    if reached[-1] < 300:
        process = start(["--resume", str(checkpoint), *often])
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
    assert out.read_bytes() == wanted.read_bytes()
    leftovers = [file.name for file in tmp_path.iterdir() if "training" in file.name]
    assert leftovers == []


def wait_for_checkpoint(process: subprocess.Popen[str], checkpoint: Path, step: int) -> None:
    """Until there is a checkpoint of a later step than that, or the process has ended."""
    end = time.monotonic() + 60
    while process.poll() is None and step_of(checkpoint) <= step:
        assert time.monotonic() < end
        time.sleep(0.005)


def step_of(checkpoint: Path) -> int:
    try:
        return read_run(checkpoint).position.step
    except CheckpointError:
        return -1


# Damaged and foreign checkpoints.


@pytest.fixture
def saved(pairs: Path, tmp_path: Path) -> Path:
    run = begin(pairs)
    for _ in range(3):
        run.advance()
    run.save_run(tmp_path / "run.training")
    run.advance()
    run.save_run(tmp_path / "run.training")
    return tmp_path / "run.training"


def test_wherever_a_byte_is_wrong_it_is_said_and_the_checkpoint_before_is_taken(
    saved: Path,
) -> None:
    sound = saved.read_bytes()
    generator = np.random.default_rng(3)
    for place in [0, 9, 40, len(sound) - 1, *generator.integers(0, len(sound), 40).tolist()]:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << int(generator.integers(8))
        saved.write_bytes(damaged)
        with pytest.raises(CheckpointError) as caught:
            read_run(saved)
        assert "\n" not in str(caught.value) and ", expected " in str(caught.value)
        run, warning = latest_run(saved)
        assert run.position.step == 3
        assert warning == f"{caught.value}; training goes on from the checkpoint before it, step 3"


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_cut_checkpoint_is_refused(saved: Path, share: float) -> None:
    sound = saved.read_bytes()
    saved.write_bytes(sound[: int(share * len(sound))])
    with pytest.raises(CheckpointError):
        read_run(saved)
    previous_of(saved).unlink()
    with pytest.raises(CheckpointError):
        LabRun.resume(saved)


def test_a_model_is_no_training_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(safetensors.numpy.save({"a": np.zeros(3, np.float32)}))
    with pytest.raises(CheckpointError, match="holds no training run"):
        read_run(path)


def test_other_data_than_the_run_was_trained_on_are_noticed(saved: Path, pairs: Path) -> None:
    pairs.write_text(pairs.read_text("utf-8").replace("14\t1110", "14\t1111"), "utf-8")
    with pytest.raises(CheckpointError, match=r"other sentences than pairs\.tsv gives now"):
        LabRun.resume(saved)
    pairs.unlink()
    with pytest.raises(CheckpointError, match=r"pairs\.tsv: there is no such file"):
        LabRun.resume(saved)


def test_a_description_of_another_make_is_refused(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume_module, "FORMAT_VERSION", 0)
    with pytest.raises(CheckpointError, match="newer Glassformer"):
        read_run(saved)


def test_a_full_disk_leaves_the_last_checkpoint(
    saved: Path, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = LabRun.resume(saved)
    run.advance()

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        run.save_run(saved)
    assert latest_run(saved)[0].position.step == 4


# Runs that come to nothing.


def test_a_loss_that_is_no_number_stops_the_run_at_the_last_good_parameters(pairs: Path) -> None:
    run = begin(pairs)
    for _ in range(5):
        run.advance()
    run.model.parameters["output.W"][0, 0] = np.nan
    with pytest.raises(
        DivergedError, match=r"the loss of step 6 is nan; .* after step 0"
    ) as caught:
        run.advance()
    assert (caught.value.step, caught.value.good_step) == (6, 0)
    assert weights(run) == weights(begin(pairs))


def test_a_learning_rate_far_too_high_is_stopped_with_advice(pairs: Path) -> None:
    run = begin(pairs, steps=3000, learning_rate=1e4, warmup_steps=1)
    with pytest.raises(DivergedError, match=r"such as 0\.001, usually helps") as caught:
        list(run)
    assert caught.value.step == WINDOW
    assert all(np.isfinite(value).all() for value in run.model.parameters.values())


@pytest.mark.parametrize(
    ("warmup", "told"),
    # the rate of step 3 is 3 hundredths of the one that was set
    [(100, r"the learning rate was 3e\+07 \(set to 1e\+09\), a"), (1, "the learning rate was ")],
)
def test_who_set_a_rate_is_told_of_it_where_warm_up_has_not_reached_it(
    pairs: Path, warmup: int, told: str
) -> None:
    run = begin(pairs, steps=300, learning_rate=1e9, warmup_steps=warmup)
    for _ in range(2 if warmup > 1 else 0):
        run.advance()
    run.model.parameters["output.W"][0, 0] = np.nan
    with pytest.raises(DivergedError, match=told) as caught:
        run.advance()
    assert ("(set to" in str(caught.value)) == (warmup > 1)


def test_a_model_that_has_run_away_is_measured_without_a_warning_of_numpy(pairs: Path) -> None:
    # warnings are errors here
    run = begin(pairs, steps=1, learning_rate=1e12, warmup_steps=0)
    run.advance()
    assert run.is_finished and not run.trainer.evaluate().exact
    run.card()


def test_a_model_that_forgets_what_it_had_learned_is_stopped(pairs: Path) -> None:
    run = begin(pairs, steps=3000, learning_rate=0.01)
    for progress in run:
        if progress.step >= 4 * WINDOW and progress.loss < 0.5:
            break
    good = run.trainer.step
    # another task all of a sudden, as far as the loss can see
    run.model.parameters["output.W"][...] = 0
    run.model.parameters["output.b"][...] = 0
    run.trainer._adam.beta1 = run.trainer._adam.beta2 = 1 - 1e-9
    run.trainer._adam.epsilon = 1e9
    with pytest.raises(DivergedError, match="as high as that of guessing") as caught:
        list(run)
    assert good - WINDOW <= caught.value.good_step < good + WINDOW


@pytest.mark.skipif(os.name != "posix", reason="needs a signal as Ctrl-C sends it")
def test_ctrl_c_saves_the_run_and_says_how_to_go_on(pairs: Path, tmp_path: Path) -> None:
    config, out = tmp_path / "config.json", tmp_path / "out.safetensors"
    settings = msgspec.structs.replace(SETTINGS, steps=500)
    config.write_text(json.dumps(msgspec.to_builtins(settings)), "utf-8")
    arguments = ["--data", str(pairs), "--config", str(config), "--out", str(out)]
    process = start([*arguments, "--save-steps", "1"])
    wait_for_checkpoint(process, tmp_path / "out.safetensors.training", 3)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert f"go on with --resume {tmp_path / 'out.safetensors.training'}" in output
    assert 3 < step_of(tmp_path / "out.safetensors.training") < 500 and not out.exists()


def test_train_as_a_generator_measures_what_it_is_asked_to(pairs: Path) -> None:
    model, examples, held_out = (run := begin(pairs).prepared).model, run.train, run.held_out
    recipe = SETTINGS.recipe(len(examples))
    rows = list(
        train(model, examples, recipe, held_out=held_out, evaluate_every=25, norms_every=30)
    )
    assert [row.step for row in rows if row.evaluation is not None] == [25, 50, 60]
    assert [row.step for row in rows if row.norms] == [30, 60]
    with pytest.raises(ValueError, match="no example is held out"):
        next(train(model, examples, recipe, evaluate_every=5))


def test_an_evaluation_is_the_loss_and_the_matches_of_the_model_itself(pairs: Path) -> None:
    run = begin(pairs, steps=300, learning_rate=0.01, dropout_rate=0.0)
    last = list(run)[-1].evaluation
    assert last is not None
    words, losses, tokens, hits = run.model.tokenizer, 0.0, 0, 0
    for example in run.prepared.held_out:
        source = np.array([example.source])
        tape = run.model.trace(source_ids=source, target_ids=[[words.start_id, *example.target]])
        labels = [[*example.target, words.end_id]]
        losses += run.model.loss(tape, labels) * len(labels[0])
        tokens += len(labels[0])
        text = "".join(words.source_tokens(example.source[:-1]))
        hits += run.model.generate(text).ids == [words.start_id, *labels[0]]
    assert last.loss == pytest.approx(losses / tokens, rel=1e-4)
    assert (last.exact, last.decoded) == (hits, len(run.prepared.held_out))
    assert [shown.is_right for shown in last.shown] == [
        shown.expected == shown.output for shown in last.shown
    ]


def test_the_command_line_trains_on_a_file_and_the_model_opens(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.safetensors"
    process = start(["--data", str(pairs), "--out", str(out), "--steps", "12", "--seed", "3"])
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert "90 pairs from 90 lines" in output and "12/12" in output
    model = open_checkpoint(out)
    assert model.card["title"] == "pairs.tsv" and model.card["steps"] == 12
    assert model.generate("7").tokens
    refused = start(["--data", str(tmp_path / "gone.tsv"), "--out", str(out)])
    output, _ = refused.communicate(timeout=60)
    assert refused.returncode == 2
    assert output.strip().endswith(
        "gone.tsv: there is no such file, expected a text file with a "
        "pair of sentences in each line"
    )
