"""Mixtures that learn from streams without end: contexts in a memory of bounded size, and the networks with them.

A network learns window by window (`network_learner`), and is asked as it is by now; the mixer, which learns with every
symbol, sees what that is worth. What was learned is written down as it is, not as the symbols it came from.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_arrays import from_arrays, to_arrays
from glnn.contexts.mixing_bounds import MOST
from glnn.predictors.learning import KeptLearner, Learnable, Learner, part_of
from glnn.predictors.members import finish
from glnn.predictors.mixture import MixturePredictor, rows_along
from glnn.predictors.mixture_learner import MixtureLearner
from glnn.predictors.protocol import Predictor, State

# How many probabilities of the networks are kept at once.
_AT_ONCE = 1 << 20


class MixtureStreamLearner(MixtureLearner):
    """A memory and networks of its own, begun as copies."""

    most = MOST

    def __init__(self, model: MixturePredictor) -> None:
        super().__init__(model)
        self._members = [_learning(member) for member in model.members]

    def begin_members(self, learning: bool) -> list[State]:
        """The networks at the start of a sequence, to learn from it or not."""
        found: list[State] = []
        for member, frozen in zip(self._members, self.model.members, strict=True):
            if member is None:
                found.append(frozen.begin())
            else:
                found.append(member.begin_learning() if learning else member.begin())
        return found

    def read(self, codes: np.ndarray) -> np.ndarray:
        """Read a whole sequence; returns the probability of each symbol before it was learned."""
        codes = np.ascontiguousarray(codes, np.int64)
        self._reader.restart()
        states = self.begin_members(learning=True)
        block = max(1, _AT_ONCE // (max(1, len(states)) * len(self.alphabet)))
        said = []
        for place in range(0, codes.size, block):
            part = codes[place : place + block]
            outside = np.stack([rows_along(state, part) for state in states], axis=1) if states else None
            said.append(self._reader.read(part, np.zeros(part.size, np.bool_), outside))
        for member in self._members:
            if member is not None:
                finish(member)
        return np.concatenate(said)

    def remember(self, code: int, begins: bool) -> None:
        """Nothing but what the tables keep is remembered of a symbol."""

    def learned(self) -> MixturePredictor:
        """What predicts by now. A file of it would be what was read, which is not kept: use `memory`."""
        now = self._now()
        members = [
            frozen if member is None else member.learned()
            for member, frozen in zip(self._members, self.model.members, strict=True)
        ]
        return MixturePredictor(now.alphabet, now.contexts, tuple(members), now.identity)

    def memory(self) -> dict[str, np.ndarray]:
        """What contexts and networks have become."""
        found = {f"contexts/{name}": array for name, array in to_arrays(self._reader.memory).items()}
        for k, member in enumerate(self._members):
            if member is not None:
                found |= {f"network{k}/{name}": array for name, array in member.memory().items()}
        return found

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Know what another of the same mixture knew."""
        self._reader.memory = from_arrays(part_of(memory, "contexts/"), self._reader.memory, self._reader.plan)
        self._reader.make_room()
        for k, member in enumerate(self._members):
            if member is not None:
                member.recall(part_of(memory, f"network{k}/"))


def _learning(member: Predictor) -> KeptLearner | None:
    """The learner of a member that can learn and write down what it learned."""
    if not isinstance(member, Learnable):
        return None
    found: Learner = member.learner()
    return found if isinstance(found, KeptLearner) else None
