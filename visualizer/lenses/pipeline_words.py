"""The words of the decoding bench: its heading, the stages' titles and figures, the draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model_core.sampling import Draw
from model_core.stages import (
    AFTER_TOP_K,
    AFTER_TOP_P,
    LOGITS,
    RENORMALISED,
    TEMPERED,
    Stage,
    Staged,
)
from visualizer.bench_actions import DRAWS
from visualizer.i18n import tr
from visualizer.lenses.caption import Caption
from visualizer.lenses.likelihood import amount, probability
from visualizer.lenses.numbers import NO_BREAK_SPACE, exact
from visualizer.lenses.pipeline import (
    Chosen,
    Histogram,
    chosen,
    first_values,
    settings,
    staged,
)
from visualizer.lenses.token_labels import vocabulary_labels
from visualizer.state import ViewState, current_token

GENERATOR = "PCG64"
# Each of two lines in whole words, then shorter.
Lines = tuple[tuple[str, ...], tuple[str, ...]]
# Of so many equal tokens each is named.
TIES_NAMED = 4


def decoding_caption(state: ViewState) -> Caption | None:
    """The heading of the page and what it says of log-probabilities."""
    found = staged(state)
    if found is None:
        return None
    place = tr("decoding.position", n=current_token(state) + state.count_from)
    return Caption(
        side="output",
        side_title=tr("decoding.side"),
        layer_title=place,
        title=tr("decoding.title"),
        op_title="",
        site="",
        shape=tr("decoding.vocabulary", n=grouped(found.distribution.logits.size)),
        formula="",
        sentence=tr("decoding.log_probs"),
        why=tr("decoding.order"),
    )


def grouped(count: int) -> str:
    """A count in groups of three digits."""
    return f"{count:,}".replace(",", NO_BREAK_SPACE)


# Stages.


def stage_titles(state: ViewState, stage: Stage) -> tuple[str, ...]:
    """ "÷ temperature 0.8", "top-k off", "repetition ÷ 1.2"; then a shorter one, if there is."""
    title, keys = _stage_title(state, stage), {TEMPERED: "tempered", RENORMALISED: "renormalised"}
    if stage.name not in keys:
        return (title,)
    temperature, _, _ = settings(state.inputs)
    return title, tr(f"decoding.short.{keys[stage.name]}", value=f"{temperature:g}")


def _stage_title(state: ViewState, stage: Stage) -> str:
    temperature, top_k, top_p = settings(state.inputs)
    if stage.name == LOGITS:
        return tr(f"decoding.stage.{first_values(state.inputs)}")
    if stage.name == TEMPERED:
        return tr("decoding.stage.tempered", value=f"{temperature:g}")
    if stage.name == AFTER_TOP_K:
        return tr("decoding.stage.top_k", value=_or_off(top_k))
    if stage.name == AFTER_TOP_P:
        return tr("decoding.stage.top_p", value=_or_off(top_p))
    if stage.name == RENORMALISED:
        return tr("decoding.stage.renormalised")
    return tr(f"decoding.constraint.{stage.name}", value=_setting(state, stage.name))


def _or_off(value: float | None) -> str:
    return tr("ui.off") if value is None else f"{value:g}"


def _setting(state: ViewState, name: str) -> str:
    """What the checkpoint sets a constraint to, where that is a number."""
    assert state.model is not None
    value: Any = getattr(state.model.model.constraints, name, None)
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def stage_words(stage: Stage, place: int, found: Staged) -> tuple[Lines, str]:
    """Two short lines with the figures of a stage, and all of them in whole words."""
    size = stage.values.size
    kept, mass = grouped(stage.kept_count), probability(min(stage.kept_mass, 1.0))
    left = (
        tr("decoding.kept", kept=kept, all=grouped(size), mass=mass),
        tr("decoding.kept.short", kept=kept, mass=mass),
        tr("decoding.kept.least", kept=kept),
    )
    bits, perplexity = amount(stage.entropy), amount(stage.perplexity)
    spread = (
        tr("decoding.spread", bits=bits, perplexity=perplexity),
        tr("decoding.spread.short", bits=bits),
    )
    lines = [
        tr(f"decoding.about.{_about(stage, place)}"),
        tr("decoding.kept.tip", kept=kept, all=grouped(size)),
        tr("decoding.mass.tip", mass=exact(stage.kept_mass), total=exact(stage.total_mass)),
        tr("decoding.entropy.tip", bits=exact(stage.entropy), perplexity=exact(stage.perplexity)),
    ]
    if stage.touched is not None:
        lines.insert(1, tr("decoding.touched", n=grouped(stage.touched.size)))
    return (left, spread), "\n".join(lines)


def _about(stage: Stage, place: int) -> str:
    known = {
        TEMPERED: "tempered",
        AFTER_TOP_K: "top_k",
        AFTER_TOP_P: "top_p",
        RENORMALISED: "renormalised",
    }
    if stage.name in known:
        return known[stage.name]
    return "constraint" if place else "logits"


# Draws.


def histogram_words(state: ViewState, drawn: Histogram) -> tuple[tuple[str, ...], Lines, str]:
    """Title, two short lines and everything in whole words."""
    fit = drawn.fit
    span = {"first": grouped(drawn.first), "last": grouped(drawn.last)}
    seen = tr("decoding.draws.span", **span)
    if not fit.degrees:
        words = tr("decoding.fit.none")
        line: tuple[str, ...] = (words,)
    else:
        values = {"n": fit.degrees, "statistic": amount(fit.statistic)}
        p = probability(fit.p_value)
        line = (tr("decoding.fit", p=p, **values), tr("decoding.fit.short", p=p))
        words = tr("decoding.fit.tip", p=exact(fit.p_value), pooled=fit.pooled, **values)
    about = tr(
        "decoding.draws.tip",
        times=grouped(drawn.times),
        seed=state.inputs.seed,
        name=GENERATOR,
        **span,
    )
    title = tr("decoding.draws", times=grouped(drawn.times))
    return (title,), ((seen,), line), f"{about}\n{words}"


@dataclass(frozen=True)
class DrawWords:
    """Heading of the draw, and whole sentences: what happened, and what to be warned of.

    brief: what happened in fewer words and digits
    """

    title: str
    lines: tuple[str, str]
    sentence: str
    warning: str = ""
    brief: str = ""


def draw_words(state: ViewState) -> DrawWords | None:
    """What is said of the draw at the cursor's row."""
    taken = chosen(state)
    if taken is None or state.model is None:
        return None
    tokens = vocabulary_labels(state.model.model.tokenizer.target_vocabulary)
    name = tokens[taken.id]
    title = tr("decoding.draw")
    if taken.draw is None:
        key = f"decoding.way.{taken.way}"
        ties = _ties(taken, tokens)
        lines = (tr(key), ties or name)
        return DrawWords(
            title, lines, tr(f"{key}.sentence", token=name), ties and _tied(taken, name, ties)
        )
    draw = taken.draw
    lines = (
        tr("decoding.draw.seed", name=GENERATOR, seed=state.inputs.seed, n=grouped(taken.number)),
        f"r = {draw.uniform:.6f}",
    )
    said = {
        "n": grouped(taken.number),
        "token": name,
        "below": _bound(draw, draw.below),
        "upto": _bound(draw, draw.upto),
    }
    key = "decoding.draw.sentence" if taken.of_run else "decoding.draw.again.sentence"
    sentence = tr(key, r=exact(draw.uniform), **said)
    brief = tr("decoding.draw.brief", r=f"{draw.uniform:.6f}", **said)
    warning = tr("decoding.near") if draw.near_boundary else ""
    return DrawWords(title, lines, sentence, warning, "" if warning else brief)


def _bound(draw: Draw, bound: float) -> str:
    """An end of the piece: with every digit where that tells on which side r lies."""
    return exact(bound) if draw.near_boundary else probability(bound)


def _ties(taken: Chosen, tokens: Any) -> str:
    if not taken.ties:
        return ""
    named = ", ".join(tokens[i] for i in taken.ties[:TIES_NAMED])
    more = len(taken.ties) - TIES_NAMED
    return tr("decoding.ties", tokens=named) + (f" +{more}" if more > 0 else "")


def _tied(taken: Chosen, name: str, ties: str) -> str:
    return tr("decoding.ties.sentence", ties=ties, token=name)


def draw_many_title(times: int) -> str:
    """What the button says: so many draws, or so many more."""
    return tr("decoding.many.more" if times else "decoding.many", n=DRAWS)
