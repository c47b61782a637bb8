"""Ask for a slot of a table before it is needed, so that several come from memory at the same time.

A hint to the processor: it changes no value, and where kernels are not compiled it does nothing.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def prefetch(table: np.ndarray, place: int) -> None:
        """Nothing."""

else:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    # To read, to be kept in every cache, data and not code.
    _HINTS = (0, 3, 1)

    @intrinsic
    def prefetch(typing: Any, table: Any, place: Any) -> Any:
        """Have the line of memory fetched where `table[place]` begins; the place must be inside the table."""

        def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, given[0])
            at = builder.gep(array.data, [given[1]])
            at = builder.bitcast(at, ir.IntType(8).as_pointer())
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [at.type, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [at, *(number(hint) for hint in _HINTS)])
            return context.get_dummy_value()

        return types.void(table, types.intp), emit
