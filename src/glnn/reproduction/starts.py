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

# As good as −∞, and still a number.
LOG_OF_NOTHING = -700.0


def started(name: str, model: Any, params: Params, longest: int = 0) -> Params:
    """The parameters with which a network begins, from those of its own initialisation.

    Time scales are 2, 3, 4 … symbols as the paper has them for GLNNs, or go from 2 to `longest` by equal factors.
    """
    if not name:
        if longest and model.name != "glnn":
            raise InputError(f"longest is {longest} for a {model.name.upper()} without a start: name one, such as even")
        return params
    if name not in STARTS:
        raise InputError(f"no start is called {name!r}: there are {', '.join(STARTS)}")
    tau, bias = (part.copy() for part in model.split(params.theta))
    mu = 1.0 / (np.geomspace(2.0, longest, model.units) if longest else np.arange(2.0, model.units + 2))
    tau[:, model.loops] = 1.0 - mu
    size, power = STARTS[name]
    bias *= 2.0 * size * mu**power
    join = model.join
    theta = join(np.zeros(model.units), tau[0], bias) if model.name == "rnn" else join(tau, bias)
    return Params(params.w, theta, params.V0)


def silenced(params: Params, predicted: np.ndarray) -> Params:
    """The parameters with w_0y = log ν_y also where ν_y = 0: symbols that are never to be predicted.

    With any larger value likelihood is gained by making such symbols rarer. In distant XOR, where the rest is at
    chance, that is the first thing learned: all units move the same way, and within three steps most of them are
    saturated for good.
    """
    w = params.w.copy()
    w[0, predicted == 0] = LOG_OF_NOTHING
    return Params(w, params.theta, params.V0)
