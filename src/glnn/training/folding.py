"""Units that have become constants are folded into the biases, which changes no prediction, and start again.

A unit that is saturated everywhere, a_i^t = c at all t, does what unit 0 does: with w_0y + c w_iy, τ_0jy + c τ_ijy and
nothing going out of it, the network predicts as before. It learns no more, since s'(V_i) is 0, and yet holds up the
others, as all share one rate: so it starts again as units do before the first step, and the rate with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.models import Params
from glnn.models.linear import Gated, LinearRecurrence
from glnn.training.records import StepInfo
from glnn.training.trainer import Trainer

# A unit whose activities all lie within so much of each other is a constant …
WIDTH = 0.01
# … if taking it for one costs at most this part of the log-likelihood.
LOSS = 1e-4
# The part of the data in which a unit may still be on its way to where it stays, from the start values.
ON_ITS_WAY = 1e-3


def activity_ranges(trainer: Trainer) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest activity of each unit over the training data but its first thousandth."""
    engine = trainer.engine
    low, high = np.full(trainer.model.units, np.inf), np.full(trainer.model.units, -np.inf)
    left_out = int(ON_ITS_WAY * trainer.data.codes.size)
    for _, trace in engine.walk(engine.forward(trainer.progress.params)):
        activities = trainer.model.activities(trace)[left_out:]
        left_out = max(0, left_out - len(trace))
        if len(activities):
            np.minimum(low, activities.min(axis=0), out=low)
            np.maximum(high, activities.max(axis=0), out=high)
    return low, high


def folded(model: LinearRecurrence, params: Params, unit: int, value: float) -> Params:
    """The same predictions, where `unit` always has this activity, with no outgoing edge except its loop."""
    w = params.w.copy()
    w[0] += value * w[unit + 1]
    w[unit + 1] = 0.0
    tau, bias = (part.copy() for part in model.split(params.theta))
    targets = model.graph.edge_targets
    out = np.flatnonzero((model.graph.sources == unit) & (targets != unit))
    # Targets of one unit are distinct, so that nothing is added twice in one place.
    bias[:, targets[out]] += value * tau[:, out]
    tau[:, out] = 0.0
    return Params(w, joined(model, tau, bias), params.V0)


def begun_anew(model: LinearRecurrence, params: Params, unit: int, first: Params) -> Params:
    """The parameters with what comes into `unit`, and its start value, as in `first`."""
    (tau, bias), (first_tau, first_bias) = model.split(params.theta), model.split(first.theta)
    into = model.graph.edge_targets == unit
    tau, bias, V0 = tau.copy(), bias.copy(), params.V0.copy()
    tau[:, into], bias[:, unit], V0[unit] = first_tau[:, into], first_bias[:, unit], first.V0[unit]
    return Params(params.w, joined(model, tau, bias), V0)


def joined(model: Any, tau: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Flat transition parameters; the RNN's biases, which are redundant, become input weights."""
    theta: np.ndarray = (
        model.join(tau, bias) if isinstance(model, Gated) else model.join(np.zeros(model.units), tau[0], bias)
    )
    return theta


@dataclass
class FoldConstants:
    """A callback for `Trainer.run`: every so many steps, constant units are folded and start again."""

    every: int = 20
    folds: int = 0

    def __call__(self, info: StepInfo, trainer: Trainer) -> None:
        """Look for constants after this step."""
        if info.step % self.every:
            return
        model = trainer.model
        if not isinstance(model, LinearRecurrence):
            raise ValueError(f"units of {model.name} are not folded: only those of GLNN, GNN and RNN are")
        low, high = activity_ranges(trainer)
        counts = np.bincount(trainer.data.codes, minlength=model.alphabet_size).astype(float)
        predicted = np.bincount(trainer.data.codes[trainer.data.mask], minlength=model.alphabet_size).astype(float)
        least = info.log_likelihood - LOSS * abs(info.log_likelihood)
        for unit in np.flatnonzero(high - low < WIDTH):
            found = folded(model, trainer.progress.params, int(unit), float(low[unit] + high[unit]) / 2.0)
            if not trainer.engine.forward(found).log_likelihood >= least:
                continue
            first = model.initial(predicted, counts, trainer.generator)
            trainer.go_on_from(begun_anew(model, found, int(unit), first), 1.0 / model.units)
            self.folds += 1
