"""What a model gives: initial parameters, forward pass, backward pass, modulus recursion, incoming signals.

Every parameter enters the pre-activation of one unit linearly, V_j^{t+1} = (…) + Σ_k θ_jk r_k^t. A model says which
signals r enter each unit; how parameters are updated from them is not its business (see `glnn.metrics`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from glnn.models.stepping import ForwardStepper, Stepper

if TYPE_CHECKING:
    from glnn.models.side_by_side import SideBySide


NO_NOISE = np.empty((0, 0), np.float32)
"""What stands for the noise where there is none."""

# What a class cannot change without changing the step too.
_COMPUTED = frozenset({"weights", "arrange", "begin", "forward", "activities"})


@dataclass(frozen=True)
class Params:
    """The parameters of a network: writing weights, transition parameters, start values.

    `w` is (N + 1, A), row 0 the constant unit; `theta` is flat, one block of a unit's incoming parameters after
    the other, each beginning with its constant; `V0` is the start state.
    """

    w: np.ndarray
    theta: np.ndarray
    V0: np.ndarray

    def replace(self, **changes: np.ndarray) -> Params:
        """The same parameters with some arrays exchanged."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Signals:
    """The signals that enter each unit, and how the symbol does.

    Unit j receives the rows `rows[ptr[j]:ptr[j + 1]]` of the model's signals, where row 0 is the constant 1 (always
    first) and row k the k-th column of the trace's signals. With `symbols="gate"` there is one such set of parameters
    for each symbol, flat order (symbol, unit, signal); with `symbols="input"` there is one set, and one more
    parameter per symbol follows in each unit, flat order (unit, signal then symbol).
    """

    ptr: np.ndarray
    rows: np.ndarray
    symbols: Literal["gate", "input"]


class Evidence(NamedTuple):
    """What the backward recurrences read at the positions of a stretch: the data and the output's terms."""

    x: np.ndarray
    first: np.ndarray
    predicted: np.ndarray
    error: np.ndarray
    variance: np.ndarray


class Model(Protocol):
    """A recurrent network over a finite alphabet, as the trainer sees it. A model of your own derives from it.

    A class that changes what the network computes and not its step takes its steps through the forward pass: right at
    once, and fast when it brings a `stepper` of its own.
    """

    name: str
    units: int
    alphabet_size: int
    trace_width: int
    state_size: int
    inner_units: int
    signals: Signals
    rate_for_chunks: float = 1.0
    """How long its steps by Adam's rule are, beside those of other networks."""
    least_rate: float = 1.0
    """The part of that to which steps are shortened where data are few."""
    misreads: bool = False
    """Whether it has to misread symbols in stochastic training to be able to go on after a surprise."""
    many_streams: bool = False
    """Whether it is so large that chunks are read at more places at a time."""

    def initial(self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator, /) -> Params:
        """Parameters before training, from how often each symbol is to be predicted and occurs at all."""
        ...

    def initial_for_chunks(
        self, predicted_counts: np.ndarray, counts: np.ndarray, generator: np.random.Generator, /
    ) -> Params:
        """Parameters before stochastic training: the same, unless a model knows better."""
        return self.initial(predicted_counts, counts, generator)

    def weights(self, theta: np.ndarray) -> Any:
        """The transition parameters in the form that the recurrences want."""
        ...

    def begin(self, V0: np.ndarray) -> np.ndarray:
        """A writable state, equal to the start state."""
        ...

    def forward(
        self,
        weights: Any,
        V0: np.ndarray,
        x: np.ndarray,
        first: np.ndarray,
        state: np.ndarray,
        trace: np.ndarray,
        noise: np.ndarray = NO_NOISE,
    ) -> None:
        """Run over a stretch, from `state` (overwritten by the state after it), filling `trace`.

        Row t of `noise` (S, N), where there is any, is added to the units' own state after position t.
        """
        ...

    def stepper(self, params: Params) -> Stepper:
        """The network with these parameters, one step at a time: by its forward pass, unless a model knows better."""
        return ForwardStepper(self, params)

    def side_by_side(self) -> SideBySide | None:
        """A faster pass over several streams at once, where there is one."""
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("stepper", "side_by_side"):
            for owner in cls.__mro__:
                if name in vars(owner):
                    break
                if not _COMPUTED.isdisjoint(vars(owner)):
                    # What is inherited is that of another network.
                    setattr(cls, name, getattr(Model, name))
                    break

    def activities(self, trace: np.ndarray) -> np.ndarray:
        """The activities that the output reads, (S, N)."""
        ...

    def incoming(self, trace: np.ndarray) -> np.ndarray:
        """The signals of the stretch, (S, R), without the constant."""
        ...

    def backward(
        self,
        weights: Any,
        trace: np.ndarray,
        given: Evidence,
        carry: np.ndarray,
        out: np.ndarray,
        start: np.ndarray,
    ) -> None:
        """Derivatives of the log-likelihood with respect to pre-activations: `out[t]` is B^{t+1}."""
        ...

    def backward_with_modulus(self, weights: Any, trace: np.ndarray, given: Evidence, B: Flow, m: Flow) -> None:
        """The derivatives B and the backpropagated modulus m̃, for the metrics that want both."""
        ...


class Flow(NamedTuple):
    """A quantity that runs back over a stretch, as `backward` takes it: carried along, for every time, at starts."""

    carry: np.ndarray
    out: np.ndarray
    start: np.ndarray


def initial_writing_weights(units: int, predicted_counts: np.ndarray) -> np.ndarray:
    """`eq:initw`: w_0y = log ν_y and zeros; a symbol never to be predicted counts as half an occurrence."""
    w = np.zeros((units + 1, predicted_counts.size))
    w[0] = np.log(np.maximum(predicted_counts, 0.5) / max(predicted_counts.sum(), 1.0))
    return w


def random_writing_weights(units: int, predicted_counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """`eq:initw`, with w_iy uniform in ±1/√N: where steps are bounded, units have to be heard from the first one on."""
    w = initial_writing_weights(units, predicted_counts)
    w[1:] = generator.uniform(-1.0, 1.0, w[1:].shape) / np.sqrt(units)
    return w


def centred_reading_rates(units: int, counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """u_jy − Σ_y' ν̃_y' u_jy' with u uniform in [0, 1]: random reactions of zero mean over the data, (A, N)."""
    u = generator.random((units, counts.size))
    return np.ascontiguousarray((u - (u @ (counts / counts.sum()))[:, None]).T)
