"""Dates in sixteen ways of writing: right ISO dates, right weekdays, days kept apart."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime

import numpy as np
import pytest

from model_core.training.datasets import Dataset
from model_core.training.tasks import dates
from model_core.training.tasks.dates import formats, splits

SEED = dates.recipe.SEED
# By hand, weekdays from a printed calendar; every way of writing is there.
BY_HAND = [
    ("2024-03-05", "2024-03-05"),
    ("1950-01-01", "1950-01-01"),
    ("2049-12-31", "2049-12-31"),
    ("2024/3/5", "2024-03-05"),
    ("1999/12/31", "1999-12-31"),
    ("1980/10/1", "1980-10-01"),
    ("20240305", "2024-03-05"),
    ("19500101", "1950-01-01"),
    ("20001130", "2000-11-30"),
    ("2024年3月5日", "2024-03-05"),
    ("1997年7月1日", "1997-07-01"),
    ("2008年10月20日", "2008-10-20"),
    ("05.03.2024", "2024-03-05"),
    ("31.12.1999", "1999-12-31"),
    ("09.11.1989", "1989-11-09"),
    ("5/3/2024", "2024-03-05"),
    ("4/7/1976", "1976-07-04"),
    ("31/10/2031", "2031-10-31"),
    ("05/03/24", "2024-03-05"),
    ("01/01/50", "1950-01-01"),
    ("31/12/49", "2049-12-31"),
    ("29/02/00", "2000-02-29"),
    ("5 March 2024", "2024-03-05"),
    ("31 December 1999", "1999-12-31"),
    ("1 June 1950", "1950-06-01"),
    ("5 Mar 2024", "2024-03-05"),
    ("20 Jul 1969", "1969-07-20"),
    ("29 Feb 2048", "2048-02-29"),
    ("5-Mar-24", "2024-03-05"),
    ("31-Dec-99", "1999-12-31"),
    ("8-Jun-50", "1950-06-08"),
    ("8-Jun-49", "2049-06-08"),
    ("March 5, 2024", "2024-03-05"),
    ("August 15, 1969", "1969-08-15"),
    ("Mar 5 2024", "2024-03-05"),
    ("Sep 30 2001", "2001-09-30"),
    ("5th of March 2024", "2024-03-05"),
    ("1st of January 2000", "2000-01-01"),
    ("22nd of November 1963", "1963-11-22"),
    ("11th of April 1970", "1970-04-11"),
    ("Tuesday, 5 March 2024", "2024-03-05"),
    ("Sunday, 20 July 1969", "1969-07-20"),
    ("Tue 5 Mar 2024", "2024-03-05"),
    ("Sat 1 Jan 2000", "2000-01-01"),
    ("Thu 9 Nov 1989", "1989-11-09"),
    ("Tuesday, March 5th, 2024", "2024-03-05"),
    ("Friday, November 22nd, 1963", "1963-11-22"),
    ("Saturday, September 3rd, 2005", "2005-09-03"),
]


@pytest.fixture(scope="module")
def data() -> Dataset:
    return dates.generate(SEED)


@pytest.mark.parametrize(("text", "iso"), BY_HAND)
def test_a_date_written_by_hand_is_written_so_by_one_pattern(text: str, iso: str) -> None:
    day = date.fromisoformat(iso)
    made = {pattern: formats.pair_of(day, pattern) for pattern in formats.PATTERNS}
    [pattern] = [p for p, pair in made.items() if pair.source_text == text]
    assert made[pattern].target_text == iso
    lower = formats.pair_of(day, pattern, lower=True)
    assert (lower.source_text, lower.target_text) == (text.lower(), iso)


def test_every_way_of_writing_is_among_those_by_hand() -> None:
    assert len(set(formats.PATTERNS)) == 16
    met = {
        pattern
        for text, iso in BY_HAND
        for pattern in formats.PATTERNS
        if formats.pair_of(date.fromisoformat(iso), pattern).source_text == text
    }
    assert met == set(formats.PATTERNS)


STRPTIME = {
    "{W}, {d} {M} {y}": "%A, %d %B %Y",
    "{Wkd} {d} {Mon} {y}": "%a %d %b %Y",
    "{d} {Mon} {y}": "%d %b %Y",
    "{M} {d}, {y}": "%B %d, %Y",
    "{dd}.{mm}.{y}": "%d.%m.%Y",
    "{y}{mm}{dd}": "%Y%m%d",
}


@pytest.mark.parametrize("pattern", STRPTIME)
def test_python_reads_the_same_day_and_says_the_same_weekday(data: Dataset, pattern: str) -> None:
    pairs = [pair for pair in data["train"] if pair.template == pattern]
    assert len(pairs) > 700
    for pair in pairs:
        day = datetime.strptime(pair.source_text, STRPTIME[pattern]).date()
        assert pair.target_text == day.isoformat()
        if pattern.startswith("{W"):
            told = pair.source_text.split()[0].strip(",").lower()
            assert told == day.strftime("%A" if "{W}" in pattern else "%a").lower()


def test_ordinals_are_those_of_english() -> None:
    told = [formats.ordinal(day) for day in range(1, 32)]
    assert (
        told
        == (
            "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th 14th 15th 16th 17th 18th 19th "
            "20th 21st 22nd 23rd 24th 25th 26th 27th 28th 29th 30th 31st"
        ).split()
    )


def test_no_text_has_two_meanings(data: Dataset) -> None:
    meanings: dict[str, str] = {}
    for split in ("train", "held_out"):
        for source, target in data.texts(split):
            assert meanings.setdefault(source, target) == target


def test_each_figure_is_from_where_it_is_told(data: Dataset) -> None:
    for pair in data["train"]:
        marks = [pair.aligned[i] for i in (4, 7, 10)]
        assert marks == [-1, -1, -1]
        source, target = pair.source_text, pair.target_text
        two_figures = "{yy}" in pair.template
        for i in (2, 3) if two_figures else (0, 1, 2, 3):
            assert source[pair.aligned[i]] == target[i]
        if two_figures:
            assert pair.aligned[0] == pair.aligned[1] == pair.aligned[2]
        for i in (5, 6, 8, 9):
            said = source[pair.aligned[i]]
            if said.isalpha():
                assert said.lower() == formats.MONTHS[int(target[5:7]) - 1][0].lower()
            else:
                assert said == target[i] or (target[i] == "0" and said == target[i + 1])


def test_no_day_of_the_held_out_ones_is_trained_in_any_way_of_writing(data: Dataset) -> None:
    trained = {pair.target_text for pair in data["train"]}
    held_out = [pair.target_text for pair in data["held_out"]]
    assert len(set(held_out)) == len(held_out) == splits.HELD_OUT_SIZE
    assert trained.isdisjoint(held_out)
    assert {day.isoformat() for day in dates.SHOWN}.isdisjoint(held_out)


def test_all_ways_years_and_months_are_trained_a_quarter_in_small_letters(data: Dataset) -> None:
    ways = Counter(pair.template for pair in data["train"])
    assert set(ways) == set(formats.PATTERNS)
    assert min(ways.values()) > 800
    years = Counter(pair.target_text[:4] for pair in data["train"])
    assert sorted(years) == [str(year) for year in range(1950, 2050)]
    assert min(Counter(pair.target_text[5:7] for pair in data["train"]).values()) > 800
    spelled = [p for p in data["train"] if "{M}" in p.template]
    lower = [p for p in spelled if p.source_text == p.source_text.lower()]
    assert len(lower) / len(spelled) == pytest.approx(0.25, abs=0.03)


def test_the_same_seed_gives_the_same_dates_and_another_seed_others(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    again, other = dates.generate(SEED), dates.generate(SEED + 1)
    for split in ("train", "held_out"):
        assert data[split] == again[split]
        assert data[split] != other[split]
    fresh = [dates.sentence(np.random.default_rng(n)).source_text for n in range(20)]
    assert fresh == [dates.sentence(np.random.default_rng(n)).source_text for n in range(20)]
    assert len(set(fresh)) == 20


def test_the_examples_are_days_that_are_shown(data: Dataset) -> None:
    texts = {
        formats.pair_of(d, p).source_text.lower() for d in dates.SHOWN for p in formats.PATTERNS
    }
    assert {example.lower() for example in dates.EXAMPLES} <= texts
