"""Synthetic music (Section 4, `ex:mus`): harmony, rhythm and pitch as independent constraints on one text.

Bars follow an 8-bar progression of chords; the pitches of a bar are uniform in its chord, its rhythm uniform
among five: `c4. e8 g4 |` and a newline. The text costs log2 5 per bar for the rhythm and log2 3 per note for the pitch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

from glnn.sequences import InputError
from glnn.sources.automaton import Branches
from glnn.sources.base import Draws, Source, require_types

_TONIC, _SUBDOMINANT, _DOMINANT = "ceg", "cfa", "gbd"
# Stands for any pitch in the written form of a rhythm.
_PITCH = "?"


@dataclass(frozen=True)
class Music(Source):
    """Bars of notes over the progression I-IV-I-V-I-IV-V-I, as encountered in simple tunes."""

    progression: tuple[str, ...] = (
        _TONIC,
        _SUBDOMINANT,
        _TONIC,
        _DOMINANT,
        _TONIC,
        _SUBDOMINANT,
        _DOMINANT,
        _TONIC,
    )
    rhythms: tuple[tuple[str, ...], ...] = (
        ("4", "4", "4"),
        ("2", "4"),
        ("4.", "8", "4"),
        ("2.",),
        ("4", "4", "8", "8"),
    )

    name: ClassVar[str] = "music"
    unit: ClassVar[str] = "bars"
    default_size: ClassVar[int] = 2700
    lines_of_a_piece: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        require_types(self)
        if not self.progression or any(not chord or len(set(chord)) < len(chord) for chord in self.progression):
            raise InputError(f"progression is {self.progression}: give one chord per bar, each pitch in it once")
        if not self.rhythms or len(set(self.rhythms)) < len(self.rhythms):
            raise InputError(f"rhythms is {self.rhythms}: at least one, all different, they are drawn uniformly")
        pitches = set("".join(self.progression))
        values = [value for rhythm in self.rhythms for value in rhythm]
        if not all(self.rhythms) or not all(values):
            raise InputError(f"rhythms is {self.rhythms}: each needs a note, and each note a value")
        # Otherwise the text could be read in more than one way.
        shared = set("".join(values)) & (pitches | set(" |\n?")) or pitches & set(" |\n?")
        if shared:
            raise InputError(
                f"{sorted(shared)} have two meanings: pitches and note values share no character, "
                "and use none of space | ? newline"
            )

    @property
    def start(self) -> Hashable:
        """The start of the progression: (bar, what the bar holds so far with pitches left open)."""
        return (0, "")

    @property
    def symbols(self) -> str:
        """The characters the source can write."""
        return "".join(self.progression) + "".join(self._forms).replace(_PITCH, "")

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        """Each rhythm as written, with the pitches left open: `?4. ?8 ?4 |` and a newline."""
        return tuple(" ".join(_PITCH + value for value in rhythm) + " |\n" for rhythm in self.rhythms)

    def branches(self, state: Hashable) -> Branches:
        """The symbols that may follow in a state."""
        bar, written = cast(tuple[int, str], state)
        chord = self.progression[bar]
        following = Counter(form[len(written)] for form in self._forms if form.startswith(written))
        branches: dict[str, tuple[float, Hashable]] = {}
        for symbol, rhythms in following.items():
            probability = rhythms / following.total()
            if symbol == _PITCH:
                branches |= {pitch: (probability / len(chord), (bar, written + _PITCH)) for pitch in chord}
            elif symbol == "\n":
                branches[symbol] = (probability, ((bar + 1) % len(self.progression), ""))
            else:
                branches[symbol] = (probability, (bar, written + symbol))
        return branches

    def _write(self, size: int, draws: Draws) -> str:
        bars = []
        for bar in range(size):
            chord = self.progression[bar % len(self.progression)]
            rhythm = self.rhythms[draws.below(len(self.rhythms))]
            pitches = draws.many_below(len(chord), len(rhythm))
            bars.append(" ".join(chord[k] + value for k, value in zip(pitches, rhythm, strict=True)) + " |\n")
        return "".join(bars)

    def _total_entropy(self, size: int) -> float:
        notes = sum(len(rhythm) for rhythm in self.rhythms) / len(self.rhythms)
        pitch_bits = [math.log2(len(chord)) for chord in self.progression]
        pitches = sum(notes * pitch_bits[bar % len(pitch_bits)] for bar in range(size))
        return size * math.log2(len(self.rhythms)) + pitches
