"""Encoded data: the codes x_t of all sequences end to end, where each begins, and the mask χ_t.

Every sequence starts from the start state; a sequence k is `codes[starts[k]:starts[k + 1]]`.

The mask χ of the paper is 1 where a symbol is to be predicted, 0 where it is only read: flat over all sequences, or one
for each; `mask_after` makes the one of "predict what follows this symbol", as after the `=` of the distant XOR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.errors import InputError
from glnn.sequences.tokens import Tokens, parts_of

# Texts in a list that are as long as this on average are taken for sequences, unless they come back.
_LONG_TEXT = 20


@dataclass(frozen=True, eq=False)
class Encoded:
    """One or several sequences as codes; its length is the number of sequences."""

    codes: np.ndarray
    starts: np.ndarray
    mask: np.ndarray
    alphabet: Alphabet

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        for begin, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield self.codes[begin:end]

    def __repr__(self) -> str:
        return (
            f"Encoded: {self.codes.size} symbols in {len(self)} sequence{'s' * (len(self) != 1)}, "
            f"{int(self.mask.sum())} to be predicted, {self.alphabet!r}"
        )

    @property
    def first(self) -> np.ndarray:
        """True where a sequence begins, (T,)."""
        first = np.zeros(self.codes.size, bool)
        first[self.starts[:-1]] = True
        return first

    def select(self, indices: Iterable[int]) -> Encoded:
        """Some of the sequences, in the given order."""
        chosen = [int(which) for which in indices]
        wrong = [which for which in chosen if not 0 <= which < len(self)]
        if wrong or not chosen:
            raise InputError(f"sequences {wrong or 'none'} of {len(self)} were asked for: count from 0")
        parts = [slice(self.starts[which], self.starts[which + 1]) for which in chosen]
        lengths = np.diff(self.starts)[chosen]
        return replace(
            self,
            codes=np.concatenate([self.codes[part] for part in parts]),
            mask=np.concatenate([self.mask[part] for part in parts]),
            starts=offsets(lengths),
        )

    def kept(self, positions: np.ndarray) -> Encoded:
        """The data at some positions only, True where they are kept; sequences that become empty are left out."""
        lengths = np.diff(self.starts)
        if positions.all() and (lengths > 0).all():
            return self
        owner = np.repeat(np.arange(len(self)), lengths)
        lengths = np.bincount(owner[positions], minlength=len(self))
        return replace(
            self, codes=self.codes[positions], mask=self.mask[positions], starts=offsets(lengths[lengths > 0])
        )

    def known(self, name: str = "data") -> Encoded:
        """What a model itself reads: no escapes, no empty sequences."""
        alphabet = self.alphabet.known
        kept = self.kept(self.codes < len(alphabet))
        if not kept.mask.any():
            raise InputError(f"{name} holds nothing to be predicted: give at least one symbol of the alphabet")
        return replace(kept, alphabet=alphabet)

    def with_mask(self, mask: Any) -> Encoded:
        """The same data with another mask; None predicts everything."""
        return replace(self, mask=mask_array(mask, self.starts))


def encode(data: Any, alphabet: Alphabet | Iterable[Any] | None = None, mask: Any = None) -> Encoded:
    """Turn any accepted kind of data into codes.

    `alphabet` names every symbol that can occur, if the data do not have them all. `mask` is flat, or one
    per sequence; without it every symbol is to be predicted, and data already encoded keep their mask.
    """
    if alphabet is not None and not isinstance(alphabet, Alphabet):
        alphabet = Alphabet(alphabet)
    if isinstance(data, Encoded):
        return _encode_again(data, alphabet, mask)
    parts = parts_of(data, None if alphabet is None else alphabet.kind)
    for which, part in enumerate(parts.tokens):
        if not len(part):
            raise InputError(
                f"sequence {which} is empty: leave it out"
                if parts.several
                else "the data are empty: give at least one symbol"
            )
    tokens = parts.tokens[0] if len(parts.tokens) == 1 else _concatenate(parts.tokens)
    if alphabet is None and tokens.kind == "tokens" and not parts.several:
        _check_no_long_texts(tokens)
    known = alphabet if alphabet is not None else Alphabet(tokens.distinct(), tokens.kind)
    if len(known) < 2:
        raise InputError(
            f"the data hold one symbol only, {known.symbols[0]!r}, so there is nothing to predict: "
            "give alphabet= if other symbols can occur"
            if alphabet is None
            else f"the alphabet holds {len(known)} symbols: with fewer than 2 there is nothing to predict"
        )
    starts = offsets(np.array([len(part) for part in parts.tokens], np.int64))
    codes = known.lookup(tokens)
    if alphabet is not None:
        _check_known(codes, starts, known, tokens)
    return Encoded(codes, starts, mask_array(mask, starts), known)


def offsets(lengths: np.ndarray) -> np.ndarray:
    """Where sequences of these lengths begin when they are joined end to end, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def mask_after(data: Any, symbol: Any) -> np.ndarray:
    """The mask that predicts only what comes right after `symbol` in the same sequence, as one flat array."""
    encoded = encode(data)
    code = _code_of(symbol, encoded.alphabet)
    follows = np.zeros(encoded.codes.size, bool)
    follows[1:] = encoded.codes[:-1] == code
    follows[encoded.starts[:-1]] = False
    if not follows.any():
        raise InputError(f"nothing follows {symbol!r} in the data, so the mask would predict nothing")
    return follows


def _code_of(symbol: Any, alphabet: Alphabet) -> int:
    if alphabet.kind == "bytes" and isinstance(symbol, str | bytes):
        # On the command line the symbol comes as text even when the data are bytes.
        codes = alphabet.encode(symbol.encode() if isinstance(symbol, str) else symbol)
        if codes.size != 1:
            raise InputError(f"{symbol!r} is {codes.size} bytes: give the one byte after which to predict")
        return int(codes[0])
    return int(alphabet.encode([symbol])[0])


def _encode_again(data: Encoded, alphabet: Alphabet | None, mask: Any) -> Encoded:
    result = data if mask is None else data.with_mask(mask)
    if alphabet is None or alphabet == data.alphabet:
        return result
    old = Tokens(list(data.alphabet.symbols), "tokens")
    codes = alphabet.lookup(old)[data.codes]
    if codes.min() < 0:
        _check_known(codes, data.starts, alphabet, Tokens(data.alphabet.decode(data.codes), "tokens"))
    return replace(result, codes=codes, alphabet=alphabet)


def _concatenate(parts: list[Tokens]) -> Tokens:
    first = parts[0]
    for which, part in enumerate(parts):
        if part.kind != first.kind or part.symbol_type is not first.symbol_type:
            raise InputError(
                f"the sequences are of mixed types: sequence 0 is of {first.kind} ({first.symbol(0)!r} …), "
                f"sequence {which} of {part.kind} ({part.symbol(0)!r} …); make them all of one kind"
            )
    if isinstance(first.values, np.ndarray):
        return Tokens(np.concatenate([part.values for part in parts]), first.kind)
    return Tokens([token for part in parts for token in part.values], first.kind)


def _check_no_long_texts(tokens: Tokens) -> None:
    """Refuse a plain list of long texts that are nearly all different: as symbols there is nothing to learn in them."""
    if tokens.symbol_type is not str:
        return
    texts: list[Any] = tokens.as_list()
    length, distinct = sum(map(len, texts)) / len(texts), len(set(texts))
    if len(texts) > 1 and length >= _LONG_TEXT and distinct >= 0.9 * len(texts):
        raise InputError(
            f"the data are a list of {len(texts)} texts, {distinct} of them different, {length:.0f} characters long on "
            f"average: as one sequence of {len(texts)} symbols there is nothing to learn in them. For {len(texts)} "
            "sequences of characters write glnn.Sequences([...]); for words, [text.split() for text in texts]; if each "
            "text is one symbol, name them all with alphabet="
        )


def _check_known(codes: np.ndarray, starts: np.ndarray, alphabet: Alphabet, tokens: Tokens) -> None:
    unknown = np.flatnonzero(codes < 0)
    if not unknown.size:
        return
    place = int(unknown[0])
    which = int(np.searchsorted(starts, place, side="right")) - 1
    where = f"position {place - starts[which]}" + (f" of sequence {which}" if len(starts) > 2 else "")
    raise alphabet.unknown_symbol(tokens.symbol(place), where, unknown.size)


def mask_array(mask: Any, starts: np.ndarray) -> np.ndarray:
    """The mask as one bool array over all positions, checked; None predicts everything."""
    positions = int(starts[-1])
    if mask is None:
        return np.ones(positions, bool)
    flat = _one_per_sequence(mask, starts) if _is_nested(mask) else _booleans(mask, "the mask")
    if flat.size != positions:
        raise InputError(
            f"the mask has length {flat.size}, the data {positions} symbols: give one 0 or 1 per symbol"
            + (f", or a list of {len(starts) - 1} masks, one per sequence" if len(starts) > 2 else "")
        )
    if not flat.any():
        raise InputError("the mask predicts nothing: at least one position must be 1")
    return flat


def mask_with_ends(mask: Any, starts: np.ndarray, with_ends: np.ndarray) -> np.ndarray:
    """A mask over symbols and ends; one that is as long as the symbols alone leaves the ends out."""
    if mask is None:
        return np.ones(with_ends[-1], bool)
    length = sum(len(item) for item in mask) if _is_nested(mask) else np.size(mask)
    if length == with_ends[-1]:
        return mask_array(mask, with_ends)
    given = np.zeros(with_ends[-1], bool)
    inner = np.ones(with_ends[-1], bool)
    inner[with_ends[1:] - 1] = False
    given[inner] = mask_array(mask, starts)
    return given


def _is_nested(mask: Any) -> bool:
    return isinstance(mask, list | tuple) and len(mask) > 0 and all(np.ndim(item) > 0 for item in mask)


def _one_per_sequence(masks: Any, starts: np.ndarray) -> np.ndarray:
    if len(masks) != len(starts) - 1:
        raise InputError(f"{len(masks)} masks were given for {len(starts) - 1} sequences: give one mask per sequence")
    arrays = [_booleans(mask, f"the mask of sequence {which}") for which, mask in enumerate(masks)]
    for which, (array, length) in enumerate(zip(arrays, np.diff(starts), strict=True)):
        if array.size != length:
            raise InputError(
                f"the mask of sequence {which} has length {array.size}, the sequence {length} symbols: "
                "give one 0 or 1 per symbol"
            )
    return np.concatenate(arrays)


def _booleans(mask: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(mask)
    except ValueError:
        raise InputError(f"{name} mixes numbers and lists: it is flat, or one mask per sequence") from None
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}: a mask is a row of 0 and 1, one per symbol")
    if array.dtype == bool or not array.size:
        return array.astype(bool)
    if array.dtype.kind not in "iuf" or not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} holds something other than 0 and 1 (or False and True)")
    return array.astype(bool)
