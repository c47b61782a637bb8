"""Equal sequences once, the strangest first: ten cases with the same events are one variant of ten.

Four ways to rank, by the bits b_t of a sequence: its two strangest events, b_(1) + b_(2), since what is wrong in one
place mostly spoils two predictions, its own and the next one (`experiments/damage.md` compares them); the strangest
alone, their mean, or their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

RANKINGS = ("two", "peak", "mean", "total")


@dataclass(frozen=True)
class Variant:
    """One sequence, and all that are equal to it."""

    members: tuple[int, ...]
    """The numbers of the sequences, the first one first."""
    strangest: int
    """The position of the event that cost most, counted over all the data."""
    peak: float
    """What it cost, in bits."""
    two: float
    """What the two strangest events cost together."""
    total: float
    mean: float
    predicted: int
    """How many events were to be predicted, the end included."""

    def score(self, by: str) -> float:
        """What it is ranked by."""
        return float(getattr(self, by))


def score_of(bits: np.ndarray, predicted: int, by: str) -> float:
    """What a sequence of these bits is ranked by, where `predicted` events were to be predicted."""
    if by in ("two", "peak"):
        return float(np.sort(bits)[::-1][: 2 if by == "two" else 1].sum())
    total = float(bits.sum())
    return total if by == "total" else total / max(predicted, 1)


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
        scores = {by: score_of(own, predicted, by) for by in RANKINGS}
        found.append(Variant(members=tuple(same), strangest=begin + place, predicted=predicted, **scores))
    return found


def ranked(found: list[Variant], by: str = RANKINGS[0]) -> list[Variant]:
    """The strangest first."""
    return sorted(found, key=lambda variant: -variant.score(by))
