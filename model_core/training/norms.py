"""How large a model's parameters are and how far a step moved them, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LayerNorms:
    """The Euclidean norms of a layer's parameters and of what the last step changed them by."""

    layer: str
    parameters: float
    update: float


def layer_of(name: str) -> str:
    """The layer that a parameter belongs to: "encoder.layers.0", "src_embed", "output"."""
    parts = name.split(".")
    if len(parts) > 2 and parts[1] == "layers":
        return ".".join(parts[:3])
    return ".".join(parts[:-1])


def layer_norms(
    parameters: Mapping[str, Array], updates: Mapping[str, Array]
) -> tuple[LayerNorms, ...]:
    """Both norms of every layer, in the order in which the model reads them."""
    sums: dict[str, list[float]] = {}
    for name, value in parameters.items():
        pair = sums.setdefault(layer_of(name), [0.0, 0.0])
        pair[0] += float(np.vdot(value, value))
        if name in updates:
            pair[1] += float(np.vdot(updates[name], updates[name]))
    return tuple(LayerNorms(layer, math.sqrt(p), math.sqrt(u)) for layer, (p, u) in sums.items())
