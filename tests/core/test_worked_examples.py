"""Worked examples out of .npz files: every number of the two documents, and a teacher's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import model_core
from model_core import CheckpointError, Model, bundled
from model_core.__main__ import main

DATA = Path(__file__).resolve().parents[1] / "data" / "worked"
LAYER = "encoder.layers.0"
ATTENTION = f"{LAYER}.self_attn"
TOLERANCE = 1e-9

# Site -> the reference's key, for what is there once; "{}" is filled with the head's number.
LAYER_SITES = {
    "encoder.embed.out": "X",
    f"{ATTENTION}.concat": "concat",
    f"{ATTENTION}.out": "mha",
    f"{LAYER}.residual1": "residual1",
    f"{LAYER}.norm1.out": "ln1",
    f"{LAYER}.ffn.hidden": "ffn_pre",
    f"{LAYER}.ffn.activation": "ffn_relu",
    f"{LAYER}.ffn.out": "ffn",
    f"{LAYER}.residual2": "residual2",
    f"{LAYER}.norm2.out": "ln2",
}
HEAD_SITES = {
    "q_heads": "Q", "k_heads": "K", "v_heads": "V",
    "scores": "scores", "weights": "weights", "context": "head",
}  # fmt: skip
PARAMETERS = {
    f"{ATTENTION}.W_o": "W_O",
    f"{LAYER}.norm1.gamma": "gamma1", f"{LAYER}.norm1.beta": "beta1",
    f"{LAYER}.ffn.W_1": "W1", f"{LAYER}.ffn.b_1": "b1",
    f"{LAYER}.ffn.W_2": "W2", f"{LAYER}.ffn.b_2": "b2",
    f"{LAYER}.norm2.gamma": "gamma2", f"{LAYER}.norm2.beta": "beta2",
}  # fmt: skip


def arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def opened(tmp_path: Path, **content) -> Model:
    """The model of a teacher's own np.savez."""
    np.savez(tmp_path / "own.npz", **content)
    return model_core.open_checkpoint(tmp_path / "own.npz")


def agrees(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.shape == wanted.shape and bool(np.abs(got - wanted).max() <= TOLERANCE)


@pytest.mark.parametrize("name", ["encoder_layer", "encoder_layer_extra"])
def test_every_array_of_the_encoder_layer_agrees(name):
    truth = arrays(name)
    model = model_core.open_checkpoint(DATA / f"{name}.npz")
    tape = model.trace()
    compared = {"n_heads", "eps"}
    for site, key in LAYER_SITES.items():
        assert tape[site].value.dtype == np.float64
        assert agrees(tape[site].value[0], truth[key]), site
        compared.add(key)
    for head in range(int(truth["n_heads"])):
        for site, key in HEAD_SITES.items():
            assert agrees(tape[f"{ATTENTION}.{site}"].value[0, head], truth[f"head{head}_{key}"])
            compared.add(f"head{head}_{key}")
        for letter in "QKV":
            width = model.config.d_head
            columns = slice(head * width, (head + 1) * width)
            matrix = model.parameters[f"{ATTENTION}.W_{letter.lower()}"][:, columns]
            assert np.array_equal(matrix, truth[f"head{head}_W_{letter}"])
            compared.add(f"head{head}_W_{letter}")
    for parameter, key in PARAMETERS.items():
        assert np.array_equal(model.parameters[parameter], truth[key])
        compared.add(key)
    assert compared == set(truth)
    assert model.config.norm_eps == truth["eps"]
    assert model.warnings == []


@pytest.mark.parametrize(
    ("variant", "prefixes", "end"),
    [(None, [""], "output"), ("multi_head", ["mh0_", "mh1_"], "mh_concat")],
)
def test_every_array_of_the_self_attention_agrees(variant, prefixes, end):
    truth = arrays("self_attention")
    model = model_core.open_checkpoint(DATA / "self_attention.npz", variant=variant)
    assert model.config.n_heads == len(prefixes)
    tape = model.trace()
    assert agrees(tape["encoder.embed.out"].value[0], truth["X"])
    sites = HEAD_SITES | {"context": "output"}
    for head, prefix in enumerate(prefixes):
        for site, key in sites.items():
            assert agrees(tape[f"{ATTENTION}.{site}"].value[0, head], truth[prefix + key]), site
    assert agrees(tape[f"{ATTENTION}.concat"].value[0], truth[end])
    assert tape["encoder.out"].site == "encoder.out"
    assert model.card["variants"] == ["multi_head"]


def test_the_tape_starts_at_the_matrix_and_ends_where_the_matrices_do():
    short = model_core.open_checkpoint("self-attention").trace()
    assert short.sites[0] == "encoder.embed.out"
    assert short.sites[-1] == f"{ATTENTION}.concat"
    whole = model_core.open_checkpoint("encoder-layer").trace()
    assert whole.sites[0] == "encoder.embed.out"
    assert whole.sites[-1] == f"{LAYER}.norm2.out"
    for tape in (short, whole):
        assert {site.split(".")[0] for site in tape.sites} == {"encoder"}
        assert all(record.value.shape[0] == 1 for record in tape)


@pytest.mark.parametrize(
    ("name", "copy", "tokens"),
    [
        ("encoder-layer", "encoder_layer", ["女生", "撩", "刘海"]),
        ("self-attention", "self_attention", ["x1", "x2"]),
    ],
)
def test_the_documents_examples_are_bundled(name, copy, tokens):
    assert name in bundled.names()
    model, own = model_core.open_checkpoint(name), model_core.open_checkpoint(DATA / f"{copy}.npz")
    assert model.card["title"]
    assert model.config == own.config
    assert model.parameters.keys() == own.parameters.keys()
    for key, value in own.parameters.items():
        assert np.array_equal(model.parameters[key], value)
    tape = model.trace()
    assert tape.source_tokens == tokens
    assert tape.source_ids.tolist() == [list(range(len(tokens)))]
    assert tape.target_tokens == tape.predicted_tokens == []
    for site in tape.sites:
        assert np.array_equal(tape[site].value, own.trace()[site].value)
    variant = model.card.get("variants")
    assert variant is None or model_core.open_checkpoint(name, variant=variant[0]).trace()


def test_another_matrix_is_traced_in_place_of_the_own_one():
    model = model_core.open_checkpoint("encoder-layer")
    own = model.inputs.copy()
    matrix = np.array([[1, 2], [3, -4], [0.5, 0], [7, 7.5]])
    tape = model.trace(inputs=matrix)
    assert np.array_equal(tape["encoder.embed.out"].value[0], matrix)
    assert tape.source_tokens == ["女生", "撩", "刘海", "x4"]
    assert np.array_equal(model.inputs, own)
    assert np.array_equal(model.trace()["encoder.embed.out"].value[0], own)
    both = model.trace(inputs=np.stack([own, own[::-1]]))
    assert np.allclose(both["encoder.out"].value[0], model.trace()["encoder.out"].value[0])
    assert np.allclose(both["encoder.out"].value[1], both["encoder.out"].value[0][::-1])


def test_an_edited_cell_changes_only_what_depends_on_it():
    model = model_core.open_checkpoint(DATA / "encoder_layer_extra.npz")
    edited = model.inputs.copy()
    edited[2, 5] += 0.25
    before, after = model.trace(), model.trace(inputs=edited)
    changed = {
        site: np.argwhere(before[site].value != after[site].value)
        for site in ("encoder.embed.out", f"{ATTENTION}.q", f"{ATTENTION}.v")
    }
    assert changed["encoder.embed.out"].tolist() == [[0, 2, 5]]
    assert set(changed[f"{ATTENTION}.q"][:, 1]) == set(changed[f"{ATTENTION}.v"][:, 1]) == {2}
    scores = np.argwhere(before[f"{ATTENTION}.scores"].value != after[f"{ATTENTION}.scores"].value)
    assert all(2 in (query, key) for _, _, query, key in scores)
    assert (before["encoder.out"].value != after["encoder.out"].value).any(axis=-1).all()


def test_the_gradient_of_the_matrix_is_that_of_central_differences():
    model = model_core.open_checkpoint(DATA / "encoder_layer_extra.npz")
    weights = np.random.default_rng(2).standard_normal((1, 4, 8))
    tape = model.trace()
    got = tape.backward("encoder.out", weights)["encoder.embed.out"][0]
    for place in [(0, 0), (1, 7), (3, 4)]:
        shares = []
        for step in (1e-5, -1e-5):
            moved = model.inputs.copy()
            moved[place] += step
            shares.append((model.trace(inputs=moved)["encoder.out"].value * weights).sum())
        assert got[place] == pytest.approx((shares[0] - shares[1]) / 2e-5, rel=1e-6, abs=1e-8)


def test_every_cell_is_explained_and_every_record_printed():
    tape = model_core.open_checkpoint("encoder-layer").trace()
    for record in tape:
        for index in np.ndindex(record.value.shape):
            assert record.explain(index).value == pytest.approx(record.value[index], abs=1e-12)
        names: dict = {}
        exec(record.numpy(), names)
        assert np.allclose(names["value"], record.value, atol=1e-12)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        (np.ones((3, 5)), r"shape \(1, 3, 5\), expected \(S,2\) or \(B,S,2\)"),
        (np.ones(2), r"shape \(2,\)"),
        (np.ones((0, 2)), r"shape \(1, 0, 2\)"),
        ([["a", "b"]], "something else than finite numbers"),
        ([[1.0, np.nan]], "something else than finite numbers"),
    ],
)
def test_an_input_that_is_no_such_matrix_is_refused(inputs, reason):
    with pytest.raises(ValueError, match=reason):
        model_core.open_checkpoint("encoder-layer").trace(inputs=inputs)


def test_what_needs_text_or_a_decoder_says_that_there_is_none(tmp_path):
    model = model_core.open_checkpoint("encoder-layer")
    for ask in (
        lambda: model.trace(source="女生"),
        lambda: model.trace(source_ids=[0, 1]),
        lambda: model.generate("女生"),
        lambda: next(model.decode("女生")),
    ):
        with pytest.raises(ValueError, match="reads a matrix"):
            ask()
    with pytest.raises(ValueError, match="reads tokens: give a source"):
        model_core.open_checkpoint(DATA.parent / "document_model" / "model_flat_vocab.json").trace(
            inputs=np.ones((2, 16))
        )
    for format in ("native", "document"):
        with pytest.raises(CheckpointError, match="the model is a worked example"):
            model_core.save_checkpoint(model, tmp_path / "a", format=format)


# A teacher's own files.

PLAIN = {
    "X": np.arange(6.0).reshape(3, 2),
    "WQ": np.array([[1.0, 2], [3, 4]]),
    "WK": np.array([[0.0, 1], [1, 0]]),
    "WV": np.eye(2),
}
OUTPUT = {"W_O": np.array([[2.0, 0], [0, 3]])}
FORWARD = {"W1": np.ones((2, 5)), "W2": np.full((5, 2), 0.5)}


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({}, "self_attn.concat"),
        (OUTPUT, "self_attn.out"),
        (OUTPUT | {"gamma1": np.ones(2), "beta1": np.zeros(2)}, "norm1.out"),
        (OUTPUT | {"gamma1": np.ones(2)}, "norm1.out"),
        (OUTPUT | FORWARD, "norm2.out"),
    ],
)
def test_a_layer_goes_as_far_as_its_matrices(tmp_path, more, end):
    model = opened(tmp_path, **PLAIN, **more)
    assert model.config.layer_end == end
    tape = model.trace()
    assert tape.sites[-1] == f"{LAYER}.{end}"
    assert np.array_equal(tape["encoder.out"].value, tape[tape.sites[-1]].value)


def test_vectors_that_are_left_out_change_nothing_and_are_named(tmp_path):
    short = opened(tmp_path, **PLAIN, **OUTPUT, **FORWARD)
    neutral = {"b1": np.zeros((1, 5)), "b2": np.zeros(2)}
    neutral |= {f"gamma{n}": np.ones(2) for n in (1, 2)}
    neutral |= {f"beta{n}": np.zeros(2) for n in (1, 2)}
    whole = opened(tmp_path, **PLAIN, **OUTPUT, **FORWARD, **neutral)
    assert whole.warnings == []
    assert len(short.warnings) == len(neutral)
    for key in neutral:
        assert any(f'"{key}" is left out' in sentence for sentence in short.warnings)
    out = short.trace()["encoder.out"].value
    assert np.array_equal(out, whole.trace()["encoder.out"].value)


def test_heads_may_lie_side_by_side_or_one_by_one(tmp_path):
    generator = np.random.default_rng(3)
    X, wide = generator.normal(size=(3, 4)), generator.normal(size=(3, 4, 6))
    names = dict(zip("QKV", wide, strict=True))
    together = opened(
        tmp_path, X=X, n_heads=2, **{f"W_{letter}": matrix for letter, matrix in names.items()}
    )
    one_by_one = opened(
        tmp_path, X=X,
        **{f"head0_W_{letter}": matrix[:, :3] for letter, matrix in names.items()},
        **{f"head1_W_{letter}": matrix[:, 3:] for letter, matrix in names.items()},
    )  # fmt: skip
    assert together.config == one_by_one.config
    for site in one_by_one.trace().sites:
        assert np.array_equal(together.trace()[site].value, one_by_one.trace()[site].value)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", ">f8", "u1"])
def test_numbers_of_any_real_type_and_order_are_read(tmp_path, save, dtype):
    content = {name: np.asfortranarray(value.astype(dtype)) for name, value in PLAIN.items()}
    save(tmp_path / "own.npz", **content, tokens=np.array(["今天", "天气", "好"]))
    model = model_core.open_checkpoint(tmp_path / "own.npz")
    tape = model.trace()
    assert np.array_equal(tape["encoder.embed.out"].value[0], PLAIN["X"])
    assert np.array_equal(model.parameters[f"{ATTENTION}.W_q"], PLAIN["WQ"])
    assert tape[f"{ATTENTION}.scores"].value.dtype == np.float64
    assert tape.source_tokens == ["今天", "天气", "好"]


def test_another_float_type_or_activation_may_be_asked_for():
    path = DATA / "encoder_layer.npz"
    narrow = model_core.open_checkpoint(path, "float32")
    assert {record.value.dtype for record in narrow.trace()} == {np.dtype("float32")}
    smooth = model_core.open_checkpoint(path, activation="gelu", norm_eps=1e-5)
    assert smooth.trace()[f"{LAYER}.ffn.activation"].op == "gelu"
    assert smooth.config.norm_eps == 1e-5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"X": None}, 'NumPy archive without the matrix "X"'),
        ({"WK": None}, '"WK" is missing'),
        ({"WQ": None, "WK": None, "WV": None}, "no matrices of an attention, expected head0_W_Q"),
        ({"X": np.ones(3)}, r'"X" has the shape \(3,\), expected rows of numbers'),
        ({"X": np.ones((3, 3))}, r'"WQ" has the shape \(2, 2\), expected \(3, 2\)'),
        ({"X": np.array([["a", "b"]])}, '"X" has the shape'),
        ({"X": np.array([[1, np.nan]])}, '"X" holds a NaN'),
        ({"X": np.array([[1, 2], [3]], dtype=object)}, '"X" holds Python objects'),
        ({"X": np.array([[1, 1j]])}, '"X" has the type "<c16", expected real numbers'),
        ({"X": np.array([[True, False]])}, 'has the type "|b1"'),
        ({"WV": np.ones((2, 3))}, r'"WV" has the shape \(2, 3\), expected \(2, 2\)'),
        ({"WV": np.ones((2, 0))}, r'"WV" has the shape \(2, 0\)'),
        ({"head0_W_Q": np.ones((2, 2))}, "head0_W_Q as well as WQ, expected one way"),
        ({"W1": np.ones((2, 5))}, '"W_O" is missing, expected it, because the file has "W1"'),
        (OUTPUT | {"W1": np.ones((2, 5))}, '"W2" is missing'),
        ({"W_O": np.ones((3, 2))}, r'"W_O" has the shape \(3, 2\), expected \(2, 2\)'),
        (OUTPUT | FORWARD | {"b1": np.ones(4)}, r'"b1" has the shape \(4,\), expected \(5,\)'),
        ({"n_heads": 3}, "n_heads is 3, expected a divisor of the width 2"),
        ({"n_heads": 1.5}, "n_heads is 1.5, expected a whole number"),
        ({"eps": -1.0}, "norm_eps is -1.0"),
        ({"eps": np.ones(2)}, '"eps" has the shape'),
        ({"tokens": np.array(["a", "b"])}, r'"tokens" has the shape \(2,\), expected 3 names'),
        ({"tokens": np.arange(3)}, '"tokens" holds numbers'),
        ({"tokens": np.array(["a", "", "b"])}, '"tokens" holds'),
        ({"tokens": np.array(["a", "\x07", "b"])}, '"tokens" holds'),
        ({"activation": "swish"}, "activation is 'swish'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_file_that_does_not_add_up_is_refused_in_one_sentence(tmp_path, changes, reason):
    content = {name: value for name, value in (PLAIN | changes).items() if value is not None}
    with pytest.raises(CheckpointError, match=reason) as caught:
        opened(tmp_path, **content)
    assert str(caught.value).isprintable()


def test_unknown_names_are_warned_of_and_results_are_not(tmp_path):
    model = opened(tmp_path, **PLAIN, Q=np.ones((3, 2)), ln1=np.ones(2), W_Z=np.ones((2, 2)))
    assert model.warnings == ['"W_Z" is not known to this program and was ignored']


def test_a_worked_example_is_saved_with_its_matrix(tmp_path):
    model = model_core.open_checkpoint("encoder-layer", activation="gelu")
    model.inputs = model.inputs * 2
    saved = model_core.save_checkpoint(model, tmp_path / "own")
    assert (saved.format, saved.n_bytes) == ("worked", (tmp_path / "own").stat().st_size)
    again = model_core.open_checkpoint(tmp_path / "own")
    assert (again.config, again.card) == (model.config, model.card)
    assert again.trace().source_tokens == ["女生", "撩", "刘海"]
    for site in model.trace().sites:
        assert np.array_equal(again.trace()[site].value, model.trace()[site].value)


def test_the_command_line_traces_a_worked_example_without_a_source(tmp_path, capsys):
    out = tmp_path / "trace.npz"
    assert main(["info", "self-attention", "--variant", "multi_head"]) == 0
    assert "Self-attention" in capsys.readouterr().out
    command = ["trace", "self-attention", "--variant", "multi_head", "--out", str(out)]
    assert main(command) == 0
    with np.load(out) as file:
        assert agrees(file[f"{ATTENTION}.concat"][0], arrays("self_attention")["mh_concat"])
        assert file["source_tokens"].tolist() == ["x1", "x2"]
    assert main(["translate", "self-attention", "x"]) == 2
    assert "reads a matrix" in capsys.readouterr().err
