"""Compare beam search and constraints with transformers itself; for development, not a test.

    python tools/compare_generation.py REFERENCE

needs transformers (5.24) and torch; REFERENCE holds marian_tiny/ and bart_tiny/, hub folders with
an expected.npz. The checkpoints are run by transformers, only the search and the constraints are
ours. Prints what differs and how much was compared.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM, GenerationConfig
from transformers.generation.utils import GenerationMixin
from transformers.modeling_outputs import BaseModelOutput

from model_core.beams import BeamSettings, Wording, beam_search
from model_core.constraints import Constraints

LIMIT = 20


def searcher(model: Any, source: torch.Tensor) -> Callable[..., np.ndarray]:
    """What `beam_search` asks for, by whole passes of the framework's model in float64."""
    memory = model.get_encoder()(source)[0]
    rows = np.empty((0, 0), dtype=np.int64)

    def advance(parents: Sequence[int] | None, ids: np.ndarray) -> np.ndarray:
        nonlocal rows
        rows = ids if parents is None else np.concatenate([rows[list(parents)], ids], axis=1)
        encoded = BaseModelOutput(last_hidden_state=memory.expand(len(rows), -1, -1))
        read = torch.tensor(rows)
        out = model(encoder_outputs=encoded, decoder_input_ids=read, use_cache=False)
        return torch.log_softmax(out.logits[:, -1].double(), -1).numpy()

    return advance


def compare_expected(folder: Path) -> None:
    """The ids and scores of expected.npz, with the checkpoint's constraints and without."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).double().eval()
    settings = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
    expected = np.load(folder / "expected.npz")
    start, end = settings["decoder_start_token_id"], settings["eos_token_id"]
    for item, kind in itertools.product(("t0", "t1", "t2", "t3"), ("", "raw_")):
        source = torch.tensor(expected[f"{item}_input_ids"])
        own = Constraints() if kind else Constraints.from_settings(settings)
        bound = own.at(model.config.vocab_size, (end,), 1, 1 + LIMIT)

        def constrain(row: np.ndarray, ids: Sequence[int], bound: Any = bound) -> np.ndarray:
            stages = bound.stages(row, ids, log_probabilities=True)
            return stages[-1].after if stages else row

        advance = searcher(model, source)
        steps = beam_search(advance, BeamSettings(), Wording((start,)), end, LIMIT, constrain)
        ranking = list(steps)[-1].ranking
        wanted = expected[f"{item}_beam4_{kind}ids"].tolist()
        same = all(h.ids == ids[: len(h.ids)] for h, ids in zip(ranking, wanted, strict=True))
        scores = np.array([h.score for h in ranking])
        off = np.abs(scores - expected[f"{item}_beam4_{kind}scores"]).max()
        print(f"{folder.name} {item} {kind or 'constrained'}: ids {same}, scores off by {off:.1e}")
        if kind:
            compare_settings(model, source, start, end)


def compare_settings(model: Any, source: torch.Tensor, start: int, end: int) -> None:
    """Other widths, penalties and ways of stopping, against `generate`."""
    choices = itertools.product((2, 5, 16), (0.0, 0.7, 2.0, -1.0), (True, False, "never"))
    for beams, penalty, stopping in choices:
        out = model.generate(
            source,
            num_beams=beams,
            num_return_sequences=beams,
            length_penalty=penalty,
            early_stopping=stopping,
            max_new_tokens=12,
            output_scores=True,
            return_dict_in_generate=True,
            forced_eos_token_id=None,
            forced_bos_token_id=None,
            bad_words_ids=None,
            renormalize_logits=False,
        )
        settings = BeamSettings(beams, penalty, stopping)
        steps = beam_search(searcher(model, source), settings, Wording((start,)), end, 12)
        ranking = list(steps)[-1].ranking
        wanted = out.sequences.tolist()
        same = all(h.ids == ids[: len(h.ids)] for h, ids in zip(ranking, wanted, strict=True))
        scores = np.array([h.score for h in ranking])
        # theirs are float32
        off = np.abs(scores / out.sequences_scores.numpy() - 1).max()
        if not same or off > 1e-5:
            print(
                f"  DIFFERS beams {beams} penalty {penalty} stopping {stopping}: {same} {off:.1e}"
            )


def compare_constraints(trials: int = 4000, size: int = 12, end: int = 2, longest: int = 9) -> None:
    """Random settings, prefixes and log-probabilities, against the list of processors."""
    generator = np.random.default_rng(0)

    def some(n: int) -> list[int]:
        return generator.integers(0, size, n).tolist()

    compared = 0
    for _ in range(trials):
        made: dict[str, Callable[[], Any]] = {
            "repetition_penalty": lambda: float(generator.uniform(0.5, 2)),
            "no_repeat_ngram_size": lambda: int(generator.integers(1, 4)),
            "bad_words_ids": lambda: [some(int(n)) for n in generator.integers(1, 4, 3)],
            "min_length": lambda: int(generator.integers(0, 8)),
            "min_new_tokens": lambda: int(generator.integers(0, 8)),
            "forced_bos_token_id": lambda: some(1)[0],
            "forced_eos_token_id": lambda: [end, 5],
            "suppress_tokens": lambda: some(2),
            "begin_suppress_tokens": lambda: some(2),
            "renormalize_logits": lambda: True,
        }
        settings = {name: make() for name, make in made.items() if generator.random() < 0.35}
        prompt = int(generator.integers(1, 3))
        ids = generator.integers(0, 5, int(generator.integers(prompt, longest))).tolist()
        logits = generator.normal(0, 3, size)
        logits -= np.log(np.exp(logits).sum())
        try:
            config = GenerationConfig(**settings, max_length=longest, eos_token_id=end)
        except ValueError:
            continue  # it refuses them too
        config._eos_token_tensor = torch.tensor([end])
        mixin = GenerationMixin()
        mixin.config = SimpleNamespace(is_encoder_decoder=True)  # type: ignore[assignment]
        processors = mixin._get_logits_processor(config, input_ids_seq_length=prompt)
        wanted = processors(torch.tensor([ids]), torch.tensor(logits)[None])[0].numpy()
        bound = Constraints.from_settings(settings).at(size, (end,), prompt, longest)
        stages = bound.stages(logits, ids, log_probabilities=True)
        found = stages[-1].after if stages else logits
        if np.isneginf(found).all():
            assert not np.isfinite(wanted).any(), settings
        elif not np.allclose(found, wanted, rtol=1e-6, atol=1e-6):
            print(f"  DIFFERS {settings} behind {ids}: {found} {wanted}")
        compared += 1
    print(f"constraints: {compared} compared")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    for name in ("marian_tiny", "bart_tiny"):
        compare_expected(Path(sys.argv[1]) / name)
    compare_constraints()
