"""Equal sequences told once, the strangest first: ten cases with the same events are one variant of ten.

Three ways to rank, by the bits of a sequence x: its strangest event, max_t b_t (an inserted, missing or swapped event
shows there), their mean, or their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

RANKINGS = ("peak", "mean", "total")


@dataclass(frozen=True)
class Variant:
    """One sequence, and all that are equal to it."""

    members: tuple[int, ...]
    """The numbers of the sequences, the first one first."""
    strangest: int
    """The position of the event that cost most, counted over all the data."""
    peak: float
    """What it cost, in bits."""
    total: float
    mean: float
    predicted: int
    """How many events were to be predicted, the end included."""

    def score(self, by: str) -> float:
        """What it is ranked by."""
        return {"peak": self.peak, "mean": self.mean, "total": self.total}[by]


def variants(codes: np.ndarray, bits: np.ndarray, starts: np.ndarray, mask: np.ndarray) -> list[Variant]:
    """All variants in the order in which they first occur; equal symbols have equal codes."""
    members: dict[bytes, list[int]] = {}
    for which, (begin, end) in enumerate(pairwise(starts.tolist())):
        # Both must agree: an event that is not to be predicted costs nothing.
        key = codes[begin:end].tobytes() + b"/" + mask[begin:end].tobytes()
        members.setdefault(key, []).append(which)
    found = []
    for same in members.values():
        begin, end = int(starts[same[0]]), int(starts[same[0] + 1])
        own, predicted = bits[begin:end], int(mask[begin:end].sum())
        place = int(np.argmax(own)) if own.size else 0
        total = float(own.sum())
        found.append(
            Variant(
                members=tuple(same),
                strangest=begin + place,
                peak=float(own[place]) if own.size else 0.0,
                total=total,
                mean=total / predicted if predicted else 0.0,
                predicted=predicted,
            )
        )
    return found


def ranked(found: list[Variant], by: str = "peak") -> list[Variant]:
    """The strangest first."""
    return sorted(found, key=lambda variant: -variant.score(by))
