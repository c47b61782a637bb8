"""How long units remember, against processes whose memory is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from glnn.models import MODELS
from glnn.network import random_graph
from glnn.report.time_scales import correlation_time, derivative_of, own_memory

pytestmark = pytest.mark.small


@pytest.mark.parametrize("memory", [3.0, 10.0, 40.0])
def test_the_correlation_of_a_leaky_average_lasts_as_long_as_its_memory(memory: float) -> None:
    keep = np.exp(-1.0 / memory)
    noise = np.random.default_rng(1).normal(size=(60_000, 1))
    values = np.zeros_like(noise)
    for t in range(1, len(noise)):
        values[t] = keep * values[t - 1] + noise[t]
    assert correlation_time(values, np.array([0, len(values)]))[0] == pytest.approx(memory, rel=0.12)


def test_correlations_as_their_definition_says() -> None:
    generator = np.random.default_rng(2)
    starts = np.array([0, 40, 47, 120])
    values = np.cumsum(generator.normal(size=(120, 3)), axis=0) * 0.1 + generator.normal(size=(120, 3))
    centred = values - values.mean(axis=0)
    found = correlation_time(values, starts)
    for unit in range(3):
        correlation = []
        for lag in range(37):
            products = [
                centred[t, unit] * centred[t + lag, unit]
                for begin, end in pairwise(starts)
                for t in range(begin, end - lag)
            ]
            correlation.append(np.mean(products))
        correlation = np.array(correlation) / correlation[0]
        lag = int(np.flatnonzero(correlation < np.exp(-1.0))[0])
        part = (correlation[lag - 1] - np.exp(-1.0)) / (correlation[lag - 1] - correlation[lag])
        assert found[unit] == pytest.approx(lag - 1 + part)


def test_a_unit_that_never_moves_has_no_time_scale_and_a_steady_one_the_longest() -> None:
    values = np.stack([np.full(100, 0.7), np.repeat([0.0, 1.0], 50)], axis=1)
    still, steady = correlation_time(values, np.array([0, 100]))
    assert np.isnan(still) and 10.0 < steady <= 50.0


def test_before_training_a_glnn_remembers_for_1_over_mu() -> None:
    units = 12
    model = MODELS["glnn"](random_graph(units, 3, 0), 4)
    counts = np.ones(4)
    params = model.initial(counts, counts, np.random.default_rng(0))
    tau, _ = model.split(params.theta)
    codes = np.random.default_rng(1).integers(0, 4, 500)
    # At the fixed point of each unit, around which the paper linearises.
    a = np.tile(np.tanh(params.V0), (500, 1))
    memory = own_memory(tau[:, model.loops], codes, derivative_of(a, "tanh"), model.leak)
    mu = 1.0 / np.arange(2.0, units + 2)
    np.testing.assert_allclose(memory, -1.0 / np.log1p(-mu), rtol=1e-9)


def test_a_unit_without_leak_never_forgets_by_itself() -> None:
    nothing = np.zeros((2, 1))
    assert own_memory(nothing, np.array([0, 1]), np.ones((2, 1)), leak=1.0)[0] == np.inf
    assert own_memory(nothing, np.array([0, 1]), np.ones((2, 1)), leak=0.0)[0] < 0.01


@pytest.mark.parametrize("activation", ["tanh", "logistic", "linear"])
def test_derivatives_by_finite_differences(activation: str) -> None:
    function = {"tanh": np.tanh, "logistic": lambda v: 1.0 / (1.0 + np.exp(-v)), "linear": lambda v: v}[activation]
    V = np.linspace(-2.0, 2.0, 9)
    numeric = (function(V + 1e-6) - function(V - 1e-6)) / 2e-6
    np.testing.assert_allclose(derivative_of(function(V), activation), numeric, rtol=1e-6)


def test_an_unknown_activation_is_named() -> None:
    with pytest.raises(ValueError, match="'relu'"):
        derivative_of(np.zeros(1), "relu")
