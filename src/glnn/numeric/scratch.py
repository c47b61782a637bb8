"""Arrays that are used again: a fresh large array costs a page fault every 4 KiB, often more than the work on it."""

from __future__ import annotations

import threading
from math import prod

import numpy as np
import numpy.typing

LINE = 64
"""Bytes of a line of the cache, and of the widest vectors."""


def aligned(*shape: int, dtype: np.typing.DTypeLike = np.float64) -> np.ndarray:
    """An uninitialised array that begins with a line: vectors of eight then never lie across two."""
    kind = np.dtype(dtype)
    size = prod(shape) * kind.itemsize
    raw = np.empty(size + LINE, np.uint8)
    begin = -raw.ctypes.data % LINE
    return raw[begin : begin + size].view(kind).reshape(shape)


class Workspace:
    """Named arrays, one for each name, grown when a larger one is asked for; their contents are left from before."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def array(self, name: str, *shape: int, dtype: np.typing.DTypeLike = np.float64) -> np.ndarray:
        """An uninitialised array, valid until the same name is asked for again."""
        size = prod(shape)
        flat = self._arrays.get(name)
        if flat is None or flat.size < size or flat.dtype != dtype:
            flat = self._arrays[name] = aligned(size, dtype=dtype)
        return flat[:size].reshape(shape)

    def __getstate__(self) -> dict[str, object]:
        return {}

    def __setstate__(self, state: dict[str, object]) -> None:
        self._arrays = {}


_local = threading.local()


def thread_workspace() -> Workspace:
    """The workspace of the running thread, for blocks that fit the cache."""
    workspace: Workspace | None = getattr(_local, "workspace", None)
    if workspace is None:
        workspace = _local.workspace = Workspace()
    return workspace
