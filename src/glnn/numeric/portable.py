"""exp, tanh and the logistic function with the same bits on every processor: for compression.

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
def tanh(x: float) -> float:
    """The hyperbolic tangent, 1 − 2 / (e^{2x} + 1)."""
    return 1.0 - 2.0 / (exp(2.0 * x) + 1.0)


@kernel()
def logistic(x: float) -> float:
    """The logistic function, 1 / (1 + e^{−x})."""
    return 1.0 / (1.0 + exp(-x))
