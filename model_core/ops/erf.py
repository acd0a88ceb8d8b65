"""The error function and the normal distribution, for arrays; NumPy has neither."""

from __future__ import annotations

import math

import numpy as np

from model_core.ops.base import Array, empty, filled

# Cody 1969, "Rational Chebyshev approximations for the error function", highest power first.
# erf(x) = x · A(x²) / B(x²) for |x| <= 0.46875
SMALL_OVER = (
    1.85777706184603153e-1,
    3.16112374387056560e00,
    1.13864154151050156e02,
    3.77485237685302021e02,
    3.20937758913846947e03,
)
SMALL_UNDER = (
    1.0,
    2.36012909523441209e01,
    2.44024637934444173e02,
    1.28261652607737228e03,
    2.84423683343917062e03,
)
# erf(x) = 1 - exp(-x²) · C(x) / D(x) beyond; his third formula, from 4 on, matters to 1 - erf only
MIDDLE_OVER = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e00,
    6.61191906371416295e01,
    2.98635138197400131e02,
    8.81952221241769090e02,
    1.71204761263407058e03,
    2.05107837782607147e03,
    1.23033935479799725e03,
)
MIDDLE_UNDER = (
    1.0,
    1.57449261107098347e01,
    1.17693950891312499e02,
    5.37181101862009858e02,
    1.62138957456669019e03,
    3.29079923573345963e03,
    4.36261909014324716e03,
    3.43936767414372164e03,
    1.23033935480374942e03,
)
# In float32 one rational function does for the whole line: Φ(x) = 1/2 + x · P(x²) / Q(x²).
# Fitted for the smallest relative error (1e-8) of P/Q on [0, 5.3]. Lowest power first, P above Q.
SINGLE = np.array(
    (
        (
            3.9894227665833915e-01,
            3.264200039069845e-02,
            4.609780931988795e-03,
            1.5729481286422563e-04,
            6.355001192647966e-06,
            2.4268976297311995e-08,
        ),
        (
            1.0,
            2.4848787493432417e-01,
            2.7970058828107356e-02,
            1.81952915730485e-03,
            7.035619052454405e-05,
            1.241717555684874e-06,
        ),
    ),
    np.float32,
)
SINGLE.setflags(write=False)
# 5.304²: there x · P/Q reaches 1/2 within rounding. Farther out P/Q stays and x grows.
# 0-d arrays, because NumPy takes longer over a Python number than over a short array.
SINGLE_END = np.array(28.132416, np.float32)
# The powers of so many numbers stay in the caches.
CHUNK = 2**15
SINGLE_ZERO = np.array(0.0, np.float32)
SINGLE_ONE = np.array(1.0, np.float32)
SINGLE_HALF = np.array(0.5, np.float32)
SINGLE_MINUS_HALF = np.array(-0.5, np.float32)


def normal_below(x: Array, *, out: Array | None = None) -> Array:
    """Φ(x), the chance that a standard normal number lies below x.

    x: any shape, float32 or float64
    """
    if x.dtype != np.float32:
        out = erf(np.multiply(x, math.sqrt(0.5)), out=out)
        np.add(out, 1.0, out=out)
        return np.multiply(out, 0.5, out=out)
    if x.size <= CHUNK:
        return _single(x, out)
    if out is None:
        out = empty(x.shape, x)
    elif not out.flags.c_contiguous:
        return filled(out, normal_below(x))
    numbers, results = x.reshape(-1), out.reshape(-1)
    for start in range(0, x.size, CHUNK):
        _single(numbers[start : start + CHUNK], results[start : start + CHUNK])
    return out


def _single(x: Array, out: Array | None) -> Array:
    # Both polynomials as one product with the powers: half as many calls as term by term.
    powers = empty((6, *x.shape), x)
    one, square, fourth, sixth, eighth, tenth = powers
    np.copyto(one, SINGLE_ONE)
    np.multiply(x, x, out=square)
    square.clip(SINGLE_ZERO, SINGLE_END, out=square)
    np.multiply(square, square, out=fourth)
    np.multiply(square, fourth, out=sixth)
    np.multiply(fourth, fourth, out=eighth)
    np.multiply(fourth, sixth, out=tenth)
    over, under = np.matmul(SINGLE, powers.reshape(6, -1)).reshape(2, *x.shape)
    np.divide(over, under, out=over)
    out = np.multiply(over, x, out=out)
    out.clip(SINGLE_MINUS_HALF, SINGLE_HALF, out=out)
    return np.add(out, SINGLE_HALF, out=out)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    value = np.multiply(x, coefficients[0])
    for coefficient in coefficients[1:-1]:
        np.add(value, coefficient, out=value)
        np.multiply(value, x, out=value)
    return np.add(value, coefficients[-1], out=value)


def erf(x: Array, *, out: Array | None = None) -> Array:
    """2/√π times the integral of exp(-t²) from 0 to x, to the last bits of float64.

    x: any shape, float64
    """
    if out is None:
        out = np.empty_like(x)
    size = np.abs(x)
    small = size <= 0.46875
    large = ~small
    # At 7 erf has long been 1; farther out the polynomials would overflow.
    near, far = x[small], np.minimum(size[large], 7.0)

    square = near * near
    out[small] = near * _polynomial(square, SMALL_OVER) / _polynomial(square, SMALL_UNDER)

    ratio = _polynomial(far, MIDDLE_OVER) / _polynomial(far, MIDDLE_UNDER)
    out[large] = np.sign(x[large]) * (1.0 - np.exp(-far * far) * ratio)
    return out
