"""Networks that go on learning while symbols arrive: a step after each window of them (`glnn.training.online`).

What they learned is weighed against the network as it was, p = p₀ + v (p₁ − p₀), where the odds v / (1 − v) begin at
1 to 99 and are multiplied by p₁(x_t) / p₀(x_t), within bounds: learning that only does harm costs hardly anything, and
one that has lost 43 bits starts again from the network as it was, with smaller steps. Time a symbol is bounded, memory
constant. Several sequences side by side share the network: each is learned when it ends, window by window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from glnn.models.stepping import Stepper
from glnn.numeric.kernel import kernel
from glnn.numeric.packed import unpack_array
from glnn.output.uniform import mix_in
from glnn.predictors.learning import part_of
from glnn.predictors.network import NetworkPredictor
from glnn.predictors.protocol import placed
from glnn.sequences import Alphabet, Encoded, InputError
from glnn.training.online import OnlineSettings, OnlineSteps

# The share of what is learned in the beginning, as log-odds, and between which it stays. After a loss of this many nats
# what was learned is given up, to be learned again with a memory this many times as long.
_FIRST_TRUST = math.log(0.01 / 0.99)
_LEAST_TRUST, _MOST_TRUST = _FIRST_TRUST - 5.0, 8.0
_LOST = 30.0
_SLOWER = 4.0
_LEAST = 1e-300


@kernel(_nrt=False)
def _weighed(learned: np.ndarray, first: np.ndarray, weight: float, share: float, pi: np.ndarray) -> None:
    """p₀ + v (p₁ − p₀), with a share of the uniform distribution."""
    for y in range(pi.size):
        pi[y] = first[y] + weight * (learned[y] - first[y])
    mix_in(pi, share)


class LearningState:
    """Where a network stands inside a sequence that it predicts with what is learned so far, learning it or not."""

    def __init__(self, learner: NetworkLearner, state: np.ndarray, frozen: np.ndarray, learn: bool) -> None:
        self._learner, self._state, self._frozen, self._learn = learner, state, frozen, learn
        self._before: np.ndarray | None = None
        self._window: list[int] = []
        self._said: tuple[np.ndarray, np.ndarray] | None = None

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        learner = self._learner
        learned, first = self._said = self._say()
        pi = np.empty(first.size)
        _weighed(learned, first, learner.weight, learner.share, pi)
        return pi

    def advance(self, code: int) -> None:
        """Read the next symbol; after a window of them the network takes a step."""
        if self._learn:
            learned, first = self._said or self._say()
            self._learner.weigh(float(learned[code]), float(first[code]))
        self._said = None
        self._learner.stepper.advance(self._state, code)
        self._learner.frozen.advance(self._frozen, code)
        if not self._learn:
            return
        self._window.append(code)
        if len(self._window) >= self._learner.window:
            self.finish()

    def _say(self) -> tuple[np.ndarray, np.ndarray]:
        """What is learned, and what the network said as it was."""
        return self._learner.stepper.probabilities(self._state), self._learner.frozen.probabilities(self._frozen)

    def finish(self) -> None:
        """Learn the window under way, however short."""
        if self._window:
            if self._learner.step(np.array(self._window, np.int32), self._before):
                self._state[:] = self._frozen
            self._window.clear()
            self._before = self._state.copy()

    def place(self) -> dict[str, np.ndarray]:
        """The pre-activations; of a sequence that is learned also the window under way, and where it began."""
        place = {"state": self._state.copy(), "frozen": self._frozen.copy()}
        if self._learn:
            place["window"] = np.array(self._window, np.int32)
            if self._before is not None:
                place["before"] = self._before.copy()
        return place

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where another stood."""
        self._state[:] = placed(place, "state", self._state)
        self._frozen[:] = placed(place, "frozen", self._frozen)
        self._said = None
        if not self._learn:
            return
        window = place.get("window", np.zeros(0, np.int32))
        size = len(self._learner.alphabet)
        if window.ndim != 1 or len(window) >= self._learner.window or not ((window >= 0) & (window < size)).all():
            raise InputError("the place of a stream is not that of this network: take that of the same")
        self._window = [int(code) for code in window]
        self._before = placed(place, "before", self._state).copy() if "before" in place else None

    def pack(self) -> bytes | None:
        """The pre-activations as bytes, where the sequence is not learned."""
        return None if self._learn else self._state.tobytes() + self._frozen.tobytes()

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where another stood."""
        self._said = None
        return unpack_array(self._frozen, packed, unpack_array(self._state, packed, at))

    def copy(self) -> LearningState:
        """A state at the same place that predicts by what is learned, and learns nothing itself."""
        return LearningState(self._learner, self._state.copy(), self._frozen.copy(), learn=False)


class NetworkLearner:
    """Parameters of their own, begun as a copy."""

    def __init__(self, network: NetworkPredictor, settings: OnlineSettings | None = None) -> None:
        self._network = network
        self._steps = OnlineSteps(network.model, network.params, network.alphabet, network.running, settings)
        self.window, self.share = self._steps.settings.window, network.share
        self.stepper: Stepper = network.stepper
        self.frozen: Stepper = network.stepper
        self._trust, self._loss = _FIRST_TRUST, 0.0
        self._under_way: LearningState | None = None

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows."""
        return self._network.alphabet

    @property
    def weight(self) -> float:
        """The share of what is learned in the prediction."""
        return 1.0 / (1.0 + math.exp(-self._trust))

    def weigh(self, learned: float, first: float) -> None:
        """A symbol came that both gave a probability."""
        gained = math.log(max(learned, _LEAST)) - math.log(max(first, _LEAST))
        self._trust = min(max(self._trust + gained, _LEAST_TRUST), _MOST_TRUST)
        self._loss = max(self._loss - gained, 0.0)

    def begin(self) -> LearningState:
        """The state at the start of a sequence; it predicts by what is learned so far."""
        return self._state(learn=False)

    def begin_learning(self) -> LearningState:
        """The state at the start of a sequence that is learned as it is read, after what is left of the last one."""
        self.finish()
        self._under_way = self._state(learn=True)
        return self._under_way

    def finish(self) -> None:
        """Learn the rest of the current sequence."""
        if self._under_way is not None:
            self._under_way.finish()

    def learn(self, codes: np.ndarray) -> None:
        """A whole sequence, window by window."""
        state = self._state(learn=True)
        for code in codes.tolist():
            state.advance(code)
        state.finish()

    def step(self, codes: np.ndarray, before: np.ndarray | None) -> bool:
        """Learn a window; whether all that was learned had to be given up."""
        lost = self._loss > _LOST
        if lost:
            self._steps.begin_anew(self._network.params, _SLOWER)
            self._trust, self._loss = _FIRST_TRUST, 0.0
        else:
            self._steps.learn(codes, before)
        self.stepper = self._network.model.stepper(self._steps.params)
        return lost

    def _state(self, learn: bool) -> LearningState:
        return LearningState(self, self.stepper.begin(), self.frozen.begin(), learn)

    def learned(self) -> NetworkPredictor:
        """The network with its parameters and its metric as they are now."""
        network, steps = self._network, self._steps
        running = {name: part.copy() for name, part in steps.running.items()}
        return NetworkPredictor(network.model, steps.params, network.alphabet, network.threads, network.share, running)

    def memory(self) -> dict[str, np.ndarray]:
        """The parameters and the metric."""
        params, running = self._steps.params, self._steps.running
        own = {"w": params.w, "theta": params.theta, "V0": params.V0, "trust": np.array([self._trust, self._loss])}
        return {**own, **{f"running/{name}": part.copy() for name, part in running.items()}}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Know what another of this network knew."""
        params = self._steps.params
        w, theta, V0 = (placed(memory, name, getattr(params, name)) for name in ("w", "theta", "V0"))
        trust, loss = placed(memory, "trust", np.zeros(2)).tolist()
        if not _LEAST_TRUST <= trust <= _MOST_TRUST or not loss >= 0.0:
            raise InputError("what a stream learned does not fit this network (trust): take the file of the same model")
        self._steps.recall(params.replace(w=w, theta=theta, V0=V0), part_of(memory, "running/"))
        self._trust, self._loss = trust, loss
        self.stepper = self._network.model.stepper(self._steps.params)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data; nothing is learned."""
        return self.learned().distributions(data, block)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position; nothing is learned."""
        return self.learned().log_likelihoods(data)
