"""Arrays inside a page, as base64 of 16-bit numbers, and JSON that no text escapes from.

Floats become float16 (three digits, from 6e-8 to 65504); columns of activities become 16 bits between the smallest and
largest value of each, so that a small ramp far from 0 keeps its shape.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

Packed = dict[str, Any]

_LARGEST_HALF = float(np.finfo(np.float16).max)


def pack_floats(values: np.ndarray) -> Packed:
    """Numbers to three digits, NaN and infinities included."""
    with np.errstate(over="ignore", under="ignore"):
        # Finite numbers stay finite: an infinite one means something else.
        clipped = np.where(np.isfinite(values), np.clip(values, -_LARGEST_HALF, _LARGEST_HALF), values)
        half = np.asarray(clipped, "<f2")
    return {"type": "f2", "shape": list(half.shape), "data": _base64(half)}


def pack_integers(values: np.ndarray) -> Packed:
    """Integers from 0 on, in the smallest type that holds them."""
    values = np.asarray(values)
    largest = int(values.max(initial=0))
    if values.size and int(values.min()) < 0:
        raise ValueError(f"{int(values.min())} is among the integers to be packed: they begin at 0")
    kind = "u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "u4"
    return {"type": kind, "shape": list(values.shape), "data": _base64(values.astype(f"<{kind}"))}


def pack_columns(values: np.ndarray) -> Packed:
    """(T, N) numbers, each column in 65,535 steps of its own range."""
    finite = np.where(np.isfinite(values), values, 0.0)
    low, high = finite.min(axis=0), finite.max(axis=0)
    step = np.where(high > low, (high - low) / 65535.0, 1.0)
    steps = np.rint((finite - low) / step).astype("<u2")
    return {
        "type": "columns",
        "shape": list(values.shape),
        "low": _digits(low, 9),
        "step": _digits(step, 9),
        # Column by column: neighbours in time are neighbours in the text.
        "data": _base64(np.ascontiguousarray(steps.T)),
    }


def plain(values: np.ndarray, digits: int = 6) -> list[float | None]:
    """A short row of numbers as JSON; what is not finite becomes null."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, float)]


def script_json(value: Any) -> str:
    """JSON for a script element: no `<`, so neither `</script` nor `<!--` can occur, and no line separator."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digits(values: np.ndarray, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values]


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
