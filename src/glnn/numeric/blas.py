"""Matrix products inside kernels, by the library that numpy itself calls and as numpy calls it: to the same bits.

Products that are left to numpy divide a kernel into several, and between them Python holds the interpreter's lock.
Numba has products of its own, but by SciPy's library, which is another one. So a kernel is given the addresses of the
functions in numpy's; they are no part of what is compiled and kept on the disk.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from threadpoolctl import ThreadpoolController

from glnn.numeric.frame import COMPILED
from glnn.numeric.kernel import kernel

_PREFIXES, _SUFFIX = ("scipy_", ""), "64_"
"""Of the names of functions in the libraries that come with numpy, where sizes are whole words."""
_FUNCTIONS = ("sgemm", "sgemv")


@cache
def addresses() -> np.ndarray:
    """What `product` and `product_turned` call; empty where numpy's library is none that we know, or is not called."""
    libraries = ThreadpoolController().lib_controllers if COMPILED else []
    for library in libraries:
        # In numpy.libs, or in numpy/.dylibs; SciPy brings another one.
        if library.internal_api != "openblas" or not {"numpy", "numpy.libs"} & {*Path(library.filepath).parts[-3:-1]}:
            continue
        found = ctypes.CDLL(library.filepath)
        for prefix in _PREFIXES:
            names = [f"{prefix}cblas_{name}{_SUFFIX}" for name in _FUNCTIONS]
            if all(hasattr(found, name) for name in names):
                places = [ctypes.cast(getattr(found, name), ctypes.c_void_p).value for name in names]
                return np.array(places, np.intp)
    return np.empty(0, np.intp)


def _enum(value: int) -> ir.Constant:
    return ir.Constant(ir.IntType(32), value)


_BY_ROWS, _AS_IT_IS, _TURNED = _enum(101), _enum(111), _enum(112)
_ZERO, _ONE = ir.Constant(ir.FloatType(), 0.0), ir.Constant(ir.FloatType(), 1.0)
_NEXT = ir.Constant(ir.IntType(64), 1)


def _calling(*order: Any) -> Any:
    """A function for kernels that is given a tuple: an address, which it calls, arrays of single precision, and sizes.

    In the call their places in the tuple stand among constants; of an array the data are passed.
    """

    @intrinsic
    def call(typing: Any, given: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def value(one: Any) -> Any:
                if isinstance(one, ir.Constant):
                    return one
                found, kind = builder.extract_value(arguments[0], one), given.types[one]
                if isinstance(kind, types.Array):
                    return context.make_array(kind)(context, builder, found).data
                return context.cast(builder, found, kind, types.int64)

            values = [value(one) for one in order]
            kind = ir.FunctionType(ir.VoidType(), [one.type for one in values])
            address = builder.extract_value(arguments[0], 0)
            builder.call(builder.inttoptr(address, kind.as_pointer()), values)
            return context.get_dummy_value()

        return types.void(given), emit

    return call


_gemm = _calling(_BY_ROWS, _AS_IT_IS, _AS_IT_IS, 1, 2, 3, _ONE, 4, 3, 5, 2, _ZERO, 6, 2)
_gemm_turned = _calling(_BY_ROWS, _TURNED, _AS_IT_IS, 1, 2, 3, _ONE, 4, 1, 5, 2, _ZERO, 6, 2)
_gemv = _calling(_BY_ROWS, _TURNED, 1, 2, _ONE, 3, 2, 4, _NEXT, _ZERO, 5, _NEXT)


@kernel()
def product(functions: np.ndarray, left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """out = left · right; rows of all three adjoin, and `right` has several rows and columns."""
    inner, columns = right.shape
    if left.shape[0] == 1:
        _gemv((functions[1], inner, columns, right, left, out))
    else:
        _gemm((functions[0], left.shape[0], columns, inner, left, right, out))


@kernel()
def product_turned(functions: np.ndarray, left: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """out = leftᵀ · right, of as many rows each."""
    inner, rows, columns = left.shape[0], left.shape[1], right.shape[1]
    _gemm_turned((functions[0], rows, columns, inner, left, right, out))
