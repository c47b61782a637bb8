"""A hidden Markov model on a sparse random graph, trained by expectation-maximisation (EM): Section 4.

A state i writes y with probability b_iy, then moves along one of its edges with probability a_ij; so
π_t(y) = Σ_i α_i^t b_iy and α_j^{t+1} ∝ Σ_i α_i^t b_{i x_t} a_ij, the linear GNN of Section 1.2.
Every step of EM raises the likelihood of all symbols (masks are for scoring); the cost is T × edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt

import numpy as np

from glnn.baselines import hmm_kernels as kernels
from glnn.baselines.hmm_coding import HiddenMarkovSteps
from glnn.network import Graph, random_graph
from glnn.sequences import Alphabet, Encoded, InputError

MEMORY = 512 * 2**20
# Under this share of all N² edges, compressed rows are faster than a dense matrix (256 and 512 states).
DENSE_FROM = 1 / 6
# EM drives what it does not need towards 0: below this it is 0.
VANISHING = 1e-100


@dataclass(frozen=True)
class HiddenMarkovModel:
    """Start (N,), emissions (N, A), and transitions (edges,) in the order of the edges out of each state."""

    alphabet: Alphabet
    graph: Graph
    start: np.ndarray
    transitions: np.ndarray
    emissions: np.ndarray

    def __post_init__(self) -> None:
        for name, array, shape in (
            ("start", self.start, (self.states,)),
            ("transitions", self.transitions, (self.graph.edges,)),
            ("emissions", self.emissions, (self.states, len(self.alphabet))),
        ):
            if array.shape != shape:
                raise InputError(f"{name} has shape {array.shape}: this graph and this alphabet need {shape}")
            sums = _row_sums(array, self.graph) if name == "transitions" else array.sum(axis=-1)
            if not np.allclose(sums, 1.0, rtol=0, atol=1e-8) or array.min() < 0:
                raise InputError(f"{name} must be probabilities with sum 1 from each state; the sums are {sums}")

    @property
    def states(self) -> int:
        """The number of hidden states."""
        return self.graph.units

    @cached_property
    def transition_matrix(self) -> np.ndarray:
        """a_ij as an N × N matrix, 0 where there is no edge."""
        matrix = np.zeros((self.states, self.states))
        matrix[_edge_sources(self.graph), self.graph.targets] = self.transitions
        return matrix

    def begin(self) -> HMMState:
        """The state at the start of a sequence."""
        return HMMState(self, self.start.copy())

    def coding_steps(self, escape: float | None, share: float = 0.0) -> HiddenMarkovSteps:
        """Compiled loops for the coder."""
        return HiddenMarkovSteps(self, share, escape)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for alpha, _ in self.filtered(data, block):
            rows = np.empty((len(alpha), len(self.alphabet)))
            kernels.emit(alpha, self.emissions, rows)
            yield rows

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; −inf where the symbol is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate([c for _, c in self.filtered(data, 4096)]))

    def filtered(self, data: Encoded, block: int = 4096) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The states expected before each symbol, α (rows, N), and its probability c (rows,), block after block."""
        check_alphabet(self.alphabet, data)
        first, state = first_positions(data), self.start.copy()
        for begin in range(0, data.codes.size, block):
            codes = data.codes[begin : begin + block]
            alpha, c = np.empty((codes.size, self.states)), np.empty(codes.size)
            self.forward(codes, first[begin : begin + block], state, alpha, c)
            yield alpha, c

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything but the alphabet, for saving."""
        return {
            "start": self.start,
            "transitions": self.transitions,
            "emissions": self.emissions,
            "edge_sources": _edge_sources(self.graph),
            "edge_targets": self.graph.targets,
        }

    @classmethod
    def from_arrays(cls, alphabet: Alphabet, arrays: dict[str, np.ndarray]) -> HiddenMarkovModel:
        """The model that `arrays` was taken from."""
        graph = Graph.from_edges(arrays["start"].size, arrays["edge_sources"], arrays["edge_targets"])
        return cls(alphabet, graph, arrays["start"], arrays["transitions"], arrays["emissions"])

    def forward(
        self, codes: np.ndarray, first: np.ndarray, state: np.ndarray, alpha: np.ndarray, c: np.ndarray
    ) -> None:
        """Fill α[t], the states expected before codes[t], and c[t] = π_t(codes[t]); `state` advances."""
        if self._dense:
            matrix = self.transition_matrix
            kernels.forward_dense(codes, first, self.start, matrix, self._writes, state, alpha, c)
        else:
            rows = (self.transitions, self.graph.out_ptr, self._targets)
            kernels.forward_sparse(codes, first, self.start, *rows, self._writes, state, alpha, c)

    @cached_property
    def _dense(self) -> bool:
        return self.graph.edges >= DENSE_FROM * self.states**2

    @cached_property
    def _targets(self) -> np.ndarray:
        # Unsigned: a kernel then need not look for negative indices.
        return self.graph.targets.astype(np.uint32)

    @cached_property
    def _writes(self) -> np.ndarray:
        return np.ascontiguousarray(self.emissions.T)


class HMMState:
    """Where a hidden Markov model stands inside a sequence: the distribution α of its hidden state."""

    def __init__(self, model: HiddenMarkovModel, alpha: np.ndarray) -> None:
        self.model = model
        self.alpha = alpha

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        pi = np.empty((1, len(self.model.alphabet)))
        kernels.emit(self.alpha[None], self.model.emissions, pi)
        return pi[0]

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        codes, first = np.array([code], np.int32), np.zeros(1, np.bool_)
        self.model.forward(codes, first, self.alpha, np.empty((1, self.alpha.size)), np.empty(1))

    def place(self) -> dict[str, np.ndarray]:
        """The distribution of the hidden state."""
        return {"alpha": self.alpha.copy()}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Go to the place of another state."""
        found = place.get("alpha")
        if found is None or found.shape != self.alpha.shape or found.dtype != self.alpha.dtype:
            raise InputError("the place of a stream belongs to another hidden Markov model")
        self.alpha[:] = found

    def copy(self) -> HMMState:
        """An independent state at the same place."""
        return HMMState(self.model, self.alpha.copy())


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
        transitions=weights / _row_sums(weights, graph)[_edge_sources(graph)],
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
    codes, first, T, N = data.codes, first_positions(data), data.codes.size, model.states
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
    moves = np.zeros((N, N) if model._dense else model.graph.edges)
    for which in reversed(range(len(stretches))):
        span, last = stretches[which], which == len(stretches) - 1
        if not last:
            model.forward(codes[span], first[span], checkpoints[which], alpha, c[span])
        given = (codes[span], first[span], last or bool(first[span.stop]))
        totals = (model._writes, alpha, c[span], g, moves, writes, begins)
        if model._dense:
            kernels.backward_dense(*given, model.transition_matrix, *totals)
        else:
            rows = (model.transitions, model.graph.out_ptr, model._targets)
            kernels.backward_sparse(*given, *rows, *totals)
    along_edges = moves[_edge_sources(model.graph), model.graph.targets] if model._dense else moves
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
    left = _row_sums(moves, model.graph)[_edge_sources(model.graph)]
    return replace(
        model,
        start=_share(starts, starts.sum(), model.start),
        transitions=_share(moves, left, model.transitions),
        emissions=_share(writings, writings.sum(axis=1, keepdims=True), model.emissions),
    )


def first_positions(data: Encoded) -> np.ndarray:
    """True where a sequence begins."""
    first = np.zeros(data.codes.size, np.bool_)
    first[data.starts[:-1]] = True
    return first


def check_alphabet(alphabet: Alphabet, data: Encoded) -> None:
    """Refuse data whose codes mean other symbols."""
    if data.alphabet != alphabet:
        raise InputError(f"the data have {data.alphabet!r}, the model {alphabet!r}: encode with alphabet=")


def _share(counts: np.ndarray, totals: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    known = totals > kernels.NEGLIGIBLE
    shares = np.where(known, counts / np.where(known, totals, 1.0), otherwise)
    return np.where(shares < VANISHING, 0.0, shares)


def _row_sums(along_edges: np.ndarray, graph: Graph) -> np.ndarray:
    return np.bincount(_edge_sources(graph), along_edges, minlength=graph.units)


def _edge_sources(graph: Graph) -> np.ndarray:
    return np.repeat(np.arange(graph.units), np.diff(graph.out_ptr))
