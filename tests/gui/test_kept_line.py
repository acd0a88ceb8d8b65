"""Where a trained model lies is in view, however little room there is below the film."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.gui import scripted_training as scripted
from tests.gui.lab_bench import subject
from visualizer import i18n
from visualizer.lab import Training
from visualizer.lenses import lab_words
from visualizer.state import ModelEntry
from visualizer.widgets.parts_note import PartsNote


@pytest.mark.parametrize("width", [700, 400, 300, 200, 150, 80])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_where_a_trained_model_is_stays_in_view(qtbot, width, language):
    i18n.set_language(language)
    path = Path("/kept/2026-11-30-pairs-of-sentences.safetensors")
    final = ModelEntry(scripted.MODEL, "pairs", path=path)
    training = Training(1, subject(), status="finished", total=300, step=300, final=final)
    training = replace(training, snapshots=(scripted.snapshot(0),), budget=32_000_000)
    note = PartsNote()
    qtbot.addWidget(note)
    note.resize(width, 34)
    wordings = (lab_words.line_below(training), lab_words.line_below(training, short=True))
    note.set_wordings(*wordings, cut=True)
    face, lines = note.lines()
    assert lines and all(face.width(line) <= width for line in lines)
    assert lines[0][:2] == wordings[0][0][:2], "it comes first, and goes last"
    assert "tensors" in "".join(lines) or width < 100, "cut in the middle, its end can be read"
    assert width < 400 or path.name in "".join(lines)
    assert str(path) in lab_words.about_line(training)
