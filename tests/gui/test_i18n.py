"""The catalogues: complete, without leftovers, the same in every language, drawable."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_core.bundled import resources
from model_core.ops import ALL_OPS
from model_core.training.step import glass_step
from tests.core.models import small_model
from tests.core.test_glass_step import BATCH, RECIPE
from tests.gui.gradient_views import answered
from tests.gui.views import view, worked_view
from visualizer import actions, gradient_actions, i18n, navigation, reasons
from visualizer.lenses import (
    backward,
    caption,
    explanation,
    flow,
    layer,
    overview,
    prediction,
    remarks,
    stage,
    views,
)
from visualizer.run import compute
from visualizer.state import Inputs, ViewState

VISUALIZER = Path(i18n.__file__).parent
# Keys put together at run time: they are checked by walking past every record.
WALKED = ("side", "layer", "sublayer", "block", "map", "chip", "axis", "shape", "role", "timeline")
# What the window says around the lenses; until it stands, these sentences wait for it.
OF_THE_WINDOW = ("ui.", "keys.", "error.", "notice.", "state.loading", "head.guided.reason")


def sources() -> Iterator[ast.Module]:
    for path in sorted(VISUALIZER.rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def asked_literally() -> set[str]:
    """The first argument of every tr("…")."""
    found = set()
    for node in (node for tree in sources() for node in ast.walk(tree)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == "tr":
            found |= {
                part.value
                for part in ast.walk(node.args[0])
                if isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and not any(
                    part in ast.walk(joined)
                    for joined in ast.walk(node.args[0])
                    if isinstance(joined, ast.JoinedStr | ast.Compare | ast.Subscript)
                )
            }
    return found


def written() -> set[str]:
    """Every string in the sources, whatever it is for."""
    nodes = (node for tree in sources() for node in ast.walk(tree))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def families() -> list[re.Pattern[str]]:
    """Every f"word.{…}" in the sources, as a pattern."""
    found = []
    for node in (node for tree in sources() for node in ast.walk(tree)):
        if not isinstance(node, ast.JoinedStr) or not isinstance(node.values[0], ast.Constant):
            continue
        if re.match(r"[a-z_]+\.", str(node.values[0].value)):
            parts = [
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[\w.-]+"
                for part in node.values
            ]
            found.append(re.compile("".join(parts)))
    return found


class Listening(dict):
    """A catalogue that notes what it is asked for."""

    def __init__(self, entries: dict[str, str], asked: set[str]) -> None:
        super().__init__(entries)
        self.asked = asked

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)


def walk_past_everything(monkeypatch, language: str) -> set[str]:
    """The keys that the lenses ask for, over every record of models with all traits."""
    asked: set[str] = set()
    plain = i18n.catalogue
    monkeypatch.setattr(i18n, "catalogue", lambda name: Listening(plain(name), asked))
    i18n.set_language(language)
    for traits in ({}, {"norm_position": "pre", "position": "learned"}):
        state = navigation.home(view(**traits))
        while True:
            matrix = stage.stage(state)
            stage.head_pictures(state)
            caption.caption(state)
            caption.chips(state)
            cell = stage.focus_cell(state, matrix)
            explanation.line(explanation.cell_text(state, matrix, cell))
            explanation.hover_text(state, matrix, cell)
            following = navigation.next_op(state)
            if following is state:
                break
            state = following
        overview.model_map(state)
        overview.timeline(state)
        prediction.output_tokens(state)
        walk_back(actions.set_showing(state, "gradients"))
    # one of each, and a head that looks at one token only
    state = navigation.go_to_token(state, 0)
    alone = view("s4", target="")
    for site in ("decoder.mask", "decoder.layers.0.cross_attn.weights", "decoder.embed.out"):
        caption.caption(navigation.go_to_site(alone, site))
    given = worked_view("self-attention")
    for site in given.run.tape.sites:
        there = navigation.go_to_site(given, site)
        caption.caption(there)
        overview.model_map(there)
        overview.timeline(there)
    for source in ("", "s4 " * 40):
        caption.run_message(compute(view().model, Inputs(source=source)))
    # what training alone has
    step = glass_step(small_model("float32"), BATCH, RECIPE, 3)
    for site in step.tape.sites:
        backward.reader_name(step.gradients, site, 1)
    return asked


def walk_back(state: ViewState) -> None:
    """Past the gradients of both kinds of target."""
    for wish in (state, gradient_actions.aim_at_loss(state)):
        there = navigation.home(answered(wish))
        while True:
            matrix = stage.stage(there)
            caption.caption(there)
            caption.chips(there)
            views.stack(there, matrix)
            layer.layer_rows(there)
            following = navigation.next_op(there)
            if following is there:
                break
            there = following
        flow.flow(there)
        overview.model_map(there)
        overview.timeline(there)


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_no_key_of_the_sources_is_missing(language):
    missing = asked_literally() - set(i18n.catalogue(language))
    assert missing == set()


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_no_key_is_missing_on_a_walk_past_every_record(language, monkeypatch):
    entries = i18n.catalogue(language)
    asked = walk_past_everything(monkeypatch, language)
    assert len(asked) > 80
    assert {key for key in asked if key not in entries} == set()


def test_every_key_that_is_put_together_is_met_on_the_walk(monkeypatch):
    entries = i18n.catalogue("en")
    asked = walk_past_everything(monkeypatch, "en") | asked_literally()
    walked = {key for key in entries if key.split(".")[0] in WALKED}
    assert walked - asked == set()


def test_no_catalogue_has_a_key_that_nothing_asks_for():
    strings, patterns = written(), families()
    stale = {
        key
        for key in i18n.catalogue("en")
        # a sentence about one thing is asked for as that about several
        if key.removesuffix(".one") not in strings
        and key not in strings
        and not any(pattern.fullmatch(key) for pattern in patterns)
    }
    if not (VISUALIZER / "main_window.py").exists():
        stale = {key for key in stale if not key.startswith(OF_THE_WINDOW)}
    assert stale == set()


def test_all_languages_have_the_same_keys():
    english, chinese = (set(i18n.catalogue(language)) for language in ("en", "zh"))
    assert {key for key in chinese if not key.startswith("op.")} == english


def test_every_op_has_a_chinese_sentence_and_its_own_english_one():
    wanted = {f"op.{op.name}.sentence" for op in ALL_OPS}
    assert {key for key in i18n.catalogue("zh") if key.startswith("op.")} == wanted
    assert all(op.sentence for op in ALL_OPS)


def names(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_all_languages_fill_in_the_same_values():
    english, chinese = i18n.catalogue("en"), i18n.catalogue("zh")
    for key, text in english.items():
        assert names(text) == names(chinese[key]), key


def test_no_sentence_is_empty_and_none_has_stray_spaces():
    for language in i18n.LANGUAGES:
        for key, text in i18n.catalogue(language).items():
            assert text == text.strip() != "", f"{language} {key}"


def test_chinese_sentences_use_chinese_punctuation():
    han = "[\u4e00-\u9fff]"
    for key, text in i18n.catalogue("zh").items():
        assert not re.search(f"{han}[,;:?!]|{han}\\.$", text), f"{key}: {text}"


def test_the_language_changes_at_run_time():
    state = view()
    assert caption.caption(state).title == "Cross-attention"
    i18n.set_language("zh")
    assert caption.caption(state).title == "交叉注意力"
    assert caption.caption(state).sentence != ""
    with pytest.raises(ValueError, match="expected one of en, zh"):
        i18n.set_language("tlh")
    assert i18n.language() == "zh"


def test_a_role_has_its_own_sentence_and_any_other_place_the_ops_own():
    q = caption.caption(navigation.go_to_site(view(), "decoder.layers.0.cross_attn.q"))
    k = caption.caption(navigation.go_to_site(view(), "decoder.layers.0.cross_attn.k"))
    assert q.sentence != k.sentence
    assert q.why == k.why != ""
    residual = caption.caption(navigation.go_to_site(view(), "decoder.layers.0.residual1"))
    assert residual.sentence == view().run.tape["decoder.layers.0.residual1"].sentence
    assert residual.why == ""


def test_a_missing_sentence_falls_back_to_english_and_then_to_its_key(monkeypatch):
    plain = {"en": {"a": "one {n}"}, "zh": {}}
    monkeypatch.setattr(i18n, "catalogue", plain.__getitem__)
    i18n.set_language("zh")
    assert i18n.tr("a", n=3) == "one 3"
    assert i18n.tr("b") == "b"


def test_values_with_braces_are_left_alone():
    assert "{x}" in caption.unknown_reason("{x}")


def test_a_notice_is_read_in_the_language_in_use():
    state = actions.show_notice(view(), "error.open", "error", file="m.bin", reason="it is empty")
    assert remarks.notice_text(state.notice) == "m.bin was not opened: it is empty"
    i18n.set_language("zh")
    assert remarks.notice_text(state.notice) == "无法打开 m.bin：it is empty"
    assert remarks.notice_text(None) == ""


def test_the_bundled_font_can_draw_every_character(qapp):
    from PySide6.QtGui import QRawFont

    (path,) = (resources() / "fonts").glob("*.otf")
    font = QRawFont(str(path), 12.0)
    assert font.isValid()
    texts = [text for language in i18n.LANGUAGES for text in i18n.catalogue(language).values()]
    texts += [op.sentence for op in ALL_OPS]
    texts += [pattern.other for pattern in reasons.patterns("zh")]
    undrawn = {c for text in texts for c in text if not font.supportsCharacter(ord(c))}
    assert undrawn == set()


def test_the_formulas_of_a_place_can_be_typeset():
    ziamath = pytest.importorskip("ziamath")
    state = view()
    formulas = {
        caption.caption(navigation.go_to_site(state, site)).formula for site in state.run.tape.sites
    }
    for formula in formulas:
        assert "svg" in ziamath.Latex(formula).svg()


def test_a_count_of_one_has_no_plural_behind_it():
    """Where a count may be 1 the words have a form of their own, or none that counts."""
    english = i18n.catalogue("en")
    counted = re.compile(r"\{n\} (tokens|beams|exchanges|degrees|turn)\b")
    topics = ("decoding.", "beams.", "chat.", "forcing.", "state.cut_off")
    found = [
        key
        for key, text in english.items()
        if key.startswith(topics) and counted.search(text) and f"{key}.one" not in english
    ]
    # what is more than is kept, or too long, is more than one
    assert found == ["chat.count.more", "forcing.too_long"]


def test_the_logits_have_one_word_in_chinese():
    chinese = i18n.catalogue("zh")
    # the lens is known by its English name alone
    plain = {
        key: text.replace("logit 透镜", "").replace("Logit 透镜", "")
        for key, text in chinese.items()
    }
    assert [key for key, text in plain.items() if "logit" in text.lower()] == []
