"""Data of other libraries: pandas and polars frames and series, arrays of lists, generators.

None of these libraries is imported: the module of an object's class says where it comes from. A series of lists
is several sequences, named by the index; a frame with columns for case, activity and time is an event log; any other
series is one sequence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from glnn.sequences.errors import InputError, one_line
from glnn.sequences.several import Sequences

_LOOKED_AT = 2000


def unwrapped(data: Any) -> Any:
    """The same data as lists, arrays or `Sequences`; anything else stays as it is."""
    if isinstance(data, np.ndarray):
        lists = data.dtype == object and data.ndim == 1 and data.size and all(map(is_row, data))
        return [_plain_row(row) for row in data] if lists else data
    if isinstance(data, Iterator):
        return list(data)
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library == "pandas":
        return _of_pandas(data, kind)
    if library == "polars":
        return _of_polars(data, kind)
    return data


def is_row(item: Any) -> bool:
    """Whether an item is a sequence rather than a symbol: a list, a tuple, or an array of one dimension."""
    return isinstance(item, list | tuple) or (hasattr(item, "__array__") and getattr(item, "ndim", 1) > 0)


def _of_pandas(data: Any, kind: str) -> Any:
    if kind == "DataFrame":
        columns = {str(name): data.iloc[:, place].tolist() for place, name in enumerate(data.columns)}
        if type(data.index).__name__ != "RangeIndex" and data.index.name is not None:
            columns.setdefault(str(data.index.name), data.index.tolist())
        return _of_frame(columns)
    if kind == "Series":
        names = None if type(data.index).__name__ == "RangeIndex" else [_name(label) for label in data.index]
        return _of_series(data.tolist(), data.to_numpy(), names)
    if kind == "SeriesGroupBy":
        groups = [(_name(label), group.tolist()) for label, group in data]
        return Sequences([group for _, group in groups], [label for label, _ in groups])
    if kind.endswith("GroupBy"):
        raise InputError("the data are a grouped frame: choose the column of the activity, as grouped['activity']")
    return data


def _of_polars(data: Any, kind: str) -> Any:
    if kind == "DataFrame":
        return _of_frame({name: data[name].to_list() for name in data.columns})
    if kind == "Series":
        return _of_series(data.to_list(), None, None)
    if kind == "LazyFrame":
        raise InputError("the data are a lazy frame: collect() it first")
    return data


def _of_series(values: list[Any], array: np.ndarray | None, names: list[str] | None) -> Any:
    if values and all(is_row(value) for value in values):
        return Sequences([_plain_row(value) for value in values], names)
    if array is not None and array.dtype.kind in "iu":
        return array
    missing = next((place for place, value in enumerate(values) if _is_missing(value)), None)
    if missing is not None:
        raise InputError(f"the series holds nothing at position {missing}: drop such rows, or give them a name")
    return values


def _of_frame(columns: dict[str, list[Any]]) -> Sequences:
    """An event log; or a column of lists, with another column that names them."""
    from glnn.sequences.formats.columns import CASE, Columns, find_columns, plain_name
    from glnn.sequences.formats.events import Events
    from glnn.sequences.formats.source import ReadOptions

    for name, values in columns.items():
        if values and all(is_row(value) for value in values):
            named = [other for other in columns if other != name and plain_name(other) in CASE]
            return Sequences(map(_plain_row, values), [_name(label) for label in columns[named[0]]] if named else None)
    header = list(columns)
    length = len(next(iter(columns.values()), []))
    rows = [[_name(columns[name][place]) for name in header] for place in range(min(length, _LOOKED_AT))]
    found: Columns = find_columns(header, rows, ReadOptions(), "the frame")
    events = Events(found, "error", "the frame")
    times = [None] * length if found.time is None else columns[found.time]
    for place, (case, activity, time) in enumerate(
        zip(columns[found.case], columns[found.activity], times, strict=True)
    ):
        events.add(f"row {place} of the frame", _name(case), _symbol(activity), _symbol(time))
    return events.sequences(title="a frame")


def _plain_row(row: Any) -> Any:
    """A sequence as `tokens_of` takes it."""
    return list(row) if isinstance(row, tuple) else row


def _name(value: Any) -> str:
    return "" if _symbol(value) is None else str(value)


def _symbol(value: Any) -> Hashable:
    """A cell, with None for what is missing."""
    if _is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[no-any-return]


def _is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, NaT, or pandas' NA, which cannot even be compared."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        raise InputError(f"the data hold {one_line(value)} where a symbol is expected") from None
