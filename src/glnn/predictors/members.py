"""Several predictors as one, p(y) ∝ exp Σ_k w_k(h) log p_k(y), their weights by entropy (`calibration.py`).

The weights need not sum to 1, so one member alone is calibrated. A share δ of the uniform distribution comes last.
Whole data go in blocks of rows, states step by step; where the members' own steps have the same bits on every machine,
so have these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from glnn.coding.steps import Steps, both_shares
from glnn.numeric.packed import unpack_array
from glnn.output import uniform
from glnn.predictors.calibration import EntropyWeights, mixed
from glnn.predictors.learning import KeptLearner, Learner, learner_of, part_of
from glnn.predictors.members_coding import loops_together
from glnn.predictors.members_stepping import Together, together
from glnn.predictors.network import NetworkPredictor, NetworkState
from glnn.predictors.protocol import (
    Predictor,
    State,
    move_to,
    packed_places,
    place_of,
    rows_along,
    unpack_places,
    without_share,
)
from glnn.sequences import Alphabet, Encoded


class MembersState:
    """Where all members stand inside a sequence."""

    def __init__(self, states: Sequence[State], weights: EntropyWeights, share: float = 0.0) -> None:
        self._states, self._weights, self._share = list(states), weights, share
        # What was said stays until something is read.
        self._said: np.ndarray | None = None

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        if self._said is None:
            self._said = self._say()
        return self._said

    def _say(self) -> np.ndarray:
        rows = np.stack([state.probabilities() for state in self._states])
        return uniform.mixed(mixed(rows[:, np.newaxis], self._weights)[0], self._share)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        self._said = None
        for state in self._states:
            state.advance(code)

    def run(self, codes: np.ndarray) -> np.ndarray:
        """Read several symbols; row t holds the distribution before codes[t], to the bit that of `probabilities`."""
        self._said = None
        rows = np.stack([rows_along(state, codes) for state in self._states])
        return uniform.mixed(mixed(rows, self._weights), self._share)

    def place(self) -> dict[str, np.ndarray]:
        """Those of all members, each under its number."""
        return {f"{k}/{name}": part for k, state in enumerate(self._states) for name, part in place_of(state).items()}

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where others stood."""
        self._said = None
        for k, state in enumerate(self._states):
            own = f"{k}/"
            move_to(state, {name.removeprefix(own): part for name, part in place.items() if name.startswith(own)})

    def pack(self) -> bytes | None:
        """The places of all."""
        return packed_places(*self._states)

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where others stood."""
        self._said = None
        return unpack_places(self._states, packed, at)

    def copy(self) -> MembersState:
        """An independent state at the same place."""
        return MembersState([state.copy() for state in self._states], self._weights, self._share)


class TogetherState(MembersState):
    """The same of networks that step as one: `rows` has the state of each, on which the states are views."""

    def __init__(self, networks: Members, steps: Together, rows: np.ndarray) -> None:
        states = [
            NetworkState(network.stepper, row, network.share)  # type: ignore[attr-defined]
            for network, row in zip(networks.members, rows, strict=True)
        ]
        super().__init__(states, networks.weights, networks.share)
        self._networks, self._steps, self._rows = networks, steps, rows

    def _say(self) -> np.ndarray:
        return self._steps.probabilities(self._rows)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        self._said = None
        self._steps.advance(self._rows, code)

    def pack(self) -> bytes:
        """All of the rows."""
        return self._rows.tobytes()

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where others stood."""
        self._said = None
        return unpack_array(self._rows.reshape(-1), packed, at)

    def copy(self) -> TogetherState:
        """An independent state at the same place."""
        return TogetherState(self._networks, self._steps, self._rows.copy())


class Members:
    """Predictors over the same alphabet and the weights they are mixed by; `share` is δ."""

    def __init__(self, members: Sequence[Predictor], weights: EntropyWeights, share: float = 0.0) -> None:
        if not members or not weights.suit(len(members)):
            raise ValueError(f"{len(members)} members and weights for {weights.members}: expected as many")
        self.members, self.weights, self.share = tuple(members), weights, share
        self.alphabet: Alphabet = self.members[0].alphabet
        for k, member in enumerate(self.members):
            if member.alphabet != self.alphabet:
                raise ValueError(f"member {k} has {member.alphabet!r}, the first {self.alphabet!r}: expected the same")

    def begin(self) -> MembersState:
        """The state at the start of a sequence."""
        steps = self._together
        if steps is None:
            return MembersState([member.begin() for member in self.members], self.weights, self.share)
        rows = np.stack([member.stepper.begin() for member in self.members])  # type: ignore[attr-defined]
        return TogetherState(self, steps, rows)

    @cached_property
    def _together(self) -> Together | None:
        """Networks as one, where they are of one kind and size."""
        networks = [member for member in self.members if isinstance(member, NetworkPredictor)]
        if len(networks) < len(self.members):
            return None
        shares = np.array([network.share for network in networks])
        return together([network.stepper for network in networks], shares, self.weights, self.share)

    def learner(self) -> MembersLearner:
        """A copy that goes on learning, if every member can; the weights stay."""
        return MembersLearner([learner_of(member) for member in self.members], self.weights, self.share)

    def stream_learner(self) -> MembersLearner:
        """A copy that goes on learning for ever."""
        return self.learner()

    def without_share(self) -> Members:
        """The networks alone and their weights, without any share of the uniform distribution."""
        return Members([without_share(member) for member in self.members], self.weights)

    def coding_steps(self, escape: float | None, share: float = 0.0) -> Steps | None:
        """Compiled loops for the coder, where the members are networks of one kind and size."""
        networks = [member for member in self.members if isinstance(member, NetworkPredictor)]
        if len(networks) < len(self.members):
            return None
        steppers = [network.stepper for network in networks]
        shares = np.array([network.share for network in networks])
        return loops_together(steppers, shares, self.weights, escape, both_shares(self.share, share))

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        for rows in zip(*(member.distributions(data, block) for member in self.members), strict=True):
            yield uniform.mixed(mixed(np.stack(rows), self.weights), self.share)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        given, position = np.empty(len(data.codes)), 0
        for rows in self.distributions(data):
            place = np.arange(len(rows))
            given[position + place] = rows[place, data.codes[position + place]]
            position += len(rows)
        with np.errstate(divide="ignore"):
            return np.log(given)


class MembersLearner(Members):
    """Members that go on learning, each by itself."""

    members: tuple[Learner, ...]  # type: ignore[assignment]

    def begin_learning(self) -> MembersState:
        """The state at the start of a sequence that is learned as it is read."""
        return MembersState([member.begin_learning() for member in self.members], self.weights, self.share)

    def learn(self, codes: np.ndarray) -> None:
        """A whole sequence."""
        for member in self.members:
            member.learn(codes)

    def finish(self) -> None:
        """Learn the rest of the current sequence."""
        for member in self.members:
            finish(member)

    def memory(self) -> dict[str, np.ndarray]:
        """Those of all members, each under its number."""
        found: dict[str, np.ndarray] = {}
        for k, member in enumerate(self.members):
            assert isinstance(member, KeptLearner)
            found |= {f"{k}/{name}": array for name, array in member.memory().items()}
        return found

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Know what others knew."""
        for k, member in enumerate(self.members):
            assert isinstance(member, KeptLearner)
            member.recall(part_of(memory, f"{k}/"))

    def learned(self) -> Members:
        """The members with all that they learned."""
        return Members([member.learned() for member in self.members], self.weights, self.share)


def finish(learner: Learner) -> None:
    """Let a learner that works in windows learn the rest of the current sequence."""
    left = getattr(learner, "finish", None)
    if left is not None:
        left()
