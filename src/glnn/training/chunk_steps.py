"""Steps on the next chunks: a pass over each, what the update makes of it, and the average of the parameters.

One by one here, for every model, method and kind of data; several in one compiled call in `unbroken`, to the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from glnn.models import Params
from glnn.training.corpus import Streams
from glnn.training.misreading import Misreading
from glnn.training.noise import Noise
from glnn.training.passes import Pass
from glnn.training.results import NotFinite
from glnn.training.updates import Update, average, finite

STEP_FAILED = "a step is not finite"


class Walked(NamedTuple):
    """Where steps have led; one that failed is the last that was begun, and its parameters are not to be used."""

    params: Params
    average: Params
    begun: int
    """Chunks that were read."""
    found: Sequence[tuple[float, float]]
    """Log-likelihood and positions of those where both are known."""
    failure: NotFinite | str | None = None


class ChunkSteps(Protocol):
    """A way to take steps."""

    at_once: int
    """How many a call takes at the most."""

    def __call__(
        self, params: Params, mean: Params, update: Update, noise: Noise, draw: int, rates: Sequence[float]
    ) -> Walked:
        """A step for each of the rates, the first on chunk number `draw`; `mean` is the average so far."""
        ...


class OneByOne:
    """A call for each step."""

    at_once = 1

    def __init__(self, passes: Pass, streams: Streams, window: float, misreading: Misreading) -> None:
        self._pass, self._streams, self._window, self._misreading = passes, streams, window, misreading

    def __call__(
        self, params: Params, mean: Params, update: Update, noise: Noise, draw: int, rates: Sequence[float]
    ) -> Walked:
        """A step on the next chunk."""
        chunk = self._misreading(self._streams.next(), rates[0], draw)
        found = self._pass(params, chunk, noise, draw)
        if found.failure is not None:
            return Walked(params, mean, 1, (), found.failure)
        if found.predicted == 0.0:
            return Walked(params, mean, 1, ())
        sums = ((found.log_likelihood, found.predicted),)
        moved = update(params, found, rates[0])
        if not finite(moved):
            return Walked(params, mean, 1, sums, STEP_FAILED)
        return Walked(moved, average(mean, moved, draw, self._window), 1, sums)
