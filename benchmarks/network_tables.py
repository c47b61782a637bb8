"""Tables of the networks beside PyTorch's, from the lines of `real_data.py`: bits per symbol, and the time they take.

A network of PyTorch is trained once and followed by its curve; one of ours is planned for its budget, so every budget
is a run of its own.
"""

from __future__ import annotations

from typing import Any

from benchmarks.data_sets import ALL
from benchmarks.records import markdown

OURS, PEERS = ("GLNN", "LSTM", "RNN", "GNN"), ("PyTorch LSTM", "PyTorch GRU")
BUDGET = 60.0
TIMED = ("progc", "jigs", "bpi_12_w")
Line = dict[str, Any]


def networks(lines: list[Line]) -> str:
    """Bits a symbol, ours with the largest budget that was run; seconds where they are not 60."""
    rows = []
    for name in ALL:
        found = {model: _longest(lines, name, model) for model in (*OURS, *PEERS)}
        peer, ours = found["PyTorch LSTM"], [found[model] for model in OURS if found[model] is not None]
        if peer is None or not ours:
            continue
        cells = [_cell(line, peer if model in OURS else None) for model, line in found.items()]
        rows.append([name, *cells])
    return markdown(["", *OURS, *PEERS], rows)


def times(lines: list[Line]) -> str:
    """CPU seconds until what each network of PyTorch had at half and at the end of its time is reached.

    Of a run without a curve only the end is known, which may have been reached before.
    """
    rows = []
    for name in TIMED:
        for model in PEERS:
            peer = _longest(lines, name, model)
            if peer is None:
                continue
            for seconds, bits in _points(peer):
                ours = [_first_under(lines, name, own, bits) for own in ("GLNN", "LSTM")]
                rows.append([name, model, f"{bits:.3f}", seconds, *ours])
    return markdown(["", "peer", "bits per symbol", "peer, s", "GLNN, s", "LSTM, s"], rows, left=2)


def _points(peer: Line) -> list[tuple[str, float]]:
    if "curve" not in peer:
        return [(f"at most {peer['budget']:.0f}", peer["each"])]
    parts = ([point for point in peer["curve"] if point[0] <= part * peer["budget"] * 1.01] for part in (0.5, 1.0))
    return [(f"{part[-1][0]:.0f}", part[-1][1]) for part in parts if part]


def _longest(lines: list[Line], name: str, model: str) -> Line | None:
    found = [line for line in lines if line["set"] == name and line["model"] == model]
    return max(found, key=lambda line: line["budget"], default=None)


def _cell(line: Line | None, peer: Line | None) -> str:
    if line is None:
        return ""
    text = f"{line['each']:.3f}"
    if peer is not None and line["each"] <= peer["each"]:
        text = f"**{text}**"
    return text if line["budget"] == BUDGET else f"{text} ({line['budget']:.0f} s)"


def _first_under(lines: list[Line], name: str, model: str, bits: float) -> str:
    """The least budget within which such bits were reached, or that none of them was enough."""
    runs = sorted((line["budget"], line["each"]) for line in lines if line["set"] == name and line["model"] == model)
    enough = [budget for budget, each in runs if each <= bits]
    if enough:
        return f"{enough[0]:.0f}"
    return f"over {runs[-1][0]:.0f}" if runs else ""
