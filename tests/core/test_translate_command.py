"""The command `translate`: one sentence as plain values, and files of them line by line."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest

import model_core
from model_core.__main__ import main
from model_core.translate_command import Progress

LINES = ["the cat sleeps", "", "I love the dog", "the dog runs", "   ", "she sees the cat"]


@pytest.fixture(scope="module")
def model() -> model_core.Model:
    return model_core.open_checkpoint("en-zh")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_bytes("\r\n".join(LINES).encode("utf-8-sig"))
    return path


def translated(*options: object) -> list[str]:
    return ["translate", "en-zh", *map(str, options)]


def test_a_beam_search_prints_tokens_probabilities_scores_and_hypotheses(model, capsys):
    command = translated("the cat sleeps", "--strategy", "beam", "--beams", 3, "--json")
    assert main([*command, "--length-penalty", "0.5", "--early-stopping", "true"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = model.generate(
        "the cat sleeps", "beam", beams=3, length_penalty=0.5, early_stopping=True
    )
    assert found["text"] == expected.text
    assert found["ids"] == expected.ids
    assert found["tokens"] == expected.tokens
    assert found["score"] == expected.score
    assert found["finished"] is True
    assert found["log_probs"] == expected.log_probs
    assert found["probabilities"] == [math.exp(p) for p in expected.log_probs]
    assert len(found["hypotheses"]) == 3
    for told, h in zip(found["hypotheses"], expected.hypotheses, strict=True):
        assert told["text"] == h.text
        assert told["tokens"] == h.tokens
        assert told["score"] == h.score
        assert sum(told["log_probs"]) == pytest.approx(told["cumulative"])
        assert told["score"] == pytest.approx(told["cumulative"] / len(told["log_probs"]) ** 0.5)


@pytest.mark.parametrize("size", [1, 2, 4, 100])
@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
def test_a_file_gives_line_for_line_what_each_sentence_gives(
    model, file, tmp_path, capsys, size, strategy
):
    out = tmp_path / "deep" / "out.txt"
    options = ("--strategy", strategy, "--file", file, "--out", out, "--batch-size", size)
    assert main(translated(*options)) == 0
    expected = [model.generate(line, strategy).text if line.strip() else "" for line in LINES]
    assert out.read_text(encoding="utf-8").split("\n") == [*expected, ""]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("[" + 30 * "#" + "] 6/6 sentences")


def test_a_file_as_json_is_one_object_a_line(model, file, capsys):
    assert main(translated("--file", file, "--json", "--strategy", "beam", "--n-best", 2)) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one is None for one in found] == [not line.strip() for line in LINES]
    assert found[2]["text"] == model.generate(LINES[2]).text
    assert len(found[2]["hypotheses"]) == 2


def test_an_empty_file_gives_an_empty_file(tmp_path, capsys):
    empty, out = tmp_path / "empty.txt", tmp_path / "out.txt"
    empty.touch()
    assert main(translated("--file", empty, "--out", out)) == 0
    assert out.read_bytes() == b""


def test_a_file_is_read_no_further_than_the_batch_at_hand(model, tmp_path, monkeypatch):
    file, out = tmp_path / "many.txt", tmp_path / "out.txt"
    file.write_text("the cat sleeps\n" * 50, encoding="utf-8")
    sizes = []
    generate = model_core.Model.generate

    def watched(self, source, *arguments, **options):
        sizes.append(len(source))
        return generate(self, source, *arguments, **options)

    monkeypatch.setattr(model_core.Model, "generate", watched)
    assert main(translated("--file", file, "--out", out, "--batch-size", 8)) == 0
    assert sizes == [8] * 6 + [2]


def test_constraints_can_be_added_from_the_command_line(capsys):
    text = "the cat sleeps"
    command = translated(text, "--json", "--min-new-tokens", 6, "--max-new-tokens", 7)
    assert main([*command, "--no-repeat-ngram", "1", "--repetition-penalty", "1.5"]) == 0
    ids = json.loads(capsys.readouterr().out)["ids"]
    assert len(ids) in (7, 8)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "give either a sentence or --file"),
        (("x", "--file", "y"), "give either a sentence or --file"),
        (("x", "--strategy", "beam", "--beams", 0), "beams is 0, expected 1 to"),
        (("x", "--strategy", "beam", "--n-best", 9), "n_best is 9, expected 1 to 4"),
        (("x", "--repetition-penalty", 0), "repetition_penalty is 0.0, expected"),
        (("x", "--batch-size", 0), "--batch-size is 0, expected 1 or more"),
        (("--file", "none.txt"), "--file cannot be read: none.txt: no such file"),
        (("--file", "/"), "--file cannot be read: /: is a directory"),
        (("the cat", "--out", "/"), "--out cannot be written: /: is a directory"),
        (("the cat", "--out", "/dev/null/x"), "--out cannot be written: /dev/null"),
        (("", "--strategy", "beam"), "the sentence is empty"),
        (("  ",), "the sentence is empty"),
        (
            ("x", "--min-new-tokens", 9, "--max-new-tokens", 3),
            "--min-new-tokens is 9, expected --max-new-tokens 3 at most",
        ),
        (
            ("x", "--strategy", "beam", "--temperature", 0.5),
            "--temperature counts with --strategy sample alone, and it is beam",
        ),
        (("x", "--seed", 3), "--seed counts with --strategy sample alone, and it is greedy"),
        (("x", "--beams", 2), "--beams counts with --strategy beam alone, and it is greedy"),
        (
            ("x", "--strategy", "sample", "--length-penalty", 2),
            "--length-penalty counts with --strategy beam alone, and it is sample",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_one_sentence(capsys, options, sentence):
    assert main(translated(*options)) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("x", "--beams", "four"), "--beams: 'four' is not a whole number"),
        (("x", "--temperature", "warm"), "--temperature: 'warm' is not a number"),
        (("x", "--strategy", "best"), "--strategy: invalid choice: 'best'"),
        (("x", "y"), "unrecognized arguments: y"),
        (("x", "--bems", "2"), "unrecognized arguments: --bems"),
    ],
)
def test_what_no_option_can_be_is_told_in_a_line_that_names_the_help(capsys, options, sentence):
    with pytest.raises(SystemExit) as ended:
        main(translated(*options))
    assert ended.value.code == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert sentence in line and line.endswith("; see --help")


@pytest.mark.parametrize("place", [0, 2, 4])
def test_the_sentence_may_stand_anywhere_among_the_options(model, capsys, place):
    options = ["--strategy", "beam", "--beams", "2", "--json"]
    options.insert(place, "the cat sleeps")
    assert main(translated(*options)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == model.generate("the cat sleeps", "beam", beams=2).text
    assert len(found["hypotheses"]) == 2
    assert main(["translate", "--strategy", "greedy", "en-zh", "the cat sleeps"]) == 0


def test_other_files_are_told_of_in_words_too(tmp_path, capsys):
    out = tmp_path / "file" / "trace.npz"
    (tmp_path / "file").touch()
    assert main(["trace", "en-zh", "--source", "the cat", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "Errno" not in said and str(out.parent) in said


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": None},
        {"temperature": "warm"},
        {"temperature": float("nan")},
        {"top_k": "all"},
        {"top_k": 1.5},
        {"top_p": "most"},
        {"seed": None},
        {"max_new_tokens": "ten"},
    ],
)
def test_from_python_too_a_value_that_means_nothing_is_refused_with_a_sentence(model, wrong):
    [name] = wrong
    with pytest.raises(ValueError, match=f"{name} is .*, expected"):
        model.generate("the cat sleeps", strategy="sample", **wrong)


def test_a_line_that_is_no_text_is_named(tmp_path, capsys):
    file = tmp_path / "latin.txt"
    file.write_bytes(b"the cat sleeps\ncaf\xe9\n")
    assert main(translated("--file", file)) == 2
    said = capsys.readouterr().err
    assert "latin.txt, line 2: byte 4 is no UTF-8" in said and "Errno" not in said


def test_the_file_that_is_read_is_not_written_over(file, capsys):
    before = file.read_bytes()
    assert main(translated("--file", file, "--out", file)) == 2
    assert "the file that is read" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_on_a_terminal_the_bar_is_drawn_over_itself():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    progress = Progress(4, stream)
    progress.advance(1)
    progress.advance(3)
    progress.finish()
    drawn = stream.getvalue().split("\r")
    assert [text.count("#") for text in drawn] == [0, 0, 8, 30]
    assert drawn[-1].endswith("\n")
    assert "4/4 sentences" in drawn[-1]
