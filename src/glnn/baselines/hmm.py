"""Hidden Markov models trained by expectation-maximisation (EM): where it starts, its steps, and when it ends.

Expected counts of starts, moves and writings along the hidden path become the next model's probabilities. Every step
raises the likelihood of all symbols (masks are for scoring); the cost is T × edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt

import numpy as np

from glnn.baselines import hmm_kernels as kernels
from glnn.baselines.hmm_model import HiddenMarkovModel, check_alphabet, row_sums
from glnn.network import random_graph
from glnn.sequences import Encoded, InputError

__all__ = [
    "EMStep", "ExpectedCounts", "HiddenMarkovModel", "em_step", "expected_counts", "fit_hmm", "initial_hmm",
    "reestimate",
]  # fmt: skip

MEMORY = 512 * 2**20
# EM drives what it does not need towards 0: below this it is 0.
VANISHING = 1e-100


@dataclass(frozen=True)
class ExpectedCounts:
    """Expected starts (N,), moves (edges,) and writings (N, A) of the hidden path, and log P(data)."""

    starts: np.ndarray
    moves: np.ndarray
    writings: np.ndarray
    log_likelihood: float


@dataclass(frozen=True)
class EMStep:
    """Given to the callback: the model after `step` steps, and log P(training data) under it."""

    step: int
    model: HiddenMarkovModel
    log_likelihood: float


def initial_hmm(
    data: Encoded, states: int, degree: int | None = None, random_state: int | np.random.Generator = 0
) -> HiddenMarkovModel:
    """The paper's initialisation: A edges (or `degree`) from each state, with Dirichlet(1/2) transitions.

    A state's emissions are the frequencies, each times a uniform number, made to sum to 1.
    The paper does not say where a sequence starts: uniform here, so that every state may be the first.
    """
    generator = np.random.default_rng(random_state)
    graph = random_graph(states, len(data.alphabet) if degree is None else degree, generator)
    weights = generator.standard_gamma(0.5, graph.edges)
    frequencies = np.bincount(data.codes, minlength=len(data.alphabet)) / data.codes.size
    writings = frequencies * generator.uniform(size=(states, len(data.alphabet)))
    return HiddenMarkovModel(
        data.alphabet,
        graph,
        start=np.full(states, 1 / states),
        transitions=weights / row_sums(weights, graph)[graph.edge_sources],
        emissions=writings / writings.sum(axis=1, keepdims=True),
    )


def fit_hmm(
    data: Encoded,
    model: HiddenMarkovModel,
    steps: int = 1000,
    tolerance: float = 1e-7,
    callback: Callable[[EMStep], bool | None] | None = None,
    memory: int = MEMORY,
    prior: float = 0.0,
    known: ExpectedCounts | None = None,
) -> HiddenMarkovModel:
    """Up to `steps` EM steps from `model`, until one gains less than `tolerance` of the log-likelihood.

    `callback` sees every model, the first one included, and stops the training by returning True. `prior` and `known`
    are those of `reestimate`: with them steps need not raise the likelihood.
    """
    before = -np.inf
    for step in range(steps + 1):
        counts = expected_counts(model, data, memory)
        reached = counts.log_likelihood
        stop = callback is not None and callback(EMStep(step, model, reached))
        if stop or step == steps or reached - before < tolerance * abs(reached):
            break
        before, model = reached, reestimate(model, counts, prior, known)
    return model


def em_step(model: HiddenMarkovModel, data: Encoded, memory: int = MEMORY) -> tuple[HiddenMarkovModel, float]:
    """The next model, and the log-likelihood of the given one."""
    counts = expected_counts(model, data, memory)
    return reestimate(model, counts), counts.log_likelihood


def expected_counts(model: HiddenMarkovModel, data: Encoded, memory: int = MEMORY) -> ExpectedCounts:
    """The E step: forward, then backward, with α, a T × N array, kept between the two.

    If it takes more than `memory` bytes, α is kept only where each stretch of √T positions begins, and the
    stretches are filled again, one at a time, on the way back.
    """
    check_alphabet(model.alphabet, data)
    codes, first, T, N = data.codes, data.first, data.codes.size, model.states
    length = T if memory >= T * N * 8 else isqrt(T) + 1
    stretches = [slice(begin, min(begin + length, T)) for begin in range(0, T, length)]
    alpha, c, state = np.empty((length, N)), np.empty(T), model.start.copy()
    checkpoints = np.empty((len(stretches), N))
    for checkpoint, span in zip(checkpoints, stretches, strict=True):
        checkpoint[:] = state
        model.forward(codes[span], first[span], state, alpha, c[span])
    if not c.min() > 0:
        place = int(np.argmin(c))
        raise InputError(
            f"symbol {data.alphabet.symbols[codes[place]]!r} at position {place} is impossible under this "
            "model: EM cannot start here, take a model whose emissions are positive"
        )
    g, begins, writes = np.zeros(N), np.zeros(N), np.zeros((len(data.alphabet), N))
    moves = np.zeros((N, N) if model.dense else model.graph.edges)
    for which in reversed(range(len(stretches))):
        span, last = stretches[which], which == len(stretches) - 1
        if not last:
            model.forward(codes[span], first[span], checkpoints[which], alpha, c[span])
        given = (codes[span], first[span], last or bool(first[span.stop]))
        totals = (model.writes, alpha, c[span], g, moves, writes, begins)
        if model.dense:
            kernels.backward_dense(*given, model.transition_matrix, *totals)
        else:
            rows = (model.transitions, model.graph.out_ptr, model.targets)
            kernels.backward_sparse(*given, *rows, *totals)
    along_edges = moves[model.graph.edge_sources, model.graph.targets] if model.dense else moves
    return ExpectedCounts(begins, along_edges * model.transitions, writes.T, float(np.log(c).sum()))


def reestimate(
    model: HiddenMarkovModel, counts: ExpectedCounts, prior: float = 0.0, known: ExpectedCounts | None = None
) -> HiddenMarkovModel:
    """The M step: counts become probabilities; a state not visited, or never left, keeps what it had.

    With a `prior`, each state has moved this many times more, as all states do together, and has written this many
    symbols more, as they do together, of those that it can write: what never followed in training does not become
    impossible. Counts from earlier data are `known`, and count as well.
    """
    starts, moves, writings = counts.starts, counts.moves, counts.writings
    if known is not None:
        starts, moves, writings = starts + known.starts, moves + known.moves, writings + known.writings
    if prior > 0.0:
        visits, symbols = writings.sum(axis=1) + 1.0 / model.states, writings.sum(axis=0)
        starts = starts + prior * visits / visits.sum()
        moves = moves + prior * (visits / visits.sum())[model.graph.targets]
        writings = writings + np.where(model.emissions > 0.0, prior * symbols / symbols.sum(), 0.0)
    left = row_sums(moves, model.graph)[model.graph.edge_sources]
    return replace(
        model,
        start=_share(starts, starts.sum(), model.start),
        transitions=_share(moves, left, model.transitions),
        emissions=_share(writings, writings.sum(axis=1, keepdims=True), model.emissions),
    )


def _share(counts: np.ndarray, totals: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    known = totals > kernels.NEGLIGIBLE
    shares = np.where(known, counts / np.where(known, totals, 1.0), otherwise)
    return np.where(shares < VANISHING, 0.0, shares)
