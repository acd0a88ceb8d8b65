"""The source document's JSON: what is written is read, and what the file leaves open is chosen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import model_core
from model_core import CheckpointError
from model_core.checkpoints.document_json import parameter_names
from model_core.parameters import parameter_shapes
from tests.core.models import small_model

DATA = Path(__file__).resolve().parents[1] / "data"
FILE = DATA / "document_model" / "model_flat_vocab.json"
NESTED = DATA / "bad_documents" / "good_json.json"


def our_name(readable: str) -> str:
    """Our name of a parameter by the name that the reference's table gives it."""
    words = readable.split(".")
    if words[0].endswith("_embed"):
        return f"{words[0]}.weight"
    if words[0] == "out":
        return f"output.{words[1]}"
    side, layer, part, kind, *letter = words
    where = f"{side}.layers.{layer}.{part}"
    return f"{where}.{letter[0]}_{kind}" if letter else f"{where}.{kind}"


def content() -> dict:
    return json.loads(FILE.read_text(encoding="utf-8"))


def rewritten(path: Path, **parts) -> Path:
    path.write_text(json.dumps(content() | parts, ensure_ascii=False), encoding="utf-8")
    return path


def test_the_names_are_those_of_the_references_table():
    table = json.loads((DATA / "document_model" / "parameter_names.json").read_text())
    config = model_core.open_checkpoint(FILE).config
    wanted = [(key, our_name(readable)) for key, readable in table.items()]
    assert parameter_names(config) == wanted
    assert {name for _, name in wanted} == set(parameter_shapes(config))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_weight_is_the_files_own_number(dtype):
    weights = content()["weights"]
    model = model_core.open_checkpoint(FILE, dtype)
    for key, name in parameter_names(model.config):
        assert model.parameters[name].dtype == dtype
        wanted = np.array(weights[key], dtype=dtype)
        assert model.parameters[name].tobytes() == wanted.tobytes()


def test_config_vocabulary_and_card_are_the_files():
    model, file = model_core.open_checkpoint(FILE), content()
    config = model.config
    sizes = (config.d_model, config.n_heads, config.d_ff, config.max_seq_len)
    assert sizes == tuple(file["config"][n] for n in ("d_model", "n_heads", "d_ff", "max_seq_len"))
    assert config.n_encoder_layers == config.n_decoder_layers == file["config"]["n_layers"]
    assert config.position_table == "float64"
    assert {t: i for i, t in enumerate(model.tokenizer.source_vocabulary)} == file["vocab"]
    assert model.card["info"] == file["info"]
    assert model.card["training"]["learning_rate"] == file["config"]["learning_rate"]
    assert model.warnings == []


def test_both_layouts_of_the_vocabulary_mean_the_same(tmp_path):
    flat = content()["vocab"]
    nested = {
        "char_to_id": flat,
        "id_to_char": {str(number): token for token, number in flat.items()},
        "vocab_size": len(flat),
    }
    for vocab in (nested, {"char_to_id": flat}, {"char_to_id": flat, "vocab_size": len(flat)}):
        model = model_core.open_checkpoint(rewritten(tmp_path / "m.json", vocab=vocab))
        assert {t: i for i, t in enumerate(model.tokenizer.target_vocabulary)} == flat
    known = json.loads(NESTED.read_text(encoding="utf-8"))["vocab"]["id_to_char"]
    tokens = model_core.open_checkpoint(NESTED).tokenizer.source_tokens(range(len(known)))
    assert tokens == [known[str(i)] for i in range(len(known))]


def test_the_source_is_read_after_the_start_token_and_without_an_end_token():
    tokenizer = model_core.open_checkpoint(FILE).tokenizer
    encoding = tokenizer.encode_source("你好☃")
    assert encoding.tokens == ["<SOS>", "你", "好", "<UNK>"]
    assert [(word.position, word.text) for word in encoding.unknown] == [(3, "☃")]


def test_gelu_and_eps_are_chosen_where_the_file_is_silent():
    silent = model_core.open_checkpoint(FILE)
    assert (silent.config.activation, silent.config.norm_eps) == ("gelu_tanh", 1e-6)
    assert silent.card["silent_on"] == ["activation", "norm_eps"]
    chosen = model_core.open_checkpoint(FILE, activation="gelu", norm_eps=1e-5)
    assert (chosen.config.activation, chosen.config.norm_eps) == ("gelu", 1e-5)
    assert "silent_on" not in chosen.card
    with pytest.raises(ValueError, match="activation is 'swish', expected one of relu, gelu"):
        model_core.open_checkpoint(FILE, activation="swish")
    with pytest.raises(ValueError, match="norm_eps"):
        model_core.open_checkpoint(FILE, norm_eps=-1.0)


def awkward(shape: tuple[int, ...], dtype: str, generator: np.random.Generator) -> np.ndarray:
    """Numbers of every size, and those that are hardest to write down."""
    information = np.finfo(dtype)
    value = generator.standard_normal(shape) * 10.0 ** generator.integers(-30, 30, shape)
    hard = [-0.0, information.max, information.tiny, information.smallest_subnormal, 0.1, 1 / 3]
    value.reshape(-1)[: len(hard)] = hard[: value.size]
    return value.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_saved_model_opens_again_to_the_same_bits(tmp_path, dtype):
    model = model_core.open_checkpoint(FILE, dtype, activation="gelu", norm_eps=1e-7)
    generator = np.random.default_rng(4)
    for value in model.parameters.values():
        value[...] = awkward(value.shape, dtype, generator)
    model_core.save_checkpoint(model, tmp_path / "a.json")
    again = model_core.open_checkpoint(tmp_path / "a.json", dtype)
    assert again.config == model.config
    assert again.tokenizer.to_dict() == model.tokenizer.to_dict()
    assert again.warnings == []
    for name, value in model.parameters.items():
        assert again.parameters[name].tobytes() == value.tobytes()
    model_core.save_checkpoint(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_float32_model_is_the_same_model_when_it_is_opened_as_float64(tmp_path):
    model = model_core.open_checkpoint(FILE, "float32")
    model_core.save_checkpoint(model, tmp_path / "a.json")
    wide = model_core.open_checkpoint(tmp_path / "a.json", "float64")
    for name, value in model.parameters.items():
        assert np.array_equal(wide.parameters[name], value.astype(np.float64))


def test_a_saved_model_is_laid_out_as_the_document_does(tmp_path):
    model = model_core.open_checkpoint(FILE)
    model_core.save_checkpoint(model, tmp_path / "a.json")
    saved, original = json.loads((tmp_path / "a.json").read_text("utf-8")), content()
    layout = json.loads(NESTED.read_text(encoding="utf-8"))
    assert list(saved) == list(original)
    assert saved["config"] == original["config"]
    assert list(saved["vocab"]) == list(layout["vocab"])
    assert saved["vocab"]["char_to_id"] == original["vocab"]
    assert list(saved["weights"]) == list(original["weights"])
    assert saved["weights"] == original["weights"]


def test_a_save_says_what_was_written(tmp_path):
    path = tmp_path / "模型.json"
    saved = model_core.save_checkpoint(model_core.open_checkpoint(FILE), path)
    assert (saved.path, saved.format) == (path, "document")
    assert saved.n_bytes == path.stat().st_size
    assert (saved.n_source_tokens, saved.n_target_tokens, saved.n_parameters) == (44, 44, 13292)
    assert str(saved) == f"模型.json: {saved.n_bytes:,} bytes, 44 tokens, 13,292 parameters"
    native = model_core.save_checkpoint(model_core.open_checkpoint(FILE), tmp_path / "m")
    assert (native.format, native.n_bytes) == ("native", (tmp_path / "m").stat().st_size)


def test_a_document_model_goes_through_a_native_file_and_back(tmp_path):
    model = model_core.open_checkpoint(FILE)
    model_core.save_checkpoint(model, tmp_path / "a.safetensors")
    native = model_core.open_checkpoint(tmp_path / "a.safetensors")
    assert native.config == model.config
    model_core.save_checkpoint(native, tmp_path / "b.json", format="document")
    model_core.save_checkpoint(model, tmp_path / "a.json", format="document")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_without_weights_the_model_is_random_and_says_so(tmp_path):
    model = model_core.open_checkpoint(FILE)
    path = tmp_path / "a.json"
    model_core.save_checkpoint(model, path, include_weights=False)
    assert "weights" not in json.loads(path.read_text("utf-8"))
    first, second = model_core.open_checkpoint(path), model_core.open_checkpoint(path)
    assert first.config == model.config
    assert len(first.warnings) == 1
    assert "random" in first.warnings[0] and "untrained" in first.warnings[0]
    for name, value in first.parameters.items():
        assert value.tobytes() == second.parameters[name].tobytes()
        assert value.shape == model.parameters[name].shape
    assert np.isfinite(first.trace(source="你好", target="好")["logits"].value).all()


def test_a_model_of_words_has_no_place_in_the_format(tmp_path):
    with pytest.raises(CheckpointError, match="tokens of the kind 'word', expected characters"):
        model_core.save_checkpoint(small_model(), tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"norm_position": "pre"}, "norm_position is pre, expected post"),
        ({"tying": "all"}, "tying is all, expected none"),
        ({"n_decoder_layers": 3}, "n_decoder_layers is 3, expected 2"),
        ({"d_head": 4}, "d_head is 4, expected 8"),
    ],
)
def test_a_model_of_other_traits_has_no_place_in_the_format(tmp_path, changes, reason):
    model = model_core.open_checkpoint(FILE)
    config = model.config.from_dict(model.config.to_dict() | changes)
    model.config = config
    with pytest.raises(CheckpointError, match=reason):
        model_core.save_checkpoint(model, tmp_path / "a.json")
    with pytest.raises(ValueError, match=reason):
        parameter_names(config)


def test_formats_that_do_not_exist_or_do_not_fit_are_refused(tmp_path):
    model = model_core.open_checkpoint(FILE)
    with pytest.raises(ValueError, match="format is 'onnx', expected one of native, document"):
        model_core.save_checkpoint(model, tmp_path / "a", format="onnx")
    with pytest.raises(ValueError, match="always has its weights"):
        model_core.save_checkpoint(model, tmp_path / "a", include_weights=False)
    with pytest.raises(CheckpointError, match="no worked example"):
        model_core.save_checkpoint(model, tmp_path / "a.npz")
    with pytest.raises(CheckpointError, match="no variant 'multi_head'"):
        model_core.open_checkpoint(FILE, variant="multi_head")
    assert list(tmp_path.iterdir()) == []


def test_a_diverged_model_is_not_saved_over_a_sound_one(tmp_path):
    model = model_core.open_checkpoint(FILE)
    path = tmp_path / "a.json"
    model_core.save_checkpoint(model, path)
    before = path.read_bytes()
    model.parameters["output.b"][3] = np.nan
    with pytest.raises(CheckpointError, match=r"output\.b holds a number that is not finite"):
        model_core.save_checkpoint(model, path)
    assert path.read_bytes() == before


def test_what_the_format_does_not_know_is_named_and_ignored(tmp_path):
    file = content()
    file["weights"]["param_45_W"] = [[1.0]]
    file["config"]["weight_decay"] = 0.1
    path = rewritten(tmp_path / "m.json", weights=file["weights"], config=file["config"], more=1)
    warnings = model_core.open_checkpoint(path).warnings
    assert len(warnings) == 3
    for name in ("param_45_W", "weight_decay", "more"):
        assert any(name in sentence for sentence in warnings)


def test_a_byte_order_mark_is_no_obstacle(tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes(b"\xef\xbb\xbf" + FILE.read_bytes())
    assert model_core.open_checkpoint(path).config == model_core.open_checkpoint(FILE).config
