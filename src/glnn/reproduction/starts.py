"""Ways to begin a network that the paper leaves open: it tells how an RNN and a GLNN begin, not how a GNN does.

Its principle: every unit is a random linear combination of the recent past, with a time scale of its own. Appendix A
asks for reactions smaller than the decay, ε = μ/4, so that units stay where they are linear.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.models import Params
from glnn.sequences import InputError

STARTS = ("", "quiet", "even")


def started(name: str, model: Any, params: Params) -> Params:
    """The parameters with which a network begins, from those of its own initialisation."""
    if not name:
        return params
    if name not in STARTS:
        raise InputError(f"no start is called {name!r}: there are {', '.join(filter(None, STARTS))}")
    tau, bias = (part.copy() for part in model.split(params.theta))
    mu = 1.0 / np.arange(2.0, model.units + 2)
    tau[:, model.loops] = 1.0 - mu
    # ½(u − ū) becomes μ/4 (u − ū), or √μ (u − ū), with which units of all time scales vary by the same amount.
    bias *= mu / 2.0 if name == "quiet" else 2.0 * np.sqrt(mu)
    join = model.join
    theta = join(np.zeros(model.units), tau[0], bias) if model.name == "rnn" else join(tau, bias)
    return Params(params.w, theta, params.V0)
