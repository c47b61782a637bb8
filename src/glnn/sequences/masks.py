"""The mask χ of the paper: χ_t = 1 where symbol t is to be predicted, 0 where it is only read.

A mask is flat over all sequences, or one mask per sequence; `mask_after` makes the one of "predict what
follows this symbol", as after the `=` of the distant XOR.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.sequences.errors import InputError


def mask_array(mask: Any, starts: np.ndarray) -> np.ndarray:
    """The mask as one bool array over all positions, checked; None predicts everything."""
    positions = int(starts[-1])
    if mask is None:
        return np.ones(positions, bool)
    flat = _one_per_sequence(mask, starts) if _is_nested(mask) else _booleans(mask, "the mask")
    if flat.size != positions:
        raise InputError(
            f"the mask has length {flat.size}, the data {positions} symbols: give one 0 or 1 per symbol"
            + (f", or a list of {len(starts) - 1} masks, one per sequence" if len(starts) > 2 else "")
        )
    if not flat.any():
        raise InputError("the mask predicts nothing: at least one position must be 1")
    return flat


def mask_with_ends(mask: Any, starts: np.ndarray, with_ends: np.ndarray) -> np.ndarray:
    """A mask over symbols and ends; one that is as long as the symbols alone leaves the ends out."""
    if mask is None:
        return np.ones(with_ends[-1], bool)
    length = sum(len(item) for item in mask) if _is_nested(mask) else np.size(mask)
    if length == with_ends[-1]:
        return mask_array(mask, with_ends)
    given = np.zeros(with_ends[-1], bool)
    inner = np.ones(with_ends[-1], bool)
    inner[with_ends[1:] - 1] = False
    given[inner] = mask_array(mask, starts)
    return given


def _is_nested(mask: Any) -> bool:
    return isinstance(mask, list | tuple) and len(mask) > 0 and all(np.ndim(item) > 0 for item in mask)


def _one_per_sequence(masks: Any, starts: np.ndarray) -> np.ndarray:
    if len(masks) != len(starts) - 1:
        raise InputError(f"{len(masks)} masks were given for {len(starts) - 1} sequences: give one mask per sequence")
    arrays = [_booleans(mask, f"the mask of sequence {which}") for which, mask in enumerate(masks)]
    for which, (array, length) in enumerate(zip(arrays, np.diff(starts), strict=True)):
        if array.size != length:
            raise InputError(
                f"the mask of sequence {which} has length {array.size}, the sequence {length} symbols: "
                "give one 0 or 1 per symbol"
            )
    return np.concatenate(arrays)


def _booleans(mask: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(mask)
    except ValueError:
        raise InputError(f"{name} mixes numbers and lists: it is flat, or one mask per sequence") from None
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}: a mask is a row of 0 and 1, one per symbol")
    if array.dtype == bool or not array.size:
        return array.astype(bool)
    if array.dtype.kind not in "iuf" or not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} holds something other than 0 and 1 (or False and True)")
    return array.astype(bool)
