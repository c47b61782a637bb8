"""A mixture of contexts as an object: read codes, learn from them or not, and give probabilities.

P(symbol) is a product of binary decisions, each mixed from what contexts of every order, words, runs and matches say
(`mixing_predicting`). It learns by reading once; nothing is trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from glnn.contexts.mixing_bounds import LARGEST, bounded, room_within
from glnn.contexts.mixing_likeliest import NOBODY, Said
from glnn.contexts.mixing_memory import (
    Cursor,
    Memory,
    Work,
    new_cursor,
    new_memory,
    new_work,
    room_for_a_symbol,
    with_room,
)
from glnn.contexts.mixing_packing import room_to_pack
from glnn.contexts.mixing_plan import Plan, make_plan
from glnn.contexts.mixing_pushing import NO_ROOM, Frame
from glnn.contexts.mixing_reading import ALL, COUNTS, NOTHING, read
from glnn.contexts.mixing_script import Script
from glnn.numeric.frame import PerThread

CHUNK = 1 << 15
# No predictor from outside has a say.
_SILENT = np.empty((0, 0))

Progress = Callable[[int, float], bool]


@dataclass
class Reader:
    """One reading: a memory, which it changes or not, and a place in a sequence."""

    plan: Plan
    memory: Memory
    cursor: Cursor
    changes: int
    owns: bool = False
    """Whether the memory is this reader's own; else it is copied before the first change."""
    most: int | None = LARGEST
    """The most slots of a table; None for as many as it takes."""
    benches: PerThread | None = None
    """Scratch shared by readings of one memory, one for each thread; None for scratch of its own."""
    room: np.ndarray = field(init=False, repr=False)
    """What one more symbol can take of the tables."""
    _frame: Frame | None = field(init=False, repr=False, default=None)
    _asked: int = field(init=False, repr=False, default=-1)
    _outside: np.ndarray = field(init=False, repr=False, default_factory=lambda: _SILENT)
    _packed: np.ndarray | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self.room = room_for_a_symbol(self.plan)

    @property
    def work(self) -> Work:
        """Scratch for other calls; what was asked for is no longer in it."""
        frame = self._bound()
        frame.asked_by = None
        return frame.work

    def copy(self) -> Reader:
        """An independent reader at the same place."""
        memory = self.memory.copy() if self.owns else self.memory
        return Reader(self.plan, memory, self.cursor.copy(), self.changes, self.owns, self.most, self.benches)

    def read(self, codes: np.ndarray, first: np.ndarray, outside: np.ndarray | None = None) -> np.ndarray:
        """The probability of each symbol; `first` marks those that begin a sequence, `outside` is (T, E, A)."""
        return self._read(codes, first, outside, np.empty((0, 0)))

    def read_rows(
        self, codes: np.ndarray, first: np.ndarray, outside: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The distribution before each symbol, and the symbols' probabilities."""
        rows = np.empty((codes.size, self.plan.lengths.size))
        return rows, self._read(codes, first, outside, rows)

    def probabilities(self, outside: np.ndarray | None = None) -> np.ndarray:
        """The distribution of the next symbol, `outside` being (E, A); the reader stays where it is."""
        out, frame = np.empty(self.plan.lengths.size), self._bound()
        frame.look(self._asked_in(frame), _SILENT if outside is None else outside, self.cursor, out)
        return out

    def push(self, code: int, outside: np.ndarray | None = None) -> float:
        """The probability of the next symbol, which is read."""
        if self._asked >= 0:
            raise ValueError(f"the symbol {self._asked} was asked for and not read: advance")
        return self._in_the_frame(Frame.push, code, _SILENT if outside is None else outside)

    def ask(self, code: int, outside: np.ndarray | None = None) -> float:
        """The same without reading it: `advance` must be next; `likeliest` and `probabilities` may come before."""
        if self._asked >= 0:
            raise ValueError(f"the symbol {self._asked} was asked for and not read: advance")
        self._outside = _SILENT if outside is None else outside
        given = self._in_the_frame(Frame.ask, code, self._outside)
        self._asked = code
        return given

    def advance(self, code: int, outside: np.ndarray | None = None) -> None:
        """Read the next symbol, the one that was asked for if any was."""
        if self._asked < 0:
            self.push(code, outside)
            return
        if code != self._asked:
            raise ValueError(f"the symbol {self._asked} was asked for, so that {code} cannot be read")
        frame = self._bound()
        # What learns has scratch of its own; to move on, nothing else needs it.
        frame.conclude(code, self.changes, self.cursor)
        self._asked, frame.asked_by = -1, None

    def likeliest(self, top: int, outside: np.ndarray | None = None, said: Said = NOBODY) -> np.ndarray:
        """Rows (code, probability) of the `top` likeliest next symbols, counting in what others say beside."""
        rows, frame = np.empty((top, 2)), self._bound()
        asked = self._asked_in(frame)
        if self._asked >= 0:
            outside = self._outside
        frame.find(asked, _SILENT if outside is None else outside, self.cursor, said, rows)
        return rows

    def pack(self) -> bytes:
        """The place as a few bytes, for a reader of the same memory."""
        size = self._bound().pack(self.cursor, self._room_to_pack())
        return self._room_to_pack()[:size].tobytes()

    def unpack(self, packed: bytes, at: int) -> int:
        """Go to the place that the bytes from `at` on describe; returns where they end."""
        room = self._room_to_pack()
        given = np.frombuffer(packed, np.uint8, min(len(packed) - at, room.size), at)
        room[: given.size] = given
        self._asked = -1
        return at + self._bound().unpack(self.cursor, room)

    def restart(self) -> None:
        """Go to the start of a sequence."""
        self.cursor, self._asked = new_cursor(self.plan), -1

    def own(self) -> None:
        """Take a memory of its own, which it may change."""
        if not self.owns:
            self.memory, self.owns = self.memory.copy(), True

    def make_room(self) -> None:
        """Let the tables take one more symbol, if any is to be entered."""
        if not self.changes & COUNTS:
            return
        if self.most is None:
            self.memory = with_room(self.memory, self.room)
        else:
            own = room_for_a_symbol(self.plan)
            self.memory = bounded(self.memory, own, self.most)
            self.room = room_within(self.memory, own, self.most)

    def _room_to_pack(self) -> np.ndarray:
        if self._packed is None:
            self._packed = room_to_pack(self.cursor)
        return self._packed

    def _in_the_frame(self, call: Callable[..., float], code: int, outside: np.ndarray) -> float:
        if self.changes:
            self.own()
        frame = self._bound()
        given = call(frame, code, outside, self.changes, self.room, self.cursor)
        if given == NO_ROOM:
            self.make_room()
            frame = self._bound()
            given = call(frame, code, outside, self.changes, self.room, self.cursor)
        frame.asked_by = self
        return given

    def _asked_in(self, frame: Frame) -> int:
        """The symbol asked for, while the scratch is still of it; else it will be of this reader's place."""
        if frame.asked_by is self:
            return self._asked
        frame.asked_by = None
        return -1

    def _bound(self) -> Frame:
        frame = self._frame if self.benches is None or self.changes else self.benches.frame
        if frame is not None and frame.memory is self.memory:
            return frame
        frame = Frame(self.plan, self.memory, new_work(self.plan) if frame is None else frame.work)
        if self.benches is None or self.changes:
            self._frame = frame
        else:
            self.benches.frame = frame
        return frame

    def _read(self, codes: np.ndarray, first: np.ndarray, outside: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
        if self.changes:
            self.own()
        if outside is None:
            outside = np.empty((codes.size, 0, 0))
        codes = np.ascontiguousarray(codes, np.int64)
        probability = np.empty(codes.size)
        done, work = 0, self.work
        while done < codes.size:
            done = read(
                codes,
                first,
                done,
                outside,
                self.changes,
                self.room,
                self.plan,
                self.memory,
                self.cursor,
                work,
                rows,
                probability,
            )
            self.make_room()
        return probability


@dataclass(frozen=True)
class ContextMixing:
    """What was learned by reading data, for scoring other data; it never changes itself.

    `online` goes on learning from what it scores; else every sequence is scored alike. `tail` is the place after the
    last symbol read.
    """

    plan: Plan
    memory: Memory
    tail: Cursor
    online: bool
    benches: PerThread = field(default_factory=PerThread, init=False, repr=False, compare=False)
    """Scratch for all that read it without learning."""

    def reader(self, continuing: bool = False) -> Reader:
        """A reading from the start of a sequence, or from the end of what was learned."""
        cursor = self.tail.copy() if continuing else new_cursor(self.plan)
        changes = ALL if self.online else NOTHING
        return Reader(self.plan, self.memory, cursor, changes, benches=self.benches)

    def with_learning(self, online: bool) -> ContextMixing:
        """The same, learning on or not."""
        return replace(self, online=online)


def new_reader(plan: Plan) -> Reader:
    """A reader that has read nothing and learns all."""
    return Reader(plan, new_memory(plan), new_cursor(plan), ALL, owns=True)


def firsts(starts: np.ndarray) -> np.ndarray:
    """Which symbols begin a sequence, from where each sequence starts (and the last one ends)."""
    first = np.zeros(int(starts[-1]), np.bool_)
    first[starts[:-1]] = True
    return first


def fit_mixing(
    codes: np.ndarray,
    starts: np.ndarray,
    size: int,
    script: Script | None = None,
    online: bool = True,
    stationary: bool | None = None,
    progress: Progress | None = None,
) -> ContextMixing:
    """Learn by reading once, in the order given, to go on learning or not."""
    stationary = not online if stationary is None else stationary
    several = len(starts) > 2
    counts = np.bincount(codes, minlength=size)
    plan = make_plan(counts, script, several, stationary=stationary)
    reader = new_reader(plan)
    read_all(reader, codes, firsts(starts), progress=progress)
    return ContextMixing(plan, reader.memory, reader.cursor, online)


def read_all(
    reader: Reader,
    codes: np.ndarray,
    first: np.ndarray,
    progress: Progress | None = None,
) -> np.ndarray:
    """Read in chunks; gives the bits of each symbol."""
    bits = np.zeros(codes.size)
    for place in range(0, codes.size, CHUNK):
        part = slice(place, place + CHUNK)
        chance = reader.read(codes[part], first[part])
        bits[part] = -np.log2(chance)
        if progress is not None and progress(min(part.stop, codes.size), float(bits[part].sum())):
            break
    return bits
