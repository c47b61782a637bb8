"""Where several predictors with shares in one prediction stand in a sequence, and the odds between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glnn.contexts.mixing_likeliest import Said
from glnn.predictors.odds import RunningOdds, chances_of, combined
from glnn.predictors.protocol import (
    State,
    asking,
    move_to,
    packed_places,
    place_of,
    placed,
    pushing,
    rows_along,
    unpack_places,
)


class SharesState:
    """Where all of them stand inside a sequence: the mixture first, which finds the likeliest symbols of all."""

    def __init__(self, states: Sequence[State], odds: RunningOdds, size: int, learns: bool = True) -> None:
        self._states, self._odds, self._learns = list(states), odds, learns and odds.learns
        self._moves = self._learns or odds.inside > 0.0
        # What all say of one symbol, the uniform distribution last.
        self._chances = np.full(len(self._states) + 1, 1.0 / size)
        self._size, self._asked = size, False
        self._ways = [(asking(state), pushing(state)) for state in self._states]

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        said = [state.probabilities()[None] for state in self._states]
        row: np.ndarray = combined(said, self._odds.odds.weights[None])[0]
        return row

    def ask(self, code: int) -> float:
        """The probability of the next symbol; `advance` must be next."""
        for k, (ask, _) in enumerate(self._ways):
            self._chances[k] = ask(code)
        self._asked = True
        return self._odds.of_one(self._chances, self._size)

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        if self._moves:
            if not self._asked:
                self.ask(code)
            self._odds.learn_one(self._chances)
        self._asked = False
        for state in self._states:
            state.advance(code)

    def push(self, code: int) -> float:
        """The probability of the next symbol, which is read."""
        for k, (_, push) in enumerate(self._ways):
            self._chances[k] = push(code)
        given = self._odds.of_one(self._chances, self._size)
        if self._moves:
            self._odds.learn_one(self._chances)
        return given

    def likeliest(self, top: int) -> np.ndarray:
        """Rows (code, probability) of the likeliest next symbols, found by the mixture, which is told of the others."""
        own, *others = self._states
        rows = np.array([state.probabilities() for state in others]).reshape(len(others), self._size)
        weights = self._odds.odds.weights
        said = Said(float(weights[0]), rows, weights[1:-1].copy(), float(weights[-1]) / self._size)
        return own.likeliest(top, said)  # type: ignore[attr-defined, no-any-return]

    def run(self, codes: np.ndarray) -> np.ndarray:
        """Read several symbols; row t holds the distribution before codes[t]."""
        parts = [rows_along(state, codes) for state in self._states]
        if self._moves:
            return combined(parts, self._odds.along(chances_of(parts, codes)))
        return combined(parts, self._odds.odds.weights[None])

    def place(self) -> dict[str, np.ndarray]:
        """Those of all, each under its number."""
        found = {f"{k}:{name}": part for k, state in enumerate(self._states) for name, part in place_of(state).items()}
        return {**found, "odds": self._inside.copy()} if self._odds.inside > 0.0 else found

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where others stood."""
        for k, state in enumerate(self._states):
            own = f"{k}:"
            move_to(state, {name.removeprefix(own): part for name, part in place.items() if name.startswith(own)})
        if self._odds.inside > 0.0:
            self._inside[:] = placed(place, "odds", self._inside)

    def pack(self) -> bytes | None:
        """The places of all, where the odds do not learn from them; those that follow this sequence are in it."""
        packed = None if self._learns else packed_places(*self._states)
        return packed if packed is None or self._odds.inside == 0.0 else packed + self._inside.tobytes()

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where others stood."""
        at = unpack_places(self._states, packed, at)
        if self._odds.inside > 0.0:
            self._inside[:] = np.frombuffer(packed, np.float64, self._inside.size, at)
            at += self._inside.nbytes
        return at

    @property
    def _inside(self) -> np.ndarray:
        """The shares that follow the symbols of this sequence."""
        row: np.ndarray = self._odds.odds.rows[0]
        return row

    def copy(self) -> SharesState:
        """An independent state at the same place."""
        return SharesState([state.copy() for state in self._states], self._odds.copy(), self._size, self._learns)
