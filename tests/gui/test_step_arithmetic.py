"""What is written in a formula of a training step comes to what is written behind it."""

from __future__ import annotations

import math
import re

import pytest

from tests.gui.test_step_page import stepped
from tests.gui.test_step_training import glassed, run  # noqa: F401 (fixture)
from visualizer import step_actions
from visualizer.inquiries.step import current_step
from visualizer.lenses.step_clipping import clipping_formulas
from visualizer.lenses.step_words import update_formulas

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def as_python(tex: str) -> str:
    """The numbers of a formula in LaTeX as an expression that Python can reckon."""
    tex = re.sub(r"(\d) \\cdot 10\^\{(-?\d+)\}", r"\1e\2", tex)
    tex = re.sub(r"\(\\ldots = ([^)]*)\)", r"\1", tex)
    tex = re.sub(r"\^\{?(\d+)\}?", r"**\1", tex.replace("10^{-6}", "1e-6"))
    tex = tex.replace("{-}", "-").replace(r"\left", "").replace(r"\right", "")
    tex = tex.replace(r"\min", "min").replace(r"\cdot", "*")
    # the root of what stands in braces
    return re.sub(r"\\sqrt\{([^}]*)\}", r"sqrt(\1)", tex).replace("{", "(").replace("}", ")")


def holds(tex: str) -> bool:
    """Whether the last two sides of a formula agree to the last digit of the last one."""
    before, last = (
        as_python(side.strip())
        for side in tex.replace("(\\ldots =", "(\\ldots~").rsplit(" = ", 2)[-2:]
    )
    found = eval(before.replace("(\\ldots~", "("), {"min": min, "sqrt": math.sqrt})
    result = float(last)
    digits = re.sub(r"^[-0.]*|e.*$", "", last).replace(".", "")
    # a result in fewer than four digits has had zeros behind it
    unit = 10.0 ** (math.floor(math.log10(abs(result))) - max(len(digits), 4) + 1)
    return abs(found - result) <= 0.5001 * unit


def test_the_reader_of_these_tests_tells_a_line_that_does_not_hold():
    assert holds(r"w' = w - \Delta w = {-}0.014003 - 0.002 = {-}0.016003")
    assert not holds(r"w' = w - \Delta w = {-}0.014 - 0.002 = {-}0.016003")
    assert holds(r"v = 0.98 \cdot 0 + 0.02 \cdot (2.5 \cdot 10^{-4})^2 = 1.25 \cdot 10^{-9}")
    assert holds(r"\| g \| = \sqrt{3^2 + 2^2 + (\ldots = 12)} = 5")


def lines_of(state, name: str) -> list[str]:
    return [one.tex for one in update_formulas(step_actions.look_at_parameter(state, name))]


@pytest.mark.parametrize("weights", ["trained", "fresh"])
def test_every_line_of_the_update_holds_as_it_is_written(weights):
    state = stepped(weights=weights)
    for name in current_step(state).parameters:
        gradient, *others = lines_of(state, name)
        assert gradient.startswith("g = ")
        for line in others:
            assert holds(line), (name, line)


def test_every_line_holds_within_a_training_too(run, tmp_path):  # noqa: F811
    state = glassed(run, tmp_path)
    for name in current_step(state).parameters:
        for line in lines_of(state, name)[1:]:
            assert holds(line), (name, line)


def test_no_operand_takes_more_digits_than_can_be_read():
    state = stepped()
    for name in current_step(state).parameters:
        for line in lines_of(state, name):
            for number in NUMBER.findall(line):
                assert len(number.replace(".", "").lstrip("0")) <= 12, line


def test_every_line_of_the_clipping_holds_as_it_is_written():
    for state in (stepped(), stepped(weights="fresh")):
        for one in clipping_formulas(state):
            assert holds(one.tex), one.tex
