"""Formulas in the letters of their place: an op's own formula knows only x and y."""

from __future__ import annotations

from visualizer.walkthrough import Place

_ATTENTION = {
    "q": r"Q = X W_Q + b_Q",
    "k": r"K = X W_K + b_K",
    "v": r"V = X W_V + b_V",
    "q_heads": r"Q \to Q_1, \dots, Q_h",
    "k_heads": r"K \to K_1, \dots, K_h",
    "v_heads": r"V \to V_1, \dots, V_h",
    "scores": r"S = \frac{Q K^{\top}}{\sqrt{d_{\mathrm{head}}}}",
    "weights": r"A = \mathrm{softmax} \left( \frac{Q K^{\top}}{\sqrt{d_{\mathrm{head}}}} \right)",
    "context": r"C = A V",
    "concat": r"\mathrm{Concat} ( C_1, \dots, C_h )",
    "out": r"\mathrm{Concat} ( C_1, \dots, C_h ) \, W_O + b_O",
}
# In cross-attention keys and values read the encoder's result, the memory.
_CROSS = {"k": r"K = M W_K + b_K", "v": r"V = M W_V + b_V"}
_FEED_FORWARD = {"hidden": r"h = x W_1 + b_1", "out": r"y = a W_2 + b_2"}


def formula(place: Place, general: str) -> str:
    """The formula (LaTeX) of the op in this place, else the op's own."""
    if place.kind == "cross_attn" and place.role in _CROSS:
        return _CROSS[place.role]
    if place.kind.endswith("_attn"):
        return _ATTENTION.get(place.role, general)
    if place.kind == "ffn":
        return _FEED_FORWARD.get(place.role, general)
    return general
