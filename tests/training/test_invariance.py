"""Invariance: tanh or logistic, activities scaled and shifted, the invariant methods go the same way as ε → 0.

Section 3.6: steps are exactly invariant under affine changes of activities; only damping breaks it. The data give every
block full rank. The RNN's constant is redundant with its inputs, so its full metrics are singular and left out.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glnn.models import MODELS, Evidence, Flow, Params
from glnn.models.linear import LinearRecurrence
from glnn.sequences import Encoded, encode
from glnn.training import proposals
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.records import StepInfo
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem

INVARIANT = [(name, metric) for name in ("gnn", "glnn") for metric in ("rbpm", "ruop", "qdrbpm", "qdruop")]
INVARIANT += [("rnn", "qdrbpm"), ("rnn", "qdruop")]
TINY = 1e-13


@cache
def data() -> Encoded:
    """Runs of two symbols of random lengths: something to learn, and every state in many company."""
    generator = np.random.default_rng(0)
    sequences = []
    for length in (200, 100):
        x: list[int] = []
        while len(x) < length:
            x += [0] * int(generator.integers(1, 4)) + [1] * int(generator.integers(1, 3))
        sequences.append(x[:length])
    return encode(sequences, alphabet=range(2))


def start(name: str) -> tuple[LinearRecurrence, Params, LinearRecurrence]:
    """A tanh network, its parameters, and the logistic network on the same graph."""
    case = problem(name, units=3, degree=2, symbols=2, seed=2)
    return case.model, case.params, MODELS[name](case.model.graph, 2, activation="logistic")


def run(
    model: object, params: Params, metric: str, output_metric: str, damping: float, steps: int
) -> tuple[list[StepInfo], Trainer]:
    """Training with the damping of M̃ and of the Hessian of w both set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals, "hessian_damping", lambda counts: np.full(counts.shape, damping))
        trainer = Trainer(model, data(), params, Settings(metric, output_metric, damping=damping))
        return [trainer.step() for _ in range(steps)], trainer


def likelihoods(steps: list[StepInfo]) -> np.ndarray:
    return np.array([info.log_likelihood for info in steps])


def rates(steps: list[StepInfo]) -> np.ndarray:
    return np.array([(info.writing_rate, info.transition_rate) for info in steps])


@pytest.mark.parametrize(("name", "metric"), INVARIANT)
def test_tanh_and_logistic_go_the_same_way(name: str, metric: str) -> None:
    model, params, twin = start(name)
    expected, trainer = run(model, params, metric, "qdh", TINY, 20)
    found, other = run(twin, twin.from_tanh(params), metric, "qdh", TINY, 20)
    assert expected[-1].log_likelihood - expected[0].log_likelihood > 5
    np.testing.assert_allclose(likelihoods(found), likelihoods(expected), rtol=0, atol=1e-4)
    np.testing.assert_allclose(rates(found), rates(expected), rtol=1e-12)
    corpus = prepare(data(), 1000)
    functions = [
        Engine(net, corpus).log_likelihoods(run_.progress.params) for net, run_ in ((model, trainer), (twin, other))
    ]
    np.testing.assert_allclose(functions[1], functions[0], rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("metric", "output_metric"),
    [("fb", "qdh"), ("rms", "qdh"), ("plain", "qdh"), ("fb", "dh"), ("rms", "dh"), ("rbpm", "dh"), ("qdruop", "plain")],
)
@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_the_other_methods_do_not(name: str, metric: str, output_metric: str) -> None:
    model, params, twin = start(name)
    expected, _ = run(model, params, metric, output_metric, TINY, 12)
    found, _ = run(twin, twin.from_tanh(params), metric, output_metric, TINY, 12)
    assert np.abs(likelihoods(found) - likelihoods(expected)).max() > 0.1


@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdrbpm", "qdruop"])
@pytest.mark.parametrize("name", ["gnn", "glnn"])
def test_it_is_the_damping_that_breaks_invariance(name: str, metric: str) -> None:
    """The difference after a step is proportional to ε."""
    model, params, twin = start(name)
    differences = []
    for damping in (1e-7, 1e-9, 1e-11):
        (expected,), _ = run(model, params, metric, "qdh", damping, 1)
        (found,), _ = run(twin, twin.from_tanh(params), metric, "qdh", damping, 1)
        differences.append(abs(found.log_likelihood - expected.log_likelihood))
    assert differences[0] > 1e-7
    assert 0.005 * differences[0] < differences[1] < 0.02 * differences[0]
    assert differences[2] < 0.05 * differences[1]


class Rewritten(LinearRecurrence):
    """A network whose activities are written α_i a_i + β_i and whose states κ_j V_j: the same functions.

    Signals and outputs are the rewritten activities, so B becomes B/κ, and the derivative of the output with respect
    to a is α times that with respect to the rewritten one.
    """

    def __init__(self, base: LinearRecurrence, alpha: np.ndarray, beta: np.ndarray, kappa: np.ndarray) -> None:
        self.base, self.alpha, self.beta, self.kappa = base, alpha, beta, kappa
        self.name, self.signals, self.units, self.alphabet_size = base.name, base.signals, base.units, 2
        self.trace_width = self.state_size = self.inner_units = base.units
        self.of_unit = np.repeat(np.arange(base.units), np.diff(base.ptr))

    def theta_from(self, theta: np.ndarray) -> np.ndarray:
        """Parameters of the base in the rewritten terms: τ'_i = κ_j τ_i / α_i, τ'_0 = κ_j (τ_0 − Σ_i τ_i β_i / α_i)."""
        base = self.base
        tau, bias = base.split(theta)
        sources = base.graph.sources
        scaled = tau / self.alpha[sources]
        bias = bias - base._sum_over_edges(scaled * self.beta[sources])
        return base.join(scaled * self.kappa[base.graph.edge_targets], bias * self.kappa)

    def theta_to(self, theta: np.ndarray) -> np.ndarray:
        base = self.base
        tau, bias = base.split(theta)
        tau, bias = tau / self.kappa[base.graph.edge_targets], bias / self.kappa
        sources = base.graph.sources
        return base.join(tau * self.alpha[sources], bias + base._sum_over_edges(tau * self.beta[sources]))

    def params_from(self, params: Params) -> Params:
        w = params.w.copy()
        w[1:] /= self.alpha[:, None]
        w[0] -= (w[1:] * self.beta[:, None]).sum(axis=0)
        return Params(w, self.theta_from(params.theta), params.V0 * self.kappa)

    def weights(self, theta: np.ndarray) -> object:
        return self.base.weights(self.theta_to(theta))

    def begin(self, V0: np.ndarray) -> np.ndarray:
        return V0 / self.kappa

    def forward(self, weights: object, V0: np.ndarray, *rest: np.ndarray) -> None:
        self.base.forward(weights, V0 / self.kappa, *rest)

    def activities(self, trace: np.ndarray) -> np.ndarray:
        return self.alpha * trace + self.beta

    incoming = activities

    def backward(
        self, weights: object, trace: np.ndarray, given: Evidence, carry: np.ndarray, out: np.ndarray, start: np.ndarray
    ) -> None:
        self.base.backward(weights, trace, given._replace(error=given.error * self.alpha), carry, out, start)
        out /= self.kappa
        start /= self.kappa

    def backward_with_modulus(self, weights: object, trace: np.ndarray, given: Evidence, B: Flow, m: Flow) -> None:
        scaled = given._replace(error=given.error * self.alpha, variance=given.variance * self.alpha**2)
        self.base.backward_with_modulus(weights, trace, scaled, B, m)
        for flow, power in ((B, 1), (m, 2)):
            flow.out[:] /= self.kappa**power
            flow.start[:] /= self.kappa**power


size = st.floats(0.3, 3.0)
factor = st.builds(lambda sign, value: sign * value, st.sampled_from([-1.0, 1.0]), size)
three = lambda strategy: st.lists(strategy, min_size=3, max_size=3).map(np.array)  # noqa: E731


@given(
    st.sampled_from([case for case in INVARIANT if case[0] != "rnn"]),
    three(factor),
    three(st.floats(-1.0, 1.0)),
    three(factor),
)
@settings(max_examples=40)
def test_any_affine_change_of_activities_and_states(
    case: tuple[str, str], alpha: np.ndarray, beta: np.ndarray, kappa: np.ndarray
) -> None:
    name, metric = case
    model, params, _ = start(name)
    rewritten = Rewritten(model, alpha, beta, kappa)
    expected, trainer = run(model, params, metric, "qdh", TINY, 3)
    found, other = run(rewritten, rewritten.params_from(params), metric, "qdh", TINY, 3)
    np.testing.assert_allclose(likelihoods(found), likelihoods(expected), rtol=0, atol=1e-5)
    np.testing.assert_allclose(rates(found), rates(expected), rtol=1e-12)
    # Not only as good: the same network, once its parameters are written back.
    written_back = rewritten.theta_to(other.progress.params.theta)
    np.testing.assert_allclose(written_back, trainer.progress.params.theta, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("metric", "output_metric"), [("fb", "qdh"), ("rms", "qdh"), ("qdrbpm", "dh")])
def test_an_affine_change_sends_the_other_methods_elsewhere(metric: str, output_metric: str) -> None:
    model, params, _ = start("glnn")
    rewritten = Rewritten(model, np.array([3.0, 0.5, -2.0]), np.array([0.5, -1.0, 0.0]), np.array([1.0, 2.0, 0.5]))
    corpus = prepare(data(), 1000)
    np.testing.assert_allclose(
        Engine(rewritten, corpus).log_likelihoods(rewritten.params_from(params)),
        Engine(model, corpus).log_likelihoods(params),
        rtol=1e-12,
    )
    expected, _ = run(model, params, metric, output_metric, TINY, 3)
    found, _ = run(rewritten, rewritten.params_from(params), metric, output_metric, TINY, 3)
    assert np.abs(likelihoods(found) - likelihoods(expected)).max() > 0.05
