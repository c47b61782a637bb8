"""exp and tanh without branches, so that LLVM turns a loop over them into vector instructions.

Numba no longer ships a vector mathematics library, and libm differs between machines. The integer part of
x / ln 2 goes into the exponent bits by the 1.5 · 2^52 trick, the rest into a polynomial of degree 12:
the error of `exp` is under 3e-16 of its value, that of `tanh` under 1e-15.
NaN stays NaN. They must not be inlined by Numba (LLVM does it): with a caller's permission to reassociate, the shift
would be optimised away.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import CONTRACT, kernel

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_SHIFTER = 6755399441055744.0


@kernel(CONTRACT)
def exp(x: float) -> float:
    """e to the power x, with x held inside [-708, 709]."""
    # Also of a float32: the shift needs every bit of a double.
    x = min(max(np.float64(x), -708.0), 709.0)
    shifted = x * _LOG2_E + _SHIFTER
    k = shifted - _SHIFTER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    s = r * r
    # e^r = 1 + (r + r² q), with q summed pairwise: the shorter chains keep both multipliers busy.
    low = (0.5 + r * (1.0 / 6.0)) + s * (1.0 / 24.0 + r * (1.0 / 120.0))
    middle = (1.0 / 720.0 + r * (1.0 / 5040.0)) + s * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    high = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + s * (1.0 / 479001600.0)
    p = 1.0 + (r + s * (low + s * s * (middle + s * s * high)))
    bits = (np.float64(shifted).view(np.int64) << np.int64(52)) + np.int64(1023 << 52)
    return p * np.int64(bits).view(np.float64)


@kernel(CONTRACT)
def tanh(x: float) -> float:
    """The hyperbolic tangent, 1 − 2 / (e^{2x} + 1)."""
    return 1.0 - 2.0 / (exp(2.0 * x) + 1.0)


@kernel(CONTRACT)
def logistic(x: float) -> float:
    """The logistic function, 1 / (1 + e^{−x})."""
    return 1.0 / (1.0 + exp(-x))


_F = np.float32
_SHIFTER_SINGLE = _F(12582912.0)
_NINE, _ONE, _TWO = _F(9.0), _F(1.0), _F(2.0)
_LOG2_E_SINGLE, _LOWEST, _HIGHEST = _F(1.4426950408889634), _F(-126.0), _F(127.0)
# 2^r = Σ (r ln 2)^k / k!, |r| ≤ ½.
_P1, _P2, _P3 = _F(0.6931471805599453), _F(0.2402265069591007), _F(0.05550410866482158)
_P4, _P5, _P6 = _F(0.009618129107628477), _F(0.0013333558146428443), _F(0.00015403530393381608)


@kernel(CONTRACT)
def exp_single(x: np.float32) -> np.float32:
    """e to the power x in single precision, held inside [-87, 88]: error under 3e-7 of its value."""
    y = min(max(x * _LOG2_E_SINGLE, _LOWEST), _HIGHEST)
    shifted = y + _SHIFTER_SINGLE
    r = y - (shifted - _SHIFTER_SINGLE)
    s = r * r
    p = (_ONE + r * _P1) + s * ((_P2 + r * _P3) + s * ((_P4 + r * _P5) + s * _P6))
    bits = (_F(shifted).view(np.int32) << np.int32(23)) + np.int32(127 << 23)
    return p * np.int32(bits).view(np.float32)


@kernel(CONTRACT)
def tanh_single(x: np.float32) -> np.float32:
    """The hyperbolic tangent in single precision: error under 2e-7."""
    return _ONE - _TWO / (exp_single(_TWO * min(max(x, -_NINE), _NINE)) + _ONE)


@kernel(CONTRACT)
def logistic_single(x: np.float32) -> np.float32:
    """The logistic function in single precision."""
    return _ONE / (_ONE + exp_single(-x))
