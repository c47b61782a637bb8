"""The page of a fitted model on some data, from the model's public names only: surprise, sample, trace, history_, …

What a model does not have is left out: a context tree has no units, a hidden Markov model no learning rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib import metadata
from typing import Any

import numpy as np

from glnn.predictors.expected import expected_at
from glnn.report import held, time_scales
from glnn.report.drift import drift_of
from glnn.report.labels import LONGEST_NAME, label, labels, symbols_of
from glnn.report.page_data import (
    Fact,
    Inside,
    Learning,
    MemberRow,
    PageData,
    Sample,
    Surprise,
    TimeScales,
    Together,
    Weights,
)
from glnn.report.payload import strangest_positions
from glnn.report.positions import Positions, read_positions
from glnn.report.tables import strangest_variants
from glnn.sequences.alphabet import END

_MOST_TRACED = 2_000_000
_LONGEST_SAMPLE = 6_000
_LONGEST_SEQUENCE = 400
_SEQUENCES = 8
_TEMPERATURES = (1.0, 0.5)


def from_model(
    model: Any,
    data: Any,
    *,
    mask: Any = None,
    name: str = "",
    train_symbols: int | None = None,
    validation_symbols: int | None = None,
    samples: bool = True,
    judge: Any = None,
    about: str = "",
    random_state: int = 0,
    when: datetime | None = None,
    **parts: Any,
) -> PageData:
    """All that can be shown of a model on one or several sequences.

    `judge` scores the data, if not the model itself: one like it that has not seen them; `about` says how far they were
    known. `name` says what they are; `train_symbols` and `validation_symbols`, how many symbols were to be predicted in
    training, make the learning curves bits per symbol; `when` is the date in the header, now if it is not given.
    `parts` are what no model knows by itself: `comparison`, `followed` (the course of what was followed), `notes`.
    """
    judge = model if judge is None else judge
    positions = read_positions(judge, data, mask)
    inside = _inside(model, positions)
    surprise = replace(_surprise(judge, positions), about=about)
    kind = type(model).__name__
    return PageData(
        title=f"{kind} on {label(name, longest=LONGEST_NAME)}" if name else kind,
        subtitle=_SUBTITLES.get(kind, ""),
        facts=_facts(model, positions, when or datetime.now().astimezone()),
        symbols=positions.symbols,
        learning=_learning(model, train_symbols, validation_symbols),
        surprise=surprise,
        drift=drift_of(judge, positions),
        samples=_samples(model, random_state) if samples else (),
        inside=inside,
        together=_together(model),
        **parts,
    )


_SUBTITLES = {
    "GLNN": "A gated leaky neural network: each symbol has its own weights, and they change what the units hold.",
    "GNN": "A gated neural network: each symbol has its own weights.",
    "RNN": "A recurrent neural network with sparse connections.",
    "LSTM": "A long short-term memory network with peepholes, on a sparse graph.",
    "HMM": "A hidden Markov model on a sparse graph.",
    "ContextTree": "Contexts of every length, weighted by how well each predicts.",
    "NGram": "n-grams with Kneser-Ney smoothing.",
}


def _surprise(model: Any, positions: Positions) -> Surprise:
    """What each symbol cost, and what was expected at the strangest places."""
    given = Surprise(
        positions.codes, positions.bits, positions.starts, positions.mask, positions.names, symbols=positions.symbols
    )
    wanted = strangest_positions(given.bits)
    if positions.several:
        wanted += [variant.strangest for variant in strangest_variants(given)]
    found = expected_at(model.predictor_, positions.encoded, wanted)
    return replace(given, expected={at: (there.code, there.probability) for at, there in found.items()})


def _facts(model: Any, positions: Positions, when: datetime) -> list[Fact]:
    total, predicted = float(positions.bits.sum()), positions.predicted
    per_symbol = f"{total / predicted:.4g}" if np.isfinite(total) else "∞"
    facts = [Fact("bits per symbol", per_symbol, f"{total:,.1f} bits for {predicted:,} symbols")]
    validation = getattr(model, "validation_bits_", None)
    if validation is not None:
        facts.append(Fact("validation, regularised", f"{validation:,.1f} bits", "in training"))
    size = getattr(model, "units_", None)
    if size is not None:
        graph = getattr(model, "graph_", None)
        edges = f"{graph.edges:,} edges, " if graph is not None else ""
        parameters = getattr(model, "n_parameters_", None)
        facts.append(Fact("units", f"{size:,}", f"{edges}{parameters:,} parameters" if parameters else edges))
    seconds = getattr(model, "seconds_", None)
    if seconds is not None:
        # A context tree reads once; that number of steps is not worth reporting.
        detail = f"{model.steps_:,} steps" if getattr(model, "steps_", 1) > 1 else ""
        detail += _way_of_training(model)
        starts = len(getattr(model, "restarts_", ()))
        if starts > 1:
            detail += f"; {model.total_seconds_:,.1f} s for all {starts} starts"
        facts.append(Fact("training", f"{seconds:,.1f} CPU s", detail))
    shown = labels(model.alphabet_.symbols, model.alphabet_.kind)
    facts.append(Fact("alphabet", f"{len(shown):,} symbols", _beginning_of(shown)))
    facts.append(Fact("made", f"{when:%d %b %Y}".lstrip("0"), f"{when:%H:%M}, glnn {_version()}"))
    return facts


def _way_of_training(model: Any) -> str:
    """The metrics of batch training, or that it was stochastic; empty for other models."""
    if not hasattr(model, "metric"):
        return ""
    # Files of an older version hold the metric only.
    how = getattr(model, "training_", None) or {"training": "batch", "metric": model.metric}
    if how["training"] == "batch":
        return f", {model.output_metric.upper()}+{str(how['metric']).upper()}"
    return f", stochastic, {how['metric']}"


def _beginning_of(symbols: Sequence[str], most: int = 30) -> str:
    """As many symbols as a line holds."""
    line = ""
    for symbol in symbols:
        if line and len(line) + len(symbol) >= most:
            return f"{line} …"
        line = f"{line} {symbol}".strip()
    return line


def _version() -> str:
    try:
        return metadata.version("glnn")
    except metadata.PackageNotFoundError:
        return ""


def _learning(model: Any, train_symbols: int | None, validation_symbols: int | None) -> Learning | None:
    history = getattr(model, "history_", None)
    if not history:
        return None
    return Learning(history, getattr(model, "best_step_", None), train_symbols, validation_symbols)


def _samples(model: Any, random_state: int) -> list[Sample]:
    """One long sample at each temperature; where ends are learned, several whole sequences."""
    alphabet = model.alphabet_
    apart = alphabet.kind not in ("characters", "bytes")
    ends = alphabet.end is not None
    made = []
    for temperature in _TEMPERATURES:
        options = {"temperature": temperature, "random_state": random_state}
        heading = "As the model is" if temperature == 1.0 else f"At temperature {temperature:g}: the likely more likely"
        if ends:
            drawn = [
                tuple(symbols_of(item, alphabet))
                for item in model.sample(_LONGEST_SEQUENCE, count=_SEQUENCES, **options)
            ]
            different = dict.fromkeys(drawn)
            if len(different) < len(drawn):
                # The same line eight times only shows that it is likely.
                heading += f" ({len(drawn)} drawn, {len(different)} different)"
            symbols = [symbol for item in different for symbol in (*item, label(END))]
        else:
            symbols = symbols_of(model.sample(_LONGEST_SAMPLE, **options), alphabet)
        made.append(Sample(heading, symbols, separate=apart))
    return made


def _inside(model: Any, positions: Positions) -> Inside | None:
    """Trace as much of the beginning as memory and time allow."""
    if not hasattr(model, "units_"):
        return None
    length = positions.known_beginning(_MOST_TRACED // max(model.units_, 1))
    if length < 2:
        return None
    starts = np.append(positions.starts[positions.starts < length], length)
    trace = model.trace(positions.beginning(length))
    activities, codes = trace.activities[:length], positions.codes[:length]
    # A hidden Markov model has units, and no network; of several networks the first is shown.
    network: Any = model.networks_[0] if hasattr(model, "graph_") else None
    weights = None if network is None else _weights(network)
    if weights is None:
        scales = TimeScales(None, time_scales.correlation_time(activities, starts))
        return Inside(activities, codes, starts, None, "", None, scales)
    behind, symbol = _held(network, weights, activities, codes, starts)
    scales = _time_scales(network.model, weights, activities, codes, starts)
    return Inside(activities, codes, starts, behind, symbol, weights, scales)


def _together(model: Any) -> Together | None:
    """Members and weights, where a model has weights by entropy."""
    weights = getattr(model, "weights_", None)
    if weights is None:
        return None
    bits = model.combined_bits_ or [None] * (len(model.members_) + 2)
    rows = [
        MemberRow(member["seed"], member["steps"], member["seconds"], own, start is not None)
        for member, own, start in zip(model.members_, bits, model.starts_, strict=False)
    ]
    return Together(rows, weights.nodes / np.log(2.0), weights.weights, bits[-2], bits[-1])


def _weights(network: Any) -> Weights | None:
    """The weights of a network; None where its kind does not tell which parameter is which."""
    if not hasattr(network.model, "split"):
        return None
    graph, params = network.model.graph, network.params
    parts = network.model.split(params.theta)
    common = {"sources": graph.sources, "targets": graph.edge_targets, "writing": params.w}
    if len(parts) == 2:
        tau, bias = parts
        return Weights(edges=tau[None], biases=bias[None], **common)
    constants, edges, _, inputs = parts
    return Weights(
        edges=np.ascontiguousarray(edges.T)[:, None],
        biases=np.moveaxis(constants + inputs, -1, 0),
        groups=("input gate", "forget gate", "output gate", "cell input"),
        **common,
    )


def _held(
    network: Any, weights: Weights, activities: np.ndarray, codes: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray | None, str]:
    """What the activities are made from, in networks that keep it from step to step."""
    model, params = network.model, network.params
    if len(weights.groups) > 1:
        return held.cells(model, params, codes, starts), "c"
    if model.leak == 0.0:
        return None, ""
    return held.pre_activations(weights, activities, codes, starts, params.V0, model.leak), "V"


def _time_scales(
    model: Any, weights: Weights, activities: np.ndarray, codes: np.ndarray, starts: np.ndarray
) -> TimeScales:
    measured = time_scales.correlation_time(activities, starts)
    if len(weights.groups) > 1:
        return TimeScales(None, measured)
    loops = np.flatnonzero(weights.sources == weights.targets)
    alphabet = weights.writing.shape[1]
    by_symbol = np.broadcast_to(weights.edges[0][:, loops], (alphabet, loops.size))
    derivative = time_scales.derivative_of(activities, model.activation)
    own = time_scales.own_memory(by_symbol, codes, derivative, model.leak)
    mu = getattr(model, "time_scales", None)
    return TimeScales(own, measured, None if mu is None else 1.0 / np.asarray(mu))
