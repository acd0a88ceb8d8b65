"""`train --data` says what it reads and chooses; options say it otherwise; mistakes are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model_core.__main__ import main

ROWS = [(f"cat {i} sings", f"chat {i} chante") for i in range(40)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(capsys: pytest.CaptureFixture[str], data: str, *options: str) -> tuple[int, str]:
    code = main(["train", "--data", data, "--steps", "2", "--out", "m.safetensors", *options])
    return code, capsys.readouterr().err


def test_what_is_read_and_chosen_is_said_before_training(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{i},{s},{t}\n" for i, (s, t) in enumerate(ROWS))
    (folder / "p.csv").write_text("id,Sentence,Translation\n" + rows, encoding="utf-8")
    code, said = train(capsys, "p.csv")
    assert code == 0
    for part in (
        "read as CSV with ',' in UTF-8: column Sentence -> column Translation",
        "the first line names the columns",
        "other columns, not used: id",
        "40 pairs from 41 lines",
        "tokens are characters",
        "2 steps of 64 pairs",
    ):
        assert part in said


def test_options_say_how_a_file_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "".join(f"{s};{t}\n" for s, t in ROWS)
    (folder / "p.txt").write_text(text, encoding="utf-8")
    code, said = train(capsys, "p.txt", "--format", "csv", "--header", "yes")
    assert code == 0 and "39 pairs from 40 lines" in said
    (folder / "p.txt").write_text(text.replace(";", "\t"), encoding="utf-8")
    code, said = train(capsys, "p.txt", "--separator", "\\t", "--anew")
    assert code == 0 and "40 pairs from 40 lines" in said


def test_what_has_to_be_chosen_is_asked_with_its_options(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.tsv").write_text("".join(f"{s}\t{t}\tnote\n" for s, t in ROWS), "utf-8")
    code, said = train(capsys, "p.tsv")
    assert code == 2 and "has 3 columns (1, 2, 3)" in said
    assert "add --source-column 1 --target-column 2" in said
    (folder / "g.tsv").write_bytes("猫在睡觉\t狗在跑步\n鱼\t鸟\n".encode("gb18030"))
    code, said = train(capsys, "g.tsv")
    assert code == 2 and "add --encoding gb18030" in said


def test_a_default_that_nobody_set_does_not_stand_in_the_way(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "p.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in ROWS), "utf-8")
    (folder / "c.json").write_text(json.dumps({"d_model": 16}), "utf-8")
    code, said = train(capsys, "p.tsv", "--config", "c.json")
    assert code == 0 and "d_model 16" in said


def test_a_link_to_itself_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop").symlink_to("loop")
    code, said = train(capsys, "loop")
    assert code == 2 and said.count("\n") == 1 and "Traceback" not in said


def test_the_settings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["train", "--settings"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "warmup_steps      100" in out and "char | word" in out


def test_no_gap_is_left_in_the_list_of_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--settings"])
    _, _, _, *rows = capsys.readouterr().out.splitlines()
    assert not any("{" in row or "}" in row for row in rows)
    told = {row.split()[0]: row for row in rows}
    for name in ("alignment_layer", "alignment_head"):
        # the default is the first one
        assert told[name].split()[1] == "0" and told[name].endswith("counted from 0.")
