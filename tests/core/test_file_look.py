"""How a file of pairs is taken: its ending, its first line, its columns, what is asked for."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from model_core.training.data_files import Reading, look, read_pairs
from model_core.training.text_files import DataFileError, UndecidedError, find_encoding

WORDS = [("my dog eats", "我的狗吃"), ("the cat sings", "这只猫唱"), ("a fish runs", "一只鱼跑")]


def written(tmp_path: Path, content: str | bytes, name: str = "pairs.tsv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def table(header: str, mark: str, rows: list[tuple[str, str]] = WORDS) -> str:
    return f"{header}\n" + "".join(f"{s}{mark}{t}\n" for s, t in rows)


def refused(path: Path, reading: Reading) -> str:
    with pytest.raises((DataFileError, ValueError)) as caught:
        read_pairs(path, reading)
    return str(caught.value)


AS_IT_LOOKS = Reading()

# The first line.


@pytest.mark.parametrize(
    ("header", "mark", "name"),
    [
        ("my_src\tmy_tgt", "\t", "p.tsv"),
        ("Sentence,Translation", ",", "p.csv"),
        ("Deutsch;Russisch", ";", "p.csv"),
        ("English sentence\tChinese sentence", "\t", "p.tsv"),
    ],
)
def test_a_first_line_unlike_the_rest_is_a_header_that_can_be_denied(
    tmp_path: Path, header: str, mark: str, name: str
) -> None:
    path = written(tmp_path, table(header, mark), name)
    looks = look(path)
    assert looks.header and looks.columns == tuple(header.split(mark))
    assert read_pairs(path)[0] == WORDS
    assert read_pairs(path, Reading(header=False))[0] == [tuple(header.split(mark)), *WORDS]


def test_a_header_that_is_a_guess_is_known_as_one(tmp_path: Path) -> None:
    assert not look(written(tmp_path, table("my_src\tmy_tgt", "\t"))).header_is_sure
    assert look(written(tmp_path, table("source\ttarget", "\t"))).header_is_sure


def test_pairs_without_a_header_keep_their_first(tmp_path: Path) -> None:
    for rows in (
        WORDS,
        [("1", "one"), ("2", "two"), ("3", "three")],
        [("Hello", "Bonjour"), ("Cat", "Chat"), ("My dog", "Mon chien"), ("No", "Non")],
        [("one", "1"), ("two", "2"), ("three", "3")],
        [("cat", "chat"), ("dog", "chien"), ("bird", "oiseau")],
    ):
        path = written(tmp_path, "".join(f"{s}\t{t}\n" for s, t in rows))
        if rows[0] != ("one", "1"):
            assert read_pairs(path)[0] == rows
        assert read_pairs(path, Reading(header=False))[0] == rows


def test_names_that_stand_in_the_first_line_make_it_a_header(tmp_path: Path) -> None:
    rows = "".join(f"{i},{s},{t}\n" for i, (s, t) in enumerate([("a b", "c"), ("d", "e f")]))
    wish = Reading(source="lang a", target="Lang B")
    for name in ("p.csv", "p.txt"):
        path = written(tmp_path, "id,Lang A,Lang B\n" + rows, name)
        assert read_pairs(path, wish)[0] == [("a b", "c"), ("d", "e f")]
    path = written(tmp_path, "foo\tbar\na\tb\n")
    assert read_pairs(path, Reading(source="bar", target="foo"))[0] == [("b", "a")]


# The ending, the format and the separator.


def test_csv_is_csv_by_its_ending(tmp_path: Path) -> None:
    path = written(tmp_path, 'hello,"bonjour, toi"\ncat,chat\n"a, b",c\n', "p.csv")
    assert read_pairs(path)[0] == [("hello", "bonjour, toi"), ("cat", "chat"), ("a, b", "c")]
    path = written(
        tmp_path, "id,Sentence,Translation\n1,hello there,bonjour\n2,cat,chat\n", "i.csv"
    )
    assert read_pairs(path)[0] == [("hello there", "bonjour"), ("cat", "chat")]


@pytest.mark.parametrize("typed", ["\t", "\\t", "tab"])
def test_a_tab_is_taken_as_people_type_it(tmp_path: Path, typed: str) -> None:
    path = written(tmp_path, "a\tb\nc\td\n", "p.txt")
    assert read_pairs(path, Reading(separator=typed))[0] == [("a", "b"), ("c", "d")]
    path = written(tmp_path, "atabb\nctabd\n", "p.txt")
    assert read_pairs(path, Reading(separator="tab"))[0] == [("a", "b"), ("c", "d")]


def test_a_separator_that_no_line_has_is_shown(tmp_path: Path) -> None:
    path = written(tmp_path, "a\tb\n")
    assert "no line has the separator '|||'" in refused(path, Reading(separator="|||"))
    path = written(tmp_path, "a,b\n")
    assert "no line has a tab" in refused(path, Reading(format="tsv"))


def test_a_file_most_of_whose_lines_have_a_tab_is_read_and_the_others_counted(
    tmp_path: Path,
) -> None:
    lines = [f"s {i}\tt {i}" if i % 6 else f"lonely {i}" for i in range(100)]
    pairs, report = read_pairs(written(tmp_path, "\n".join(lines)))
    assert (len(pairs), report.count("missing")) == (83, 17)


def test_an_open_quotation_mark_costs_its_own_line_alone(tmp_path: Path) -> None:
    rows = [f"s {i},t {i}" for i in range(100)]
    for place in (0, 50, 98, 100):
        text = "\n".join(["en,zh", *rows[:place], '"oops,x', *rows[place:]]) + "\n"
        pairs, report = read_pairs(written(tmp_path, text, "p.csv"))
        assert len(pairs) == 100 and report.adds_up
        assert report.count("broken") == 1


# Which columns.


def test_two_of_several_columns_have_to_be_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, "id,Red,Blue\n1,a b,c\n2,d,e\n", "p.csv")
    assert look(path).is_open
    with pytest.raises(UndecidedError, match=r"has 3 columns \(id, Red, Blue\)") as caught:
        read_pairs(path)
    assert "--source-column" in caught.value.options
    assert read_pairs(path, Reading(source="Red", target="Blue"))[0] == [("a b", "c"), ("d", "e")]
    # what a person has looked at and agreed to is a choice
    assert read_pairs(path, look(path).reading)[0][0] == ("a b", "c")


@pytest.mark.parametrize(
    ("header", "source", "target"),
    [
        ("编号,英文,备注,中文", "英文", "中文"),
        ("编号,英语,备注,汉语", "英语", "汉语"),
        ("编号,译文,备注,原文", "原文", "译文"),
        ("目标,备注,源,编号", "源", "目标"),
    ],
)
def test_columns_are_known_by_their_chinese_names(
    tmp_path: Path, header: str, source: str, target: str
) -> None:
    rows = [",".join((f"{i}", s, "无", t)) for i, (s, t) in enumerate(WORDS * 3, 1)]
    path = written(tmp_path, "\n".join([header, *rows]).encode("gb18030"), "p.csv")
    looks = look(path)
    assert (looks.source, looks.target) == (source, target)
    assert looks.header and looks.header_is_sure and looks.columns_are_sure


def test_a_column_of_running_numbers_is_not_taken_unasked(tmp_path: Path) -> None:
    text = "id,Red,Blue\n8,a b,c\n9,d,e\n11,f,g\n"
    looks = look(written(tmp_path, text, "p.csv"))
    assert (looks.source, looks.target) == ("Red", "Blue")
    looks = look(written(tmp_path, text, "p.csv"), Reading(source="Red"))
    assert (looks.source, looks.target) == ("Red", "Blue")
    looks = look(written(tmp_path, text, "p.csv"), Reading(target="Red"))
    assert (looks.source, looks.target) == ("Blue", "Red")
    assert look(written(tmp_path, text, "p.csv"), Reading(source="id")).source == "id"
    # two columns are the two that are meant, and numbers that go up and down count nothing
    path = written(tmp_path, "1\tone\n2\ttwo\n3\tthree\n")
    assert (look(path).source, look(path).target) == ("1", "2")
    path = written(tmp_path, "3\tthree\tdrei\n1\tone\teins\n2\ttwo\tzwei\n")
    assert (look(path).source, look(path).target) == ("1", "2")
    lines = [f'{{"nr": "{i}", "a": "s {i}", "b": "t {i}"}}' for i in range(5)]
    looks = look(written(tmp_path, "\n".join(lines)))
    assert (looks.source, looks.target) == ("a", "b")


def test_a_few_lines_with_a_third_column_leave_nothing_open(tmp_path: Path) -> None:
    path = written(tmp_path, "a\tb\nc\nd\te\tf\ng\th\n")
    assert read_pairs(path)[0] == [("a", "b"), ("d", "e"), ("g", "h")]


# Signs and encodings.


def test_half_a_surrogate_pair_costs_its_line(tmp_path: Path) -> None:
    lines = [f'{{"en": "s {i}", "zh": "t {i}"}}' for i in range(20)]
    path = written(tmp_path, "\n".join([*lines, '{"en": "lone \\ud800", "zh": "x"}']))
    pairs, report = read_pairs(path)
    assert (len(pairs), report.count("half")) == (20, 1)


def test_a_control_character_costs_its_line_and_a_vertical_tab_is_a_space(tmp_path: Path) -> None:
    lines = [f"s {i}\tt {i}" for i in range(50)]
    path = written(tmp_path, "\n".join([*lines, "be\x07ll\tx", "ver\vtical\ty"]))
    pairs, report = read_pairs(path)
    assert pairs[-1] == ("ver tical", "y")
    assert "1 line with a control character (line 51)" in report.sentences()


def test_one_odd_line_among_lines_in_utf8_is_no_other_encoding(tmp_path: Path) -> None:
    lines = [f"第 {i} 句\t{i}\n".encode("gb18030" if i == 17 else "utf-8") for i in range(180)]
    path = written(tmp_path, b"".join(lines))
    assert find_encoding(path).name == "utf-8"
    assert "1 line in another encoding (line 18)" in read_pairs(path)[1].sentences()


@pytest.mark.parametrize("name", ["unicode_escape", "idna", "punycode", "rot13", "nothing", "a\0b"])
def test_what_is_no_encoding_of_text_is_refused(tmp_path: Path, name: str) -> None:
    said = refused(written(tmp_path, "a\tb\n"), Reading(encoding=name))
    assert "there is no encoding" in said


def test_an_encoding_to_be_chosen_names_the_option(tmp_path: Path) -> None:
    path = written(tmp_path, "".join(f"{s}\t{t}\n" for s, t in WORDS).encode("gb18030"))
    with pytest.raises(UndecidedError) as caught:
        read_pairs(path)
    assert caught.value.options == "--encoding gb18030"


@pytest.mark.parametrize("before", [30, 400])
def test_lines_that_tell_encodings_apart_are_shown_while_it_is_in_doubt(
    tmp_path: Path, before: int
) -> None:
    plain = [(f"plain {i}", f"text {i}") for i in range(before)]
    text = "".join(f"{s}\t{t}\n" for s, t in [*plain, *WORDS, *plain])
    looks = look(written(tmp_path, text.encode("gb18030")))
    assert not looks.encoding_is_sure
    assert list(looks.rows) == [*WORDS, *plain[:2]]
    # in another one, chosen to compare, the same lines read otherwise
    path = written(tmp_path, text.encode("gb18030"))
    assert (
        "我的狗吃".encode("gb18030").decode("cp1252")
        == look(path, Reading(encoding="cp1252")).rows[0][1]
    )
    assert look(path, looks.reading).rows == looks.rows
    # where the bytes leave no doubt the file is shown from its start on
    assert list(look(written(tmp_path, text)).rows) == plain[:5]


def test_a_link_to_itself_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "loop"
    path.symlink_to(path)
    assert "cannot be opened" in refused(path, AS_IT_LOOKS)


def test_the_pairs_that_are_shown_are_those_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                ("source", "target"),
                ("fish\ncat small", " two  spaces "),
                ("", "an empty side"),
                ("tab\x0bhere", "a\r\nb"),
                ("bell\x07", "rings"),
                ("tab here", "a b"),
                ("far too long " * 100, "no lesson"),
                ("dog", "hound"),
            ]
        )
    pairs, _ = read_pairs(path)
    assert [tuple(pair) for pair in pairs] == list(look(path).rows)
    assert pairs[0] == ("fish cat small", "two  spaces")
    short, _ = read_pairs(path, Reading(longest=10))
    assert [tuple(pair) for pair in short] == list(look(path, Reading(longest=10)).rows)
