"""Contexts and other predictors under one online mixer: what `glnn.Mixture` predicts with.

Every binary decision on the way to a symbol is mixed from what contexts, matches and the members say of it
(`glnn.contexts.mixing`). Members are asked step by step, with the same bits on every machine where theirs are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.contexts.mixing import ContextMixing, Reader, firsts
from glnn.contexts.mixing_coding import MixingSteps
from glnn.contexts.mixing_likeliest import NOBODY, Said
from glnn.predictors.odds import RunningOdds, settled
from glnn.predictors.protocol import (
    Predictor,
    State,
    move_to,
    packed_places,
    place_of,
    placed,
    rows_along,
    unpack_places,
)
from glnn.predictors.shares_coding import SharesSteps
from glnn.sequences import Alphabet, Encoded, InputError

if TYPE_CHECKING:
    from glnn.predictors.mixture_learner import MixtureLearner
    from glnn.predictors.mixture_stream import MixtureStreamLearner

# How many probabilities of the members are kept at once.
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class MixturePredictor:
    """What was learned; itself it never changes: what is scored online is learned by a copy.

    Members speak of the same codes, whatever they call the symbols. `identity` says what was learned from.
    """

    alphabet: Alphabet
    contexts: ContextMixing
    members: tuple[Predictor, ...] = ()
    identity: tuple[Any, ...] = ()

    def with_learning(self, online: bool) -> MixturePredictor:
        """The same, learning from what it scores or not."""
        return replace(self, contexts=self.contexts.with_learning(online))

    def frozen(self) -> MixturePredictor:
        """The same, learning nothing from what it scores."""
        return self.with_learning(False)

    def learner(self) -> MixtureLearner:
        """A copy that goes on learning."""
        from glnn.predictors.mixture_learner import MixtureLearner

        return MixtureLearner(self)

    def stream_learner(self) -> MixtureStreamLearner:
        """A copy that goes on learning for ever, with its networks, in a memory of bounded size."""
        from glnn.predictors.mixture_stream import MixtureStreamLearner

        return MixtureStreamLearner(self)

    def begin(self) -> MixtureState:
        """The state at the start of a sequence."""
        return MixtureState(self.contexts.reader(), [member.begin() for member in self.members])

    def coding_steps(self, escape: float | None, share: float = 0.0) -> MixingSteps | SharesSteps | None:
        """Steps for the coder: compiled loops where contexts are all there is."""
        if share != 0.0:
            return None
        if self.members:
            return SharesSteps(self, (), (), RunningOdds(settled((1.0,), 0.0), learns=False), escape)
        return MixingSteps(self.contexts.reader(), escape, self.identity)

    def distributions(self, data: Encoded, block: int = 4096) -> Iterator[np.ndarray]:
        """Next-symbol distributions along the data, in blocks of at most `block` rows."""
        self._check(data)
        reader, first = self.contexts.reader(), firsts(data.starts)
        for part, outside in pieces(self.members, data, block):
            yield reader.read_rows(data.codes[part], first[part], outside)[0]

    def log_likelihoods(self, data: Encoded) -> np.ndarray:
        """log π_t(x_t) at every position."""
        self._check(data)
        reader, first = self.contexts.reader(), firsts(data.starts)
        chances = [
            reader.read(data.codes[part], first[part], outside) for part, outside in pieces(self.members, data, 1 << 16)
        ]
        return np.log(np.concatenate(chances))

    def arrays(self) -> dict[str, np.ndarray]:
        """What identifies it, for a hash: the weights, and the symbols it learned from."""
        memory = self.contexts.memory
        return {"weights": memory.weights, "history": memory.history[: memory.filled[0]]}

    def _check(self, data: Encoded) -> None:
        if data.alphabet != self.alphabet:
            raise InputError(f"the data have {data.alphabet!r}, the mixture {self.alphabet!r}: encode with alphabet=")


class MixtureState:
    """Where a mixture stands inside a sequence. What was learned is shared until one state has to learn."""

    def __init__(self, reader: Reader, members: list[State]) -> None:
        self._reader, self._members, self._asked = reader, members, False

    def probabilities(self) -> np.ndarray:
        """The distribution of the next symbol."""
        return self._reader.probabilities(self._outside())

    def advance(self, code: int) -> None:
        """Read the next symbol; when learning online, this state's own memory learns it."""
        if self._asked:
            self._reader.advance(code)
            self._asked = False
        else:
            self._reader.push(code, self._outside())
        for member in self._members:
            member.advance(code)

    def ask(self, code: int) -> float:
        """The probability of the next symbol; `advance` must be next."""
        given = self._reader.ask(code, self._outside())
        self._asked = True
        return given

    def push(self, code: int) -> float:
        """The probability of the next symbol, which is read."""
        given = self._reader.push(code, self._outside())
        for member in self._members:
            member.advance(code)
        return given

    def likeliest(self, top: int, said: Said = NOBODY) -> np.ndarray:
        """Rows (code, probability) of the likeliest next symbols, counting in what others say beside."""
        return self._reader.likeliest(top, None if self._asked else self._outside(), said)

    def place(self) -> dict[str, np.ndarray]:
        """The symbols before and what follows from them; what it learned on the way belongs to its memory."""
        cursor = self._reader.cursor._asdict()
        own = {f"cursor/{name}": array.copy() for name, array in cursor.items() if array.size}
        for k, member in enumerate(self._members):
            own |= {f"{k}/{name}": array for name, array in place_of(member).items()}
        return own

    def move(self, place: dict[str, np.ndarray]) -> None:
        """Stand where another stood."""
        reader = self._reader
        cursor = {name: array for name, array in reader.cursor._asdict().items() if array.size}
        found = {name: placed(place, f"cursor/{name}", like) for name, like in cursor.items()}
        size, most = reader.plan.lengths.size, reader.memory.filled[0]
        recent, pointer, numbers = found["recent"], found["pointer"], found["numbers"]
        inside = recent.min() >= 0 and recent.max() <= size and pointer.min() >= -1 and pointer.max() < most
        counted = [numbers, *(found[name] for name in ("length", "misses", "lines") if name in found)]
        if not inside or min(int(array.min()) for array in counted) < 0:
            raise InputError("the place of a stream is not that of this mixture: take that of the same")
        for name, array in cursor.items():
            array[:] = found[name]
        for k, member in enumerate(self._members):
            own = f"{k}/"
            move_to(member, {name.removeprefix(own): part for name, part in place.items() if name.startswith(own)})

    def pack(self) -> bytes | None:
        """The places of contexts and members, where no memory of its own learns."""
        members = packed_places(*self._members)
        return None if self._reader.changes or members is None else self._reader.pack() + members

    def unpack(self, packed: bytes, at: int = 0) -> int:
        """Stand where another stood."""
        self._asked = False
        return unpack_places(self._members, packed, self._reader.unpack(packed, at))

    def copy(self) -> MixtureState:
        """An independent state at the same place."""
        return MixtureState(self._reader.copy(), [member.copy() for member in self._members])

    def _outside(self) -> np.ndarray | None:
        if not self._members:
            return None
        return np.array([member.probabilities() for member in self._members])


def pieces(
    members: tuple[Predictor, ...], data: Encoded, block: int, begin: int = 0
) -> Iterator[tuple[slice, np.ndarray | None]]:
    """Stretches of the data from `begin` on, each with what the members say before its symbols, (T, E, A) or None."""
    if not members:
        for place in range(begin, data.codes.size, block):
            yield slice(place, min(place + block, data.codes.size)), None
        return
    block = min(block, max(1, _AT_ONCE // (len(members) * len(data.alphabet))))
    for start, end in zip(data.starts[:-1].tolist(), data.starts[1:].tolist(), strict=True):
        if end <= begin:
            continue
        states = [member.begin() for member in members]
        for place in range(start, end, block):
            part = slice(place, min(place + block, end))
            rows = np.stack([rows_along(state, data.codes[part]) for state in states], axis=1)
            if part.stop > begin:
                late = max(begin - place, 0)
                yield slice(place + late, part.stop), np.ascontiguousarray(rows[late:])
