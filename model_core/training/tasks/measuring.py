"""How good the model of a task of pairs is, in lines: test splits, mistakes, where heads look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_core.model import Model
from model_core.training.batching import Example
from model_core.training.datasets import Dataset, Pair, numbered
from model_core.training.evaluation import cross_head_facts, pair_matches, share
from model_core.training.loop import GuidedHead

SHOWN_MISSES = 5


def numbered_examples(pairs: Sequence[Pair], model: Model) -> list[Example]:
    """Pairs as ids."""
    return [Example(*numbered(pair, model.tokenizer)) for pair in pairs]


def check_pairs(data: Dataset, model: Model, guided: GuidedHead | None) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    for split, pairs in data.splits.items():
        if split == "train":
            continue
        hits = pair_matches(model, pairs)
        yield f"{split}: {share(hits)} exactly right"
        missed = [pair for pair, hit in zip(pairs, hits, strict=True) if not hit]
        for pair in missed[:SHOWN_MISSES]:
            yield f"  missed: {pair.source_text} - {model.generate(pair.source_text).text}"
    yield "mean attention on the aligned source token, held_out:"
    for fact in cross_head_facts(model, numbered_examples(data["held_out"], model)):
        is_guided = guided is not None and (fact.layer, fact.head) == (guided.layer, guided.head)
        note = "  guided" if is_guided else ""
        yield (
            f"  decoder layer {fact.layer + 1} head {fact.head + 1}: {fact.aligned_mass:.3f}{note}"
        )
