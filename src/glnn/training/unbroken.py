"""Chunks of gated networks by Adam's rule, several in one compiled call.

Called one by one, the kernels of a chunk take some 25 calls, and networks that train side by side wait for each other:
between any two calls Python holds the interpreter's lock. Here it is wanted once in several chunks. The bits are the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glnn.models import Params
from glnn.models.gated_side_by_side import GatedSideBySide
from glnn.numeric.blas import addresses
from glnn.numeric.scratch import Workspace
from glnn.output.softmax import block_rows
from glnn.sequences import Encoded
from glnn.training.chunk_steps import STEP_FAILED, ChunkSteps, OneByOne, Walked
from glnn.training.corpus import Streams
from glnn.training.misreading import Misreading
from glnn.training.noise import Noise
from glnn.training.passes import BesidePass, Pass, born
from glnn.training.results import NotFinite
from glnn.training.settings import Settings
from glnn.training.unbroken_kernels import NOT_FINITE, STEP_NOT_FINITE, Learned, Places, Room, Schedule, walk
from glnn.training.updates import Adam, Update, weight_of_latest

AT_ONCE, _FEW_UNITS = 8, 128
"""Chunks in a call, while rates stand still where a clock decides; one where units are so many that it takes long."""


class UnbrokenSteps:
    """Steps on the chunks of one set of sequences, all of whose positions are predicted."""

    def __init__(self, passes: BesidePass, data: Encoded, streams: Streams, window: float) -> None:
        self._pass, self._streams, self._window = passes, streams, window
        assert isinstance(passes.beside, GatedSideBySide)
        self._loops, self._space = passes.beside.loops, Workspace()
        self._made: Room | None = None
        self._x, self._first = np.ascontiguousarray(data.codes, np.int32), np.ascontiguousarray(data.first)
        self._weight = np.ones(streams.positions)
        self.at_once = AT_ONCE if passes.model.units <= _FEW_UNITS else 1

    def __call__(
        self, params: Params, mean: Params, update: Update, noise: Noise, draw: int, rates: Sequence[float]
    ) -> Walked:
        """Take a step on the next chunk for each of the rates, the first with draw number `draw` of the noise."""
        assert isinstance(update, Adam)
        data = Places(self._x, self._first, self._streams.places.copy())
        room, learned = self._room(params, noise), _learned(params, mean, update)
        scales, roots = np.array(update.begin_steps(rates)).T.copy()
        draws = range(draw, draw + len(rates))
        weights = np.array([weight_of_latest(k, self._window) for k in draws])
        schedule = Schedule(np.array([noise.key(k) for k in draws], np.int64), scales, roots, weights)
        found = np.empty(len(rates))
        arrays = tuple(data), tuple(self._loops), tuple(room), tuple(learned), tuple(schedule)
        begun, end = walk(addresses(), *arrays, noise.scale, found)
        self._streams.places = data.places
        failure: NotFinite | str | None = None
        if end == NOT_FINITE:
            failure = born(room.a.reshape(-1, room.a.shape[2]))
        elif end == STEP_NOT_FINITE:
            failure = STEP_FAILED
        known = found[: begun - 1 if end == NOT_FINITE else begun].tolist()
        positions = float(self._streams.positions)
        return Walked(*learned.params(), begun, [(value, positions) for value in known], failure)

    def _room(self, params: Params, noise: Noise) -> Room:
        """Made once, but for the state, which is the pass's, and for noise that begins or ends."""
        if self._made is None or (self._made.noise.size > 0) != (noise.sigma > 0.0):
            self._made = self._new_room(params, noise)
        return self._made._replace(state=self._pass.state)

    def _new_room(self, params: Params, noise: Noise) -> Room:
        room, loops, (N, A) = self._space.array, self._loops, (self._pass.model.units, params.w.shape[1])
        K, L = self._streams.count, self._streams.length
        noisy = room("noise", L * K if noise.sigma else 0, N, dtype=np.float32)
        slots = loops.into_places.size, loops.out_places.size
        return Room(
            x=room("x", L, K, dtype=np.int32),
            first=room("first", L, K, dtype=np.bool_),
            state=self._pass.state,
            noise=noisy,
            into=room("into", A, slots[0]),
            bias=room("bias", A, N),
            out=room("out", A, slots[1]),
            sums=room("sums", A, slots[1]),
            of_bias=room("of bias", A, N),
            a=room("a", L, K, N, dtype=np.float32),
            error=room("error", L, K, N, dtype=np.float32),
            logits=room("logits", min(block_rows(A), L * K), A, dtype=np.float32),
            weight=self._weight,
            of_w=room("of w", N + 1, A),
            of_theta=room("of theta", A, params.theta.size // A),
            of_start=room("of start", N),
        )


def steps_on(passes: Pass, data: Encoded, streams: Streams, settings: Settings, misreading: Misreading) -> ChunkSteps:
    """Several in a call, where model, method and data are of that kind and numpy's library can be called."""
    window = settings.averaging
    if not isinstance(passes, BesidePass) or not isinstance(passes.beside, GatedSideBySide):
        return OneByOne(passes, streams, window, misreading)
    # A product with a single unit or symbol would be one of vectors, which numpy computes in another way.
    several = passes.model.units > 1 and passes.model.alphabet_size > 1
    even = settings.sequence_weights == "length" and bool(data.mask.all()) and misreading.part == 0.0
    if addresses().size == 0 or not (several and even):
        return OneByOne(passes, streams, window, misreading)
    return UnbrokenSteps(passes, data, streams, window)


def _learned(params: Params, mean: Params, update: Adam) -> Learned:
    """Copies of the parameters, which others may hold; what Adam's rule remembers is its own."""
    A = params.w.shape[1]

    def parts(of: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [of["w"], of["theta"].reshape(A, -1), of["V0"]]

    def remembered(what: str) -> list[np.ndarray]:
        names = ("w", "theta", "V0", "shared")
        own = {name: update.memory[f"{what}.{name}"] for name in names}
        return [*parts(own), own["shared"]]

    now, of_mean = ({name: np.array(getattr(one, name)) for name in ("w", "theta", "V0")} for one in (params, mean))
    arrays = [*parts(now), *parts(of_mean), *remembered("mean"), *remembered("square"), update.own]
    return Learned(*arrays)
