"""A sum of products in a fixed order and yet quick: four sums side by side, so that its bits are the same everywhere.

A compiler may not reorder a sum of floating-point numbers, and does not find these four by itself: here they are one
register of four numbers.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

SUMS = 4

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def dot(a: np.ndarray, b: np.ndarray) -> float:
        """Σ a_i b_i, the indices taken modulo four first; both have as many numbers, a multiple of four."""
        sums = [0.0] * SUMS
        for i in range(a.size):
            sums[i % SUMS] += a[i] * b[i]
        return (sums[0] + sums[1]) + (sums[2] + sums[3])

else:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def dot(typing: Any, a: Any, b: Any) -> Any:
        """Σ a_i b_i, the indices taken modulo four first; both have as many numbers, a multiple of four."""
        if not all(isinstance(one, types.Array) and one.layout == "C" and one.dtype == types.float64 for one in (a, b)):
            return None

        def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            arrays = zip(signature.args, given, strict=True)
            first, second = (context.make_array(kind)(context, builder, value) for kind, value in arrays)
            four = ir.VectorType(ir.DoubleType(), SUMS)
            sums = cgutils.alloca_once_value(builder, ir.Constant(four, [0.0] * SUMS))
            size = first.nitems
            with cgutils.for_range_slice(builder, size.type(0), size, size.type(SUMS), inc=True) as (i, _):
                at = (builder.bitcast(builder.gep(one.data, [i]), four.as_pointer()) for one in (first, second))
                product = builder.fmul(*(builder.load(place, align=8) for place in at))
                builder.store(builder.fadd(builder.load(sums), product), sums)
            parts = [builder.extract_element(builder.load(sums), ir.IntType(32)(k)) for k in range(SUMS)]
            return builder.fadd(builder.fadd(*parts[:2]), builder.fadd(*parts[2:]))

        return types.float64(a, b), emit
