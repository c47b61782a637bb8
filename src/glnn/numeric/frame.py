"""Arguments that are unpacked once: a tuple of arrays as compiled code holds it, kept in a few bytes for many calls.

A call of a kernel unpacks every array that it is given, about 0.15 µs each: with fifty of them more than the work on a
symbol. A frame has them unpacked. It does not keep the arrays alive: the caller must.
"""

from __future__ import annotations

import threading
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

# Where kernels run as plain Python, there is nothing to save and no frame.
COMPILED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]

_BYTES = types.Array(types.uint8, 1, "C")


def new_frame() -> np.ndarray:
    """Bytes for one tuple of at most 150 arrays."""
    return np.zeros(1 << 14, np.uint8)


class PerThread(threading.local):
    """A frame and scratch for each thread, made when it first needs them. A copy or a pickle of it has none."""

    frame: Any = None

    def __reduce__(self) -> tuple[type[PerThread], tuple[()]]:
        return PerThread, ()


def storing() -> Any:
    """A function for kernels, store(frame, value): keep a tuple in the frame."""

    @intrinsic
    def store(typing: Any, frame: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.store(arguments[1], _place(context, builder, signature.args[0], arguments[0], value))
            return context.get_dummy_value()

        return types.none(_BYTES, value), generate

    return store


def loading(example: tuple[Any, ...]) -> Any:
    """A function for kernels, load(frame): the tuple that was stored there, of the same types as the example."""
    kind = numba.typeof(example)

    @intrinsic
    def load(typing: Any, frame: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(_place(context, builder, signature.args[0], arguments[0], kind))

        return kind(_BYTES), generate

    return load


def _place(context: Any, builder: Any, frame_kind: Any, frame: Any, kind: Any) -> Any:
    """The frame's address, as that of a tuple."""
    size = context.get_abi_sizeof(context.get_value_type(kind))
    if size > new_frame().size:
        raise TypeError(f"the arguments take {size} bytes, a frame has {new_frame().size}")
    data = context.make_array(frame_kind)(context, builder, frame).data
    return builder.bitcast(data, context.get_value_type(kind).as_pointer())
