"""Small random problems in the terms of both the engine and the oracle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.models import MODELS, Model, Params
from glnn.network import random_graph
from glnn.sequences import Encoded, encode
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests import naive


class Problem(NamedTuple):
    model: Model
    params: Params
    data: Encoded
    net: naive.Network
    oracle_data: naive.Data

    def oracle_params(self, params: Params | None = None) -> naive.Parameters:
        return oracle_params(self.model, params or self.params)


def problem(
    name: str,
    units: int = 5,
    degree: int = 3,
    symbols: int = 3,
    lengths: tuple[int, ...] = (17,),
    masked: bool = False,
    activation: str = "tanh",
    seed: int = 0,
    noise: float = 0.3,
    weights: tuple[float, ...] | None = None,
    **options: object,
) -> Problem:
    """A random network on random data."""
    generator = np.random.default_rng(seed)
    graph = random_graph(units, degree, generator)
    sequences = [generator.integers(0, symbols, length) for length in lengths]
    masks = [generator.random(length) < 0.6 for length in lengths] if masked else None
    if masks:
        for mask in masks:
            mask[-1] = True
    data = encode([list(map(int, s)) for s in sequences], alphabet=range(symbols), mask=masks)
    counts = np.bincount(data.codes, minlength=symbols).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=symbols).astype(float)
    model = MODELS[name](graph, symbols, activation=activation, **options)
    params = model.initial(predicted, counts, generator)
    # At the start most weights are 0: move away, so that no term of an equation is idle.
    params = Params(*(part + noise * generator.standard_normal(part.shape) for part in vars(params).values()))
    net = naive.Network(name, graph.in_ptr, graph.sources, activation)
    return Problem(model, params, data, net, naive.Data(sequences, masks, weights))


def oracle_params(model: Model, params: Params) -> naive.Parameters:
    common = {"w": params.w, "V0": params.V0}
    if model.name == "rnn":
        return {**common, "theta": params.theta[None]}
    return {**common, "tau": params.theta.reshape(model.alphabet_size, -1)}


def compare_training(case: Problem, metric: str, output_metric: str, iterations: int = 4, **settings: object) -> None:
    """Whole training iterations of the engine against those of the oracle."""
    expected, records = naive.train(case.net, case.oracle_params(), case.oracle_data, iterations, output_metric, metric)
    trainer = Trainer(case.model, case.data, case.params, Settings(metric, output_metric, **settings))
    for record in records:
        info = trainer.step()
        assert info.writing_rejected == record.rejected_w
        assert info.transition_rejected == record.rejected_tau
        np.testing.assert_allclose(info.log_likelihood, record.log_likelihood_tau, rtol=1e-9)
        np.testing.assert_allclose(trainer.progress.writing_rate, record.rate_w, rtol=1e-12)
        np.testing.assert_allclose(trainer.progress.transition_rate, record.rate_tau, rtol=1e-12)
    found = oracle_params(case.model, trainer.progress.params)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-7, atol=1e-9, err_msg=key)
    # The comparison means something only if every group of parameters went somewhere.
    for key, value in case.oracle_params().items():
        assert np.abs(found[key] - value).max() > 1e-6, key
