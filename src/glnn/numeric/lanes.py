"""Explicit vectors for kernels: eight numbers, or two, that are loaded, worked on and stored at once.

LLVM makes vectors of simple loops by itself, but not where a loop gathers or transposes, and where it does, it checks
for overlaps at every loop. Here a function under `@kernel` says what it wants. Lanes do not mix unless a function says
so, hence numbers have the same bits whatever the width of the processor's vectors. Where kernels run as plain Python,
vectors are small numpy arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.core.datamodel import models, register_default
from numba.extending import intrinsic

from glnn.numeric.frame import COMPILED

LANES = 8
_DOUBLE, _WORD, _INDEX, _BYTE = ir.DoubleType(), ir.IntType(32), ir.IntType(64), ir.IntType(8)


class Vector(types.Type):  # type: ignore[misc]
    """The type of this many doubles side by side."""

    def __init__(self, width: int) -> None:
        super().__init__(name=f"Vector({width})")
        self.width = width


@register_default(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_DOUBLE, kind.width))


_EIGHT = Vector(LANES)


def _address(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    """The address of an element: an array, and an index for each of its dimensions."""
    array = context.make_array(kinds[0])(context, builder, arguments[0])
    address = builder.bitcast(array.data, _BYTE.as_pointer())
    last = kinds[0].ndim - 1
    for k in range(last + 1):
        index = context.cast(builder, arguments[k + 1], kinds[k + 1], types.intp)
        # Known beforehand, a stride costs nothing.
        adjoining = k == last and kinds[0].layout == "C"
        stride = _INDEX(kinds[0].dtype.bitwidth // 8) if adjoining else builder.extract_value(array.strides, k)
        address = builder.gep(address, [builder.mul(index, stride)])
    return address


def _read(context: Any, builder: Any, kind: Any, address: Any, width: int) -> Any:
    """Doubles from an address; single precision becomes double."""
    vector = ir.VectorType(context.get_value_type(kind.dtype), width)
    found = builder.load(builder.bitcast(address, vector.as_pointer()), align=kind.dtype.bitwidth // 8)
    return found if kind.dtype == types.float64 else builder.fpext(found, ir.VectorType(_DOUBLE, width))


def _write(context: Any, builder: Any, kind: Any, address: Any, value: Any) -> None:
    vector = ir.VectorType(context.get_value_type(kind.dtype), value.type.count)
    value = value if kind.dtype == types.float64 else builder.fptrunc(value, vector)
    builder.store(value, builder.bitcast(address, vector.as_pointer()), align=kind.dtype.bitwidth // 8)


def _places(context: Any, builder: Any, kinds: Any, arguments: Any) -> list[Any]:
    """ends[e], …, ends[e + 7] as indices; as many as fit into a word are read at once."""
    (array, place), bits = arguments, kinds[0].dtype.bitwidth
    place, found = context.cast(builder, place, kinds[1], types.intp), []
    for begin in range(0, LANES, 64 // bits):
        where = array, builder.add(place, _INDEX(begin))
        address = _address(context, builder, (kinds[0], types.intp), where)
        word = builder.load(builder.bitcast(address, _INDEX.as_pointer()), align=bits // 8)
        for shift in range(0, 64, bits):
            number = builder.trunc(builder.lshr(word, _INDEX(shift)), ir.IntType(bits))
            found.append(context.cast(builder, number, kinds[0].dtype, types.intp))
    return found


def _mask(context: Any, builder: Any, kind: Any, count: Any) -> Any:
    """True in this many lanes."""
    numbers = ir.Constant(ir.VectorType(_INDEX, LANES), list(range(LANES)))
    return builder.icmp_signed("<", numbers, _repeated(builder, context.cast(builder, count, kind, types.intp)))


def _repeated(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined), value, _WORD(0))
    return builder.shuffle_vector(first, first, _lanes([0] * LANES))


def _lanes(chosen: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_WORD, len(chosen)), chosen)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(get_or_insert_function(builder.module, kind, name), arguments)


def _load(typing: Any, a: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _read(context, builder, a, _address(context, builder, signature.args, arguments), LANES)

    return _EIGHT(a, i), generate


def _load_some(typing: Any, a: Any, i: Any, n: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(context.get_value_type(a.dtype), LANES)
        address = builder.bitcast(_address(context, builder, signature.args, arguments), kind.as_pointer())
        given = [address, _WORD(1), _mask(context, builder, n, arguments[2]), ir.Constant(kind, [0.0] * LANES)]
        found = _call(builder, f"llvm.masked.load.v{LANES}f{a.dtype.bitwidth}.p0", kind, given)
        return found if a.dtype == types.float64 else builder.fpext(found, ir.VectorType(_DOUBLE, LANES))

    return _EIGHT(a, i, n), generate


def _store(typing: Any, a: Any, i: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _write(context, builder, a, _address(context, builder, signature.args, arguments), arguments[2])
        return context.get_dummy_value()

    return types.none(a, i, value), generate


def _store_some(typing: Any, a: Any, i: Any, value: Any, n: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(context.get_value_type(a.dtype), LANES)
        address = builder.bitcast(_address(context, builder, signature.args, arguments), kind.as_pointer())
        given = arguments[2] if a.dtype == types.float64 else builder.fptrunc(arguments[2], kind)
        name = f"llvm.masked.store.v{LANES}f{a.dtype.bitwidth}.p0"
        _call(builder, name, ir.VoidType(), [given, address, _WORD(1), _mask(context, builder, n, arguments[3])])
        return context.get_dummy_value()

    return types.none(a, i, value, n), generate


def _spread(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _repeated(builder, context.cast(builder, arguments[0], signature.args[0], types.float64))

    return _EIGHT(x), generate


def _fma(typing: Any, u: Any, v: Any, w: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.fmuladd.v{LANES}f64", arguments[0].type, list(arguments))

    return u(u, v, w), generate


def _arithmetic(instruction: str) -> Any:
    def work(typing: Any, u: Any, v: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return u(u, v), generate

    return work


def _taking(first: int) -> Any:
    def shuffle(typing: Any, u: Any, v: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.shuffle_vector(*arguments, _lanes(_TURNS[first]))

        return u(u, v), generate

    return shuffle


def _gathering(width: int, first: int = 0) -> Any:
    """Vectors made of this many numbers at each of the places ends[e + first], ends[e + first + width], …"""

    def gather(typing: Any, a: Any, ends: Any, e: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            parts = []
            for place in _places(context, builder, signature.args[1:], arguments[1:])[first::width]:
                address = _address(context, builder, (a, types.intp), (arguments[0], place))
                parts.append(_read(context, builder, a, address, width))
            while len(parts) > 1:
                both = _lanes(list(range(2 * parts[0].type.count)))
                parts = [builder.shuffle_vector(u, v, both) for u, v in zip(parts[::2], parts[1::2], strict=True)]
            return parts[0]

        return _EIGHT(a, ends, e), generate

    return gather


def _prefetch(typing: Any, a: Any, t: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature.args, arguments)
        # To read, to be kept, of data.
        _call(builder, "llvm.prefetch.p0", ir.VoidType(), [address, _WORD(0), _WORD(3), _WORD(1)])
        return context.get_dummy_value()

    return types.none(a, t, k), generate


def _transpose(typing: Any, a: Any, order: Any, s: Any, k: Any, out: Any, t: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, places, begin, _, into, _ = arguments
        column, time = (context.cast(builder, arguments[n], signature.args[n], types.intp) for n in (3, 5))
        rows = []
        for row in _places(context, builder, (order, s), (places, begin)):
            address = _address(context, builder, (a, types.intp, types.intp), (source, row, column))
            rows.append(_read(context, builder, a, address, LANES))
        # Three rounds, between vectors 1, 2 and 4 apart; in the end vector q holds lane q of all eight.
        for step in (1, 2, 4):
            low = _lanes([n + LANES - step if n & step else n for n in range(LANES)])
            high = _lanes([n + LANES if n & step else n + step for n in range(LANES)])
            for q in range(LANES):
                if not q & step:
                    u, v = rows[q], rows[q + step]
                    rows[q], rows[q + step] = builder.shuffle_vector(u, v, low), builder.shuffle_vector(u, v, high)
        for q, row in enumerate(rows):
            place = into, builder.add(column, _INDEX(q)), time
            _write(context, builder, out, _address(context, builder, (out, types.intp, types.intp), place), row)
        return context.get_dummy_value()

    return types.none(a, order, s, k, out, t), generate


_TURNS = [[n for k in range(first, LANES, 2) for n in (k, LANES + k)] for first in (0, 1)]


class _Plain:
    """The same without compilation, on numpy arrays."""

    @staticmethod
    def load_some(a: np.ndarray, i: int, n: int) -> np.ndarray:
        return np.concatenate([a[i : i + n], np.zeros(LANES - min(n, LANES))])[:LANES].astype(float)

    @staticmethod
    def store(a: np.ndarray, i: int, value: np.ndarray, n: int = LANES) -> None:
        a[i : i + min(n, LANES)] = value[:n]

    @staticmethod
    def evens(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([u, v])[_TURNS[0]]

    @staticmethod
    def odds(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([u, v])[_TURNS[1]]

    @staticmethod
    def even_pairs(a: np.ndarray, ends: np.ndarray, e: int) -> np.ndarray:
        return np.array([a[int(end) + n] for end in ends[e : e + LANES : 2] for n in (0, 1)])

    @staticmethod
    def odd_pairs(a: np.ndarray, ends: np.ndarray, e: int) -> np.ndarray:
        return np.array([a[int(end) + n] for end in ends[e + 1 : e + LANES : 2] for n in (0, 1)])

    @staticmethod
    def transpose(a: np.ndarray, order: np.ndarray, s: int, k: int, out: np.ndarray, t: int) -> None:
        out[k : k + LANES, t : t + LANES] = a[order[s : s + LANES], k : k + LANES].T


def _either(compiled: Any, plain: Any) -> Any:
    return intrinsic(compiled) if COMPILED else plain


load = _either(_load, lambda a, i: a[i : i + LANES].astype(float))
"""load(a, i): a[i], …, a[i + 7]."""
load_some = _either(_load_some, _Plain.load_some)
"""load_some(a, i, n): n numbers from a[i] on, at most eight, and zeros."""
store = _either(_store, _Plain.store)
"""store(a, i, u): u to a[i], …, a[i + 7]."""
store_some = _either(_store_some, _Plain.store)
"""store_some(a, i, u, n): the first n lanes only, at most eight."""
spread = _either(_spread, lambda x: np.full(LANES, float(x)))
"""spread(x): x in every lane."""
fma = _either(_fma, lambda u, v, w: u * v + w)
"""fma(u, v, w): u v + w, rounded once where the processor can."""
add, subtract, multiply = (
    _either(_arithmetic(f"f{name[:3]}"), getattr(np, name)) for name in ("add", "subtract", "multiply")
)
evens = _either(_taking(0), _Plain.evens)
"""evens(u, v): u_0, v_0, u_2, v_2, … With `odds` it joins two vectors to pairs, and takes pairs apart again."""
odds = _either(_taking(1), _Plain.odds)
"""odds(u, v): u_1, v_1, u_3, v_3, …"""
numbers_at = _either(_gathering(1), lambda a, ends, e: a[ends[e : e + LANES]].astype(float))
"""numbers_at(a, ends, e): a[ends[e]], …, a[ends[e + 7]]."""
even_pairs = _either(_gathering(2), _Plain.even_pairs)
"""even_pairs(a, ends, e): two numbers each from a[ends[e]], a[ends[e + 2]], a[ends[e + 4]] and a[ends[e + 6]] on."""
odd_pairs = _either(_gathering(2, first=1), _Plain.odd_pairs)
"""odd_pairs(a, ends, e): two numbers each from a[ends[e + 1]], …, a[ends[e + 7]] on."""
prefetch = _either(_prefetch, lambda a, t, k: None)
"""prefetch(a, t, k): let a[t, k] come into the cache."""
transpose = _either(_transpose, _Plain.transpose)
"""transpose(a, order, s, k, out, t): out[k + p, t + q] = a[order[s + q], k + p] for p, q < 8."""
