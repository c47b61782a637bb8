"""The C++ yardstick against finite differences of its own log-likelihood, and against Section 2 written in numpy.

A yardstick that computes something else proves nothing: two sequences, a mask and a letter that never occurs are
in every check. What is transcribed here are the paper's sums, one time and one unit after the other.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import yardstick
from benchmarks.plain import compiler
from benchmarks.plain.flops import Sizes
from benchmarks.plain.problems import Parameters, perturbed_start
from glnn.network.graph import Graph, random_graph
from glnn.sequences import Alphabet, Encoded

pytestmark = pytest.mark.skipif(not compiler.available(), reason="the C++ yardstick needs g++, none is in PATH")

UNITS, DEGREE, LETTERS = 5, 3, 4


@dataclass(frozen=True)
class Sums:
    """Everything Section 2 sums up, with M̃ as one matrix per unit and letter."""

    log_likelihood: float
    a: np.ndarray
    W: np.ndarray
    h_ii: np.ndarray
    h_0i: np.ndarray
    B: np.ndarray
    m: np.ndarray
    G: np.ndarray
    M: list[list[np.ndarray]]


def tiny_data(seed: int = 0, symbols: int = 40) -> Encoded:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, LETTERS - 1, symbols).astype(np.int32)  # the last letter never occurs
    starts = np.array([0, symbols // 3, symbols])
    return Encoded(codes, starts, generator.random(symbols) < 0.7, Alphabet("abcd"))


def tiny_parameters(data: Encoded, seed: int = 0) -> Parameters:
    generator = np.random.default_rng(seed)
    start = perturbed_start(random_graph(UNITS, DEGREE, seed), data, seed)
    return replace(
        start,
        w=generator.standard_normal(start.w.shape),
        tau=start.tau + 0.3 * generator.standard_normal(start.tau.shape),
    )


def signals(graph: Graph, unit: int) -> list[int]:
    """The units that reach `unit`, as rows of w: the constant, then its sources."""
    return [0, *(1 + graph.sources[graph.in_ptr[unit] : graph.in_ptr[unit + 1]])]


def section_2(parameters: Parameters, data: Encoded, metric: str) -> Sums:
    graph, w, V0 = parameters.graph, parameters.w, parameters.V0
    units, letters, symbols = graph.units, w.shape[1], data.codes.size
    # τ as the paper indexes it, zero where there is no edge: tau[y, i, j], i = 0 the constant unit.
    tau = np.zeros((letters, units + 1, units + 1))
    first = graph.in_ptr[:-1] + np.arange(units)
    for j in range(units):
        for k, i in enumerate(signals(graph, j)):
            tau[:, i, j + 1] = parameters.tau[:, first[j] + k]

    a, B, m = np.ones((symbols, units + 1)), np.zeros((symbols, units)), np.zeros((symbols, units))
    pi = np.zeros((symbols, letters))
    W, h_0i, G = np.zeros_like(w), np.zeros_like(w), np.zeros_like(parameters.tau)
    h_ii = np.tile(np.bincount(data.codes, minlength=letters) / symbols + np.finfo(float).eps, (units + 1, 1))
    M = [[np.zeros((len(signals(graph, j)),) * 2) for _ in range(letters)] for j in range(units)]
    log_likelihood = 0.0
    for begin, end in zip(data.starts[:-1], data.starts[1:], strict=True):
        V = V0.copy()
        for t in range(begin, end):
            x, chi = data.codes[t], data.mask[t]
            a[t, 1:] = np.tanh(V)
            exponents = np.exp(a[t] @ w)
            pi[t] = exponents / exponents.sum()
            log_likelihood += chi * np.log(pi[t, x])
            V = V + a[t] @ tau[x, :, 1:]
            W += chi * np.outer(a[t], (np.arange(letters) == x) - pi[t])
            h_ii += chi * np.outer(a[t] ** 2, pi[t] * (1 - pi[t]))
            h_0i += chi * np.outer(a[t], pi[t] * (1 - pi[t]))
        B_next, m_next = np.zeros(units), np.zeros(units)
        for t in reversed(range(begin, end)):
            x, chi = data.codes[t], data.mask[t]
            for j in range(units):
                r = a[t, signals(graph, j)]
                G[x, first[j] : first[j] + r.size] += r * B_next[j]
                M[j][x] += np.outer(r, r) * m_next[j]
            for i in range(units):
                out, slope = tau[x, i + 1, 1:], 1 - a[t, i + 1] ** 2
                mean, square = pi[t] @ w[i + 1], pi[t] @ w[i + 1] ** 2
                B[t, i] = B_next[i] + slope * (chi * (w[i + 1, x] - mean) + out @ B_next)
                others = sum(out[j] ** 2 * m_next[j] for j in range(units) if j != i)
                m[t, i] = (
                    slope**2 * (chi * (square - mean**2) + others) + (1 + out[i] * slope) ** 2 * m_next[i]
                    if metric == "rbpm"
                    else B[t, i] ** 2
                )
            B_next, m_next = B[t], m[t]
    return Sums(log_likelihood, a, W, h_ii, h_0i, B, m, G, M)


def log_likelihood(parameters: Parameters, data: Encoded) -> float:
    return yardstick.update_w(parameters, data, 0.0).before


def derivative(parameters: Parameters, data: Encoded, name: str, place: tuple[int, ...]) -> float:
    def moved(by: float) -> float:
        array = getattr(parameters, name).copy()
        array[place] += by
        return log_likelihood(replace(parameters, **{name: array}), data)

    return (moved(1e-5) - moved(-1e-5)) / 2e-5


@pytest.fixture(scope="module", params=[0, 1])
def case(request: pytest.FixtureRequest) -> tuple[Parameters, Encoded]:
    data = tiny_data(request.param)
    return tiny_parameters(data, request.param), data


def test_gradients_are_those_of_the_log_likelihood(case: tuple[Parameters, Encoded]) -> None:
    parameters, data = case
    W = yardstick.update_w(parameters, data, 0.1).statistics.W
    of_tau = yardstick.update_tau(parameters, data, 0.1).statistics
    B0 = of_tau.B[data.starts[:-1]].sum(axis=0)
    for name, gradient in (("w", W), ("tau", of_tau.G), ("V0", B0)):
        measured = [derivative(parameters, data, name, place) for place in np.ndindex(gradient.shape)]
        np.testing.assert_allclose(gradient.ravel(), measured, rtol=1e-6, atol=1e-7, err_msg=name)
        assert np.abs(gradient).max() > 0.1


def test_h_is_the_second_derivative(case: tuple[Parameters, Encoded]) -> None:
    parameters, data = case
    h_ii = yardstick.update_w(parameters, data, 0.1).statistics.h_ii
    damping = np.bincount(data.codes, minlength=LETTERS) / data.codes.size
    for place in np.ndindex(h_ii.shape):
        around = []
        for by in (-1e-3, 0.0, 1e-3):
            w = parameters.w.copy()
            w[place] += by
            around.append(log_likelihood(replace(parameters, w=w), data))
        curvature = -(around[0] - 2 * around[1] + around[2]) / 1e-6
        assert h_ii[place] - damping[place[1]] == pytest.approx(curvature, rel=1e-5, abs=1e-6)


def test_update_of_w_is_section_2(case: tuple[Parameters, Encoded]) -> None:
    parameters, data = case
    ref = section_2(parameters, data, "rbpm")
    comp = yardstick.update_w(parameters, data, 0.1)
    assert comp.before == pytest.approx(ref.log_likelihood, rel=1e-12)
    for name in ("W", "h_ii", "h_0i"):
        np.testing.assert_allclose(getattr(comp.statistics, name), getattr(ref, name), rtol=1e-10, atol=1e-12)
    # eq:qdw1 and eq:qdw2
    h_00 = ref.h_ii[0]
    direction = (ref.W - ref.W[0] * ref.h_0i / h_00)[1:] / (ref.h_ii - ref.h_0i**2 / h_00)[1:]
    bias = ref.W[0] / h_00 - (ref.h_0i[1:] / h_00 * direction).sum(axis=0)
    w = parameters.w + 0.1 * np.vstack([bias, direction])
    np.testing.assert_allclose(comp.parameters.w, w, rtol=1e-10)
    assert comp.parameters.tau is parameters.tau
    trial = section_2(replace(parameters, w=w), data, "rbpm").log_likelihood
    assert comp.after == pytest.approx(trial, rel=1e-10)
    assert comp.after != comp.before


@pytest.mark.parametrize("metric", ["rbpm", "ruop"])
def test_update_of_tau_is_section_2(case: tuple[Parameters, Encoded], metric: str) -> None:
    parameters, data = case
    ref = section_2(parameters, data, metric)
    comp = yardstick.update_tau(parameters, data, 0.1, metric)
    assert comp.before == pytest.approx(ref.log_likelihood, rel=1e-12)
    for name in ("B", "m", "G"):
        np.testing.assert_allclose(getattr(comp.statistics, name), getattr(ref, name), rtol=1e-9, atol=1e-12)
    tau = parameters.tau.copy()
    first = parameters.graph.in_ptr[:-1] + np.arange(UNITS)
    for j in range(UNITS):
        for y in range(LETTERS):
            np.testing.assert_allclose(comp.statistics.M(j, y), ref.M[j][y], rtol=1e-9, atol=1e-12)
            n = len(ref.M[j][y])
            block = slice(first[j], first[j] + n)
            tau[y, block] += 0.1 * np.linalg.solve(ref.M[j][y] + np.eye(n), ref.G[y, block])
    B0, m0 = (array[data.starts[:-1]].sum(axis=0) for array in (ref.B, ref.m))
    V0 = parameters.V0 + 0.1 * B0 / (m0 + 1)
    np.testing.assert_allclose(comp.parameters.tau, tau, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(comp.parameters.V0, V0, rtol=1e-10)
    assert comp.parameters.w is parameters.w
    trial = section_2(replace(parameters, tau=tau, V0=V0), data, metric).log_likelihood
    assert comp.after == pytest.approx(trial, rel=1e-10)
    assert comp.after != comp.before


def test_the_trial_serves_the_next_update(case: tuple[Parameters, Encoded]) -> None:
    parameters, data = case
    kept = yardstick.Yardstick(parameters.graph, data)
    of_w = kept.update_w(parameters, 0.1)
    of_tau = kept.update_tau(of_w.parameters, 0.1)
    alone = yardstick.update_tau(of_w.parameters, data, 0.1)
    assert "forward before" not in of_tau.seconds
    assert "forward before" in alone.seconds
    assert of_tau.before == of_w.after
    np.testing.assert_array_equal(of_tau.parameters.tau, alone.parameters.tau)
    again = kept.update_w(parameters, 0.1)  # the activities kept are not those of these parameters
    np.testing.assert_array_equal(again.parameters.w, of_w.parameters.w)


def test_flops_are_counted_as_the_loops_run() -> None:
    sizes = Sizes(symbols=7, predicted=5, sequences=2, letters=3, incoming=np.array([2, 3]))
    rows = [n * (n + 1) for n in (2, 3)]
    assert sizes.activities() == 7 * (2 * 5 + 2 + 2)
    assert sizes.output() == 5 * (2 * 2 * 3 + 5 * 3 + 4)
    assert sizes.writing_terms() == 5 * (3 * 3 * 6 + 3 * 2 + 3 * 2)
    assert sizes.metric_terms() == (7 - 2) * (sum(rows) + 3 * 5)
    assert sizes.backward("ruop") == 7 * (2 * 1 + 6 * 2) + 5 * 2 * (2 * 3 + 2)
    assert sizes.backward("rbpm") == 7 * (5 * 1 + 12 * 2) + 5 * 2 * (4 * 3 + 5)


@pytest.mark.parametrize("name", yardstick.NAMES)
def test_benchmark_problems_are_alive(name: str) -> None:
    """No weight is zero, no unit is stuck, every part is timed."""
    size = {"distant XOR, 10 units": 20, "aⁿbⁿ, 16 units": 2}.get(name, 30)
    problem = yardstick.problem(name, size=size)
    assert all(getattr(problem.parameters, array).all() for array in ("w", "tau", "V0"))
    a = activities(problem)
    assert np.abs(a).max() < 0.9999
    assert (a.std(axis=0) > 1e-5).all()
    for metric in ("rbpm", "ruop"):
        seconds = yardstick.timed_update(problem, metric)
        assert seconds["total"] == pytest.approx(seconds["w"] + seconds["tau"])
        assert len(seconds) == 12
        assert all(second > 0 for second in seconds.values())


def activities(problem: yardstick.Problem) -> np.ndarray:
    stick = yardstick.Yardstick(problem.parameters.graph, problem.data)
    stick.update_w(problem.parameters, 0.0)  # a step of zero: the trial is at the same parameters
    return stick._a[:, 1:]


def test_loading_leaves_subnormal_numbers_alone() -> None:
    compiler.library()
    assert np.float64(5e-324) * np.float64(1.0) > 0.0


def test_mistakes_are_named(case: tuple[Parameters, Encoded]) -> None:
    parameters, data = case
    with pytest.raises(ValueError, match="'rbpm' and 'ruop'"):
        yardstick.update_tau(parameters, data, 0.1, metric="qdrbpm")
    with pytest.raises(ValueError, match=r"w is float64 of shape \(4, 6\): expected .* \(6, 4\)"):
        yardstick.update_w(replace(parameters, w=parameters.w.T), data, 0.1)
    with pytest.raises(ValueError, match=r"units \[1\] have no loop"):
        yardstick.Yardstick(Graph.from_edges(2, np.array([0, 0]), np.array([0, 1])), data)
    with pytest.raises(ValueError, match="no benchmark problem is called 'chess'"):
        yardstick.problem("chess")


def test_a_singular_matrix_is_named() -> None:
    """Moduli of 1e40 leave nothing of the damping, and one occurrence of a letter gives a matrix of rank 1."""
    data = Encoded(np.array([0, 1, 2, 3], np.int32), np.array([0, 4]), np.ones(4, bool), Alphabet("abcd"))
    parameters = tiny_parameters(data)
    with pytest.raises(ArithmeticError, match=r"M̃ of unit \d and letter \d is not positive definite"):
        yardstick.update_tau(replace(parameters, w=1e20 * parameters.w), data, 0.1, metric="ruop")
