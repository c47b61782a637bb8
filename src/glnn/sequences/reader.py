"""Data as a fitted model reads them: its alphabet, an end symbol after each sequence, escapes for unknown symbols.

The end is a symbol like any other, learned from several sequences. An escape stands for a symbol outside the alphabet;
which one it was costs bits of its own (`glnn.sequences.special`). Scores, compression, pages and the command line all
read with it, and each text is looked up once: what was read can be given wherever data can.

The probability of an escape is ε = (n + n₁ + ½) / (T + 1), where n₁ symbols were met once and n escapes were read among
T symbols of training: Good and Turing's estimate of meeting a new symbol, with half a count so that it is never 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.encoded import Encoded, OwnCodes, codes_of, mask_array, mask_with_ends, own_codes
from glnn.sequences.errors import InputError, UnknownSymbolWarning, one_line
from glnn.sequences.nearest import nearest_of, nearest_symbols
from glnn.sequences.special import END, ESCAPE, ExtendedAlphabet, Special, base_of, code_of, escaped_bits
from glnn.sequences.tokens import parts_of


@dataclass(frozen=True, eq=False)
class Reading:
    """Data over a model's alphabet."""

    encoded: Encoded
    """With ends and escapes; sequences may be empty."""
    several: bool
    """Whether they were given as several sequences."""
    escaped: np.ndarray
    """The bits that say which symbol an escape stands for, 0 at all other positions, (T,)."""
    outside: tuple[Any, ...] = ()
    """The symbols that the escapes stand for, in their order."""
    names: tuple[str, ...] | None = None
    """The name of each sequence, where known."""

    @property
    def escapes(self) -> np.ndarray:
        """The positions of the escapes."""
        escape = code_of(self.encoded.alphabet, ESCAPE)
        return np.zeros(0, np.int64) if escape is None else np.flatnonzero(self.encoded.codes == escape)

    def symbols(self) -> list[Any]:
        """The symbol at each position, even if it is outside the alphabet."""
        found = self.encoded.alphabet.decode(self.encoded.codes)
        for position, symbol in zip(self.escapes.tolist(), self.outside, strict=True):
            found[position] = symbol
        return found

    def split(self, values: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Values at every position as they belong to the data: an array, or one for each of several sequences."""
        if not self.several:
            return values
        return np.split(values, self.encoded.starts[1:-1])

    def repeated(self, times: np.ndarray) -> Reading:
        """Each sequence as often as `times` says, one copy after the other."""
        starts, order = self.encoded.starts, np.repeat(np.arange(len(self.encoded)), times)
        owner = np.searchsorted(starts, self.escapes, side="right") - 1
        own: dict[int, list[Any]] = {}
        for which, symbol in zip(owner.tolist(), self.outside, strict=True):
            own.setdefault(which, []).append(symbol)
        outside = [symbol for which in order.tolist() for symbol in own.get(which, ())]
        escaped = np.concatenate([self.escaped[starts[which] : starts[which + 1]] for which in order.tolist()])
        names = None if self.names is None else tuple(self.names[which] for which in order.tolist())
        return Reading(self.encoded.select(order), self.several, escaped, tuple(outside), names)

    def known(self, name: str = "data") -> Encoded:
        """What a model itself reads: no escapes, no empty sequences."""
        alphabet = without_escape(self.encoded.alphabet)
        kept = self.encoded.kept(self.encoded.codes < len(alphabet))
        if not kept.mask.any():
            raise InputError(f"{name} holds nothing to be predicted: give at least one symbol of the alphabet")
        return replace(kept, alphabet=alphabet)


@dataclass(frozen=True)
class Reader:
    """Turns data of any accepted kind into codes of `alphabet`, special symbols included."""

    alphabet: Alphabet
    end: int | None = field(init=False)
    """The code of the end symbol."""
    escape: int | None = field(init=False)
    """The code of the escape."""
    known: Alphabet = field(init=False)
    """The alphabet without the escape: what a network reads."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "end", code_of(self.alphabet, END))
        object.__setattr__(self, "escape", code_of(self.alphabet, ESCAPE))
        object.__setattr__(self, "known", without_escape(self.alphabet))

    @classmethod
    def fitted(cls, data: Any, mask: Any, alphabet: Any, end: bool, unknown: str) -> tuple[Reader, Reading]:
        """The reader that these training data call for, and the data read by it.

        An end is learned from several sequences, unless a mask leaves every end out.
        """
        base, own = _own_codes_to_fit(data, alphabet)
        escape = [ESCAPE] if unknown == "escape" else []
        number = len(own) if isinstance(own, Encoded) else len(own.starts) - 1
        if end and number > 1:
            reader = cls(_extended(base, [END, *escape]))
            reading = reader.read(own, mask)
            ends = reading.encoded.starts[1:] - 1
            if reading.encoded.mask[ends].any():
                return reader, reading
        reader = cls(_extended(base, escape))
        return reader, reader.read(own, mask)

    def read(self, data: Any, mask: Any = None) -> Reading:
        """Data with their ends. Without a mask everything is to be predicted; masks may leave the ends out.

        Data already read with this alphabet are used as they are.
        """
        if isinstance(data, Reading) and data.encoded.alphabet == self.alphabet:
            return data if mask is None else replace(data, encoded=self._masked(data.encoded, mask))
        if isinstance(data, Encoded) and data.alphabet == self.alphabet:
            same = data if mask is None else data.with_mask(mask)
            return Reading(same, len(data) > 1, np.zeros(data.codes.size), (ESCAPE,) * self._escapes(data))
        own = data if isinstance(data, OwnCodes) else _own_codes(data, base_of(self.alphabet))
        return self._completed(own, own.mask if mask is None else mask)

    def prefix(self, data: Any) -> np.ndarray:
        """The codes of the beginning of a sequence, without an end."""
        if data is None:
            return np.empty(0, np.int32)
        parts = self.prefixes(data)
        if len(parts) != 1:
            raise InputError(f"{len(parts)} sequences were given as a prefix: give one")
        return parts[0]

    def prefixes(self, data: Any) -> list[np.ndarray]:
        """The codes of the beginnings of one or several sequences."""
        own = _own_codes(data, base_of(self.alphabet))
        codes = own.codes
        if own.outside:
            # Refuses what no escape can stand for.
            codes, _ = self._escaped(own)
            symbol = own.outside[0]
            warnings.warn(
                f"the prefix holds {symbol!r}, which the model does not know{nearest_of(symbol, self.alphabet)}; the "
                "prediction is made as if it had not been there",
                UnknownSymbolWarning,
                stacklevel=3,
            )
        return np.split(codes, own.starts[1:-1])

    def _completed(self, own: OwnCodes, mask: Any) -> Reading:
        """The codes with escapes and ends in their places."""
        codes, bits = self._escaped(own) if own.outside else (own.codes, np.zeros(own.codes.size))
        starts = own.starts
        if self.end is None:
            given = mask_array(mask, starts)
        else:
            with_ends = starts + np.arange(len(starts))
            ends = with_ends[1:] - 1
            inner = np.ones(with_ends[-1], bool)
            inner[ends] = False
            own_codes, own_bits = codes, bits
            codes, bits = np.empty(with_ends[-1], np.int32), np.zeros(with_ends[-1])
            codes[ends], codes[inner], bits[inner] = self.end, own_codes, own_bits
            given = mask_with_ends(mask, starts, with_ends)
            starts = with_ends
        return Reading(Encoded(codes, starts, given, self.alphabet), own.several, bits, own.outside, own.names)

    def _masked(self, data: Encoded, mask: Any) -> Encoded:
        if self.end is None:
            return data.with_mask(mask)
        starts = data.starts - np.arange(len(data.starts))
        return replace(data, mask=mask_with_ends(mask, starts, data.starts))

    def _escaped(self, own: OwnCodes) -> tuple[np.ndarray, np.ndarray]:
        """The codes with an escape for each symbol outside the alphabet, and the bits that say which one it was."""
        if self.escape is None:
            place = int(np.argmax(own.codes < 0))
            which = int(np.searchsorted(own.starts, place, side="right")) - 1
            where = f" of sequence {which}" if len(own.starts) > 2 else ""
            raise unknown_symbol(own.outside[0], f"position {place - own.starts[which]}{where}", self.alphabet)
        bits = np.zeros(own.codes.size)
        bits[own.codes < 0] = [escaped_bits(token, self.alphabet) for token in own.outside]
        return np.where(own.codes < 0, np.int32(self.escape), own.codes), bits

    def _escapes(self, data: Encoded) -> int:
        return 0 if self.escape is None else int(np.count_nonzero(data.codes == self.escape))


def unknown_symbol(symbol: Any, where: str, alphabet: Alphabet) -> InputError:
    """The error for a symbol that a model has no code for."""
    base, near = base_of(alphabet), nearest_symbols(symbol, alphabet)
    known = f"the nearest are {', '.join(map(repr, near))}" if near else base.summary()
    return InputError(
        f"symbol {symbol!r} at {where} is not in the alphabet of {len(base)} symbols ({known}): "
        "train with alphabet= naming every symbol that can occur, or with unknown='escape'"
    )


def without_escape(alphabet: Alphabet) -> Alphabet:
    """The alphabet with its end, if it has one, and no escape."""
    if code_of(alphabet, ESCAPE) is None:
        return alphabet
    return _extended(base_of(alphabet), [] if code_of(alphabet, END) is None else [END])


def _own_codes_to_fit(data: Any, alphabet: Any) -> tuple[Alphabet, OwnCodes | Encoded]:
    """The alphabet of training data, and the data in it."""
    if alphabet is not None:
        base = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        if len(base) < 2:
            raise InputError(f"alphabet holds {len(base)} symbols: with fewer than 2 there is nothing to predict")
    elif isinstance(data, Encoded):
        base = base_of(data.alphabet)
    else:
        parts = parts_of(data)
        codes, starts, base = codes_of(parts)
        return base, OwnCodes(codes, starts, (), None, parts.several, parts.names)
    if isinstance(data, Encoded) and isinstance(data.alphabet, ExtendedAlphabet):
        # Codes of a model's own alphabet hold their ends already.
        return base, data
    return base, _own_codes(data, base)


def _own_codes(data: Any, base: Alphabet) -> OwnCodes:
    if isinstance(data, Reading):
        raise InputError("the data were read for another model: give the data themselves")
    return own_codes(data, base)


def _extended(base: Alphabet, special: Iterable[Special]) -> Alphabet:
    special = tuple(special)
    return ExtendedAlphabet(base, *special) if special else base


@dataclass(frozen=True)
class TrainingData:
    """What a model learns from."""

    alphabet: Alphabet
    """Special symbols included."""
    data: Encoded
    validation: Encoded | None
    escape: float | None
    """The probability of an escape, None where unknown symbols are errors."""


def read_training_data(
    data: Any,
    validation: Any = None,
    mask: Any = None,
    validation_mask: Any = None,
    *,
    alphabet: Any = None,
    end: bool = True,
    unknown: str = "escape",
    sample_weight: Any = None,
) -> TrainingData:
    """Read training and validation data of any accepted kind; the parameters are those that all models have.

    `sample_weight` has one whole number for each sequence: the sequence counts as if it had come that many times.
    """
    reader, reading = Reader.fitted(data, mask, alphabet, end, unknown)
    if sample_weight is not None:
        reading = reading.repeated(_times(sample_weight, len(reading.encoded)))
    held = None
    if validation is not None:
        held = reader.read(validation, validation_mask).known("validation")
    elif validation_mask is not None:
        raise InputError("validation_mask was given without validation data: give both")
    escape = None if reader.escape is None else escape_probability(reading.encoded.codes, reader.escape)
    return TrainingData(reader.alphabet, reading.known(), held, escape)


def _times(weights: Any, sequences: int) -> np.ndarray:
    """How often each sequence counts."""
    try:
        array = np.asarray(weights, float)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight is {one_line(weights)}: give one number for each sequence") from None
    if array.shape != (sequences,):
        raise InputError(f"sample_weight has shape {array.shape}: there are {sequences} sequences, give one for each")
    if not (np.isfinite(array) & (array >= 0) & (array == np.floor(array))).all():
        raise InputError(
            "sample_weight holds something other than whole numbers, 0 or more: a weight says how often a sequence "
            "counts; multiply fractions until they are whole"
        )
    if not array.any():
        raise InputError("sample_weight is 0 everywhere: there would be nothing to learn from")
    return array.astype(np.int64)


def escape_probability(codes: np.ndarray, escape: int) -> float:
    """ε from the codes of the training data, where `escape` is the largest code."""
    counts = np.bincount(codes, minlength=escape + 1)
    return float((counts[escape] + np.sum(counts[:escape] == 1) + 0.5) / (codes.size + 1.0))
