"""exp, log, tanh and the logistic function with the same bits on every processor: for compression.

The decoder must see the very probabilities the encoder saw. So there is no libm here, no reassociation, and no fused
multiply-add, which some processors have and others do not; `glnn.numeric.elementary`, which has it, is for training.
The method is the same: k = x / ln 2 rounded goes into the exponent bits, the rest into a polynomial of degree 12.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_SHIFTER = 6755399441055744.0
# √½ as an integer: subtracting it leaves the power of 2 that brings a number into [√½, √2).
_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
_SMALLEST = 2.2250738585072014e-308


@kernel()
def exp(x: float) -> float:
    """e to the power x, with x held inside [-708, 709]; the error is under 1e-15 of the value."""
    x = min(max(x, -708.0), 709.0)
    shifted = x * _LOG2_E + _SHIFTER
    k = shifted - _SHIFTER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = (np.float64(shifted).view(np.int64) << np.int64(52)) + np.int64(1023 << 52)
    return p * np.int64(bits).view(np.float64)


@kernel()
def log(x: float) -> float:
    """The natural logarithm, with x (NaN too) held above 2^-1022; the error is under 1e-15 of the value.

    x = 2^k m with m in [√½, √2), and log m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + …) with s = (m − 1) / (m + 1).
    """
    # NaN has other bits on other processors.
    x = x if x > _SMALLEST else _SMALLEST
    bits = np.int64(np.float64(x).view(np.int64))
    k = (bits - _ROOT_HALF) >> np.int64(52)
    m = np.int64(bits - (k << np.int64(52))).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 21.0
    p = p * z + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return k * _LN2_HIGH + ((2.0 * s + (2.0 * s) * (z * p)) + k * _LN2_LOW)


@kernel()
def tanh(x: float) -> float:
    """The hyperbolic tangent, 1 − 2 / (e^{2x} + 1)."""
    return 1.0 - 2.0 / (exp(2.0 * x) + 1.0)


@kernel()
def logistic(x: float) -> float:
    """The logistic function, 1 / (1 + e^{−x})."""
    return 1.0 / (1.0 + exp(-x))
