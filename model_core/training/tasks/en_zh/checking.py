"""How good an en-zh model is, in lines: held-out sentences, free ones, where its heads look."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from model_core.model import Model
from model_core.training.batching import Example
from model_core.training.datasets import Dataset, Pair, numbered
from model_core.training.evaluation import cross_head_facts, pair_matches, share
from model_core.training.tasks.en_zh import recipe
from model_core.training.tasks.en_zh.lexicon import TABLES


def numbered_examples(pairs: list[Pair], model: Model) -> list[Example]:
    """Pairs of sentences as ids."""
    return [Example(*numbered(pair, model.tokenizer)) for pair in pairs]


def check(data: Dataset, model: Model) -> Iterator[str]:
    """Measure a model and say in lines what came out."""
    for split in data.splits:
        if split == "train":
            continue
        hits = pair_matches(model, data[split])
        yield f"{split}: {share(hits)} exactly right"
    free = free_sentences()
    references = [[plain(text) for text in texts] for _, texts in free]
    results = model.generate([source for source, _ in free])
    hits = [plain(r.text) in texts for r, texts in zip(results, references, strict=True)]
    yield f"written freely: {share(hits)} exactly right"
    yield "mean attention on the aligned source word, held_out:"
    guided = recipe.RECIPE.guided
    for fact in cross_head_facts(model, numbered_examples(list(data["held_out"]), model)):
        is_guided = guided is not None and (fact.layer, fact.head) == (guided.layer, guided.head)
        note = "  guided" if is_guided else ""
        yield (
            f"  decoder layer {fact.layer + 1} head {fact.head + 1}: {fact.aligned_mass:.3f}{note}"
        )


def free_sentences() -> list[tuple[str, tuple[str, ...]]]:
    """Sentences written by hand from the word list, each with its acceptable translations."""
    with open(TABLES / "free_sentences.tsv", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["en"], tuple(row["zh"].split(" | "))) for row in rows]


def plain(text: str) -> str:
    """Text without spaces: references may be written either way."""
    return "".join(text.split())
