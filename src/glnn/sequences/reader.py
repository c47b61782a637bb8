"""Data as a fitted model reads them: its alphabet, an end symbol after each sequence, escapes for unknown symbols.

The end is a symbol like any other, learned from several sequences. An escape stands for a symbol outside the alphabet;
which one it was costs bits of its own (`glnn.sequences.special`). Scores, compression, pages and the command line all
read with it, and each text is looked up once: what was read can be given wherever data can.

The probability of an escape is ε = (n + n₁ + ½) / (T + 1), where n₁ symbols were met once and n escapes were read among
T symbols of training: Good and Turing's estimate of meeting a new symbol, with half a count so that it is never 0.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.sequences.alphabet import END, ESCAPE, Alphabet
from glnn.sequences.encoded import Encoded, encode, mask_array, mask_with_ends, offsets
from glnn.sequences.errors import InputError, UnknownSymbolWarning, one_line
from glnn.sequences.nearest import nearest_of, nearest_symbols
from glnn.sequences.special import escaped_bits
from glnn.sequences.tokens import Parts, Tokens, parts_of


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
        escape = self.encoded.alphabet.escape
        return np.zeros(0, np.int64) if escape is None else np.flatnonzero(self.encoded.codes == escape)

    def symbols(self) -> list[Any]:
        """The symbol at each position, even if it is outside the alphabet."""
        found = self.encoded.alphabet.decode(self.encoded.codes)
        for position, symbol in zip(self.escapes.tolist(), self.outside, strict=True):
            found[position] = symbol
        return found

    def last(self, symbols: int) -> Reading:
        """The last positions, this many; sequences that begin before them lose their beginning."""
        data = self.encoded
        cut = data.codes.size - symbols
        which = int(np.searchsorted(data.starts, cut, side="right")) - 1
        starts = np.maximum(data.starts[which:] - cut, 0)
        end = Encoded(data.codes[cut:], starts, data.mask[cut:], data.alphabet)
        outside = self.outside[int((self.escapes < cut).sum()) :]
        names = None if self.names is None else self.names[which:]
        return Reading(end, self.several, self.escaped[cut:], outside, names)

    def split(self, values: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Values at every position as they belong to the data: an array, or one for each of several sequences."""
        if not self.several:
            return values
        return np.split(values, self.encoded.starts[1:-1])


@dataclass(frozen=True)
class Reader:
    """Turns data of any accepted kind into codes of `alphabet`, special symbols included."""

    alphabet: Alphabet

    @classmethod
    def fitted(cls, data: Any, mask: Any, alphabet: Any, end: bool, unknown: str) -> tuple[Reader, Reading]:
        """The reader that these training data call for, and the data read by it.

        An end is learned from several sequences, unless a mask leaves every end out.
        """
        if alphabet is None:
            data = data if isinstance(data, Encoded) else encode(data)
            base = data.alphabet.base
        else:
            base = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
            if len(base) < 2:
                raise InputError(f"alphabet holds {len(base)} symbols: with fewer than 2 there is nothing to predict")
            data = data if isinstance(data, Encoded) else _parts(data, base)
        escape = [ESCAPE] if unknown == "escape" else []
        if end and len(data if isinstance(data, Encoded) else data.tokens) > 1:
            reader = cls(base.with_special(END, *escape))
            reading = reader.read(data, mask)
            ends = reading.encoded.starts[1:] - 1
            if reading.encoded.mask[ends].any():
                return reader, reading
        reader = cls(base.with_special(*escape))
        return reader, reader.read(data, mask)

    def read(self, data: Any, mask: Any = None) -> Reading:
        """Data with their ends. Without a mask everything is to be predicted; masks may leave the ends out.

        Data already read with this alphabet are used as they are.
        """
        if isinstance(data, Reading) and data.encoded.alphabet == self.alphabet:
            return data if mask is None else replace(data, encoded=self._masked(data.encoded, mask))
        if not isinstance(data, Encoded):
            parts = data if isinstance(data, Parts) else _parts(data, self.alphabet.base)
            return self._completed(*self._looked_up(parts), mask, parts.several, parts.names)
        if data.alphabet == self.alphabet:
            same = data if mask is None else data.with_mask(mask)
            escapes = 0 if self.alphabet.escape is None else int((data.codes == self.alphabet.escape).sum())
            return Reading(same, len(data) > 1, np.zeros(data.codes.size), (ESCAPE,) * escapes)
        own = data.mask if mask is None and not data.mask.all() else mask
        return self._completed(*self._recoded(data), own, len(data) > 1, None)

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
        known = isinstance(data, Encoded)
        codes, starts, outside = self._recoded(data) if known else self._looked_up(_parts(data, self.alphabet.base))
        if outside:
            # Refuses what no escape can stand for.
            codes, _ = self._escaped(codes, starts, outside)
            symbol = outside[0]
            warnings.warn(
                f"the prefix holds {symbol!r}, which the model does not know{nearest_of(symbol, self.alphabet)}; the "
                "prediction is made as if it had not been there",
                UnknownSymbolWarning,
                stacklevel=3,
            )
        return np.split(codes, starts[1:-1])

    def _looked_up(self, parts: Parts) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
        """The codes of the data's symbols, −1 outside the alphabet; where sequences begin; the symbols outside it."""
        base = self.alphabet.base
        found = [base.lookup(tokens) for tokens in parts.tokens]
        outside = [
            tokens.symbol(place)
            for tokens, codes in zip(parts.tokens, found, strict=True)
            for place in np.flatnonzero(codes < 0).tolist()
        ]
        starts = offsets(np.array([len(codes) for codes in found], np.int64))
        return np.concatenate(found), starts, tuple(outside)

    def _recoded(self, data: Encoded) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
        """The same of data with codes of another alphabet."""
        base, symbols = self.alphabet.base, data.alphabet.base.symbols
        if data.alphabet == base:
            return data.codes, data.starts, ()
        if data.codes.size and data.codes.max() >= len(symbols):
            raise InputError("the data are encoded with special symbols of another model: give the data themselves")
        codes = base.lookup(Tokens(list(symbols), "tokens"))[data.codes]
        return codes, data.starts, tuple(symbols[code] for code in data.codes[codes < 0].tolist())

    def _completed(
        self,
        codes: np.ndarray,
        starts: np.ndarray,
        outside: tuple[Any, ...],
        mask: Any,
        several: bool,
        names: tuple[str, ...] | None,
    ) -> Reading:
        """The codes with escapes and ends in their places."""
        codes, bits = self._escaped(codes, starts, outside) if outside else (codes, np.zeros(codes.size))
        if self.alphabet.end is None:
            given = mask_array(mask, starts)
        else:
            with_ends = starts + np.arange(len(starts))
            ends = with_ends[1:] - 1
            inner = np.ones(with_ends[-1], bool)
            inner[ends] = False
            own_codes, own_bits = codes, bits
            codes, bits = np.empty(with_ends[-1], np.int32), np.zeros(with_ends[-1])
            codes[ends], codes[inner], bits[inner] = self.alphabet.end, own_codes, own_bits
            given = mask_with_ends(mask, starts, with_ends)
            starts = with_ends
        return Reading(Encoded(codes, starts, given, self.alphabet), several, bits, outside, names)

    def _masked(self, data: Encoded, mask: Any) -> Encoded:
        if self.alphabet.end is None:
            return data.with_mask(mask)
        starts = data.starts - np.arange(len(data.starts))
        return replace(data, mask=mask_with_ends(mask, starts, data.starts))

    def _escaped(
        self, codes: np.ndarray, starts: np.ndarray, outside: tuple[Any, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The codes with an escape for each symbol outside the alphabet, and the bits that say which one it was."""
        if self.alphabet.escape is None:
            place = int(np.argmax(codes < 0))
            which = int(np.searchsorted(starts, place, side="right")) - 1
            where = f" of sequence {which}" if len(starts) > 2 else ""
            raise unknown_symbol(outside[0], f"position {place - starts[which]}{where}", self.alphabet)
        bits = np.zeros(codes.size)
        bits[codes < 0] = [escaped_bits(token, self.alphabet) for token in outside]
        return np.where(codes < 0, np.int32(self.alphabet.escape), codes), bits


def unknown_symbol(symbol: Any, where: str, alphabet: Alphabet) -> InputError:
    """The error for a symbol that a model has no code for."""
    base, near = alphabet.base, nearest_symbols(symbol, alphabet)
    known = f"the nearest are {', '.join(map(repr, near))}" if near else base.summary()
    return InputError(
        f"symbol {symbol!r} at {where} is not in the alphabet of {len(base)} symbols ({known}): "
        "train with alphabet= naming every symbol that can occur, or with unknown='escape'"
    )


def _parts(data: Any, base: Alphabet) -> Parts:
    if isinstance(data, Reading):
        raise InputError("the data were read for another model: give the data themselves")
    return parts_of(data, base.kind)


@dataclass(frozen=True)
class TrainingData:
    """What a model learns from, and what chooses among the models that it could become."""

    train: Encoded
    validation: Encoded | None = None
    escape: float | None = None
    """The probability of an escape, None where unknown symbols are errors."""
    continues: bool = False
    """Whether the validation data continue where those for training end."""
    held_out: int = 0
    """How many symbols of the given data were held out for validation."""
    inside: int | None = None
    """The first of the given sequences that were held out, where these are inside the data and not their end."""

    @property
    def alphabet(self) -> Alphabet:
        """Special symbols included."""
        known = self.train.alphabet
        return known if self.escape is None else known.with_special(*known.special, ESCAPE)


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
    given = reading.encoded
    if sample_weight is not None:
        times = _times(sample_weight, len(given))
        given = given.select(np.repeat(np.arange(len(times)), times))
    held = None
    if validation is not None:
        held = reader.read(validation, validation_mask).encoded.known("validation")
    elif validation_mask is not None:
        raise InputError("validation_mask was given without validation data: give both")
    escape = None if reader.alphabet.escape is None else escape_probability(given.codes, reader.alphabet.escape)
    return TrainingData(given.known(), held, escape)


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
