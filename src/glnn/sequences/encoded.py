"""Encoded data: the codes x_t of all sequences end to end, where each begins, and the mask χ_t.

Every sequence starts from the start state; a sequence k is `codes[starts[k]:starts[k + 1]]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.errors import InputError
from glnn.sequences.masks import mask_array
from glnn.sequences.tokens import Kind, Tokens, is_several, tokens_of


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

    def select(self, indices: Iterable[int]) -> Encoded:
        """Some of the sequences, in the given order."""
        chosen = [int(which) for which in indices]
        wrong = [which for which in chosen if not 0 <= which < len(self)]
        if wrong or not chosen:
            raise InputError(f"sequences {wrong or 'none'} of {len(self)} were asked for: choose from 0 on")
        parts = [slice(self.starts[which], self.starts[which + 1]) for which in chosen]
        lengths = np.diff(self.starts)[chosen]
        return replace(
            self,
            codes=np.concatenate([self.codes[part] for part in parts]),
            mask=np.concatenate([self.mask[part] for part in parts]),
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        )

    def with_mask(self, mask: Any) -> Encoded:
        """The same data with another mask; None predicts everything."""
        return replace(self, mask=mask_array(mask, self.starts))


def encode(data: Any, alphabet: Alphabet | Iterable[Any] | None = None, mask: Any = None) -> Encoded:
    """Turn any accepted kind of data into codes.

    `alphabet` names every symbol that can occur, when more are known than are seen. `mask` is flat, or one
    per sequence; without it every symbol is to be predicted, and data already encoded keep their mask.
    """
    if alphabet is not None and not isinstance(alphabet, Alphabet):
        alphabet = Alphabet(alphabet)
    if isinstance(data, Encoded):
        return _encode_again(data, alphabet, mask)
    cut_as = None if alphabet is None else alphabet.kind
    tokens, starts = _flatten(data, cut_as)
    known = alphabet if alphabet is not None else Alphabet(tokens.distinct(), tokens.kind)
    _check_size(known, explicit=alphabet is not None)
    codes = known.lookup(tokens)
    _check_known(codes, starts, known, tokens)
    return Encoded(codes, starts, mask_array(mask, starts), known)


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


def _flatten(data: Any, cut_as: Kind | None) -> tuple[Tokens, np.ndarray]:
    if not is_several(data):
        tokens = tokens_of(data, cut_as)
        if not len(tokens):
            raise InputError("the data are empty: give at least one symbol")
        return tokens, np.array([0, len(tokens)], np.int64)
    if not len(data):
        raise InputError("the data hold no sequence: give at least one")
    parts = [_part(item, which, cut_as) for which, item in enumerate(data)]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return _concatenate(parts), starts


def _part(item: Any, which: int, cut_as: Kind | None) -> Tokens:
    try:
        part = tokens_of(item, cut_as)
    except InputError as error:
        raise InputError(f"sequence {which}: {error}") from None
    if not len(part):
        raise InputError(f"sequence {which} is empty: leave it out")
    return part


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


def _check_size(alphabet: Alphabet, explicit: bool) -> None:
    if len(alphabet) >= 2:
        return
    if explicit:
        raise InputError(f"the alphabet holds {len(alphabet)} symbols: with fewer than 2 there is nothing to predict")
    raise InputError(
        f"the data hold one symbol only, {alphabet.symbols[0]!r}, so there is nothing to predict: "
        "give alphabet= if other symbols can occur"
    )


def _check_known(codes: np.ndarray, starts: np.ndarray, alphabet: Alphabet, tokens: Tokens) -> None:
    unknown = np.flatnonzero(codes < 0)
    if not unknown.size:
        return
    place = int(unknown[0])
    which = int(np.searchsorted(starts, place, side="right")) - 1
    where = f"position {place - starts[which]}" + (f" of sequence {which}" if len(starts) > 2 else "")
    raise alphabet.unknown_symbol(tokens.symbol(place), where, unknown.size)
