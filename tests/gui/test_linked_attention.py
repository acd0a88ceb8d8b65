"""All attention at once: edges are the tape's weights, and what is pointed at is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from tests.gui.samples import LEFT_BUTTON
from tests.gui.samples import at as pixel
from tests.gui.views import at, view, worked_view
from visualizer import linking, navigation
from visualizer.lenses.linked import (
    MOST_EDGES,
    ONE_STEP_ON,
    OWN,
    chosen_attentions,
    joined_tokens,
    linked_tokens,
    lit,
    strongest_edges,
)
from visualizer.lenses.linked_words import (
    chosen_words,
    edge_told,
    linked_caption,
    plain,
    told,
    weight_of,
)
from visualizer.state import current_token
from visualizer.widgets.linked_attention import LinkedAttention

ENCODER = "encoder.layers.{}.self_attn.weights"
CROSS = "decoder.layers.{}.cross_attn.weights"
FIRST = CROSS.format(0)
OWN_WORDS = "decoder.layers.{}.self_attn.weights"


def shown(heads="mean", token=3, site=FIRST, threshold=0.1, **layers):
    state = at(site, token)
    return replace(state, linked=replace(state.linked, heads=heads, threshold=threshold, **layers))


def edges_of(picture, kind):
    return next(edges for edges in picture.edges if edges.kind == kind)


@pytest.mark.parametrize("heads", ["mean", "max", 0, 2])
def test_every_edge_is_the_tapes_weight_and_none_that_reaches_the_threshold_is_missing(heads):
    state = shown(heads, token=2, encoder_layer=0, decoder_layer=1)
    picture = linked_tokens(state)
    for kind, site in (("encoder", ENCODER.format(0)), ("cross", CROSS.format(1))):
        value = state.run.tape[site].value[0]
        # by hand, cell by cell
        wanted = {}
        for row in range(value.shape[1] if kind == "encoder" else 3):
            for key in range(value.shape[2]):
                column = [float(value[head, row, key]) for head in range(3)]
                weight = {"mean": sum(column) / 3, "max": max(column)}.get(heads)
                weight = column[heads] if weight is None else weight
                if weight >= 0.1:
                    wanted[row, key] = weight
        edges = edges_of(picture, kind)
        assert edges.site == site
        pairs = zip(edges.readers.tolist(), edges.keys.tolist())
        drawn = dict(zip(pairs, edges.weights.tolist(), strict=True))
        assert drawn == pytest.approx(wanted, rel=1e-6)
        assert (np.diff(edges.weights) >= 0).all()


def test_only_rows_that_decoding_has_reached_are_there_and_none_reads_ahead():
    picture = linked_tokens(shown(token=1, threshold=0.01))
    assert picture.targets == ("<SOS>", "t4")
    assert picture.all_rows == 4 and picture.row == 1
    assert edges_of(picture, "cross").readers.max() == 1
    own = edges_of(picture, "decoder")
    assert (own.keys <= own.readers).all() and own.readers.max() == 1
    # the encoder has read the whole sentence before
    assert edges_of(picture, "encoder").readers.max() == 5


def test_of_too_many_edges_the_strongest_are_drawn_and_the_others_counted():
    generator = np.random.default_rng(0)
    weights = generator.random((80, 80)).astype(np.float32)
    found = chosen_attentions(view(), view().run.tape)
    found = {"encoder": found["encoder"], "cross": found["cross"]}
    both = {"encoder": weights, "cross": weights[::-1]}
    edges, missing = strongest_edges(found, both, 0.5)
    reach = 2 * int((weights >= 0.5).sum())
    assert sum(len(e.weights) for e in edges) == MOST_EDGES and missing == reach - MOST_EDGES
    least = min(e.weights.min() for e in edges)
    assert least == np.sort(np.concatenate([weights.ravel()] * 2))[-MOST_EDGES]


def test_layers_follow_the_cursor_until_they_are_chosen():
    def layers(state):
        return [one.layer for one in chosen_attentions(state, state.run.tape).values()]

    # encoder, cross, decoder: where the cursor is in no layer of the encoder, its last
    assert layers(shown(site=CROSS.format(0))) == [1, 0, 0]
    assert layers(shown(site=CROSS.format(1))) == [1, 1, 1]
    assert layers(shown(site=ENCODER.format(0))) == [0, 0, 0]
    assert layers(shown(site="logits")) == [1, 1, 1]
    assert layers(shown(site="decoder.embed.out")) == [1, 0, 0]
    chosen = linking.set_encoder_layer(linking.set_decoder_layer(shown(), 1), 0)
    assert layers(chosen) == [0, 1, 1]
    assert chosen_words(chosen, linked_tokens(chosen)) == (
        "encoder layer 1",
        "decoder layer 2",
        "mean of 3 heads",
    )
    assert chosen_words(shown(2), linked_tokens(shown(2)))[-1] == "head 3"
    assert chosen_words(shown("max"), linked_tokens(shown("max")))[-1] == "maximum of 3 heads"


def test_a_target_row_lights_what_it_reads_and_what_that_has_read():
    picture = linked_tokens(shown(threshold=0.2))
    levels = dict(zip(("encoder", "cross", "decoder"), lit(picture, ("decoder", 2))))
    cross, own, encoder = (edges_of(picture, kind) for kind in ("cross", "decoder", "encoder"))
    assert ((levels["cross"] == OWN) == (cross.readers == 2)).all()
    assert ((levels["decoder"] == OWN) == (own.readers == 2)).all()
    read = set(cross.keys[cross.readers == 2].tolist())
    assert read
    wanted = [reader in read for reader in encoder.readers.tolist()]
    assert (levels["encoder"] == ONE_STEP_ON).tolist() == wanted
    ends = joined_tokens(picture, tuple(levels.values()), OWN)
    assert {("encoder", place) for place in read} <= ends


def test_a_source_token_lights_what_it_reads_who_reads_it_and_who_reads_those():
    picture = linked_tokens(shown(threshold=0.1))
    levels = dict(zip(("encoder", "cross", "decoder"), lit(picture, ("encoder", 1))))
    cross, own, encoder = (edges_of(picture, kind) for kind in ("cross", "decoder", "encoder"))
    wanted = [1 in pair for pair in zip(encoder.readers.tolist(), encoder.keys.tolist())]
    assert (levels["encoder"] == OWN).tolist() == wanted
    rows = set(cross.readers[cross.keys == 1].tolist())
    assert (levels["decoder"] == ONE_STEP_ON).tolist() == [k in rows for k in own.keys.tolist()]


def test_the_sentence_names_what_the_tape_says():
    state = shown(1, token=3)
    tape = state.run.tape
    across = tape[CROSS.format(0)].value[0, 1, 3]
    own = tape[OWN_WORDS.format(0)].value[0, 1, 3]
    picture = linked_tokens(state)
    said = plain(told(picture, None))
    assert said.startswith(f"{tape.predicted_tokens[3]} is predicted at t5, which reads ")
    first, second = said.split(" through cross-attention and ")
    assert f"{tape.source_tokens[across.argmax()]} {across.max():.2f}" in first
    assert f"{tape.target_tokens[own.argmax()]} {own.max():.2f}" in second
    source = plain(told(picture, ("encoder", 2)))
    reads = tape[ENCODER.format(1)].value[0, 1, 2]
    assert f"{tape.source_tokens[reads.argmax()]} {reads.max():.2f}" in source
    assert source.startswith(f"In the encoder {tape.source_tokens[2]} reads ")


@pytest.mark.parametrize("heads", ["mean", "max", 2])
def test_an_edge_leads_to_the_head_that_gives_it_most(heads):
    state = shown(heads)
    picture = linked_tokens(state)
    value = state.run.tape[CROSS.format(0)].value[0]
    weight = weight_of(state, picture, "cross", 3, 2)
    wanted = 2 if isinstance(heads, int) else int(value[:, 3, 2].argmax())
    assert (weight.site, weight.head, weight.row, weight.column) == (CROSS.format(0), wanted, 3, 2)
    said = plain(edge_told(state, picture, "cross", 3, 2))
    assert f"[0, {wanted}, 3, 2]" in said and str(picture.weights["cross"][3, 2]) in said
    there = linking.open_weight(state, *(weight.site, weight.head, weight.row, weight.column))
    assert (there.page, there.cursor.site, there.head) == ("record", CROSS.format(0), wanted)
    assert there.selected == (3, 2)


def test_pinning_a_target_token_moves_the_cursor_and_once_more_lets_go():
    state = shown(site=ENCODER.format(0), token=3)
    there = linking.pin(state, "decoder", 1)
    assert current_token(there) == 1 and there.cursor.site == ENCODER.format(0)
    assert linked_tokens(there).pinned == ("decoder", 1)
    assert linked_tokens(navigation.go_to_token(there, 2)).pinned is None
    assert linked_tokens(linking.pin(there, "decoder", 1)).pinned is None
    source = linking.pin(state, "encoder", 4)
    assert current_token(source) == 3 and linked_tokens(source).pinned == ("encoder", 4)


def test_a_worked_example_has_the_encoders_part_alone():
    state = worked_view("encoder-layer")
    picture = linked_tokens(state)
    assert [edges.kind for edges in picture.edges] == ["encoder"]
    assert picture.targets == () and picture.row is None
    assert plain(told(picture, None)).startswith("Point at a token")
    assert plain(told(picture, ("encoder", 0))).endswith(".")
    assert linked_caption(state, picture).shape == "encoder layer 1 · mean of 3 heads"


@pytest.fixture
def canvas(qtbot):
    widget = LinkedAttention()
    qtbot.addWidget(widget)
    widget.resize(780, 560)
    widget.set_picture(linked_tokens(shown(token=3)))
    widget.show()
    return widget


def test_every_token_maps_back_to_itself_and_all_lie_in_the_picture(canvas):
    picture = canvas.picture
    for side, words in (("encoder", picture.sources), ("decoder", picture.targets)):
        for place in range(len(words)):
            point = canvas.token_point((side, place))
            assert canvas.token_at(point) == (side, place)
            assert canvas.rect().contains(pixel(point))
    assert canvas.token_at(QPointF(3, 3)) is None


def test_the_strongest_curve_under_the_pointer_is_the_one_that_is_told(canvas):
    for edges in canvas.picture.edges:
        strongest = (edges.kind, int(edges.readers[-1]), int(edges.keys[-1]))
        assert canvas.edge_at(canvas.edge_point(strongest)) == strongest
    # a curve that no other touches, whatever its weight
    alone = [
        (edges.kind, reader, key)
        for edges in canvas.picture.edges
        for reader, key in zip(edges.readers.tolist(), edges.keys.tolist())
    ]
    told_right = sum(canvas.edge_at(canvas.edge_point(edge, 0.3)) == edge for edge in alone)
    assert told_right > 0.7 * len(alone)


def test_a_wider_curve_is_a_larger_weight(canvas):
    weights = np.array([0.1, 0.3, 0.5, 1.0])
    widths = canvas.widths(weights)
    assert (np.diff(widths) >= 0).all() and widths[-1] == canvas.places().widest


def test_pointing_lights_a_token_and_a_click_tells_which(qtbot, canvas):
    hovered = []
    canvas.tokenHovered.connect(lambda *token: hovered.append(token))
    qtbot.mouseMove(canvas, pixel(canvas.token_point(("encoder", 2))))
    qtbot.waitUntil(lambda: hovered == [("encoder", 2)])
    assert canvas.looked_at == ("encoder", 2)
    with qtbot.waitSignal(canvas.tokenClicked) as clicked:
        qtbot.mouseClick(canvas, LEFT_BUTTON, pos=pixel(canvas.token_point(("decoder", 1))))
    assert clicked.args == ["decoder", 1]
    edges = canvas.picture.edges[1]
    edge = (edges.kind, int(edges.readers[-1]), int(edges.keys[-1]))
    with qtbot.waitSignal(canvas.edgeClicked) as clicked:
        qtbot.mouseClick(canvas, LEFT_BUTTON, pos=pixel(canvas.edge_point(edge)))
    assert tuple(clicked.args) == edge


def test_what_is_lit_stays_and_the_rest_fades(canvas):
    """The middle of a curve, with its own token looked at and with another."""
    edges = canvas.picture.edges[1]
    row, key = int(edges.readers[-1]), int(edges.keys[-1])
    point = pixel(canvas.edge_point(("cross", row, key)))

    def strength():
        colour = canvas.grab().toImage().pixelColor(point)
        return 255 - colour.green()

    canvas._token = ("decoder", row)
    own = strength()
    canvas._token = next(("decoder", other) for other in range(4) if other != row)
    assert own > 2 * strength()


@pytest.mark.parametrize("size", [(420, 260), (760, 300), (1300, 900)])
@pytest.mark.parametrize("heads", ["max", 1])
def test_no_curve_and_no_word_leaves_the_picture(canvas, size, heads):
    canvas.resize(*size)
    canvas.set_picture(linked_tokens(shown(heads, threshold=0.01)))
    for curves in canvas.curves():
        points = np.concatenate([curves[:, :1], curves[:, 3:]])
        assert (points >= 0).all()
        assert (points[..., 0] <= size[0]).all() and (points[..., 1] <= size[1]).all()
    columns = canvas.places().columns
    assert columns["encoder"].ends[1] < columns["decoder"].ends[0]
    assert columns["decoder"].ends[1] + canvas.places().depths["decoder"] <= size[0] + 1
