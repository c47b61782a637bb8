"""Above which score a case, or an event, is worth a look: the bound that a chosen share of normal ones would pass.

Normal cases are those that training held out, or a file of them. With n of them and a rate r, the bound is the smallest
b with #{score > b} ≤ r n; a rate under 1/n cannot be measured, and the bound is then the largest score among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glnn.cli.held_out import unread_end

if TYPE_CHECKING:
    from glnn.cli.inputs import Data
    from glnn.sequences import Encoded


@dataclass(frozen=True)
class Alarm:
    """A bound, and what it was made from."""

    bits: float
    rate: float
    """The share of normal cases above it that was asked for."""
    found: float
    """The share that is above it."""
    cases: int
    learned: bool = False
    """Whether the model learned from these cases: new ones then pass the bound more often than the rate says."""

    def text(self, above: int, of: int) -> str:
        """The bound in words."""
        cases = f"{self.cases:,} cases {'that it learned from' if self.learned else 'held out'}"
        told = f"{self.found:.1%} of {cases} are above it"
        if self.rate * self.cases < 1.0:
            told = f"none of {cases} is above it (a rate of {self.rate:g} needs more of them)"
        caution = ", so new ones will be above it more often (--normal FILE gives others)" if self.learned else ""
        return f"{self.bits:.1f} bits: {told}{caution}; {above:,} of these {of:,} are"


def bound(scores: np.ndarray, rate: float, learned: bool = False) -> Alarm:
    """The bound for scores of normal cases."""
    allowed = int(rate * len(scores))
    value = float(np.sort(scores)[::-1][min(allowed, len(scores) - 1)])
    return Alarm(value, rate, float(np.mean(scores > value)), len(scores), learned)


def normal_scores(model: Any, run: Path, by: str) -> tuple[np.ndarray, bool] | None:
    """The scores of the cases that a run held out, or of those it learned from, and whether it learned from them."""
    from glnn.cli.run_folder import RunFolder
    from glnn.sequences import InputError, Reader

    if not run.is_dir():
        return None
    folder = RunFolder(run)
    config = folder.config()
    try:
        valid = config.data("valid")
        if valid is not None:
            return scores_of(model, valid, by), False
        held = int((folder.result() or {}).get("held_out") or 0)
        data = config.data("data")
    except (InputError, OSError):
        return None  # the data are not where they were: there is nothing to calibrate with
    if data is None or data.names is None:
        return None
    unread = None if held else unread_end(model, data)
    if unread is not None:
        judge, end, _ = unread
        return scores_of(judge, replace(data, content=end, mask=None), by), False
    reading = Reader(model.alphabet_).read(data.content, data.mask)
    first = _last_sequences(reading.encoded, held) if held else 0
    return scores_of(model.that_held_out() if held else model, data, by)[first:], not held


def scores_of(model: Any, data: Data, by: str) -> np.ndarray:
    """The score of every case."""
    from glnn.cli.symbol_bits import scored
    from glnn.sequences.variants import score_of

    found = scored(model, data)
    starts, mask = found.encoded.starts.tolist(), found.encoded.mask
    return np.array([score_of(found.surprise[a:b], int(mask[a:b].sum()), by) for a, b in pairwise(starts)])


def held_out_bits(model: Any, run: Path) -> np.ndarray | None:
    """The bits of each event that a run validated on; None where there is nothing, or the files are gone."""
    from glnn.cli.run_folder import RunFolder
    from glnn.sequences import InputError

    if not run.is_dir():
        return None
    folder = RunFolder(run)
    try:
        config, result = folder.config(), folder.result() or {}
        valid, held = config.data("valid"), int(result.get("held_out") or 0)
        if valid is not None:
            return event_bits(model, valid)
        data = config.data("data")
    except (InputError, OSError):
        return None
    if data is None or held:
        return None if data is None else event_bits(model.that_held_out(), data, held)
    unread = unread_end(model, data)
    return None if unread is None else event_bits(unread[0], replace(data, content=unread[1], mask=None))


def event_bits(model: Any, data: Data, last: int = 0) -> np.ndarray:
    """What each event cost that was to be predicted, of all or of this many last positions."""
    from glnn.sequences import Reader

    reading = Reader(model.alphabet_).read(data.content, data.mask)
    found = model.surprise(reading)
    bits = np.concatenate(found) if isinstance(found, list) else found
    late = slice(-last if last else None, None)
    return bits[late][reading.encoded.mask[late]]


def _last_sequences(data: Encoded, symbols: int) -> int:
    """Where the sequences begin that hold the last symbols, this many of them."""
    return int(np.searchsorted(data.starts, data.starts[-1] - symbols, side="left"))
