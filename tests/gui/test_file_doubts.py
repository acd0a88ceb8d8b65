"""What was guessed of a file of pairs is said on its page, and what is open has to be chosen."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from model_core.training.cleaning import CleaningReport
from model_core.training.data_files import Reading, look
from visualizer import actions, i18n, lab_actions
from visualizer.lab import FileImport
from visualizer.lenses.lab_file import doubt
from visualizer.pages.train_file import FilePart
from visualizer.state import ViewState
from visualizer.store import Store

ROWS = [(f"cat {i} sings", f"猫{i}唱歌") for i in range(9)]
THREE = "id,Red,Blue\n" + "".join(f"{i},{s},{t}\n" for i, (s, t) in enumerate(ROWS))
GUESSED = "my_src\tmy_tgt\n" + "".join(f"{s}\t{t}\n" for s, t in ROWS)
SURE = "source\ttarget\n" + "".join(f"{s}\t{t}\n" for s, t in ROWS)


def imported(tmp_path: Path, text: str, name: str = "p.csv", **reading: str) -> FileImport:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    wished = Reading(**reading)  # type: ignore[arg-type]
    return FileImport(str(path), wished, look(path, wished))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_was_guessed_is_said(tmp_path: Path, language: str) -> None:
    i18n.set_language(language)
    try:
        several = doubt(imported(tmp_path, THREE))
        assert "3" in several
        assert doubt(imported(tmp_path, GUESSED, "p.tsv")) not in ("", several)
        assert doubt(imported(tmp_path, SURE, "p.tsv")) == ""
        assert doubt(imported(tmp_path, THREE, source="Red", target="Blue")) == ""
    finally:
        i18n.set_language("en")


def test_pairs_of_columns_that_nobody_chose_cannot_be_used(qtbot, tmp_path: Path) -> None:
    store = Store(ViewState())
    part = FilePart(store)
    qtbot.addWidget(part)
    for reading, ready in (({}, False), ({"source": "Red", "target": "Blue"}, True)):
        file = imported(tmp_path, THREE, **reading)
        state = lab_actions.choose_file(actions.show_page(ViewState(), "train"), Path(file.path))
        shown = dataclasses.replace(file, report=CleaningReport())
        part.draw(lab_actions.with_lab(state, file=shown))
        assert part.go_on.isEnabled() == ready


def test_columns_that_have_to_be_chosen_do_not_look_chosen(qtbot, tmp_path: Path) -> None:
    store = Store(ViewState())
    part = FilePart(store)
    qtbot.addWidget(part)
    part.retranslate()

    def shown(**reading: str) -> tuple[str, str]:
        file = imported(tmp_path, THREE, **reading)
        part.draw(lab_actions.with_lab(ViewState(), file=file))
        return part.source.currentText(), part.target.currentText()

    assert shown() == ("", "") and not part.swap.isEnabled()
    assert part.source.placeholderText() == "choose…"
    # one is chosen, the other one still has to be
    assert shown(source="Red") == ("Red", "")
    assert shown(target="Red") == ("", "Red")
    assert shown(source="Red", target="Blue") == ("Red", "Blue") and part.swap.isEnabled()
    file = imported(tmp_path, SURE, "p.tsv")
    part.draw(lab_actions.with_lab(ViewState(), file=file))
    assert part.source.currentText() == "source" and part.target.currentText() == "target"
