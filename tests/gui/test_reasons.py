"""What the core says in English reads in Chinese: nothing is left out, nothing is left over."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

import model_core
from model_core import CheckpointError, bundled
from model_core.training.lab_data import Facts
from model_core.training.problems import problems
from model_core.training.settings import Settings
from tests.core.test_bad_documents import LOADING, REFERENCE
from tests.core_sentences import GAP, sentences
from tests.gui.live_window import live  # noqa: F401 (fixture)
from visualizer import actions, cards, i18n, reasons
from visualizer.engine import attempt
from visualizer.lenses.remarks import notice_details, notice_text
from visualizer.run import open_entry
from visualizer.state import ModelEntry, ViewState

DATA = Path(__file__).parents[1] / "data"
BAD = sorted(
    [DATA / "bad_documents" / name for name in REFERENCE]
    + [p for p in (DATA / "bad_safetensors").iterdir() if not p.name.startswith("good")]
)
# Put into sentences by the program and written in none of them.
INSIDE = {"source", "target", "contain +inf", "are all -inf", "contain nan"}
MADE_OF_OTHERS = {
    "{found}, expected {expected}",
    "{first} as well as {names}",
    "{reason}; {advice}",
}
# Not words of English but names: of formats, programs, fields, types and tensors.
NAMES = {
    *("NumPy", "JSON", "UTF", "MB", "NaN", "inf", "safetensors", "npz", "npy", "zip", "pickle"),
    *("gzip", "bzip", "xz", "rar", "tar", "Git", "LFS", "PyTorch", "Python", "Marian", "Bergamot"),
    *("CSV", "TSV", "GB", "null"),
    *("GGUF", "HDF", "PNG", "JPEG", "GIF", "PDF", "SQLite", "SentencePiece", "XML", "Unicode"),
    *("Glassformer", "json", "bin", "SOS", "EOS", "BOOL", "CRC", "CRCs", "None", "dtype", "shape"),
    *("info", "config", "vocab", "weights", "logits", "temperature", "inputs", "labels", "layout"),
    *("uniform", "format", "greedy", "sample", "strategy", "seed", "interleaved", "halves"),
    *("post", "np", "savez", "save", "tokens", "X", "S", "B", "T", "WQ", "WK", "WV", "h"),
    *("Object", "float", "xFF", "True", "False", "true", "false", "Constraints", "constraints"),
    "beams",
}


@pytest.fixture(autouse=True)
def chinese():
    i18n.set_language("zh")
    yield
    i18n.set_language("en")


def english_words(text: str) -> set[str]:
    """The words of a Chinese sentence that are neither names nor facts in quotes."""
    text = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "", text)
    words = re.findall(r"(?<![\w.])[A-Za-z]+(?![\w.])", text)
    return set(words) - NAMES


def filled(shape: str) -> str:
    return shape.replace(GAP, "7")


def test_the_source_of_the_core_is_read_whole():
    found = sentences()
    assert len(found) > 330
    for known in (
        "there is no such file",
        "the tensor {} is missing (and {} more)",
        "looks like an HDF5 file (.h5)",
        "{} is not known to this program and was ignored",
        "the file holds no weights: the parameters are random (seed {}) and the model is untrained",
        "d_model {} is not a multiple of n_heads {}",
        "weights.{} holds a NaN",
    ):
        assert known in found, known


def test_every_sentence_of_the_core_has_a_chinese_one():
    known = reasons.patterns("zh", "core")
    wanting = {s: module for s, module in sentences().items() if not is_said(s, known)}
    assert wanting == {}


def is_said(shape: str, known: tuple[reasons.Pattern, ...]) -> bool:
    sentence = filled(shape)
    if not english_words(sentence):
        return True  # names alone
    return reasons.matching(sentence, known) is not None and not english_words(
        reasons.translated(sentence)
    )


def test_no_pattern_is_left_over_from_a_sentence_that_is_gone():
    known = reasons.patterns("zh", "core")
    said = [filled(sentence) for sentence in sentences()] + sorted(INSIDE)
    matched = (reasons.matching(sentence, known) for sentence in said)
    used = {found[0].english for found in matched if found is not None} | MADE_OF_OTHERS
    assert {pattern.english for pattern in known} - used == set()


def test_a_pattern_and_its_chinese_have_the_same_gaps():
    english = [pattern.english for pattern in reasons.patterns("zh")]
    assert len(english) == len(set(english))
    for pattern in reasons.patterns("zh"):
        assert gaps(pattern.english) == gaps(pattern.other), pattern.english
        assert english_words(re.sub(r"\{\w+\}", "7", pattern.other)) == set(), pattern.other
        assert not re.search("[\u4e00-\u9fff][,;:?!]", pattern.other), pattern.other


def gaps(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def refusal(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        model_core.open_checkpoint(path)
    return f"{caught.value.found}, expected {caught.value.expected}"


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.name)
def test_a_bad_file_is_refused_in_chinese_with_all_its_facts(path):
    reason = refusal(path)
    chinese = reasons.translated(reason)
    assert "；预期：" in chinese
    assert english_words(chinese) == set(), chinese
    assert sorted(re.findall(r"\d+", chinese)) == sorted(re.findall(r"\d+", reason))
    assert re.findall(r'"[^"]*"', chinese) == re.findall(r'"[^"]*"', reason) or "{" in reason


def test_a_file_that_is_not_there_and_a_folder_are_refused_in_chinese(tmp_path):
    assert reasons.translated(refusal(tmp_path / "gone.json")) == "没有这个文件；预期：检查点文件"
    assert reasons.translated(refusal(tmp_path)) == "是文件夹；预期：检查点文件"


def test_a_sentence_inside_a_sentence_is_translated_and_its_seam_is_not_the_outer_one():
    said = "its config is wrong (d_ff is -8, expected 1 to 16777216), expected sound sizes"
    assert (
        reasons.translated(said)
        == "其 config 有误（d_ff 为 -8；预期：1 到 16777216）；预期：合理的大小"
    )


def test_the_rate_that_was_set_is_told_beside_the_one_that_warm_up_had_reached():
    said = reasons.translated(
        "training stopped: the loss of step 3 is nan; the learning rate was 3e+07 (set to 1e+09), "
        "a smaller one, such as 0.001, usually helps; the model is as it was after step 0"
    )
    assert "第 3 步的损失为 nan；当时的学习率为 3e+07（设定值为 1e+09），" in said


@pytest.mark.parametrize(
    "sentence",
    [
        "it is empty",
        "'NoneType' object is not callable",
        "list index out of range",
        "failed to load",
        "no such thing, expected another",
        "(" * 3000,
        "",
    ],
)
def test_what_the_core_never_says_stays_as_it_is(sentence):
    assert reasons.translated(sentence) == sentence


@pytest.mark.parametrize(
    "changes",
    [
        {"d_model": 0},
        {"d_model": "wide"},
        {"d_model": 64, "n_heads": 5},
        {"d_model": 7, "n_heads": 3},
        {"d_model": 2, "n_heads": 3},
        {"steps": None},
        {"steps": 240, "warmup_steps": 300},
        {"learning_rate": -1.0},
        {"max_seq_len": 5},
        {"tokenizer": "bpe"},
        {"scale_embedding": 3},
        {"tying": "all"},
        {"alignment_loss": 0.2},
        {"beta1": 1.0},
        {"dropout_rate": 1.0},
        {"batch_size": 65_536, "d_model": 1024},
        {"d_model": 8192, "n_heads": 8, "d_ff": 100_000},
    ],
)
def test_a_problem_of_the_settings_is_told_in_chinese_with_its_way_out(changes):
    settings = msgspec.structs.replace(Settings(), **changes)
    facts = Facts(10**6, 50, 30, 20, np.full((100, 2), 12), False)
    found = problems(settings, facts)
    assert found
    for problem in found:
        chinese = reasons.translated(str(problem))
        names = {*Settings.__struct_fields__, "null", *"d_model n_heads".split()}
        choices = {"char", "word", "none", "output", "all"}
        assert english_words(chinese) - names - choices == set(), chinese
        assert "；" in chinese


def test_in_english_everything_stays_as_it_is():
    i18n.set_language("en")
    assert reasons.translated("is empty, expected a checkpoint file").startswith("is empty")


def test_a_reason_that_was_cut_off_is_translated_from_the_details():
    inner = f"the tokens {'W' * 300} and X share one id, expected an id for each"
    full = f"its tokenizer is wrong ({inner}), expected a tokenizer of this version"
    _, reason, details = attempt(lambda: (_ for _ in ()).throw(ValueError(full)))
    assert reason.endswith("…") and details == full
    state = actions.show_notice(
        ViewState(), "error.open", "error", details, file="m.json", reason=reason
    )
    assert notice_text(state.notice).startswith("无法打开 m.json：其分词器有误")
    assert notice_details(state.notice).endswith("；预期：这个版本的分词器")


def test_a_traceback_is_no_sentence_of_the_core():
    trace = "    if error is None:\nValueError: is empty"
    state = actions.show_notice(ViewState(), "error.run", "error", trace, reason="is empty")
    assert notice_details(state.notice) == trace
    assert notice_text(state.notice) == "这句话无法计算：是空文件"


# In the window.


def test_a_notice_changes_its_language_with_the_window(live):  # noqa: F811
    live.chosen = DATA / "bad_documents" / "js_wrong_vocab_size.json"
    live.window.browse()
    assert "vocab has 10 tokens" in live.notice()
    live.store.dispatch(actions.set_language, "zh")
    assert live.notice().startswith(
        "无法打开 js_wrong_vocab_size.json：config.vocab_size 为 13，而"
    )
    live.store.dispatch(actions.set_language, "en")
    assert "vocab has 10 tokens" in live.notice()


@pytest.mark.parametrize("name", sorted(name for name, said in LOADING.items() if said))
def test_a_models_warnings_and_silence_are_told_in_chinese(live, name):  # noqa: F811
    live.open(DATA / "bad_documents" / name)
    assert "random" in live.notice()
    live.store.dispatch(actions.set_language, "zh")
    shown = live.notice() + live.window.notice.bar.details.toPlainText()
    assert "参数是随机的" in shown and "层归一化的 ε" in shown
    assert english_words(shown) <= {"GELU", "tanh", "js_no_weights"}


def test_the_bundled_models_have_a_title_and_a_text_in_every_language():
    for name in bundled.names():
        entry = open_entry(name)
        assert cards.title_of(entry) != "" != cards.about(entry)
        assert english_words(cards.about(entry)) == set()
        i18n.set_language("en")
        assert cards.title_of(entry) == entry.model.card["title"]
        assert cards.about(entry) == entry.model.card["about"]
        i18n.set_language("zh")


def test_a_card_of_a_file_says_what_it_says():
    entry = open_entry(bundled.path_of("self-attention"))
    # a built-in's own title has words in every language, whoever wrote the rest
    assert cards.title_of(entry) == i18n.tr("card.self-attention.title")
    assert cards.title_of(replace(entry, name="Attention of mine")) == "Attention of mine"
    assert cards.about(entry) == entry.model.card["about"]
    assert cards.title_of(None) == cards.about(None) == ""
    assert cards.title_of(ModelEntry(entry.model, "mine", bundled="no such")) == "mine"
