"""Ways to begin a network that the paper leaves open: it tells how an RNN and a GLNN begin, not how a GNN does.

Its principle: every unit is a random linear combination of the recent past, with a time scale of its own. Appendix A
asks for reactions smaller than the decay, ε = μ/4, so that units stay where they are linear.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.models import Params
from glnn.sequences import InputError

# Reactions c μ^p (u − ū) in place of ½(u − ū): c and p. With p = ½ units of all time scales vary by the same amount.
STARTS = {"quiet": (0.25, 1.0), "even": (1.0, 0.5), "soft": (0.5, 0.5), "fading": (1.0, 1.0), "lively": (2.0, 1.0)}


def started(name: str, model: Any, params: Params) -> Params:
    """The parameters with which a network begins, from those of its own initialisation."""
    if not name:
        return params
    if name not in STARTS:
        raise InputError(f"no start is called {name!r}: there are {', '.join(STARTS)}")
    tau, bias = (part.copy() for part in model.split(params.theta))
    mu = 1.0 / np.arange(2.0, model.units + 2)
    tau[:, model.loops] = 1.0 - mu
    size, power = STARTS[name]
    bias *= 2.0 * size * mu**power
    join = model.join
    theta = join(np.zeros(model.units), tau[0], bias) if model.name == "rnn" else join(tau, bias)
    return Params(params.w, theta, params.V0)
