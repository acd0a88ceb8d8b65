"""Drawing without a screen, and the command line: what it writes, prints and refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from tests.gui.live_window import checkpoint  # noqa: F401 (fixture)
from tests.gui.views import CROSS, entry
from visualizer import __main__ as command_line
from visualizer.render import KEY_STEPS

ROOT = Path(__file__).parents[2]


def run(*arguments: object, **environment: str | None) -> subprocess.CompletedProcess:
    settings = {name: value for name, value in (os.environ | environment).items() if value}
    return subprocess.run(
        [sys.executable, "-m", "visualizer", *map(str, arguments)],
        cwd=ROOT,
        env=settings,
        capture_output=True,
        text=True,
        timeout=120,
    )


def pixels(path: Path) -> np.ndarray:
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)
    shape = (image.height(), image.bytesPerLine() // 4)
    return np.frombuffer(image.constBits(), np.uint32).reshape(shape)[:, : image.width()].copy()


def test_a_step_is_drawn_in_the_size_asked_for(checkpoint, tmp_path):  # noqa: F811
    out = tmp_path / "deep" / "step.png"
    arguments = ("render", checkpoint, "--source", "s4 s5 s6", "--step", CROSS, "--out", out)
    done = run(*arguments, "--size", "1280x720", "--head", 2, "--token", 2)
    assert (done.returncode, done.stdout.strip()) == (0, str(out)), done.stderr
    picture = pixels(out)
    assert picture.shape == (720, 1280)
    assert len(np.unique(picture)) > 300
    done = run(*arguments, "--size", "1280x720", "--scale", 2, "--theme", "dark")
    assert done.returncode == 0, done.stderr
    doubled = pixels(out)
    assert doubled.shape == (1440, 2560)
    assert (doubled & 0xFF).mean() < 80 < 200 < (picture & 0xFF).mean()


def test_the_walkthrough_of_a_worked_example_shows_the_steps_it_has(tmp_path):
    done = run("render", "encoder-layer", "--walkthrough", tmp_path, "--size", "1280x720")
    assert done.returncode == 0, done.stderr
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert [name[3:-4] for name in pictures] == [
        "embedding",
        "encoder-self-attention",
        "encoder-add-and-norm",
        "encoder-feed-forward",
        "encoder-memory",
    ]
    assert "女生" in (tmp_path / "translation.txt").read_text(encoding="utf-8")


def test_the_same_arguments_draw_the_same_pixels(checkpoint, tmp_path):  # noqa: F811
    pictures = []
    for name in ("one.png", "two.png"):
        out = tmp_path / name
        # how long the run took is on screen, and is not the same twice
        run("render", checkpoint, "--step", "logits", "--out", out, "--language", "zh")
        picture = pixels(out)
        pictures.append(picture[: picture.shape[0] * 85 // 100])
    assert np.array_equal(*pictures)


def test_gradients_and_pages_are_drawn_without_an_event_loop(checkpoint, tmp_path):  # noqa: F811
    pictures = []
    for more in ((), ("--showing", "gradients"), ("--showing", "gradients", "--page", "layers")):
        out = tmp_path / "picture.png"
        done = run("render", checkpoint, "--step", "decoder.embed.out", *more, "--out", out)
        assert done.returncode == 0, done.stderr
        pictures.append(pixels(out))
    values, gradients, layers = pictures
    assert not np.array_equal(values, gradients) and not np.array_equal(gradients, layers)
    done = run("render", checkpoint, "--step", "target", "--showing", "gradients", "--out", out)
    assert done.returncode == 0, done.stderr


def test_the_walkthrough_is_a_picture_per_key_step_and_the_translation(
    checkpoint,  # noqa: F811
    tmp_path,
):
    folder = tmp_path / "walk"
    done = run("render", "--walkthrough", folder, checkpoint, LANG="C.UTF-8", LC_ALL=None)
    assert done.returncode == 0, done.stderr
    pictures = sorted(path.name for path in folder.glob("*.png"))
    assert len(pictures) == len(KEY_STEPS)
    text = (folder / "translation.txt").read_text(encoding="utf-8")
    assert text in done.stdout and str(folder) in done.stdout and "DISPLAY" in done.stdout
    generated = entry().model.generate(text.splitlines()[0])
    assert text.splitlines()[1] == generated.text
    lines = [line for line in text.splitlines()[2:] if line.startswith("  ")]
    assert [line.split()[-1] for line in lines] == generated.tokens[1:]
    for line, log_prob in zip(lines, generated.log_probs, strict=True):
        assert float(line.split()[0]) == pytest.approx(100 * np.exp(log_prob), rel=0.05)


@pytest.mark.parametrize(
    "arguments",
    [
        ("render",),
        ("render", "--step", "logits"),
        ("render", "--walkthrough", "x", "--out", "y.png"),
        ("render", "--step", "logits", "--out", "x.png", "--size", "12x9"),
        ("render", "--step", "logits", "--out", "x.png", "--size", "large"),
        ("render", "--step", "logits", "--out", "x.png", "--scale", "nan"),
        ("render", "--step", "logits", "--out", "x.png", "--theme", "purple"),
        ("--nonsense",),
    ],
)
def test_bad_arguments_are_one_sentence_and_exit_2(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        command_line.main(arguments)
    assert left.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("glassformer")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--step", "decoder.layers.9.norm1.out"),
        ("--step", "logits", "--token", "99"),
        ("--step", "logits", "--head", "0"),
    ],
)
def test_a_place_that_is_not_there_is_one_sentence_and_exit_2(
    checkpoint,  # noqa: F811
    tmp_path,
    arguments,
):
    done = run("render", checkpoint, *arguments, "--out", tmp_path / "x.png")
    assert done.returncode == 2 and done.stdout == ""
    assert sum("glassformer render:" in line for line in done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr and not (tmp_path / "x.png").exists()


def test_a_bad_checkpoint_is_one_sentence_and_exit_2(tmp_path):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"no")
    done = run("render", bad, "--step", "logits", "--out", tmp_path / "x.png")
    assert done.returncode == 2 and "bad.safetensors" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_display_the_window_says_so_and_exits_2():
    bare = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "QT_QPA_PLATFORM": None, "LC_ALL": "C"}
    done = run(**bare)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "DISPLAY" in done.stderr
    bare["LC_ALL"] = "zh_CN.UTF-8"
    assert "显示器" in run(**bare).stderr


def test_a_display_that_does_not_answer_is_no_display():
    done = run(DISPLAY=":987", WAYLAND_DISPLAY=None, QT_QPA_PLATFORM=None, LC_ALL="C")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "DISPLAY" in done.stderr


def test_the_version_is_told_without_a_display():
    done = run("--version", DISPLAY=None, WAYLAND_DISPLAY=None, QT_QPA_PLATFORM=None)
    assert done.returncode == 0 and done.stdout.startswith("Glassformer ")


def test_a_window_imports_neither_the_plots_nor_the_typesetter():
    program = "import sys, visualizer.app; print({'pyqtgraph', 'ziamath'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "set()", done.stderr


def test_the_small_model_has_every_key_step():
    tape = entry().model.trace(source="s4 s5")
    assert all(site in tape for site, _ in KEY_STEPS)


def test_without_a_sentence_the_map_of_the_model_stays_and_all_is_still_to_do():
    from visualizer.lenses.overview import model_map
    from visualizer.run import open_entry
    from visualizer.state import ViewState

    entry = open_entry("en-zh")
    drawn = model_map(ViewState(model=entry))
    assert [group.id for group in drawn.encoder] == ["encoder.embed", "encoder.0", "encoder.1"]
    boxes = [box for group in (*drawn.encoder, *drawn.decoder) for box in group.blocks]
    assert {box.status for box in boxes} == {"todo"}
    assert "decoder.1.cross_attn" in {box.id for box in boxes}


def test_the_lab_and_the_settings_of_a_task_are_drawn_without_a_record(checkpoint, tmp_path):  # noqa: F811
    chosen, settings = tmp_path / "lab.png", tmp_path / "settings.png"
    arguments = ("render", checkpoint, "--size", "1280x720", "--out")
    for out, more in ((chosen, ("--page", "train")), (settings, ("--task", "reverse"))):
        done = run(*arguments, out, *more)
        assert (done.returncode, done.stdout.strip()) == (0, str(out)), done.stderr
        assert pixels(out).shape == (720, 1280)
    assert (pixels(chosen) != pixels(settings)).mean() > 0.05
    done = run(*arguments, chosen, "--task", "poems")
    assert done.returncode == 2 and "no task poems" in done.stderr
