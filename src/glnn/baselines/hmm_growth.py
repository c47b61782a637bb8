"""Hidden Markov models that grow, from a chain over the symbols or from few states, by doubling what is used most.

EM from random numbers gets stuck the more states there are; two copies of a state that has learned its place begin
where it is and part from there. Zeros stay zeros under EM: where each state writes one symbol, its copies do too.

A model also grows with more data and more symbols. Where EM has converged, what it counted follows from the model and
from how often each state was visited, so the data themselves need not be kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glnn.baselines.hmm import ExpectedCounts, initial_hmm
from glnn.baselines.hmm_model import HiddenMarkovModel
from glnn.network import Graph
from glnn.output.uniform import mixed
from glnn.sequences import Alphabet, Encoded

# What a chain adds to each pair of neighbours, in occurrences, and how far copies begin from each other.
_PAIRS = 0.1
_APART = 0.5
# How often a symbol that is new to a model counts as written by each state.
_SEEN = 0.5


def markov_chain(data: Encoded) -> HiddenMarkovModel:
    """One state for each symbol, which writes that symbol only: a Markov chain of order 1."""
    A, codes = len(data.alphabet), data.codes
    follows = np.flatnonzero(~data.first)
    pairs = np.bincount(codes[follows - 1].astype(np.int64) * A + codes[follows], minlength=A * A)
    moves = pairs.reshape(A, A) + _PAIRS / A
    starts = np.bincount(codes[data.starts[:-1]], minlength=A) + _PAIRS / A
    return HiddenMarkovModel(
        data.alphabet,
        whole_graph(A),
        start=starts / starts.sum(),
        transitions=(moves / moves.sum(axis=1, keepdims=True)).ravel(),
        emissions=np.eye(A),
    )


def few_states(data: Encoded, states: int, generator: np.random.Generator) -> HiddenMarkovModel:
    """The paper's initialisation, with an edge from each state to every state."""
    return initial_hmm(data, states, states, generator)


def whole_graph(states: int) -> Graph:
    """An edge from each state to every state."""
    sources, targets = np.repeat(np.arange(states), states), np.tile(np.arange(states), states)
    return Graph.from_edges(states, sources, targets)


def split_states(
    model: HiddenMarkovModel, counts: ExpectedCounts, states: int, generator: np.random.Generator
) -> HiddenMarkovModel:
    """A model of this many states on the whole graph: the states that write most, and of them most in doubt, are
    doubled.

    Copies share the moves into the original and differ from it by up to half, so that EM can tell them apart.
    """
    a, b = model.transition_matrix, model.emissions
    doubt = -(a * np.log(np.maximum(a, 1e-300))).sum(axis=1) - (b * np.log(np.maximum(b, 1e-300))).sum(axis=1)
    worth = counts.writings.sum(axis=1) * (doubt + 1e-6)
    doubled = np.sort(np.argsort(-worth, kind="stable")[: states - model.states])
    origin = np.concatenate([np.arange(model.states), doubled])
    shares = np.ones(model.states)
    shares[doubled] = 0.5

    def apart(array: np.ndarray) -> np.ndarray:
        moved = array * (1.0 + _APART * generator.uniform(-1.0, 1.0, array.shape))
        return np.asarray(moved / moved.sum(axis=-1, keepdims=True))

    return replace(
        model,
        graph=whole_graph(len(origin)),
        start=apart((model.start * shares)[origin]),
        transitions=apart((a * shares)[np.ix_(origin, origin)]).ravel(),
        emissions=apart(b[origin]),
    )


def softened(model: HiddenMarkovModel, counts: ExpectedCounts, moves: float, writings: float) -> HiddenMarkovModel:
    """The same model on the whole graph, where every state moves and writes a little as all of them do together.

    a'_ij = (1 − λ) a_ij + λ v_j and b'_iy = (1 − μ) b_iy + μ n_y, with v the share of time in each state and n that of
    each symbol: what never followed in training is then unlikely, and no longer impossible.
    """
    visits = counts.writings.sum(axis=1) + 1.0 / model.states
    symbols = counts.writings.sum(axis=0) + 1.0 / counts.writings.shape[1]
    visits, symbols = visits / visits.sum(), symbols / symbols.sum()
    return replace(
        model,
        graph=whole_graph(model.states),
        start=(1.0 - moves) * model.start + moves * visits,
        transitions=((1.0 - moves) * model.transition_matrix + moves * visits).ravel(),
        emissions=(1.0 - writings) * model.emissions + writings * symbols,
    )


def counted(model: HiddenMarkovModel, visits: np.ndarray, sequences: float) -> ExpectedCounts:
    """What was counted in this many sequences, in which each state was visited this often."""
    sources = np.repeat(np.arange(model.states), np.diff(model.graph.out_ptr))
    moves, writings = visits[sources] * model.transitions, visits[:, None] * model.emissions
    return ExpectedCounts(sequences * model.start, moves, writings, 0.0)


def with_symbols(
    model: HiddenMarkovModel, alphabet: Alphabet, visits: np.ndarray, at: int, new: int
) -> HiddenMarkovModel:
    """The same model over a larger alphabet, in which the codes of `new` symbols begin at `at`."""
    share = np.repeat((_SEEN / (visits + _SEEN * new + 1.0))[:, None], new, axis=1)
    before, after = np.split(model.emissions * (1.0 - share.sum(axis=1, keepdims=True)), [at], axis=1)
    return replace(model, alphabet=alphabet, emissions=np.concatenate([before, share, after], axis=1))


def with_a_chance(model: HiddenMarkovModel, data: Encoded, visits: np.ndarray | None = None) -> HiddenMarkovModel:
    """A model under which the data are possible: the given one, or one whose states write every symbol now and then.

    Each state, visited this often before, counts as having written half a symbol more, of any kind.
    """
    if not np.isneginf(model.log_likelihoods(data)).any():
        return model
    share = (_SEEN / ((np.zeros(model.states) if visits is None else visits) + 1.0))[:, None]
    return replace(model, emissions=mixed(model.emissions, share))
