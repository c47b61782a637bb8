"""M̃ by its definition (`def:recmetric`): the time-unfolded network, differentiated by finite differences.

The dummy parameters θ^t, each used in the step t → t+1 only, make the network an ordinary feedforward one.
Only the evolution equations, the output and the activation are used here: no B, m̃ or M̃ of the oracle.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .activation import s_inverse
from .forward import activities, forward, log_output, output, step
from .metric import parameters_into
from .problem import Data, Network, OneSequence, Parameters, each_sequence, transition_key

H = 1e-5  # the displacement of a central difference


def displaced(params: Parameters, key: str, place: tuple[int, ...], amount: float) -> Parameters:
    """The same parameters with one number changed."""
    changed = {name: np.array(value, float) for name, value in params.items()}
    changed[key][place] += amount
    return changed


def finite_difference(function: Callable[[Parameters], float], params: Parameters, key: str) -> np.ndarray:
    """∂function/∂params[key]."""
    derivative = np.zeros(params[key].shape)
    for place in np.ndindex(*params[key].shape):
        up = function(displaced(params, key, place, H))
        down = function(displaced(params, key, place, -H))
        derivative[place] = (up - down) / (2 * H)
    return derivative


def dummy_log_likelihood(
    net: Network, params: Parameters, sequence: OneSequence, time: int, dummy: Parameters
) -> float:
    """log Pr of a sequence (unweighted) when θ^t = `dummy` for t = `time` and θ^t = `params` elsewhere."""
    V, total = params["V0"], 0.0
    for t in range(len(sequence.x)):
        if sequence.chi[t]:
            total += log_output(params["w"], activities(net, V))[sequence.x[t]]
        V = step(net, dummy if t == time else params, V, sequence.x[t])
    return total


def dummy_gradients(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """∂log Pr/∂θ^t for every t, in the shape of the transition parameters."""
    gradients = []
    for t in range(len(sequence.x)):

        def likelihood(dummy: Parameters, time: int = t) -> float:
            return dummy_log_likelihood(net, params, sequence, time, dummy)

        gradients.append(finite_difference(likelihood, params, transition_key(params)))
    return gradients


def outer_product_norms(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """RUOP (Section 3.4): at each time a vector g with ‖δθ_j^t‖² = (g · δθ_j^t)², namely ∂log Pr/∂θ^t."""
    return dummy_gradients(net, params, sequence)


def state_of(net: Network, a_t: np.ndarray, i: int, amount: float) -> np.ndarray:
    """V^t when the activity of unit i is a_i^t + amount."""
    return np.array(
        [s_inverse(float(a_t[1 + u]) + (amount if u == i else 0.0), net.activation) for u in range(net.units)]
    )


def backpropagated_modulus(net: Network, params: Parameters, sequence: OneSequence) -> np.ndarray:
    """m_i^t of `eq:bpm`, in the activities: ‖δa_i^t‖² = Fisher norm of δπ_t + Σ_j ‖δa_j^{t+1}‖²."""
    _, a = forward(net, params, sequence)
    T = len(sequence.x)
    m = np.zeros((T + 1, net.units))
    for t in reversed(range(T)):
        pi = output(params["w"], a[t])
        for i in range(net.units):
            V_up, V_down = state_of(net, a[t], i, H), state_of(net, a[t], i, -H)
            pi_up, pi_down = (
                output(params["w"], activities(net, V_up)),
                output(params["w"], activities(net, V_down)),
            )
            for y in range(len(pi)):
                m[t, i] += sequence.chi[t] * ((pi_up[y] - pi_down[y]) / (2 * H)) ** 2 / pi[y]
            a_up = activities(net, step(net, params, V_up, sequence.x[t]))
            a_down = activities(net, step(net, params, V_down, sequence.x[t]))
            for j in range(net.units):
                m[t, i] += ((a_up[1 + j] - a_down[1 + j]) / (2 * H)) ** 2 * m[t + 1, j]
    return m


def backpropagated_norms(net: Network, params: Parameters, sequence: OneSequence) -> list[np.ndarray]:
    """RBPM (Section 3.5): at each time g with ‖δθ_j^t‖² = m_j (∂a_j/∂θ_j^t · δθ_j^t)² = (g · δθ_j^t)²."""
    V, _ = forward(net, params, sequence)
    m = backpropagated_modulus(net, params, sequence)
    key = transition_key(params)
    norms = []
    for t in range(len(sequence.x)):
        g = np.zeros(params[key].shape)
        for j in range(net.units):
            for block in parameters_into(net, params, j):
                for place in block:
                    up = step(net, displaced(params, key, place, H), V[t], sequence.x[t])
                    down = step(net, displaced(params, key, place, -H), V[t], sequence.x[t])
                    d_a = (activities(net, up)[1 + j] - activities(net, down)[1 + j]) / (2 * H)
                    g[place] = m[t + 1, j] ** 0.5 * d_a
        norms.append(g)
    return norms


def unfolded_metric_blocks(net: Network, params: Parameters, data: Data, metric: str) -> list[list[np.ndarray]]:
    """`eq:rmetric`: the unfolded network's metric summed over time; as `metric_blocks`, not damped."""
    norms_of = {"ruop": outer_product_norms, "rbpm": backpropagated_norms}[metric]
    places = [parameters_into(net, params, j) for j in range(net.units)]
    M = [[np.zeros((len(block), len(block))) for block in of_unit] for of_unit in places]
    for sequence in each_sequence(data):
        for g in norms_of(net, params, sequence):
            for j in range(net.units):
                for b, block in enumerate(places[j]):
                    for p in range(len(block)):
                        for q in range(len(block)):
                            M[j][b][p, q] += sequence.weight * g[block[p]] * g[block[q]]
    return M
