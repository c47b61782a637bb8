"""What can be scored, sampled and plotted: anything that gives the next symbol's distribution.

Networks, baselines and the true sources all meet this protocol; probabilities are over the codes of
`alphabet`. Logarithms are natural here; reports are in bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from glnn.sequences import Alphabet, Encoded, InputError


class State(Protocol):
    """Where a predictor stands inside a sequence."""

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol, shape (A,), summing to 1."""
        ...

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        ...

    def copy(self) -> State:
        """An independent state at the same place."""
        ...


@runtime_checkable
class PlacedState(State, Protocol):
    """A state that can be written down and taken up again, in another process too, to the same bits."""

    def place(self) -> dict[str, np.ndarray]:
        """The numbers that say where it stands, as copies."""
        ...

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Go to the place of a state of the same predictor; a place of another predictor is an InputError."""
        ...


@runtime_checkable
class PushableState(State, Protocol):
    """A state that tells the probability of one symbol without those of all others, to the same bits."""

    def ask(self, code: int) -> float:
        """The probability of the next symbol, which is not read yet: that is for `advance`, which must be next.

        Only `likeliest` and `probabilities` may come before, and both speak of the same place.
        """
        ...

    def push(self, code: int) -> float:
        """The same, and it is read."""
        ...

    def likeliest(self, top: int) -> np.ndarray:
        """Rows (code, probability) of the `top` likeliest next symbols.

        The likeliest comes first, of equals the one of the lower code; rows that are too many have the code −1.
        """
        ...


@runtime_checkable
class PackedState(State, Protocol):
    """A state whose place is a few bytes, so that one state serves many streams, each of which has its place only."""

    def pack(self) -> bytes | None:
        """Where it stands; None if it also keeps something that it learned."""
        ...

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where the bytes from `at` on say that another of the same predictor stood; returns where they end."""
        ...


def packed_places(*states: State) -> bytes | None:
    """The places of some states one after the other, or None where one of them keeps more than that."""
    parts = []
    for state in states:
        # Quicker than to ask whether it is a PackedState.
        pack: Callable[[], bytes | None] | None = getattr(state, "pack", None)
        part = None if pack is None else pack()
        if part is None:
            return None
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def unpack_places(states: Iterable[State], given: bytes, at: int = 0) -> int:
    """Let states stand where others stood; returns where the bytes end."""
    for state in states:
        at = state.unpack(given, at)  # type: ignore[attr-defined]
    return at


def asking(state: State) -> Callable[[int], float]:
    """A state's `ask`, or what stands for it where whole distributions are all there is."""
    own: Callable[[int], float] | None = getattr(state, "ask", None)
    return own or (lambda code: float(state.probabilities()[code]))


def pushing(state: State) -> Callable[[int], float]:
    """A state's `push`, or what stands for it."""

    def push(code: int) -> float:
        given = float(state.probabilities()[code])
        state.advance(code)
        return given

    own: Callable[[int], float] | None = getattr(state, "push", None)
    return own or push


def placed(place: dict[str, np.ndarray], name: str, like: np.ndarray) -> np.ndarray:
    """The array of a place, for a state of which `like` is the present one."""
    found = place.get(name)
    if found is None or found.shape != like.shape or found.dtype != like.dtype:
        raise InputError(f"the place of a stream has no array {name!r} like that of this model: take that of the same")
    return found


def place_of(state: State) -> dict[str, np.ndarray]:
    """Where a state stands, if it can say so."""
    if not isinstance(state, PlacedState):
        raise InputError(f"a stream of {type(state).__name__} cannot be saved: it does not say where it stands")
    return state.place()


def move_to(state: State, place: dict[str, np.ndarray]) -> None:
    """Make a state stand where another stood."""
    if not isinstance(state, PlacedState):
        raise InputError(f"a stream of {type(state).__name__} cannot be taken up: it does not know places")
    state.move(place)


def rows_along(state: State, codes: np.ndarray) -> np.ndarray:
    """The distributions before each symbol, in one go where the state can, to the bit that of its steps."""
    run = getattr(state, "run", None)
    if run is not None:
        return np.asarray(run(codes))
    rows = []
    for code in codes.tolist():
        rows.append(state.probabilities())
        state.advance(code)
    return np.array(rows)


class AroundState:
    """A state around another, which stands where that one stands."""

    _state: State

    def advance(self, code: int) -> None:
        """Read the next symbol."""
        self._state.advance(code)

    def place(self) -> dict[str, np.ndarray]:
        """That of the state inside."""
        return place_of(self._state)

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where another stood."""
        move_to(self._state, place)

    def pack(self) -> bytes | None:
        """That of the state inside."""
        return packed_places(self._state)

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where another stood."""
        return unpack_places([self._state], packed, at)


@runtime_checkable
class Predictor(Protocol):
    """A probabilistic model of symbol sequences."""

    @property
    def alphabet(self) -> Alphabet:
        """The symbols it knows; an attribute serves as well."""
        ...

    def begin(self) -> State:
        """The state at the start of a sequence."""
        ...

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows of A probabilities.

        Every sequence of `data` begins from the start state; the mask plays no role.
        """
        ...

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position, shape (T,), natural logarithm; −inf where impossible."""
        ...


@runtime_checkable
class Freezable(Predictor, Protocol):
    """A predictor that may go on learning from what it scores, and can be told not to."""

    def frozen(self) -> Predictor:
        """The same with what it has learned, learning nothing more."""
        ...


def frozen(predictor: Predictor) -> Predictor:
    """The predictor with what it has learned, learning nothing from what it scores."""
    return predictor.frozen() if isinstance(predictor, Freezable) else predictor


@runtime_checkable
class Shared(Predictor, Protocol):
    """A predictor that may have a share of the uniform distribution in it."""

    def without_share(self) -> Predictor:
        """The same without it."""
        ...


def without_share(predictor: Predictor) -> Predictor:
    """A predictor without its share of the uniform distribution, if it knows of one."""
    return predictor.without_share() if isinstance(predictor, Shared) else predictor


class StepwisePredictor:
    """Gives `distributions` and `log_likelihoods` to a predictor that only knows how to `begin`."""

    alphabet: Alphabet

    def begin(self) -> State:
        """The state at the start of a sequence."""
        raise NotImplementedError

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of rows."""
        rows: list[np.ndarray] = []
        for codes in data:
            state = self.begin()
            for code in codes:
                rows.append(state.probabilities())
                if len(rows) == block:
                    yield np.array(rows)
                    rows = []
                state.advance(int(code))
        if rows:
            yield np.array(rows)

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        given = np.empty(len(data.codes))
        position = 0
        for rows in self.distributions(data):
            codes = data.codes[position : position + len(rows)]
            given[position : position + len(rows)] = rows[np.arange(len(rows)), codes]
            position += len(rows)
        with np.errstate(divide="ignore"):
            return np.log(given)
