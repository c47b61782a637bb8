"""Log-odds and back, to the same bit on every machine: ln(p / (1 − p)) and 1 / (1 + e^{−x}).

Mixing is done with log-odds. The logarithm needs no accuracy, only to be the same everywhere: the exponent's bits plus
the series of ln m = 2 artanh((m − 1) / (m + 1)) for the rest, right to 1e-6.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import kernel
from glnn.numeric.portable import exp

_LN2 = 0.6931471805599453
_ROOT2 = 1.4142135623730951
_MANTISSA = np.int64((1 << 52) - 1)
_ONE_EXPONENT = np.int64(1023 << 52)
_LAST_BITS = np.int64(0x433 << 52)
_OFFSET = 2.0**52 + 1023.0
LARGEST = 20.0


@kernel(_nrt=False, forceinline=True)
def stretch(p: float) -> float:
    """The log-odds of a probability strictly between 0 and 1."""
    odds = p / (1.0 - p)
    bits = np.float64(odds).view(np.int64)
    # An integer in the last bits of a double: what turns it into a number is a subtraction, in any lane of a register.
    exponent = np.int64(((bits >> 52) & 2047) | _LAST_BITS).view(np.float64) - _OFFSET
    m = np.int64((bits & _MANTISSA) | _ONE_EXPONENT).view(np.float64)
    large = m > _ROOT2
    m = m * 0.5 if large else m
    exponent = exponent + 1.0 if large else exponent
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    return exponent * _LN2 + 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (0.2 + q * (1.0 / 7.0 + q * (1.0 / 9.0)))))


@kernel(_nrt=False, forceinline=True)
def squash(x: float) -> float:
    """The probability of log-odds, held inside ±20."""
    return 1.0 / (1.0 + exp(-min(max(x, -LARGEST), LARGEST)))
