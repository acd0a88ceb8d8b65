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

# Of a norm, with the letter of what it reads: r behind a sum, x where it reads the stream itself.
_NORM = {
    "mean": r"\mu = \frac{1}{d} \sum_i %s_i",
    "variance": r"\sigma^2 = \frac{1}{d} \sum_i (%s_i - \mu)^2",
    "normalised": r"\hat{%s} = \frac{%s - \mu}{\sqrt{\sigma^2 + \varepsilon}}",
    "out": r"y = \gamma \odot \hat{%s} + \beta",
}
SUM = r"r = x + s"


def formula(place: Place, general: str) -> str:
    """The formula (LaTeX) of the op in this place, else the op's own."""
    if place.kind == "cross_attn" and place.role in _CROSS:
        return _CROSS[place.role]
    if place.kind.endswith("_attn"):
        return _ATTENTION.get(place.role, general)
    if place.kind == "ffn":
        return _FEED_FORWARD.get(place.role, general)
    if place.sublayer.startswith("residual"):
        return SUM
    if place.kind in ("add_norm", "norm", "final_norm") and place.role in _NORM:
        return _NORM[place.role].replace("%s", "r" if place.kind == "add_norm" else "x")
    return general
