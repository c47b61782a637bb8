"""What the page shows, as plain data: numbers, texts and arrays, whatever model, method or comparison they come from.

Every part may be missing, and its section is then left out. Positions are counted in symbols from 0, over all
sequences end to end; `codes` index `symbols`, the labels that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Fact:
    """One fact in the header, "bits per symbol" → "1.234"."""

    name: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Learning:
    """A training record: one mapping for each step with the names of `StepInfo`, log-likelihoods natural.

    `step`, `seconds` and `log_likelihood` are needed; without learning rates there are no charts of them.
    """

    history: Sequence[Mapping[str, Any]]
    best_step: int | None = None
    train_symbols: int | None = None
    """How many symbols were to be predicted; curves are bits per symbol where these are known, total bits otherwise."""
    validation_symbols: int | None = None


@dataclass(frozen=True)
class ComparisonRow:
    """One model or baseline on the same data."""

    name: str
    bits: float
    group: str = "network"
    """"network", "baseline", "compressor" or "true model": decides the colour; the true model is drawn as a line."""
    seconds: float | None = None
    parameters: int | None = None
    detail: str = ""
    curve: Sequence[tuple[float, float]] = ()
    """Bits on the same data against CPU seconds of training."""


@dataclass(frozen=True)
class Comparison:
    """Rows in any order, and the number of symbols that the bits are for."""

    rows: Sequence[ComparisonRow]
    symbols: int | None = None
    caption: str = ""


@dataclass(frozen=True, eq=False)
class Surprise:
    """What each symbol cost, in bits."""

    codes: np.ndarray
    bits: np.ndarray
    starts: np.ndarray
    mask: np.ndarray
    """Which symbols were to be predicted."""
    names: Sequence[str] | None = None
    """Of the sequences, when they have names."""
    expected: Mapping[int, tuple[int, float]] = field(default_factory=dict)
    """The code of the likeliest symbol and its probability, at the strangest positions."""
    symbols: Sequence[str] = ()
    """The label of every code, for text."""
    about: str = ""
    """A sentence that says how far the model knew these data."""


@dataclass(frozen=True)
class Sample:
    """New symbols that a model made, symbol by symbol and made visible."""

    heading: str
    symbols: Sequence[str]
    prefix: Sequence[str] = ()
    separate: bool = False
    """Whether symbols are words rather than characters, and are shown apart."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Transition weights: for every group (a gate of the LSTM; one group otherwise) and symbol, edges and biases.

    `edges` is (G, A, E) or (G, 1, E) when the symbols share them, `biases` (G, A, N), `writing` (N + 1, A) with the
    constant first; edge e goes from unit `sources[e]` to unit `targets[e]`.
    """

    sources: np.ndarray
    targets: np.ndarray
    edges: np.ndarray
    biases: np.ndarray
    writing: np.ndarray
    groups: Sequence[str] = ("",)


@dataclass(frozen=True, eq=False)
class TimeScales:
    """How many symbols each unit remembers, (N,) each: alone, as measured on its activity, and before training."""

    own: np.ndarray | None
    measured: np.ndarray
    initial: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Inside:
    """A network at work: `activities[t]` (T, N) is where it is when it predicts the symbol `codes[t]`."""

    activities: np.ndarray
    codes: np.ndarray
    starts: np.ndarray
    held: np.ndarray | None = None
    """What the units hold besides their activities, (T, N), where that says more: V of a GLNN, c of an LSTM."""
    held_name: str = "V"
    weights: Weights | None = None
    time_scales: TimeScales | None = None


@dataclass(frozen=True)
class Change:
    """After this many events, from this many bits per event to this many."""

    after: int
    bits_before: float
    bits_after: float


@dataclass(frozen=True, eq=False)
class Drift:
    """Bits per event over time, averaged over stretches: (K,) each."""

    ends: np.ndarray
    """How many events there were at the end of each stretch."""
    counts: np.ndarray
    frozen: np.ndarray | None
    """As the model was trained."""
    learning: np.ndarray | None
    """When it goes on learning."""
    change: Change | None
    """Where the first available of the two changed most, if it did."""
    events: str = "symbols"


@dataclass(frozen=True)
class MemberRow:
    """One network of those that predict together."""

    seed: int
    steps: int
    seconds: float
    bits: float | None
    """Bits per symbol of the validation data, by this network alone."""
    typical_start: bool


@dataclass(frozen=True, eq=False)
class Together:
    """How networks predict: one calibrated, or several mixed, by weights (B, K) at entropies (B,) in bits."""

    members: Sequence[MemberRow]
    entropies: np.ndarray
    weights: np.ndarray
    evenly: float | None = None
    weighed: float | None = None
    """Bits per symbol of the validation data: all mixed evenly, and as they are weighed."""


@dataclass(frozen=True, eq=False)
class PageData:
    """All that a page shows."""

    title: str
    subtitle: str = ""
    facts: Sequence[Fact] = ()
    symbols: Sequence[str] = ()
    comparison: Comparison | None = None
    learning: Learning | None = None
    surprise: Surprise | None = None
    drift: Drift | None = None
    followed: Drift | None = None
    """The course of what `glnn follow` read."""
    samples: Sequence[Sample] = ()
    inside: Inside | None = None
    together: Together | None = None
    notes: Sequence[str] = field(default=())
    """Sentences for the end of the page: what was left out, what a figure means here."""
