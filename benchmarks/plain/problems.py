"""The five problems on which the engine and the C++ yardstick are timed, with parameters away from the start.

At the paper's initialisation most weights are 0, which a program could exploit; here every w and τ gets
seeded noise. That of τ into unit j is scaled by its μ_j and has mean 0 over the symbols: each unit keeps the
time scale 1/μ_j that it starts with, and no activity saturates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.plain.layout import loops
from glnn.network.graph import Graph, random_graph
from glnn.sequences import Encoded
from glnn.sources import get

_WRITING_NOISE = 0.3
_TRANSITION_NOISE = 0.3
_ALPHA = 0.5


@dataclass(frozen=True, eq=False)
class Parameters:
    """A GLNN: `w` (N+1, A), row 0 the constant unit; `tau` (A, E), the edges unit after unit; `V0` (N,)."""

    graph: Graph
    w: np.ndarray
    tau: np.ndarray
    V0: np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, parameters, and the learning rate 1/N of a first step."""

    name: str
    data: Encoded
    parameters: Parameters
    eta: float


@dataclass(frozen=True)
class _Setting:
    source: str
    units: int
    degree: int


_SETTINGS = {
    "insertions, 64 units": _Setting("insertions", 64, 12),
    "music, 64 units": _Setting("music", 64, 7),
    "aⁿbⁿ, 16 units": _Setting("anbn", 16, 3),
    "distant XOR, 10 units": _Setting("xor", 10, 10),
    "insertions, 512 units": _Setting("insertions", 512, 12),
}
NAMES = tuple(_SETTINGS)


def problems(seed: int = 0) -> list[Problem]:
    """All five, at the paper's sizes."""
    return [problem(name, seed=seed) for name in NAMES]


def problem(name: str, size: int | None = None, seed: int = 0) -> Problem:
    """One problem; `size` is the number of lines, bars or blocks (the paper's if None)."""
    if name not in _SETTINGS:
        raise ValueError(f"no benchmark problem is called {name!r}; there are {', '.join(map(repr, NAMES))}")
    setting = _SETTINGS[name]
    source = get(setting.source)
    data = source.encode(source.sample(size, seed=seed).text)
    graph = random_graph(setting.units, setting.degree, seed)
    return Problem(name, data, perturbed_start(graph, data, seed), eta=1.0 / setting.units)


def perturbed_start(graph: Graph, data: Encoded, seed: int = 0) -> Parameters:
    """The paper's initialisation (eq:initw to eq:initread) plus noise on every weight."""
    generator = np.random.default_rng(seed)
    letters, units = len(data.alphabet), graph.units
    frequencies = np.bincount(data.codes, minlength=letters) / data.codes.size
    predicted = np.bincount(data.codes[data.mask], minlength=letters)

    w = _WRITING_NOISE / np.sqrt(units) * generator.standard_normal((units + 1, letters))
    w[0] = np.log((predicted + 0.5) / (predicted.sum() + 0.5 * letters))

    memory = 1.0 / (np.arange(units) + 2.0)
    beta = -np.sqrt(_ALPHA * (_ALPHA - memory))
    into = np.concatenate([np.full(1 + degree, unit) for unit, degree in enumerate(graph.in_degrees)])
    noise = generator.standard_normal((letters, into.size)) * (memory / np.sqrt(1.0 + graph.in_degrees))[into]
    reading = generator.random((letters, units))
    tau = _TRANSITION_NOISE * (noise - frequencies @ noise)
    tau[:, graph.in_ptr[:-1] + np.arange(units)] += beta + memory / 4.0 * (reading - frequencies @ reading)
    tau[:, loops(graph)] -= _ALPHA
    return Parameters(graph, w, tau, V0=np.arctanh(beta / _ALPHA) + 0.1 * generator.standard_normal(units))
