"""Small random problems in the terms of both the engine and the oracle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.models import MODELS, Model, Params
from glnn.network import random_graph
from glnn.sequences import Encoded, encode
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
    generator = np.random.default_rng(seed)
    graph = random_graph(units, degree, generator)
    model = MODELS[name](graph, symbols, activation=activation, **options)
    sequences = [generator.integers(0, symbols, length) for length in lengths]
    masks = [generator.random(length) < 0.6 for length in lengths] if masked else None
    if masks:
        for mask in masks:
            mask[-1] = True
    data = encode([list(map(int, s)) for s in sequences], alphabet=range(symbols), mask=masks)
    counts = np.bincount(data.codes, minlength=symbols).astype(float)
    predicted = np.bincount(data.codes[data.mask], minlength=symbols).astype(float)
    params = model.initial(predicted, counts, generator)
    # At the start most weights are 0: move away, so that no term of an equation is idle.
    params = Params(*(part + noise * generator.standard_normal(part.shape) for part in vars(params).values()))
    net = naive.Network(name, graph.in_ptr, graph.sources, activation)
    return Problem(model, params, data, net, naive.Data(sequences, masks, weights))


def oracle_params(model: Model, params: Params) -> naive.Parameters:
    if model.name == "rnn":
        return {"w": params.w, "V0": params.V0, "theta": params.theta[None]}
    return {"w": params.w, "V0": params.V0, "tau": params.theta.reshape(model.alphabet_size, -1)}
