"""The glossary: whole in both languages, true to the model's own names, drawable, searchable."""

from __future__ import annotations

import re

import pytest

from model_core.bundled import resources
from model_core.ops import ALL_OPS
from tests.gui.views import view, worked_view
from visualizer import glossary, i18n, navigation
from visualizer.lenses import caption

TRAITS = (
    {},
    {"norm_position": "pre", "position": "learned"},
    {"activation": "silu", "tying": "output"},
)


@pytest.fixture(params=i18n.LANGUAGES)
def language(request):
    i18n.set_language(request.param)
    return request.param


def states():
    for traits in TRAITS:
        yield view(**traits)
    yield worked_view("self-attention")


def ids(language: str | None = None) -> set[str]:
    return {item.id for item in glossary.entries(language)}


# Whole.


def test_both_languages_have_the_same_entries():
    known = {name for group in glossary._read("entries").values() for name in group}
    for language in i18n.LANGUAGES:
        assert set(glossary._read(language)) == known
        assert ids(language) == known
    assert len(known) > 110


def test_every_op_has_an_entry_with_its_own_formula():
    for op in ALL_OPS:
        item = glossary.entry(f"op.{op.name}")
        assert item is not None, op.name
        assert item.formula == op.formula and item.op == op.name
    explained = {item.op for item in glossary.entries() if item.op}
    assert explained == {op.name for op in ALL_OPS}


def test_every_axis_site_and_parameter_of_every_model_leads_to_an_entry():
    for state in states():
        tape, model = state.run.tape, state.model.model
        for site in tape.sites:
            assert glossary.entry_of_site(site) in ids(), site
            for letter in tape[site].axes:
                assert glossary.entry_for(letter) is not None, (site, letter)
            for name in tape[site].inputs:
                assert glossary.entry_of_site(name) in ids(), name
        for name in model.parameters:
            assert glossary.entry_of_site(name) in ids(), name


@pytest.mark.parametrize("letter", "BSTHKDFV1")
def test_an_axis_letter_leads_to_its_axis_and_not_to_a_word_of_one_letter(letter):
    assert glossary.entry_for(letter).axis == letter


@pytest.mark.parametrize(
    ("site", "identity"),
    [
        ("decoder.layers.1.cross_attn.weights", "attention_weights"),
        ("encoder.layers.0.self_attn.out", "attention_output"),
        ("encoder.layers.0.ffn.out", "feed_forward"),
        ("encoder.layers.0.norm2.out", "op.scale_shift"),
        ("decoder.embed.out", "op.add"),
        ("encoder.out", "memory"),
        ("decoder.layers.1.residual3", "op.residual"),
        ("decoder.layers.1.residual3.dropout", "op.dropout_mask"),
        ("encoder.layers.0.self_attn.bias", "attention_bias"),
        ("encoder.layers.0.norm1.mean_square", "rms_norm"),
        ("decoder.layers.0.ffn.W_2", "param.W_2"),
        ("output.b", "bias"),
        ("encoder.embed.out@edit", "edit"),
        ("a.name.of.nothing", ""),
    ],
)
def test_a_site_leads_to_what_it_is_in_its_place(site, identity):
    assert glossary.entry_of_site(site) == identity


def test_every_entry_is_linked_to_and_every_link_leads_somewhere():
    for item in glossary.entries():
        assert item.see, item.id
        assert item.id not in item.see
        assert set(item.see) <= ids(), item.id
    linked = {name for item in glossary.entries() for name in item.see}
    assert ids() - linked == set()


def test_nothing_is_empty_and_no_definition_is_more_than_a_sentence(language):
    for item in glossary.entries(language):
        for text in (item.term, item.other, item.definition, item.text):
            assert text == text.strip() != "", item.id
        assert item.definition[-1] in ".。", item.id
        assert not re.search(r"[.。!?] ?[A-Z\u4e00-\u9fff]", item.definition), item.id
        assert len(item.text) > len(item.definition) / 2, item.id


def test_no_name_and_no_form_of_a_term_belongs_to_two_entries(language):
    owners: dict[str, set[str]] = {}
    for item in glossary.entries(language):
        for form in (item.term, *item.also, *item.words):
            owners.setdefault(form.casefold(), set()).add(item.id)
    assert {form: who for form, who in owners.items() if len(who) > 1} == {}
    names = [name for item in glossary.entries() for name in item.names]
    assert len(names) == len(set(names))


def test_chinese_entries_use_chinese_punctuation():
    han = "[\u4e00-\u9fff]"
    for item in glossary.entries("zh"):
        for text in (item.definition, item.text):
            found = re.search(f"{han}[,;:?!]|{han}\\.(?:$| )|[,;:?!]{han}", text)
            assert not found, f"{item.id}: {found}"


def test_every_entry_has_a_group_with_a_title(language):
    for group in glossary.groups():
        assert i18n.has(f"glossary.group.{group}")
    assert [item.group for item in glossary.entries()] == sorted(
        (item.group for item in glossary.entries()), key=glossary.groups().index
    )


# Drawable.


def test_every_formula_can_be_typeset():
    ziamath = pytest.importorskip("ziamath")
    for item in glossary.entries():
        if item.formula:
            assert "svg" in ziamath.Latex(item.formula, inline=True).svg(), item.id


def test_the_bundled_font_has_every_character(qapp, language):
    from PySide6.QtGui import QRawFont

    (path,) = (resources() / "fonts").glob("*.otf")
    font = QRawFont(str(path), 12.0)
    items = glossary.entries(language)
    texts = [t for i in items for t in (i.term, i.other, *i.also, i.definition, i.text, i.source)]
    assert {c for t in texts for c in t if not font.supportsCharacter(ord(c))} == set()


# Found.


@pytest.mark.parametrize(
    ("word", "identity"),
    [
        ("q", "query"),
        ("K", "axis.K"),
        ("softmax", "op.softmax"),
        ("Cross-attention", "cross_attention"),
        ("交叉注意力", "cross_attention"),
        ("causal mask", "op.look_ahead_mask"),
        ("<EOS>", "eos"),
        ("swish", "op.silu"),
        ("top_k", "top_k"),
        ("decoder.layers.0.cross_attn.q", "query"),
    ],
)
def test_a_word_leads_to_its_entry_in_whatever_language_it_is(word, identity):
    assert glossary.entry_for(word).id == identity
    assert glossary.entry_for(word, "zh").id == identity


def test_what_is_no_term_leads_nowhere():
    assert glossary.entry_for("Tuesday") is None
    assert glossary.found_in("on a Tuesday") == ()


def spotted(text: str, language: str) -> list[tuple[str, str]]:
    return [(text[f.start : f.end], f.id) for f in glossary.found_in(text, language)]


def test_terms_are_found_in_a_sentence_whole_and_in_any_number():
    assert spotted("(4 heads, 7 queries, 9 keys)", "en") == [
        ("heads", "head"),
        ("queries", "query"),
        ("keys", "key"),
    ]
    assert spotted("Masked self-attention", "en") == [
        ("Masked self-attention", "masked_self_attention")
    ]
    # neither inside another word nor inside a name
    assert spotted("subtokens of src_embed.tokens_q", "en") == []


def test_in_chinese_a_term_is_not_found_inside_another_word():
    assert spotted("4 个头，7 个查询，9 个键", "zh") == [
        ("个头", "head"),
        ("查询", "query"),
        ("键", "key"),
    ]
    assert spotted("按方向键，从开头的数值起", "zh") == []
    assert spotted("每个键的值", "zh") == [("键", "key"), ("值", "value")]


def test_every_heading_of_the_stage_leads_to_an_entry(language):
    for state in states():
        for site in state.run.tape.sites:
            words = caption.caption(navigation.go_to_site(state, site))
            side = glossary.found_in(words.side_title)
            assert side or words.side == "output", words.side_title
            assert glossary.found_in(words.title), words.title
            if words.layer_title:
                assert glossary.found_in(words.layer_title), words.layer_title


def test_searching_puts_the_term_itself_first(language):
    for item in glossary.entries(language):
        assert glossary.search(item.term)[0].id == item.id, item.term
        assert item.id in [found.id for found in glossary.search(item.other)]


def test_searching_goes_through_definitions_and_explanations():
    assert glossary.search("") == glossary.entries()
    assert "temperature" in [item.id for item in glossary.search("sharpens flattens")]
    assert glossary.search("no entry holds this") == ()
    assert glossary.search("W_q")[0].id == "param.W_q"
