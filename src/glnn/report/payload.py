"""From `PageData` to the numbers that travel in the page: decimated, packed, each part within its share of the file.

plotly.js takes 1.5 MB; all else together stays near 1 MB, whatever the length of the data and the size of the network.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.report import ramps
from glnn.report.labels import LONGEST_NAME, label
from glnn.report.packing import pack_columns, pack_floats, pack_integers, plain
from glnn.report.page_data import Comparison, Drift, Inside, Learning, PageData, Surprise, Weights

_BITS = 1.0 / np.log(2.0)
_MOST_STEPS = 1000
_MOST_POINTS_OF_A_CURVE = 200
_FULL_POSITIONS = 70_000
_BINS = 2_000
_PLACES = 10
_CONTEXT = 60
_MOST_ACTIVITIES = 160_000
_LONGEST_STRETCH = 8_192
_MOST_FOLDED_UNITS = 16
_MOST_WEIGHTS = 60_000
_MOST_WRITTEN_SYMBOLS = 64


def payload(page: PageData) -> dict[str, Any]:
    """Everything that the page's scripts draw, ready for JSON."""
    parts: dict[str, Any] = {"symbols": list(page.symbols)}
    if page.comparison is not None:
        parts["comparison"] = comparison(page.comparison)
    if page.learning is not None and page.learning.history:
        parts["learning"] = learning(page.learning)
    if page.surprise is not None and len(page.surprise.codes):
        parts["surprise"] = surprise(page.surprise)
    for name, course in (("drift", page.drift), ("followed", page.followed)):
        if course is not None:
            parts[name] = drift(course)
    if page.inside is not None and len(page.inside.codes):
        parts["inside"] = inside(page.inside)
    return parts


def drift(given: Drift) -> dict[str, Any]:
    """Means over stretches, drawn at their middles."""
    return {
        "middles": plain(given.ends - given.counts / 2.0, 9),
        "total": int(given.ends[-1]),
        "frozen": None if given.frozen is None else plain(given.frozen),
        "learning": None if given.learning is None else plain(given.learning),
        "events": given.events,
        "change": None
        if given.change is None
        else [given.change.after, given.change.bits_before, given.change.bits_after],
    }


def comparison(given: Comparison) -> dict[str, Any]:
    """Rows from fewest bits to most."""
    rows = []
    for row in sorted(given.rows, key=lambda row: row.bits):
        curve = np.array(row.curve, float).reshape(-1, 2)
        curve = curve[evenly(len(curve), _MOST_POINTS_OF_A_CURVE)]
        rows.append(
            {
                "name": label(row.name, longest=LONGEST_NAME),
                "group": row.group,
                "bits": float(row.bits) if np.isfinite(row.bits) else None,
                "curve": [plain(curve[:, 0]), plain(curve[:, 1], 7)],
            }
        )
    return {"rows": rows, "symbols": given.symbols}


def learning(given: Learning) -> dict[str, Any]:
    """The curves at no more than `_MOST_STEPS` steps; rejected trials are summed over the steps in between."""
    history = given.history
    kept = evenly(len(history), _MOST_STEPS)
    best = next((i for i, info in enumerate(history) if info["step"] == given.best_step), None)
    if best is not None:
        kept = np.union1d(kept, [best])

    def column(name: str) -> np.ndarray:
        return np.array([np.nan if info.get(name) is None else info[name] for info in history], float)

    def rejected(name: str) -> list[float | None]:
        total = np.concatenate([[0.0], np.cumsum(np.nan_to_num(column(name)))])
        return plain(np.diff(total[np.concatenate([[0], kept + 1])]))

    def rates(name: str) -> list[float | None]:
        used = column(name)[kept]
        return plain(np.where(used > 0.0, used, np.nan))

    train = -column("log_likelihood")[kept] * _BITS
    validation = -column("validation")[kept] * _BITS
    validated = bool(np.isfinite(validation).any())
    per_symbol = bool(given.train_symbols) and (bool(given.validation_symbols) or not validated)
    if per_symbol:
        train = train / float(given.train_symbols or 1)
        validation = validation / float(given.validation_symbols or 1)
    return {
        "steps": plain(column("step")[kept]),
        "seconds": plain(column("seconds")[kept]),
        "train": plain(train),
        "validation": plain(validation) if validated else None,
        "perSymbol": per_symbol,
        "rates": any(info.get("writing_rate") is not None for info in history),
        "writingRate": rates("writing_rate"),
        "transitionRate": rates("transition_rate"),
        "writingRejected": rejected("writing_rejected"),
        "transitionRejected": rejected("transition_rejected"),
        "best": None if best is None else int(np.searchsorted(kept, best)),
    }


def surprise(given: Surprise) -> dict[str, Any]:
    """Every position of the first `_FULL_POSITIONS`; beyond, mean and largest bits over bins of the whole."""
    length = len(given.codes)
    full = min(length, _FULL_POSITIONS)
    packed: dict[str, Any] = {
        "length": length,
        "full": full,
        "codes": pack_integers(given.codes[:full]),
        "bits": pack_floats(given.bits[:full]),
        "starts": given.starts[: np.searchsorted(given.starts, full, side="right")][:20_000].tolist(),
        "places": places(given),
    }
    if not given.mask.all():
        packed["mask"] = pack_integers(given.mask[:full].astype(np.uint8))
    if full < length:
        edges = np.linspace(0, length, _BINS + 1).astype(np.int64)
        counts = np.maximum(np.diff(edges), 1)
        packed["bins"] = {
            "edges": edges.tolist(),
            "mean": pack_floats(np.add.reduceat(given.bits, edges[:-1]) / counts),
            "most": pack_floats(np.maximum.reduceat(given.bits, edges[:-1])),
        }
    return packed


def places(given: Surprise) -> list[dict[str, Any]]:
    """The most surprising symbols, each with its surroundings, its sequence, and what was expected."""
    found = []
    for position in strangest_positions(given.bits):
        which = int(np.searchsorted(given.starts, position, side="right")) - 1
        begin = max(position - _CONTEXT, int(given.starts[which]))
        end = min(position + _CONTEXT + 1, int(given.starts[which + 1]))
        found.append(
            {
                "position": position,
                "begin": begin,
                "sequence": which,
                "codes": given.codes[begin:end].tolist(),
                "bits": plain(given.bits[begin:end], 4),
            }
        )
        if given.names is not None:
            found[-1]["name"] = given.names[which]
        if position in given.expected:
            code, probability = given.expected[position]
            found[-1]["expected"] = [code, float(f"{probability:.3g}"), float(f"{2.0 ** -given.bits[position]:.3g}")]
    return found


def strangest_positions(bits: np.ndarray) -> list[int]:
    """The positions that cost most, none within the context of another."""
    left = np.array(bits, float)
    found: list[int] = []
    while len(found) < _PLACES:
        position = int(np.argmax(left))
        if not left[position] > 0.0:
            break
        found.append(position)
        left[max(position - _CONTEXT // 2, 0) : position + _CONTEXT // 2 + 1] = -1.0
    return found


def inside(given: Inside) -> dict[str, Any]:
    """Activities of a stretch from the beginning, runs laid over one another, weights, time scales."""
    units = given.activities.shape[1]
    shown = {"activity": given.activities}
    if given.held is not None:
        shown["held"] = given.held
    stretch = min(len(given.codes), _LONGEST_STRETCH, max(_MOST_ACTIVITIES // (units * len(shown)), 64))
    runs = ramps.find_runs(given.codes, given.starts)
    strength = {name: ramps.ramp_strength(values, runs) for name, values in shown.items()}
    strongest = np.max(list(strength.values()), axis=0)
    folded = np.argsort(-strongest, kind="stable")[:_MOST_FOLDED_UNITS]
    packed: dict[str, Any] = {
        "units": units,
        "codes": pack_integers(given.codes[:stretch]),
        "starts": given.starts[given.starts < stretch].tolist(),
        "shown": {name: pack_columns(values[:stretch]) for name, values in shown.items()},
        "heldName": given.held_name,
        "ramps": {name: plain(values) for name, values in strength.items()} if len(runs) else None,
        "varies": plain(given.activities.std(axis=0)),
        "folded": folded.tolist(),
        "folds": [
            {
                "code": found.code,
                "lengths": found.lengths.tolist(),
                "positions": pack_integers(found.positions),
                "shown": {name: pack_columns(values.reshape(-1, folded.size)) for name, values in found.shown.items()},
            }
            for found in ramps.fold({name: values[:, folded] for name, values in shown.items()}, runs, given.starts)
        ],
    }
    if given.weights is not None:
        packed["weights"] = weights(given.weights, given.codes)
    if given.time_scales is not None:
        scales = given.time_scales
        packed["timeScales"] = {
            "own": None if scales.own is None else plain(scales.own, 4),
            "measured": plain(scales.measured, 4),
            "initial": None if scales.initial is None else plain(scales.initial, 4),
        }
    return packed


def weights(given: Weights, codes: np.ndarray) -> dict[str, Any]:
    """Edges, biases and writing weights, of the most frequent symbols when there are too many."""
    groups, _, edges = given.edges.shape
    alphabet = given.writing.shape[1]
    counts = np.bincount(codes[codes < alphabet], minlength=alphabet)
    by_frequency = np.argsort(-counts, kind="stable")
    most = max(int(_MOST_WEIGHTS // (groups * (edges + given.biases.shape[2]))), 1)
    shown = np.sort(by_frequency[:most])
    written = np.sort(by_frequency[:_MOST_WRITTEN_SYMBOLS])
    shared = given.edges.shape[1] == 1
    return {
        "sources": pack_integers(given.sources),
        "targets": pack_integers(given.targets),
        "groups": list(given.groups),
        "symbols": shown.tolist(),
        "alphabet": alphabet,
        "edges": pack_floats(given.edges if shared else given.edges[:, shown]),
        "biases": pack_floats(given.biases[:, shown]),
        "written": written.tolist(),
        "writing": pack_floats(given.writing[:, written]),
    }


def evenly(length: int, most: int) -> np.ndarray:
    """Indices of at most `most` of `length` things, evenly spaced, the first and the last included."""
    if length <= most:
        return np.arange(length)
    return np.unique(np.linspace(0, length - 1, most).round().astype(np.int64))
