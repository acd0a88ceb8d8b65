"""Every op of the model, one idea a file."""

from __future__ import annotations

from model_core.ops.activation import Gelu, GeluTanh, Relu, Silu, activation
from model_core.ops.attention import Context, MaskedScores, Scores
from model_core.ops.base import EVALUATION_NAMES, Explanation, Op, Operand, Term
from model_core.ops.dropout import DropoutMask, Dropped
from model_core.ops.embedding import EmbeddingRows, LearnedPosition, Scale, SinusoidalPosition
from model_core.ops.given import Given
from model_core.ops.heads import MergeHeads, SplitHeads
from model_core.ops.linear import Linear, TiedLinear
from model_core.ops.loss import AlignmentLoss, CrossEntropy, WeightedSum
from model_core.ops.masks import BothMasks, LookAheadMask, PaddingMask
from model_core.ops.norm import (
    Mean,
    Normalise,
    Variance,
    layer_norm,
    layer_norm_backward,
)
from model_core.ops.pick import Pick
from model_core.ops.residual import Add, Residual
from model_core.ops.scale_shift import ScaleShift
from model_core.ops.softmax import LogSoftmax, Softmax

ALL_OPS: tuple[type[Op], ...] = (
    Given,
    EmbeddingRows,
    Scale,
    SinusoidalPosition,
    LearnedPosition,
    Add,
    PaddingMask,
    LookAheadMask,
    BothMasks,
    Linear,
    TiedLinear,
    SplitHeads,
    Scores,
    MaskedScores,
    Softmax,
    Context,
    MergeHeads,
    Residual,
    Mean,
    Variance,
    Normalise,
    ScaleShift,
    Relu,
    Gelu,
    GeluTanh,
    Silu,
    DropoutMask,
    Dropped,
    LogSoftmax,
    Pick,
    CrossEntropy,
    AlignmentLoss,
    WeightedSum,
)

__all__ = [
    "ALL_OPS",
    "EVALUATION_NAMES",
    "Add",
    "AlignmentLoss",
    "BothMasks",
    "Context",
    "CrossEntropy",
    "DropoutMask",
    "Dropped",
    "EmbeddingRows",
    "Explanation",
    "Gelu",
    "GeluTanh",
    "Given",
    "LearnedPosition",
    "Linear",
    "LogSoftmax",
    "LookAheadMask",
    "MaskedScores",
    "Mean",
    "MergeHeads",
    "Normalise",
    "Op",
    "Operand",
    "PaddingMask",
    "Pick",
    "Relu",
    "Residual",
    "Scale",
    "ScaleShift",
    "Scores",
    "Silu",
    "SinusoidalPosition",
    "Softmax",
    "SplitHeads",
    "Term",
    "TiedLinear",
    "Variance",
    "WeightedSum",
    "activation",
    "layer_norm",
    "layer_norm_backward",
]
