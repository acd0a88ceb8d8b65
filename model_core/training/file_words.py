"""What is said of a training on a file: how it is read, what was chosen, what came of it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from model_core.bundled import resources
from model_core.training.batching import Example
from model_core.training.cleaning import counted
from model_core.training.data_files import Look
from model_core.training.file_look import shown_columns
from model_core.training.held_out import Evaluation
from model_core.training.lab_run import LabRun
from model_core.training.settings import FIELDS, SettingField, named_type
from model_core.training.suiting import unknown_share
from model_core.training.text_files import shown_encoding

FORMAT_NAMES = {"tsv": "tab-separated (TSV)", "csv": "CSV", "jsonl": "JSON lines", "lines": "lines"}
# A loss that is no more than so much below the one of guessing is no better.
MUCH_BELOW = 0.98
# With such a share of it in the last steps a model knows by heart what it is trained on.
BY_HEART, LAST_STEPS = 0.5, 25


def recognised(look: Look) -> Iterator[str]:
    """How a file is read: format, encoding, header, columns, and what was guessed of it."""
    mark = "a tab" if look.separator == "\t" else repr(look.separator)
    between = f" with {mark}" if look.separator and look.format != "tsv" else ""
    yield (
        f"read as {FORMAT_NAMES[look.format]}{between} in {shown_encoding(look.encoding)}: "
        f"column {shown_columns([look.source])} -> column {shown_columns([look.target])}"
    )
    if look.format in ("tsv", "csv"):
        first = "is a pair"
        if look.header:
            first = "names the columns"
            if not look.header_is_sure:
                first += ", it seems (if it is a pair: --header no)"
        yield f"the first line {first}"
    others = [name for name in look.columns if name not in (look.source, look.target)]
    if others:
        yield f"other columns, not used: {shown_columns(others)}"


def chosen(training: LabRun) -> Iterator[str]:
    """The settings of a run that has not begun yet, and what they leave out."""
    s, words, prepared = training.settings, training.model.tokenizer, training.prepared
    yield (
        f"tokens are {'words' if s.tokenizer == 'word' else 'characters'}: "
        f"{len(words.source_vocabulary):,} source, {len(words.target_vocabulary):,} target"
    )
    for side, share in unknown(prepared.train):
        why = f"vocab_size {s.vocab_size}" if s.vocab_size else f"min_count {s.min_count}"
        yield f"{share:.2%} of the {side} tokens became <UNK> ({why})"
    yield from sizes(training)


def sizes(training: LabRun) -> Iterator[str]:
    """How large a model and its training are."""
    s, prepared = training.settings, training.prepared
    yield (
        f"d_model {s.d_model}, n_heads {s.n_heads}, d_ff {s.d_ff}, {s.encoder_depth} + "
        f"{s.decoder_depth} layers, max_seq_len {s.max_seq_len}: "
        f"{training.model.parameter_count:,} parameters"
    )
    yield (
        f"{counted(training.total_steps, 'step')} of {counted(s.batch_size, 'pair')}, "
        f"learning_rate {s.learning_rate:g}, warmup_steps {s.warmup_steps}, "
        f"{counted(len(prepared.train), 'pair')} to learn from, {len(prepared.held_out):,} held out"
    )
    if prepared.too_long:
        pairs = counted(prepared.too_long, "pair")
        yield f"{pairs} longer than max_seq_len {s.max_seq_len}, left out"


def unknown(examples: Sequence[Example]) -> Iterator[tuple[str, float]]:
    """Which sides have unknown tokens, and their share of all."""
    for place, side in enumerate(("source", "target")):
        if share := unknown_share(example[place] or () for example in examples):
            yield side, share


def guessing_loss(train: Sequence[Example], held_out: Sequence[Example], n_tokens: int) -> float:
    """The mean loss of a held-out token for who knows how frequent each token is, and no more."""
    seen = Counter(token for example in train for token in example.target)
    wanted = Counter(token for example in held_out for token in example.target)
    # each text ends once; one more of each token, so that none is impossible
    end = -1
    seen[end], wanted[end] = len(train), len(held_out)
    total = sum(seen.values()) + n_tokens
    loss = sum(count * -math.log((seen[token] + 1) / total) for token, count in wanted.items())
    return loss / max(1, sum(wanted.values()))


def verdict(training: LabRun, evaluation: Evaluation | None) -> str:
    """A sentence where a training has come to nothing, else ""."""
    prepared = training.prepared
    if evaluation is None or not prepared.held_out:
        return ""
    n_tokens = len(training.model.tokenizer.target_vocabulary)
    guessing = guessing_loss(prepared.train, prepared.held_out, n_tokens)
    if evaluation.loss < MUCH_BELOW * guessing:
        return ""
    advice = "train longer"
    last = training.history.steps.column("loss")[-LAST_STEPS:]
    if last.size and last.mean() < BY_HEART * guessing:
        pairs = counted(len(prepared.train), "pair")
        advice = f"it knows the {pairs} it learned from by heart, and needs more of them"
    elif training.settings.learning_rate > 0.01:
        advice = f"the learning_rate {training.settings.learning_rate:g} is high, try 0.001"
    return (
        f"the held-out loss {evaluation.loss:.3f} is no better than guessing tokens by how "
        f"frequent they are ({guessing:.3f}): the model has learned nothing of use; {advice}"
    )


def settings_list() -> Iterator[str]:
    """Every setting with its default, its sensible values and what it is for."""
    for field in FIELDS:
        default = json.dumps(field.default)
        # a file counts layers and heads from 0; the window does from where the user wants to
        meaning = _meanings()[field.explanation].format(first=0)
        yield f"{field.name:17} {default:12} {_values(field):29} {meaning}"


def _values(field: SettingField) -> str:
    if field.choices:
        return " | ".join(field.choices)
    if field.low is None or field.high is None:
        return named_type(field.name)
    return f"{field.low:g} to {field.high:g}"


@cache
def _meanings() -> dict[str, str]:
    """What the window says of the settings, too."""
    path = resources() / "i18n" / "en.lab.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))
