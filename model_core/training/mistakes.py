"""Classic mistakes of hand-written training, each one small alteration at one place, to try out.

None of them is an error message: the program runs on. Which of them a gradient check finds, and
what each does to the loss, is the lesson.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from model_core.config import ModelConfig
from model_core.ops import DropoutMask, Dropped, Linear, LookAheadMask, Scores, Term
from model_core.ops.base import Array, Explanation, Index, Operand, Part, cell, no_gradient, number
from model_core.parameters import parameter_shapes
from model_core.plan import Instruction, Plan
from model_core.transformer import Dropout, build_plan


@dataclass(frozen=True)
class Mistake:
    """A mistake that can be switched on.

    found_by_check: whether gradients disagree with finite differences then
    about, in_loss: what is done wrong, and what the loss shows of it
    """

    name: str
    found_by_check: bool
    about: str
    in_loss: str


NO_KEY_VALUE = Mistake(
    "no_key_value_gradient",
    True,
    "The encoder's attention passes back the gradient of its queries alone: what reached its "
    "input through the keys and the values is dropped.",
    "What lies below learns from a wrong gradient; the loss falls all the same and mostly hardly "
    "shows it.",
)
SHARED_DROPOUT = Mistake(
    "shared_dropout",
    True,
    "All layers share one dropout object. Each pass draws its own mask, but the walk back finds "
    "only the one that was drawn last.",
    "Every gradient below is noisy and wrong, the more the higher the rate; the loss hardly shows "
    "it.",
)
LOOKS_AHEAD = Mistake(
    "looks_ahead",
    False,
    "The look-ahead mask is off by one: each target token may also see the next one, which is "
    "what it has to predict.",
    "Trained with it, the loss falls far lower than it should, for the answer is copied; without "
    "it, when decoding, the model fails.",
)
HIDES_ITSELF = Mistake(
    "hides_itself",
    False,
    "The look-ahead mask is off by one the other way: a target token may see the tokens before "
    "it, but not itself; the first one sees nothing.",
    "The loss falls as far or a little less, for the residual still carries the token's own "
    "vector.",
)
NO_CORRECTION = Mistake(
    "no_bias_correction",
    False,
    "Adam's averages start at zero and are not corrected for it.",
    "The early steps have the wrong size, at step t (1 - beta1^t) / sqrt(1 - beta2^t) times the "
    "right one: with betas of 0.9 and 0.98 first 0.71, then up to 1.6. The loss hardly tells.",
)
NO_SCALING = Mistake(
    "no_scaling",
    False,
    "The scores are not divided by the root of the head's width.",
    "The softmax is sharp before anything is learned and lets little gradient through: the loss "
    "falls slower.",
)
MISTAKES: dict[str, Mistake] = {
    mistake.name: mistake
    for mistake in (
        NO_KEY_VALUE,
        SHARED_DROPOUT,
        LOOKS_AHEAD,
        HIDES_ITSELF,
        NO_CORRECTION,
        NO_SCALING,
    )
}


def checked(names: Iterable[str]) -> frozenset[str]:
    """The names as a set; ValueError for one that is no mistake."""
    chosen = frozenset(names)
    for name in sorted(chosen - MISTAKES.keys()):
        raise ValueError(f"no mistake is named {name!r}; there are: {', '.join(MISTAKES)}")
    return chosen


class NotPassedBack(Linear):
    """A linear map that keeps the gradient of its input to itself; its own are right."""

    def backward(
        self, d_out: Array, out: Array, x: Array, W: Array, b: Array | None = None
    ) -> tuple[Array | None, ...]:
        return None, *super().backward(d_out, out, x, W, b)[1:]

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        if which == 0:
            raise no_gradient(self, which)
        return super().explain_backward(which, index, d_out, out, operands)


class SharedDropped(Dropped):
    """x times its mask on the way there, but times the mask that was drawn last on the way back.

    x, mask, last: the same shape; `last` is recorded later than this
    """

    backward_formulas = (r"\bar{x} = \bar{y} \odot m_{\mathrm{last}}", "")

    def forward(
        self, x: Array, mask: Array, last: Array | None = None, *, out: Array | None = None
    ) -> Array:
        return super().forward(x, mask, out=out)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        return super().explain(index, operands[:2])

    def reads(self, index: Index, operands: Sequence[Operand]) -> tuple[tuple[Part, ...], Index]:
        (x, mask), place = super().reads(index, operands[:2])
        # what was drawn last is not read on the way there
        return (x, mask, mask), place

    def backward(  # type: ignore[override]
        self, d_out: Array, out: Array, x: Array, mask: Array, last: Array
    ) -> tuple[Array | None, ...]:
        return np.multiply(d_out, last), None, None

    def explain_backward(
        self, which: int, index: Index, d_out: Operand, out: Operand, operands: Sequence[Operand]
    ) -> Explanation:
        x, _, last = operands
        return super().explain_backward(which, index, d_out, out, (x, last))

    def backward_expression(self, which: int, d_out: str, out: str, names: Sequence[str]) -> str:
        return super().backward_expression(which, d_out, out, (names[0], names[2]))


class ShiftedMask(LookAheadMask):
    """A query may attend to keys up to its own position plus `shift`."""

    def __init__(self, shift: int) -> None:
        self.shift = shift
        # of this mask alone
        self.formula = rf"m_{{t,k}} = [\, k \le t {shift:+d} \,]"  # type: ignore[misc]

    def forward(
        self, query_positions: Array, key_positions: Array, *, out: Array | None = None
    ) -> Array:
        return super().forward(query_positions + self.shift, key_positions, out=out)

    def explain(self, index: Index, operands: Sequence[Operand]) -> Explanation:
        queries, keys = operands
        query, key = cell(queries, (index[-2],)), cell(keys, (index[-1],))
        terms = (
            Term("position of the key", keys.name, (index[-1],), key),
            Term("position of the query", queries.name, (index[-2],), query),
        )
        text = f"1.0 if {number(key)} <= {number(query)} + {self.shift} else 0.0"
        return Explanation(1.0 if key <= query + self.shift else 0.0, text, terms)

    def expression(self, names: Sequence[str]) -> str:
        return super().expression((f"({names[0]} + {self.shift})", names[1]))


@lru_cache(maxsize=8)
def altered_plan(
    config: ModelConfig, dtype: str, dropout: Dropout, mistakes: frozenset[str]
) -> Plan:
    """The config's forward pass with the mistakes in it; those of the optimiser are not there."""
    plan = build_plan(config, dtype, dropout)
    if not mistakes:
        return plan
    plan = plan.copy()
    last = _last_masks(plan)
    plan.instructions = [_altered(line, mistakes, last) for line in plan.instructions]
    return plan


def _altered(line: Instruction, mistakes: Collection[str], last: dict[str, str]) -> Instruction:
    if NO_KEY_VALUE.name in mistakes and _is_encoder_key_or_value(line.site):
        return line._replace(op=NotPassedBack())
    if SHARED_DROPOUT.name in mistakes and isinstance(line.op, Dropped):
        return line._replace(op=SharedDropped(), inputs=(*line.inputs, last[line.inputs[1]]))
    if isinstance(line.op, LookAheadMask):
        shift = (LOOKS_AHEAD.name in mistakes) - (HIDES_ITSELF.name in mistakes)
        return line._replace(op=ShiftedMask(shift)) if shift else line
    if NO_SCALING.name in mistakes and isinstance(line.op, Scores):
        return line._replace(op=Scores(1.0))
    return line


def _is_encoder_key_or_value(site: str) -> bool:
    return site.startswith("encoder.") and site.endswith((".self_attn.k", ".self_attn.v"))


def _last_masks(plan: Plan) -> dict[str, str]:
    """For each dropout mask, the one of its kind that is drawn last: of the same axes and rate."""
    drawn = [line for line in plan.instructions if isinstance(line.op, DropoutMask)]
    last = {(line.axes, line.op.rate): line.site for line in drawn}  # type: ignore[attr-defined]
    return {line.site: last[line.axes, line.op.rate] for line in drawn}  # type: ignore[attr-defined]


def wrong_parameters(plan: Plan, config: ModelConfig) -> frozenset[str]:
    """The parameters that a mistake on the way back reaches, by who reads whom in the plan.

    Those without a true gradient are left out.
    """
    reached: set[str] = set()
    for line in reversed(plan.instructions):
        if line.site in reached:
            reached.update(line.inputs)
        elif isinstance(line.op, NotPassedBack):
            reached.add(line.inputs[0])
        elif isinstance(line.op, SharedDropped) and line.inputs[1] != line.inputs[2]:
            reached.add(line.inputs[0])
    names = parameter_shapes(config)
    return frozenset(name for name in names if name in reached and not is_rounding_alone(name))


def is_rounding_alone(name: str) -> bool:
    """Whether the gradient of a parameter is 0 in exact arithmetic, whatever is passed back.

    The bias of keys moves all scores of a query alike, which no softmax sees.
    """
    return name.endswith(".b_k")
