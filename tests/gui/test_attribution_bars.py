"""The painted bars of gradient times input."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from visualizer.lenses.attribution import Attributions, TokenShares, share_text
from visualizer.theme import LIGHT
from visualizer.widgets.attribution_bars import AttributionBars

SOURCE, TARGET = "encoder.embed.out", "decoder.embed.out"


def shares(count: int, owner: object = None) -> Attributions:
    values = np.linspace(-1e-6, 2e-6, count)
    sides = (
        TokenShares("source", SOURCE, tuple(f"s{n}" for n in range(count)), values),
        TokenShares("target", TARGET, ("<SOS>", "t4"), np.array([-5e-7, 0.0]), 1),
    )
    return Attributions(sides, 2e-6, 1e-6, "× 1e-6", ("about",), owner or object())


@pytest.fixture
def bars(qtbot) -> AttributionBars:
    widget = AttributionBars()
    qtbot.addWidget(widget)
    widget.set_theme(LIGHT)
    widget.resize(320, 200)
    widget.show()
    return widget


def test_every_token_has_a_line_of_its_side_and_a_click_names_it(bars, qtbot):
    bars.set_shares(shares(6))
    clicked = []
    bars.tokenClicked.connect(lambda site, row: clicked.append((site, row)))
    for site, row in ((SOURCE, 0), (SOURCE, 5), (TARGET, 1)):
        spot = bars.line_rect(site, row).center().toPoint()
        assert bars.rect().contains(spot)
        qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=spot)
    assert clicked == [(SOURCE, 0), (SOURCE, 5), (TARGET, 1)]
    assert bars.spot_at(QPointF(5, 2)) is None


def test_of_too_many_tokens_those_with_the_largest_numbers_stand_in_their_order(bars):
    found = shares(500)
    bars.set_shares(found)
    rows = bars.rows_of(found.sides[0])
    assert rows == sorted(rows) and 3 < len(rows) < 20
    sizes = np.abs(found.sides[0].values)
    assert sizes[rows].min() >= np.delete(sizes, rows).max()


def test_positive_numbers_reach_to_the_right_and_negative_ones_to_the_left(bars):
    bars.set_shares(shares(2))
    image = bars.grab().toImage()
    lines = [bars.line_rect(SOURCE, row) for row in (0, 1)]
    red = [_columns(image, line, LIGHT.diverging[-2]) for line in lines]
    blue = [_columns(image, line, LIGHT.diverging[1]) for line in lines]
    assert blue[0] and not red[0] and red[1] and not blue[1]
    assert max(blue[0]) <= min(red[1]) + 1
    assert len(red[1]) == pytest.approx(2 * len(blue[0]), rel=0.1)


def _columns(image, line, colour: str) -> list[int]:
    ratio = image.devicePixelRatio()
    y = round(line.center().y() * ratio)
    across = range(round(line.left() * ratio), round(line.right() * ratio))
    return [x for x in across if image.pixelColor(x, y).name() == colour.lower()]


def test_the_full_number_and_its_record_are_told():
    side = shares(3).sides[0]
    text = share_text(side, 2)
    number = text.split()[1]
    assert number == "2e-6" and float(number) == side.values[2] and f"{SOURCE}[0, 2, :]" in text


def test_the_last_bars_stay_for_a_moment_while_new_ones_are_found(bars, qtbot):
    bars.set_shares(shares(3))
    bars.set_shares(None, waits=True)
    assert bars.shares is not None
    qtbot.waitUntil(lambda: bars.shares is None, timeout=2000)
