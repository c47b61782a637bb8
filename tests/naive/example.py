"""Small random problems: three units with unequal numbers of inputs, masked and weighted sequences."""

from __future__ import annotations

import numpy as np

from .problem import Data, Network, Parameters, edges

IN_PTR, SOURCES = np.array([0, 2, 5, 7]), np.array([0, 2, 0, 1, 2, 0, 2])
UNITS, SYMBOLS = 3, 3


def example(
    model: str,
    activation: str = "tanh",
    seed: int = 0,
    lengths: tuple[int, ...] = (6, 5),
    unseen: int = 0,
) -> tuple[Network, Parameters, Data]:
    """A network, random parameters and data.

    `unseen` more symbols belong to the alphabet than can occur.
    """
    generator = np.random.default_rng(seed)
    net = Network(model, IN_PTR, SOURCES, activation)
    symbols = SYMBOLS + unseen
    params = {"w": generator.normal(size=(UNITS + 1, symbols)), "V0": generator.normal(size=UNITS)}
    if model == "rnn":
        params["theta"] = 0.7 * generator.normal(size=(1, len(edges(net)) + UNITS * symbols))
    else:
        params["tau"] = 0.7 * generator.normal(size=(symbols, len(edges(net))))
    sequences = [generator.integers(0, SYMBOLS, length) for length in lengths]
    masks = [generator.random(length) < 0.7 for length in lengths]
    weights = [0.5 + generator.random() for _ in lengths]
    return net, params, Data(sequences, masks, weights)
