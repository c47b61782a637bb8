"""A hidden Markov model on a sparse random graph, of Section 4: how it predicts (`hmm` trains it).

A state i writes y with probability b_iy, then moves along one of its edges with probability a_ij; so
π_t(y) = Σ_i α_i^t b_iy and α_j^{t+1} ∝ Σ_i α_i^t b_{i x_t} a_ij, the linear GNN of Section 1.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glnn.baselines import hmm_kernels as kernels
from glnn.baselines.hmm_coding import HiddenMarkovSteps
from glnn.network import Graph
from glnn.numeric.packed import unpack_array
from glnn.sequences import Alphabet, Encoded, InputError

# Under this share of all N² edges, compressed rows are faster than a dense matrix (256 and 512 states).
DENSE_FROM = 1 / 6


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
            sums = row_sums(array, self.graph) if name == "transitions" else array.sum(axis=-1)
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
        matrix[self.graph.edge_sources, self.graph.targets] = self.transitions
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
        first, state = data.first, self.start.copy()
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
            "edge_sources": self.graph.edge_sources,
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
        if self.dense:
            matrix = self.transition_matrix
            kernels.forward_dense(codes, first, self.start, matrix, self.writes, state, alpha, c)
        else:
            rows = (self.transitions, self.graph.out_ptr, self.targets)
            kernels.forward_sparse(codes, first, self.start, *rows, self.writes, state, alpha, c)

    @cached_property
    def dense(self) -> bool:
        """Whether the matrix of transitions is used rather than compressed rows."""
        return self.graph.edges >= DENSE_FROM * self.states**2

    @cached_property
    def targets(self) -> np.ndarray:
        """Where each edge leads, unsigned: a kernel then need not look for negative indices."""
        return self.graph.targets.astype(np.uint32)

    @cached_property
    def writes(self) -> np.ndarray:
        """The emissions as (A, N)."""
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

    def pack(self) -> bytes:
        """The distribution of the hidden state as bytes."""
        return self.alpha.tobytes()

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where another stood."""
        return unpack_array(self.alpha, packed, at)

    def copy(self) -> HMMState:
        """An independent state at the same place."""
        return HMMState(self.model, self.alpha.copy())


def check_alphabet(alphabet: Alphabet, data: Encoded) -> None:
    """Refuse data whose codes mean other symbols."""
    if data.alphabet != alphabet:
        raise InputError(f"the data have {data.alphabet!r}, the model {alphabet!r}: encode with alphabet=")


def row_sums(along_edges: np.ndarray, graph: Graph) -> np.ndarray:
    """The sum over the edges that leave each state."""
    return np.bincount(graph.edge_sources, along_edges, minlength=graph.units)
