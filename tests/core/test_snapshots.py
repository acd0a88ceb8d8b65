"""The film of a training run, and its history."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from model_core.training.held_out import Evaluation
from model_core.training.history import COLUMNS, FIRST_ROWS, History
from model_core.training.loop import Progress
from model_core.training.norms import LayerNorms, layer_of
from model_core.training.snapshots import Film, Schedule, flattened

SHAPES = {"a": (3, 4), "b": (5,)}
N = 17


def parameters(step: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(step)
    return {name: generator.normal(size=shape).astype("f4") for name, shape in SHAPES.items()}


def filmed(steps: int, places: int, interval: int = 10, **options: str) -> Film:
    size = 4 if options.get("stored_as") == "float32" else 2
    film = Film(SHAPES, places * N * size, interval, **options)  # type: ignore[arg-type]
    for step in range(steps + 1):
        film.offer(step, parameters(step))
    return film


def test_a_snapshot_gives_the_parameters_back() -> None:
    film = filmed(40, 10, stored_as="float32")
    assert film.steps == [0, 10, 20, 30, 40]
    for number, step in enumerate(film.steps):
        found = film.snapshot(number)
        assert all(np.array_equal(found[name], parameters(step)[name]) for name in SHAPES)


def test_half_precision_is_within_its_rounding_and_half_as_large() -> None:
    half, full = filmed(40, 10), filmed(40, 10, stored_as="float32")
    assert half.n_bytes * 2 == full.n_bytes
    found = half.snapshot(2)
    for name, value in parameters(20).items():
        assert found[name].dtype == np.float32
        # 11 bits of significand
        assert np.all(np.abs(found[name] - value) <= np.abs(value) * 2.0**-11 + 2.0**-25)


def test_a_number_beyond_half_precision_is_kept_whole() -> None:
    film = Film(SHAPES, 1000, 1)
    large = parameters(1)
    large["a"][1, 2] = 70_000.0
    film.offer(0, large)
    assert np.array_equal(film.snapshot(0)["a"], large["a"])


@pytest.mark.parametrize("places", [3, 4, 7, 16, 33])
@pytest.mark.parametrize("interval", [1, 10])
def test_a_full_film_is_thinned_out_evenly_and_keeps_its_budget(places: int, interval: int) -> None:
    film, fullest = Film(SHAPES, places * N * 2, interval), 0
    for step in range(1000):
        film.offer(step, parameters(step))
        assert film.n_bytes <= places * N * 2
        steps = film.steps
        wide, narrow = film.interval, film.interval // 2
        # every one of the interval is there, and between the newest ones those of half of it
        assert [n for n in steps if n % wide == 0] == list(range(0, step + 1, wide))
        others = [n for n in steps if n % wide]
        assert others == list(range(others[0], others[-1] + 1, wide)) if others else True
        assert all(n % narrow == 0 for n in others)
        fullest = max(fullest, len(film))
        # what is full stays full
        assert len(film) == fullest
    assert fullest == places - 1
    assert math.log2(film.interval / interval).is_integer()


def test_the_last_picture_is_kept_wherever_it_falls() -> None:
    film = filmed(40, 10)
    flat = flattened(parameters(47), SHAPES, "float16")
    film.add(47, flat)
    assert film.steps == [0, 10, 20, 30, 40, 47]
    film.offer(50, parameters(50))
    assert film.steps == [0, 10, 20, 30, 40, 50]
    assert (film.nearest(23), film.nearest(26), film.nearest(999)) == (2, 3, 5)


def test_a_schedule_alone_says_what_a_film_keeps() -> None:
    film, schedule = Film(SHAPES, 9 * N * 2, 3), Schedule(N, 9 * N * 2, 3, "float16")
    for step in range(500):
        assert schedule.is_due(step) == film.is_due(step)
        if schedule.is_due(step):
            schedule.keep(step)
            film.offer(step, parameters(step))
        assert schedule.interval == film.interval


def test_a_run_that_is_taken_up_again_films_the_same_steps_once() -> None:
    film = filmed(40, 10)
    for step in (20, 30):
        film.offer(step, parameters(step + 1))
    assert film.steps == [0, 10, 20, 30]
    assert np.allclose(film.snapshot(2)["a"], parameters(21)["a"], atol=1e-2)


def test_a_budget_for_less_than_three_pictures_is_refused_with_the_figure() -> None:
    with pytest.raises(ValueError, match="expected at least 102 for 17 parameters"):
        Film(SHAPES, 101, 1)
    with pytest.raises(ValueError, match="interval of snapshots is 0"):
        Film(SHAPES, 1000, 0)
    with pytest.raises(ValueError, match="no snapshot yet"):
        Film(SHAPES, 1000, 1).nearest(3)
    with pytest.raises(ValueError, match="shape"):
        Film(SHAPES, 1000, 1).add(0, np.zeros(5, np.float16))


# History.


def progress(step: int, evaluated: bool = False) -> Progress:
    norms = (LayerNorms("output", float(step), 0.5),) if step % 5 == 0 else ()
    evaluation = Evaluation(step, 0.25, 3, 4) if evaluated else None
    return Progress(step, 1, 1 / step, None, 2.0, 1e-3, 40, 1.0, norms, evaluation)


def test_the_history_comes_back_out_of_its_csv() -> None:
    history = History(["output"])
    for step in range(1, FIRST_ROWS + 50):
        history.add(progress(step, step % 100 == 0), step / 10)
    rows = list(csv.DictReader(history.csv_lines()))
    assert [int(row["step"]) for row in rows] == list(range(1, FIRST_ROWS + 50))
    for row in rows:
        step = int(row["step"])
        assert float(row["loss"]) == pytest.approx(1 / step, rel=1e-6)
        assert float(row["seconds"]) == pytest.approx(step / 10)
        assert row["alignment_loss"] == ""
        assert row["held_out_loss"] == ("0.25" if step % 100 == 0 else "")
        assert row["exact_share"] == ("0.75" if step % 100 == 0 else "")
        assert row["parameters:output"] == (str(step) if step % 5 == 0 else "")
    assert history.seconds == pytest.approx((FIRST_ROWS + 49) / 10)


def test_a_history_goes_on_from_its_rows() -> None:
    history = History(["output"])
    for step in range(1, 8):
        history.add(progress(step), 0.0)
    again = History(["output"], history.steps.rows, history.norms.rows)
    for step in range(8, 12):
        again.add(progress(step), 0.0)
    assert again.steps.column("step").tolist() == list(range(1, 12))
    assert again.norms.column("step").tolist() == [5, 10]
    with pytest.raises(ValueError, match="expected 11 wide"):
        History(["output"], np.zeros((3, 4)))


def test_an_empty_history_has_a_header_and_no_line() -> None:
    assert list(History([]).csv_lines()) == [",".join(COLUMNS) + "\n"]
    assert History([]).seconds == 0.0


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("encoder.layers.0.self_attn.W_q", "encoder.layers.0"),
        ("decoder.layers.11.norm3.gamma", "decoder.layers.11"),
        ("src_embed.weight", "src_embed"),
        ("encoder.norm.gamma", "encoder.norm"),
        ("output.b", "output"),
    ],
)
def test_a_parameter_belongs_to_its_layer(name: str, layer: str) -> None:
    assert layer_of(name) == layer
