"""Colours, font and figures: what can be read, and what is written."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from PySide6.QtGui import QRawFont
from PySide6.QtWidgets import QApplication

from tests.gui.samples import FONT
from visualizer import fonts, palettes
from visualizer.palettes import contrast
from visualizer.stylesheet import stylesheet
from visualizer.theme import TEXT_PAIRS, THEMES, Theme, qpalette, themed
from visualizer.widgets import figures
from visualizer.widgets.heatmap_cells import colour_indices


@pytest.fixture(autouse=True)
def bundled_font(qapp: QApplication) -> None:
    fonts.install_fonts(qapp, FONT, exact=True)


# Colours.


@pytest.mark.parametrize("name", THEMES)
def test_every_text_has_a_contrast_of_at_least_four_and_a_half(name):
    theme = THEMES[name]
    poor = {
        pair: round(contrast(getattr(theme, pair[0]), getattr(theme, pair[1])), 2)
        for pair in TEXT_PAIRS
        if contrast(getattr(theme, pair[0]), getattr(theme, pair[1])) < 4.5
    }
    assert poor == {}


def test_contrast_is_the_ratio_that_wcag_defines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    # The lightest grey that passes AA on white, and the first that does not.
    assert contrast("#767676", "#ffffff") >= 4.5 > contrast("#777777", "#ffffff")


def looks() -> list[Theme]:
    """Every theme with every palette that can be chosen."""
    return [themed(*chosen) for chosen in product(THEMES, palettes.SEQUENTIAL, palettes.DIVERGING)]


def name_of(theme: Theme) -> str:
    return f"{theme.name}-{theme.sequential}-{theme.diverging[0]}"


@pytest.mark.parametrize("theme", looks(), ids=name_of)
@pytest.mark.parametrize("palette", ["sequential", "diverging", "mask"])
def test_a_cells_number_can_be_read_on_every_colour_of_the_table(theme, palette):
    for colour, white in zip(theme.table(palette), theme.ink(palette)):
        cell = "#" + bytes(colour).hex()
        assert contrast("#ffffff" if white else "#000000", cell) >= 4.5


def test_the_sequential_table_is_viridis():
    table = THEMES["light"].table("sequential")
    assert table.shape == (256, 3) and table.dtype == np.uint8
    # matplotlib: viridis(0), viridis(0.5), viridis(1.0)
    assert [bytes(table[i]).hex() for i in (0, 128, 255)] == ["440154", "21918c", "fde725"]


@pytest.mark.parametrize("name", palettes.SEQUENTIAL)
def test_a_sequential_palette_grows_lighter_all_the_way(name):
    light = palettes.luminance(palettes.sequential(name))
    assert (np.diff(light) > -0.001).all() and light[-1] - light[0] > 0.5


@pytest.mark.parametrize("theme", looks(), ids=name_of)
def test_a_diverging_palette_has_its_ground_in_the_middle_and_two_hues_at_its_ends(theme):
    table = theme.table("diverging").astype(int)
    ground = np.array([int(theme.surface[i : i + 2], 16) for i in (1, 3, 5)])
    assert np.abs(table[127:129] - ground).max() < 16
    # apart for those who see red and green alike too: in blue, or in lightness of what is left
    low, high = table[40], table[215]
    assert np.abs(low - high)[2] > 60 or np.abs(low[:2].mean() - high[:2].mean()) > 60


@pytest.mark.parametrize("name", THEMES)
def test_a_diverging_zero_is_neutral_and_the_signs_are_blue_and_red(name):
    theme = THEMES[name]
    table = theme.table("diverging").astype(int)
    index = colour_indices(np.array([[-2.0, -0.0, 0.0, 2.0]]), -2.0, 2.0)[0]
    low, zero, also_zero, high = (table[i] for i in index)
    assert (zero == also_zero).all()
    assert np.ptp(zero) < 20
    assert low[2] - low[0] > 60 and high[0] - high[2] > 60
    surface = np.array([int(theme.surface[i : i + 2], 16) for i in (1, 3, 5)])
    assert np.abs(zero - surface).max() < 16


def test_values_that_are_no_numbers_do_not_disturb_the_range():
    values = np.array([[-np.inf, 0.5, np.inf, np.nan]], np.float32)
    assert colour_indices(values, 0.0, 1.0)[0].tolist() == [0, 128, 255, 0]


# The font.


def test_the_bundled_font_draws_chinese_and_the_signs_in_use(qapp):
    raw = QRawFont.fromFont(qapp.font())
    assert raw.familyName().startswith("Noto Sans")
    for sign in "今天睡觉祖母→…·√Σ∞×≤μσγβ×“”":
        assert raw.supportsCharacter(ord(sign)), sign


def test_a_font_file_that_is_none_is_refused(qapp, tmp_path):
    broken = tmp_path / "broken.otf"
    broken.write_bytes(b"not a font")
    with pytest.raises(RuntimeError, match=r"broken\.otf"):
        fonts.install_fonts(qapp, broken)


# Numbers.


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.742, "74.2 %"),
        (0.0491, "4.9 %"),
        (0.0031, "0.31 %"),
        (0.000031, "0.0031 %"),
        (0.9996, "99.96 %"),
        (0.99999, "99.999 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (2e-12, "2e-10 %"),
        # one style however small, so that two of a list can be compared
        (4.3e-8, "4.3e-6 %"),
        (3e-9, "3e-7 %"),
        (1.2e-5, "0.0012 %"),
        (9.6e-6, "9.6e-4 %"),
    ],
)
def test_a_percentage_keeps_the_digits_that_tell(probability, text):
    assert figures.percent(probability).replace("\u00a0", " ") == text


def test_no_probability_between_nought_and_one_is_written_as_either():
    for exponent in range(1, 8):
        for p in (10.0**-exponent, 1 - 10.0**-exponent, 0.5 * 10.0**-exponent):
            digits = figures.percent_digits(p)
            assert 0 < float(digits) < 100, (p, digits)
            assert float(digits) / 100 == pytest.approx(p, rel=0.06)


def test_cells_never_show_a_negative_zero():
    assert figures.cell_texts(np.array([[-0.001, -0.02, 0.3]]), "%.2f") == ["0.00", "-0.02", "0.30"]
    assert figures.cell_texts(np.array([[-0.5, 0.5, 1.0]]), ".%.2f") == ["-.50", ".50", "1.00"]


@pytest.mark.parametrize("name", THEMES)
def test_the_style_sheet_sets_no_font_sizes_and_no_role_is_left_to_qt(qapp, name):
    theme = THEMES[name]
    assert "font" not in stylesheet(theme, 13)
    palette = qpalette(theme)
    assert palette.color(palette.ColorRole.Base).name() == theme.surface
    assert palette.color(palette.ColorRole.Text).name() == theme.text


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.742, "74.2 %"),
        (0.001, "0.1 %"),
        (0.0009999, "< 0.1 %"),
        (1e-9, "< 0.1 %"),
        (0.999, "99.9 %"),
        (0.99999, "> 99.9 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
    ],
)
def test_percentages_in_a_column_have_one_decimal_and_never_a_false_end(probability, text):
    assert figures.percent_column(probability).replace("\u00a0", " ") == text


def test_a_chip_and_a_column_write_what_is_next_to_nothing_or_certain_alike():
    for p in (1e-12, 4.1e-6, 9.9e-4, 0.9991, 0.99996, 1 - 1e-12, 0.0, 1.0):
        assert figures.percent_short(p) == figures.percent_column(p), p
    short = [figures.percent_short(p).replace("\u00a0", " ") for p in (0.0031, 0.98, 0.997)]
    assert short == ["0.31 %", "98 %", "99.7 %"]


def test_an_entropy_that_is_not_nought_is_not_written_as_nought():
    assert figures.bits(0.0) == "0.00"
    assert figures.bits(1e-5) == "< 0.01"
    assert figures.bits(0.9149) == "0.91"


def test_a_time_is_no_more_exact_than_it_is():
    assert [figures.milliseconds(ms) for ms in (1.14, 9.93, 9.97, 19.1)] == [
        "1.1",
        "9.9",
        "10",
        "19",
    ]
