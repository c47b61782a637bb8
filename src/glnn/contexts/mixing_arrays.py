"""A memory of contexts as plain arrays, for files: of the tables what they hold, of the history what was filled.

Where an entry stands in its table makes no difference to anything, so tables are rebuilt, in their sizes. Whatever a
file holds, compiled loops stay inside of what is built from it.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_hashing import enter
from glnn.contexts.mixing_memory import CONTEXTS, DECISIONS, MANY, PLACES, SINGLE, SYMBOLS, Memory
from glnn.contexts.mixing_plan import Plan
from glnn.sequences import InputError

_TABLES = {"contexts": CONTEXTS, "decisions": DECISIONS, "places": PLACES}
_LARGEST = 1 << 32


def to_arrays(memory: Memory) -> dict[str, np.ndarray]:
    """Copies of all that the memory holds; entries as bytes."""
    found = {name: array.copy() for name, array in memory._asdict().items() if name not in _TABLES and array.size}
    for name in _TABLES:
        table = getattr(memory, name)
        found[name] = table[table["key"] > 0].view(np.uint8)
    found["history"] = memory.history[: min(int(memory.filled[SYMBOLS]), memory.history.size)].copy()
    found["sizes"] = np.array([memory.history.size, *(getattr(memory, name).size for name in _TABLES)], np.int64)
    return found


def from_arrays(arrays: dict[str, np.ndarray], like: Memory, plan: Plan) -> Memory:
    """The inverse, for a memory of the same plan as `like`."""
    sizes = arrays.get("sizes", np.zeros(0))
    if sizes.shape != (4,) or sizes.dtype != np.int64 or any(not _is_size(size) for size in sizes.tolist()):
        raise _wrong("sizes")
    built: dict[str, np.ndarray] = {}
    for name, own in like._asdict().items():
        if name in _TABLES or name == "history":
            continue
        if not own.size:
            # Files from before there was such an array do not have it, nor need it.
            built[name] = own.copy()
            continue
        found = arrays.get(name)
        if found is None or found.shape != own.shape or found.dtype != own.dtype or not np.isfinite(found).all():
            raise _wrong(name)
        built[name] = np.array(found)
    filled = built["filled"]
    if built["followed"].size and built["followed"].min() < 0:
        raise _wrong("followed")
    if filled.min() < 0 or (built["uses"] < 0.0).any() or (built["final_uses"] < 0.0).any():
        raise _wrong("filled")
    built["history"] = _history(arrays, int(sizes[0]), int(filled[SYMBOLS]), plan)
    for (name, counter), size in zip(_TABLES.items(), sizes[1:].tolist(), strict=True):
        built[name] = _table(name, arrays, getattr(like, name).dtype, size, int(filled[counter]))
    memory = Memory(**built)
    used = memory.contexts[memory.contexts["key"] > 0]
    inside = (
        _within(used["symbol"], plan.lengths.size)
        and bool(np.isin(used["kind"], (SINGLE, MANY)).all())
        and _within(memory.decisions["state"], memory.state_chance.shape[1])
        and bool(((memory.decisions["chance"] >= 0.0) & (memory.decisions["chance"] <= 1.0)).all())
        and _within(memory.places["at"], int(filled[SYMBOLS]) + 1)
    )
    if not inside:
        raise _wrong("entries")
    return memory


def _history(arrays: dict[str, np.ndarray], size: int, filled: int, plan: Plan) -> np.ndarray:
    known = arrays.get("history", np.zeros(0))
    if known.shape != (min(filled, size),) or known.dtype != np.int32 or not _within(known, plan.lengths.size):
        raise _wrong("history")
    history = np.zeros(size, np.int32)
    history[: known.size] = known
    return history


def _table(name: str, arrays: dict[str, np.ndarray], kind: np.dtype, size: int, filled: int) -> np.ndarray:
    content = arrays.get(name, np.zeros(0))
    if content.dtype != np.uint8 or content.shape != (filled * kind.itemsize,) or filled > size // 4 * 3:
        raise _wrong(name)
    entries = np.frombuffer(content.tobytes(), kind)
    if np.unique(entries["key"]).size != filled or not (entries["key"] > 0).all():
        raise _wrong(name)
    table = np.zeros(size, kind)
    enter(entries.copy(), table)
    return table


def _is_size(size: int) -> bool:
    return 4 <= size <= _LARGEST and not size & (size - 1)


def _within(values: np.ndarray, bound: int) -> bool:
    return not values.size or (int(values.min()) >= 0 and int(values.max()) < bound)


def _wrong(name: str) -> InputError:
    return InputError(f"what a stream learned does not fit this mixture ({name}): take the file of the same model")
