"""Tokens that are spaces or line breaks are seen wherever tokens stand, by the same marks."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from PySide6.QtGui import QRawFont

from model_core.bundled import resources
from model_core.ops.base import Origin
from tests.gui.gradient_views import answered
from tests.gui.talking import CHARACTERS, talker
from visualizer import actions, navigation, trail
from visualizer.inquirer import answer_all
from visualizer.inquiries import all_inquiries
from visualizer.lenses import (
    attribution,
    board,
    caption,
    comparison,
    flow,
    heads_overview,
    layer,
    linked,
    logit_lens,
    overview,
    parameter,
    prediction,
    ranking,
    stage,
    target_choice,
    token_labels,
)
from visualizer.lenses.token_labels import (
    LINE_BREAK,
    NOTHING,
    SPACE,
    TAB,
    token_label,
    vocabulary_labels,
)
from visualizer.run import compute
from visualizer.state import Inputs, ViewState
from visualizer.store import Store

# Read and written by the random model's encoder and decoder.
SPACED = "甲 \n乙 a\n b"


def state_at(site: str) -> ViewState:
    entry = talker()
    entry.model.card.pop("chat")
    state = actions.open_model(ViewState(), entry)
    inputs = Inputs(source=SPACED, target=" \n甲 \n")
    state = actions.show_run(replace(state, inputs=inputs), compute(entry, inputs, number=1))
    return navigation.go_to_token(navigation.go_to_site(state, site), 5)


# Not what is shown, but what it is read from.
DATA = ("Run", "GradientTape", "LogitLens", "Inputs", "Staged")


def texts(thing: Any) -> list[str]:
    """All text in what a widget is given, however deep."""
    if isinstance(thing, str):
        return [thing]
    if isinstance(thing, dict):
        thing = [*thing.keys(), *thing.values()]
    elif is_dataclass(thing) and type(thing).__name__ not in DATA:
        thing = [getattr(thing, field.name) for field in fields(thing) if field.name != "key"]
    if isinstance(thing, list | tuple | set | frozenset):
        return [text for part in thing for text in texts(part)]
    return []


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("cat", "cat"),
        (" ", SPACE),
        ("\n", LINE_BREAK),
        (" the", SPACE + "the"),
        ("a b", "a b"),
        ("end\n\n", "end" + 2 * LINE_BREAK),
        ("a\nb", f"a{LINE_BREAK}b"),
        ("\t", TAB),
        ("\u3000", SPACE),
        ("\x07", "\\x07"),
        ("", NOTHING),
        ("<EOS>", "<EOS>"),
    ],
)
def test_a_space_at_an_end_and_every_line_break_has_a_mark(token, label):
    assert token_label(token) == label


def test_the_bundled_font_has_the_marks(qapp):
    (path,) = (resources() / "fonts").glob("*.otf")
    font = QRawFont(str(path), 12.0)
    for mark in (SPACE, LINE_BREAK, TAB, NOTHING):
        assert all(font.supportsCharacter(ord(sign)) for sign in mark)


def test_a_vocabularys_labels_are_made_once_and_never_mixed_up():
    first, second = ["a", " "], ["b", "\n"]
    assert vocabulary_labels(first) == ("a", SPACE)
    assert vocabulary_labels(second) == ("b", LINE_BREAK)
    assert vocabulary_labels(first) is vocabulary_labels(first)
    for number in range(20):
        assert vocabulary_labels([f"{number}", " "]) == (f"{number}", SPACE)
    assert len(token_labels._KEPT) <= token_labels.VOCABULARIES_KEPT


def pictures(state: ViewState) -> dict[str, Any]:
    """What the widgets are given, by the place where it stands."""
    store = Store(state)
    answer_all(store, all_inquiries())
    state = store.state
    matrix = stage.stage(state)
    return {
        "heatmap": matrix,
        "heads": stage.head_pictures(state),
        "caption": caption.caption(state),
        "output": prediction.output_tokens(state),
        "next token": prediction.next_token(state),
        "timeline": overview.timeline(state),
        "table": layer.layer_rows(state),
        "flow": flow.flow(state),
        "attention": linked.linked_tokens(state),
        "overview": heads_overview.heads_overview(state),
        "lens": logit_lens.lens_grid(replace(state, page="lens")),
        "depth": logit_lens.depth(state),
        "bench": board.board(replace(state, page="decoding")),
        "own line": comparison.own_line(state.run),
        "ranking": ranking.ranking(state, matrix),
        "target": target_choice.target_choice(state),
        "attribution": attribution.attributions(state),
    }


@pytest.mark.parametrize("showing", ["values", "gradients"])
@pytest.mark.parametrize(
    "site",
    ["decoder.layers.0.cross_attn.weights", "decoder.layers.1.norm3.out", "logits", "encoder.out"],
)
def test_no_picture_has_a_token_that_cannot_be_seen(site, showing):
    state = state_at(site)
    if showing == "gradients":
        state = answered(actions.set_showing(state, "gradients"))
    marked = set()
    for place, picture in pictures(state).items():
        found = texts(picture)
        # a tip may have lines, but none of them may look empty
        lines = [line for text in found if text for line in text.split("\n")]
        assert all(line.strip() for line in lines), place
        if any(SPACE in text or LINE_BREAK in text for text in found):
            marked.add(place)
    assert "timeline" in marked or showing == "gradients"
    assert {"output", "next token", "flow", "attention", "bench", "own line"} <= marked
    if site != "encoder.out":
        assert "table" in marked or "attn" in site or site == "logits"
    if showing == "gradients":
        assert {"target", "attribution"} <= marked


def test_an_embedding_tables_rows_are_marked():
    state = trail.follow(state_at("encoder.embed.tokens"), Origin("src_embed.weight", (4, 0)))
    labels = parameter.parameter_picture(state).matrix.row_labels
    assert labels[4 + CHARACTERS.index(" ")] == SPACE
    assert labels[4 + CHARACTERS.index("\n")] == LINE_BREAK
