"""What a model file holds of a network: its arrays and graph, the history as one array, and the rest of the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from glnn.models import Model, Params
from glnn.network import Graph
from glnn.sequences import InputError
from glnn.storage.model_file import ModelFileError
from glnn.training.online import check_running
from glnn.training.records import StepInfo

_NOTES = "notes"
_COLUMNS = tuple(field.name for field in fields(StepInfo) if field.name != _NOTES)
_WHOLE = {field.name for field in fields(StepInfo) if field.type == "int"}


def arrays_of(params: Params, graph: Graph, history: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Parameters, the edges of the graph, and the history with NaN for None."""
    # A history from a file of another version may lack what this one records.
    table = [[np.nan if row.get(name) is None else row[name] for name in _COLUMNS] for row in history]
    return {
        "w": params.w,
        "theta": params.theta,
        "V0": params.V0,
        "edge_sources": graph.sources,
        "edge_targets": graph.edge_targets,
        "history": np.array(table, np.float64).reshape(-1, len(_COLUMNS)),
    }


def record_of(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of the array `history`, and the notes of the steps that have some: [place, note, …]."""
    notes = [[place, *row[_NOTES]] for place, row in enumerate(history) if row[_NOTES]]
    return {"history_columns": list(_COLUMNS), "history_notes": notes}


def history_from(arrays: dict[str, np.ndarray], columns: list[str], notes: list[list[Any]]) -> list[dict[str, Any]]:
    """The history as it was; columns of another version of glnn are taken as they are."""
    history = [dict(zip(columns, map(_cell, columns, row), strict=True)) for row in arrays["history"].tolist()]
    for row in history:
        row[_NOTES] = ()
    for place, *texts in notes:
        history[place][_NOTES] = tuple(texts)
    return history


def members_to_arrays(others: Sequence[tuple[Params, Graph]], starts: Sequence[np.ndarray | None]) -> dict[str, Any]:
    """The networks after the first one, and the start states of all where they are not as trained."""
    arrays: dict[str, np.ndarray] = {}
    for k, (params, graph) in enumerate(others, 1):
        parts = {"w": params.w, "theta": params.theta, "V0": params.V0}
        edges = {"edge_sources": graph.sources, "edge_targets": graph.edge_targets}
        arrays |= {f"{_member(k)}{name}": part for name, part in {**parts, **edges}.items()}
    arrays |= {f"{_member(k)}start": start for k, start in enumerate(starts) if start is not None}
    return arrays


def members_from(arrays: dict[str, np.ndarray], alphabet_size: int) -> list[tuple[Params, Graph]]:
    """The inverse of `members_to_arrays`."""
    count = 1
    while f"{_member(count)}w" in arrays:
        count += 1
    return [network_from(arrays, alphabet_size, _member(k)) for k in range(1, count)]


def starts_from(arrays: dict[str, np.ndarray], sizes: Sequence[int]) -> tuple[np.ndarray | None, ...]:
    """The start state of each network of such a state's size; None as trained."""
    starts = tuple(arrays.get(f"{_member(k)}start") for k in range(len(sizes)))
    for start, size in zip(starts, sizes, strict=True):
        if start is not None and (start.shape != (size,) or not np.isfinite(start).all()):
            raise ModelFileError(f"a start state of shape {start.shape}: expected {size} finite numbers")
    return starts


def running_from(arrays: dict[str, np.ndarray], k: int, params: Params) -> dict[str, np.ndarray] | None:
    """The running metric of a network that learns from streams; None if none was kept."""
    begin = f"running{k}."
    found = {name.removeprefix(begin): part for name, part in arrays.items() if name.startswith(begin)}
    try:
        if found:
            check_running(found, params)
    except InputError as why:
        raise ModelFileError(str(why)) from None
    return found or None


def _member(k: int) -> str:
    """How the names of a network's arrays begin; the first one has no prefix, as in files that held only one."""
    return "" if k == 0 else f"member{k}."


def network_from(arrays: dict[str, np.ndarray], alphabet_size: int, begin: str = "") -> tuple[Params, Graph]:
    """Parameters and graph, of arrays whose names begin so; the sizes must fit together."""
    needed = [f"{begin}{name}" for name in ("w", "theta", "V0", "edge_sources", "edge_targets")]
    missing = {*needed, "history"} - arrays.keys()
    if missing:
        raise ModelFileError(f"the file lacks {', '.join(sorted(missing))}")
    w, theta, V0, sources, targets = (arrays[name] for name in needed)
    if w.ndim != 2 or w.shape[1] != alphabet_size or w.shape[0] < 2:
        raise ModelFileError(f"w has shape {w.shape}: the alphabet has {alphabet_size} symbols")
    units = w.shape[0] - 1
    if sources.shape != targets.shape or sources.ndim != 1 or not 0 < sources.size <= units**2:
        raise ModelFileError(f"the graph has {sources.size} edges from and {targets.size} to units")
    for ends in (sources, targets):
        if ends.dtype.kind not in "iu" or ends.min() < 0 or ends.max() >= units:
            raise ModelFileError(f"the graph has edges outside the {units} units")
    params = Params(*(np.array(part, np.float64) for part in (w, theta, V0)))
    if not all(np.isfinite(part).all() for part in (params.w, params.theta, params.V0)):
        raise ModelFileError("the file has parameters that are not finite")
    return params, Graph.from_edges(units, sources, targets)


def check_sizes(params: Params, model: Model) -> None:
    """Refuse parameters of another size than the network's."""
    signals, A = model.signals, model.alphabet_size
    gated = signals.symbols == "gate"
    expected = A * signals.rows.size if gated else signals.rows.size + A * model.inner_units
    if params.theta.shape != (expected,) or params.V0.shape != (model.state_size,):
        raise ModelFileError(
            f"theta and V0 have shapes {params.theta.shape} and {params.V0.shape}: this network needs ({expected},) "
            f"and ({model.state_size},)"
        )


def _cell(name: str, value: float) -> Any:
    if name in _WHOLE:
        return int(value)
    return None if name == "validation" and np.isnan(value) else value
