"""Files of sentence pairs: formats, encodings, what is left out and said, bad files."""

from __future__ import annotations

import csv
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from model_core.training import data_files
from model_core.training.cleaning import LONGEST_SHOWN
from model_core.training.data_files import Reading, look, read_pairs
from model_core.training.splitting import split_by_source
from model_core.training.text_files import DataFileError, find_encoding

PAIRS = [("the cat sleeps", "猫 睡觉"), ("a, b; c", "甲、乙"), ('she says "no"', "她说 “不”")]


def written(tmp_path: Path, content: str | bytes, name: str = "pairs.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def tsv(pairs: list[tuple[str, str]] = PAIRS) -> str:
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


def csv_text(path: Path, rows: list[tuple[str, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


AS_IT_LOOKS = Reading()


def said(path: Path, reading: Reading = AS_IT_LOOKS) -> str:
    with pytest.raises(DataFileError) as caught:
        read_pairs(path, reading)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path.name}: ") and ", expected " in sentence
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path.name}: ")


# Formats.


@pytest.mark.parametrize("separator", ["|||", "||", "=>", "→"])
def test_lines_with_a_separator_are_recognised(tmp_path: Path, separator: str) -> None:
    path = written(tmp_path, "".join(f"{s} {separator} {t}\n" for s, t in PAIRS))
    assert look(path).separator == separator
    assert read_pairs(path)[0] == PAIRS


def test_a_separator_that_nobody_would_guess_can_be_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, "a b @@ c @@ d\ne @@ f\n")
    assert "no separator in common" in said(path)
    assert "no line has the separator '##'" in said(path, Reading(separator="##"))
    pairs, _ = read_pairs(path, Reading(separator="@@"))
    assert pairs == [("a b", "c @@ d"), ("e", "f")]


def test_tabs_with_and_without_a_header(tmp_path: Path) -> None:
    assert read_pairs(written(tmp_path, tsv()))[0] == PAIRS
    path = written(tmp_path, "target\tnote\tsource\n猫\tx\tcat\n狗\ty\tdog\n")
    looks = look(path)
    assert (looks.header, looks.source, looks.target) == (True, "source", "target")
    assert looks.columns == ("target", "note", "source")
    assert read_pairs(path)[0] == [("cat", "猫"), ("dog", "狗")]
    swapped = Reading(source="1", target="note")
    assert read_pairs(path, swapped)[0] == [("猫", "x"), ("狗", "y")]


def test_csv_written_by_the_csv_module_comes_back_quotes_line_breaks_and_all(
    tmp_path: Path,
) -> None:
    rows = [
        ("id", "English", "Chinese"),
        *(("7", s, t) for s, t in PAIRS),
        ("8", "two\nlines", "二"),
    ]
    path = csv_text(tmp_path / "p.csv", rows)
    looks = look(path)
    assert (looks.format, looks.source, looks.target) == ("csv", "English", "Chinese")
    assert looks.columns_are_sure
    pairs, report = read_pairs(path)
    assert pairs == [*PAIRS, ("two lines", "二")]
    assert (report.lines, report.header_lines, report.continued_lines) == (6, 1, 1)
    assert report.adds_up


def test_a_csv_column_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = csv_text(tmp_path / "p.csv", [("alpha", "beta", "gamma"), ("1", "2", "3")])
    reading = Reading(format="csv", header=True, source="gamma", target="alpha")
    assert read_pairs(path, reading)[0] == [("3", "1")]
    assert "has no column 'delta', expected one of alpha, beta, gamma" in said(
        path, Reading(format="csv", header=True, source="delta")
    )


def test_json_lines_with_names_and_with_objects_inside(tmp_path: Path) -> None:
    flat = "".join(json.dumps({"src": s, "tgt": t, "n": 1}) + "\n" for s, t in PAIRS)
    assert read_pairs(written(tmp_path, flat))[0] == PAIRS
    nested = "".join(json.dumps({"translation": {"en": s, "zh": t}}) + "\n" for s, t in PAIRS)
    path = written(tmp_path, nested)
    assert look(path).source == "translation.en"
    assert read_pairs(path)[0] == PAIRS


def test_any_line_break_ends_a_line_and_the_last_needs_none(tmp_path: Path) -> None:
    path = written(tmp_path, b"a\tb\r\nc\td\re\tf")
    assert read_pairs(path)[0] == [("a", "b"), ("c", "d"), ("e", "f")]


# Encodings.


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_encodings_are_sure(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, tsv().encode(encoding))
    assert find_encoding(path).is_sure
    assert read_pairs(path)[0] == PAIRS


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "gb18030", "cp1252"])
def test_other_encodings_are_offered_and_never_taken_unasked(tmp_path: Path, encoding: str) -> None:
    pairs = [("le café noir", "très bien")] if encoding == "cp1252" else [*PAIRS, ("a" * 50, "b")]
    path = written(tmp_path, tsv(pairs).encode(encoding))
    found = find_encoding(path)
    assert (found.name, found.is_sure) == (encoding, False)
    assert "expected its encoding to be chosen" in said(path)
    assert look(path).rows[0] == pairs[0]
    assert read_pairs(path, Reading(encoding=encoding))[0] == pairs


def test_a_letter_beyond_ascii_is_found_behind_a_megabyte_of_ascii(tmp_path: Path) -> None:
    lines = "".join(f"sentence number {i}\tnumber {i}\n" for i in range(60_000))
    path = written(tmp_path, lines.encode() + "猫\t狗\n".encode("gb18030"))
    assert find_encoding(path).name == "gb18030"


def test_a_letter_cut_by_the_sample_is_no_fault(tmp_path: Path) -> None:
    path = written(tmp_path, ("猫狗鸟\t鱼" * 30 + "\n") * 7_000)
    assert find_encoding(path).name == "utf-8"


# What is left out.


def test_every_line_is_a_pair_or_left_out_for_a_reason_that_is_told(tmp_path: Path) -> None:
    content = (
        "a\tA\n"  # 1
        "\n"  # 2 blank
        "only one\n"  # 3 missing
        "b\t\n"  # 4 empty
        "a\tA\n"  # 5 duplicate
        "a\tB\n"  # 6 the same source with another target: kept
        f"{'x' * 1001}\ty\n"  # 7 too long
        f"{'x' * 200_000}\ty\n"  # 8 too long to be looked at
    )
    path = written(tmp_path, content + "".join(f"{i}\t{i}\n" for i in range(40)))
    pairs, report = read_pairs(path)
    assert pairs[:2] == [("a", "A"), ("a", "B")]
    counts = {entry.kind: (entry.count, [n for n, _ in entry.first]) for entry in report.left_out}
    assert counts == {
        "blank": (1, [2]),
        "missing": (1, [3]),
        "empty": (1, [4]),
        "too_long": (2, [7, 8]),
        "duplicate": (1, [5]),
    }
    assert (report.lines, report.pairs, report.several_targets) == (48, 42, 1)
    assert report.adds_up
    told = list(report.sentences())
    assert told[0] == "42 pairs from 48 lines"
    assert "1 line that repeats an earlier pair (line 5)" in told


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".jsonl"])
def test_of_a_line_that_is_far_too_long_its_beginning_is_shown(tmp_path: Path, ending: str) -> None:
    lines = {
        ".tsv": ("a\tb", "Once upon a time " * 200_000, "c\td"),
        ".csv": ("a,b", "Once upon a time " * 200_000, "c,d"),
        ".jsonl": ('{"s":"a","t":"b"}', "Once upon a time " * 200_000, '{"s":"c","t":"d"}'),
    }[ending]
    path = tmp_path / f"long{ending}"
    path.write_text("\n".join(lines), "utf-8")
    pairs, report = read_pairs(path)
    assert len(pairs) == 2 and report.adds_up
    (left,) = report.left_out
    assert left.kind == "too_long"
    ((number, shown),) = left.first
    assert number == 2 and shown.startswith("Once upon a time Once") and shown.endswith("…")
    assert len(shown) == LONGEST_SHOWN


def test_only_the_first_few_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "a\tb\n" * 500)
    _, report = read_pairs(path)
    (duplicates,) = report.left_out
    assert duplicates.count == 499
    assert [number for number, _ in duplicates.first] == [2, 3, 4, 5, 6]


def test_a_quotation_mark_that_is_never_closed_loses_no_line_silently(tmp_path: Path) -> None:
    rows = "".join(f'"s {i}","t {i}"\n' for i in range(100))
    path = written(tmp_path, 'source,target\n"ok","ok"\n"open,x\n' + rows, "p.csv")
    pairs, report = read_pairs(path)
    assert report.adds_up
    assert pairs[0] == ("ok", "ok")
    assert len(pairs) + report.count("broken") + report.continued_lines >= 100


# Bad files: one sentence each.


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b"\n \n\t\n", "has blank lines only"),
        (b"one\ntwo\nthree\n", "no separator in common"),
        (bytes(range(256)) * 50, "is a binary file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "looks like a PNG picture"),
        (b"a\tb\n" * 500 + b"\x00\x01", "is a binary file (line 501 has the byte 0x00)"),
        (b"\xef\xbb\xbf", "is empty"),
        ("source\ttarget\n", "has a header alone"),
        (tsv().encode("utf-32"), "is text in UTF-32"),
        (b"x" * 10_000_000, "line 1 has far too many characters"),
        (b"x\t" * 5_000_000 + b"\n", "line 1 has far too many characters"),
        (("猫\t狗\n" * 99).encode() + ("鸟\t鱼\n" * 99).encode("gb18030"), "99 lines in UTF-8"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    path = written(tmp_path, content)
    tracemalloc.start()
    try:
        assert expected in said(path)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_one_line_in_another_encoding_is_left_out_and_named(tmp_path: Path) -> None:
    text = "".join(f"第 {i} 句{'很长' * 15}\t{i}\n" for i in range(25_000)).encode()
    path = written(tmp_path, text + "猫\t狗\n".encode("gb18030"))
    pairs, report = read_pairs(path)
    assert len(pairs) == 25_000 and report.adds_up
    assert "1 line in another encoding (line 25001)" in report.sentences()


def test_many_lines_in_another_encoding_are_no_slip(tmp_path: Path) -> None:
    path = written(tmp_path, ("猫\t狗\n" * 90).encode() + ("鸟\t鱼\n" * 30).encode("gb18030"))
    assert "30 of 120 lines are not in UTF-8, the first is line 91" in said(
        path, Reading(encoding="utf-8")
    )

    path = written(tmp_path, ("鸟\t鱼\n" * 300).encode("gb18030"))
    assert "200 of the first 200 lines are not in UTF-8, the first is line 1" in said(
        path, Reading(encoding="utf-8")
    )


def test_a_folder_and_a_file_that_is_not_there_are_told_apart(tmp_path: Path) -> None:
    assert "is a folder" in said(tmp_path)
    assert "there is no such file" in said(tmp_path / "gone")


def test_two_gigabytes_are_read_up_to_a_limit_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a hole in the file takes no room on the disk; reading must never get there
    path = written(tmp_path, "".join(f"source {i}\ttarget {i}\n" for i in range(60_000)))
    filled = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(2 * 2**30)
    monkeypatch.setattr(data_files, "MOST_BYTES", filled - 5)
    pairs, report = read_pairs(path)
    # the line that the limit cuts is no line
    assert len(pairs) == report.lines == 59_999
    assert report.stopped is not None and "of 2,048 MB" in report.stopped
    monkeypatch.setattr(data_files, "MOST_PAIRS", 100)
    pairs, report = read_pairs(path)
    assert len(pairs) == 100
    assert report.stopped == "read up to line 100, as far as 100 pairs go"


def test_a_reader_can_be_stopped_from_outside(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(report: object) -> None:
        raise Enough

    path = written(tmp_path, "".join(f"{i}\t{i}\n" for i in range(20_000)))
    with pytest.raises(Enough):
        read_pairs(path, Reading(), stop)


def test_whatever_happens_to_a_file_it_is_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    texts = [
        tsv(PAIRS * 5).encode(),
        b"source,target\n" + b'"a, b","c"\n"d\ne",f\n' * 9,
        b"".join(json.dumps({"src": s, "tgt": t}).encode() + b"\n" for s, t in PAIRS * 5),
        "".join(f"{s} ||| {t}\n" for s, t in PAIRS * 5).encode("utf-16"),
        "".join(f"{s}\t{t}\n" for s, t in PAIRS * 5).encode("gb18030"),
    ]
    generator = np.random.default_rng(6)
    path, outcomes = tmp_path / "p", [0, 0]
    for _ in range(150):
        data = bytearray(texts[int(generator.integers(len(texts)))])
        for _ in range(int(generator.integers(1, 6))):
            place = int(generator.integers(len(data)))
            wild = generator.choice([0, 9, 10, 13, 34, 44, 123, 0xFF, int(generator.integers(256))])
            match int(generator.integers(3)):
                case 0:
                    data[place] = int(wild)
                case 1:
                    data[place:place] = bytes([int(wild)]) * int(generator.integers(1, 30))
                case _:
                    del data[place : place + int(generator.integers(1, 40))]
        path.write_bytes(data)
        reading = Reading(encoding=str(generator.choice(["utf-8", "gb18030", "utf-16"])))
        try:
            pairs, report = read_pairs(path, reading if generator.random() < 0.3 else AS_IT_LOOKS)
        except DataFileError as error:
            outcomes[0] += 1
            assert str(error).isprintable() and ", expected " in str(error)
        else:
            outcomes[1] += 1
            assert report.adds_up and len(pairs) == report.pairs > 0
            assert all(source and target for source, target in pairs)
    assert min(outcomes) > 15


# The split.


def first(pair: tuple[str, str]) -> str:
    return pair[0]


def test_no_source_is_on_both_sides_and_nothing_is_lost() -> None:
    pairs = [(f"s{i % 300}", f"t{i}") for i in range(1000)]
    train, held = split_by_source(pairs, first, 0.2, seed=5)
    assert sorted(train + held) == sorted(pairs)
    assert not {first(p) for p in train} & {first(p) for p in held}
    assert 0.12 < len({first(p) for p in held}) / 300 < 0.28


def test_the_split_follows_from_the_seed_and_the_text_alone() -> None:
    pairs = [(f"s{i}", "t") for i in range(200)]
    split: Callable[[list, int], set] = lambda items, seed: set(  # noqa: E731
        split_by_source(items, first, 0.3, seed)[1]
    )
    assert split(pairs, 1) == split(pairs[::-1], 1)
    assert split(pairs, 1) != split(pairs, 2)
    assert split(pairs[:100], 1) <= split(pairs, 1)


def test_small_data_still_has_both_parts() -> None:
    for seed in range(20):
        train, held = split_by_source([("a", "1"), ("b", "2")], first, 0.05, seed)
        assert len(train) == len(held) == 1
    assert split_by_source([("a", "1"), ("a", "2")], first, 0.5, 0) == (
        [("a", "1"), ("a", "2")],
        [],
    )
