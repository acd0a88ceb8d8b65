"""Example inputs for every op; the op tests run over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from model_core import ops
from model_core.ops import Op


@dataclass(frozen=True)
class Case:
    """An op and a maker of its inputs: equal seeds give equal inputs, in either float type."""

    name: str
    op: Op
    make: Callable[[np.random.Generator], tuple[Any, ...]]
    # Inputs of float type that get no gradient.
    constants: tuple[int, ...] = ()
    # True where the terms of an explanation add up to the value.
    additive: bool = True

    def inputs(self, dtype: str = "float64", seed: int = 0) -> tuple[Any, ...]:
        """The inputs, read-only, the float ones in the given type."""
        made = []
        for value in self.make(np.random.default_rng(seed)):
            if isinstance(value, np.ndarray):
                if value.dtype == np.float64:
                    value = value.astype(dtype, order="K")
                value.setflags(write=False)
            made.append(value)
        return tuple(made)


def normal(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: np.asarray(rng.standard_normal(shape))


def away_from_zero(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Numbers that a small step does not carry over a bend at 0."""
    return lambda rng: rng.choice([-1.0, 1.0], shape) * rng.uniform(0.1, 3.0, shape)


def positive(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.uniform(0.2, 2.0, shape)


def shares(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    def make(rng: np.random.Generator) -> np.ndarray:
        weights = rng.uniform(0.1, 1.0, shape)
        return weights / weights.sum(axis=-1, keepdims=True)

    return make


def transposed(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """The last two axes lie in memory the other way round."""
    *leading, rows, columns = shape
    return lambda rng: rng.standard_normal((*leading, columns, rows)).swapaxes(-1, -2)


def of(values: Any) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: np.array(values)


def below(limit: int, *shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.integers(0, limit, shape)


def coin(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.random(shape) < 0.6


def generator(rng: np.random.Generator) -> np.random.Generator:
    return np.random.default_rng(7)


def hidden_keys(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Scores of which some are -inf, and one row all of it."""

    def make(rng: np.random.Generator) -> np.ndarray:
        scores = rng.standard_normal(shape)
        scores[rng.random(shape) < 0.3] = -np.inf
        scores.reshape(-1, shape[-1])[0] = -np.inf
        scores.reshape(-1, shape[-1])[1:, 0] = 0.5
        return scores

    return make


def all_of(*makers: Callable[[np.random.Generator], Any]) -> Callable[..., tuple[Any, ...]]:
    return lambda rng: tuple(make(rng) for make in makers)


def case(name: str, op: Op, *makers: Callable[..., Any], **options: Any) -> Case:
    return Case(f"{op.name}: {name}", op, all_of(*makers), **options)


LABELS = [[3, 0, 1, 4], [2, 2, 0, 0]]
ALIGNED = [[0, 2, -1], [-1, 1, 1]]

CASES: tuple[Case, ...] = (
    case("a matrix", ops.Given(), normal(1, 3, 4)),
    case("a batch", ops.EmbeddingRows(), normal(6, 4), below(6, 2, 5)),
    case("one id many times", ops.EmbeddingRows(), normal(3, 4), of([[1, 1, 1, 2]])),
    case("a batch", ops.Scale(2.5), normal(2, 3, 4)),
    case("as in the paper", ops.SinusoidalPosition(6, "float64", "float64"), below(90, 7),
         additive=False),
    case("an odd width", ops.SinusoidalPosition(5, "float32", "float64"), below(90, 7),
         additive=False),
    case("halves", ops.SinusoidalPosition(6, "float64", "float64", "halves"), below(90, 7),
         additive=False),
    case("an odd width in halves",
         ops.SinusoidalPosition(5, "float32", "float64", "halves"), below(90, 7), additive=False),
    case("some rows", ops.LearnedPosition(), normal(9, 4), of([0, 1, 2, 8])),
    case("position", ops.Add(), normal(2, 3, 4), normal(3, 4)),
    case("position on one sentence", ops.Add(), normal(1, 3, 4), normal(3, 4)),
    case("the longer one second", ops.Add(), normal(1, 4), normal(2, 3, 4)),
    case("a batch", ops.Residual(), normal(2, 3, 4), normal(2, 3, 4)),
    case("a batch", ops.PaddingMask(), coin(2, 5)),
    case("a square", ops.LookAheadMask(), of(range(4)), of(range(4)), additive=False),
    case("later rows", ops.LookAheadMask(), of([3, 4]), of(range(5)), additive=False),
    case("padding and look-ahead", ops.BothMasks(), coin(2, 1, 1, 4), coin(1, 1, 4, 4),
         additive=False),
    case("with bias", ops.Linear(), normal(2, 3, 4), normal(4, 5), normal(5)),
    case("without bias", ops.Linear(), normal(3, 4), normal(4, 5)),
    case("a strided input", ops.Linear(), transposed(2, 3, 4), transposed(4, 5), normal(5)),
    case("very wide", ops.Linear(), normal(1, 3000), normal(3000, 1)),
    case("with bias", ops.TiedLinear(), normal(2, 3, 4), normal(6, 4), normal(6)),
    case("without bias", ops.TiedLinear(), normal(3, 4), normal(6, 4)),
    case("a batch", ops.SplitHeads(2), normal(2, 3, 6)),
    case("no batch", ops.SplitHeads(3), normal(4, 6)),
    case("a batch", ops.MergeHeads(), normal(2, 3, 4, 2)),
    case("laid out by token", ops.MergeHeads(),
         lambda rng: rng.standard_normal((2, 4, 3, 2)).swapaxes(1, 2)),
    case("a batch", ops.Scores(0.5), normal(2, 2, 3, 4), normal(2, 2, 5, 4)),
    case("no batch", ops.Scores(0.25), normal(3, 4), normal(5, 4)),
    case("padding", ops.MaskedScores(), normal(2, 3, 4, 5), coin(2, 1, 1, 5)),
    case("both", ops.MaskedScores(), normal(2, 3, 4, 4), coin(2, 1, 4, 4)),
    case("a batch", ops.Softmax(), normal(2, 3, 4, 5), additive=False),
    case("hidden keys", ops.Softmax(), hidden_keys(2, 2, 4, 5), additive=False),
    case("large scores", ops.Softmax(), lambda rng: 1000.0 + rng.standard_normal((3, 4)),
         additive=False),
    case("key by key in memory", ops.Softmax(), transposed(2, 4, 5), additive=False),
    case("a vocabulary", ops.LogSoftmax(), normal(2, 3, 7)),
    case("large scores", ops.LogSoftmax(), lambda rng: 1000.0 + rng.standard_normal((3, 4))),
    case("a batch", ops.Context(), shares(2, 3, 4, 5), normal(2, 3, 5, 2)),
    case("no batch", ops.Context(), shares(4, 5), normal(5, 2)),
    case("a batch", ops.Mean(), normal(2, 3, 5)),
    case("a batch", ops.Variance(), normal(2, 3, 5), normal(2, 3, 1)),
    case("a batch", ops.Normalise(1e-5), normal(2, 3, 5), normal(2, 3, 1), positive(2, 3, 1)),
    case("a batch", ops.ScaleShift(), normal(2, 3, 5), normal(5), normal(5)),
    case("one row", ops.ScaleShift(), normal(5), normal(5), normal(5)),
    case("a batch", ops.Relu(), away_from_zero(2, 3, 4), additive=False),
    case("a batch", ops.Gelu(), normal(2, 3, 4), additive=False),
    case("far out", ops.Gelu(), of([-40.0, -7.0, -4.5, 0.0, 4.5, 7.0, 40.0]), additive=False),
    case("a batch", ops.GeluTanh(), normal(2, 3, 4), additive=False),
    case("a batch", ops.Silu(), normal(2, 3, 4), additive=False),
    case("far out", ops.Silu(), of([-800.0, -90.0, 0.0, 90.0, 800.0]), additive=False),
    case("a batch", ops.DropoutMask(0.3), normal(2, 3, 5), generator,
         constants=(0,), additive=False),
    case("a batch", ops.Dropped(), normal(2, 3, 5),
         lambda rng: (rng.random((2, 3, 5)) < 0.7) / 0.7, constants=(1,)),
    case("one number", ops.Pick((0, 1, 4)), normal(1, 3, 5)),
    case("plain", ops.CrossEntropy(0.0, 0), lambda rng: -positive(2, 4, 5)(rng), of(LABELS)),
    case("smoothed", ops.CrossEntropy(0.1, 0), lambda rng: -positive(2, 4, 5)(rng), of(LABELS)),
    case("another padding", ops.CrossEntropy(0.1, 2), lambda rng: -positive(2, 4, 5)(rng),
         of(LABELS)),
    case("only padding", ops.CrossEntropy(0.1, 0), lambda rng: -positive(1, 2, 5)(rng),
         of([[0, 0]])),
    case("one head", ops.AlignmentLoss(1), shares(2, 3, 3, 4), of(ALIGNED)),
    case("nothing aligned", ops.AlignmentLoss(0), shares(1, 2, 2, 4), of([[-1, -1]])),
    case("two losses", ops.WeightedSum(0.3), normal(), normal()),
)  # fmt: skip
