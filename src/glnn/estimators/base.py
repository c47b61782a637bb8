"""What every model offers once it is fitted: bits, score, surprise, next-symbol distributions, samples, a file.

scikit-learn's conventions: `__init__` only stores its parameters, `fit` looks at them, what is learned ends in `_`.
All of it goes through `predictor_`, so a model is anything that can fill that in.
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from glnn import evaluation
from glnn.estimators.parameters import choice, flag, integer, number, seed
from glnn.estimators.reading import Reader, Reading, kept_positions
from glnn.evaluation import Predictor, State
from glnn.sequences import Alphabet, InputError


class SequenceModel(BaseEstimator):
    """A probabilistic model of sequences of symbols.

    `fit` sets `predictor_`, the fitted predictor, and `alphabet_`, the symbols in the order of its probabilities; a
    model of several sequences has an end symbol there, one with `unknown="escape"` an escape.
    """

    alphabet: Any
    end: bool
    unknown: str
    predictor_: Predictor
    alphabet_: Alphabet

    def bits(self, data: Any, mask: Any = None, *, regularised: bool = False) -> float:
        """−log2 of the probability of the data: the bits that the symbols to be predicted cost, ends included.

        `regularised=True` is the paper's validation score, which mixes (1 − 1/(t+2)) π_t + 1/(t+2) · uniform.
        """
        return float(self._surprise(self._read(data, mask), regularised).sum())

    def score(self, data: Any, mask: Any = None) -> float:
        """log2 of the probability of the data for each symbol to be predicted: 0 at best, higher is better."""
        reading = self._read(data, mask)
        predicted = int(reading.encoded.mask.sum())
        if not predicted:
            raise InputError("the data are empty: a score is for each symbol, and there is none")
        return -float(self._surprise(reading, False).sum()) / predicted

    def surprise(self, data: Any, mask: Any = None, *, regularised: bool = False) -> np.ndarray | list[np.ndarray]:
        """The bits of each symbol, 0 where the mask predicts nothing; for several sequences a list of arrays.

        Where an end is learned, it is the last number of each sequence. They sum to `bits`.
        """
        reading = self._read(data, mask)
        return reading.split(self._surprise(reading, regularised))

    def predict_proba(self, prefix: Any = None) -> np.ndarray:
        """The distribution of the symbol after `prefix`, in the order of `alphabet_`; None is an empty prefix.

        A whole list of prefixes (given as several sequences) makes one row for each.
        """
        check_is_fitted(self, "predictor_")
        reader = Reader(self.alphabet_)
        prefixes = [reader.prefix(None)] if prefix is None else reader.prefixes(prefix)
        rows = np.array([self._after(codes).probabilities() for codes in prefixes])
        return rows if len(rows) > 1 else rows[0]

    def sample(
        self,
        length: int | None = None,
        *,
        prefix: Any = None,
        temperature: float = 1.0,
        random_state: Any = None,
        count: int | None = None,
    ) -> Any:
        """New symbols, of the kind of the data: at most `length` (200 unless an end is learned, where the end stops).

        `prefix` is read first and is not part of the result. A temperature under 1 makes the likely more likely (0
        takes the most likely symbol each time), one above 1 less. `count` asks for a list of that many samples.
        """
        check_is_fitted(self, "predictor_")
        reader = Reader(self.alphabet_)
        if length is None and reader.end is None:
            length = 200
        length = integer("length", length, 0, none=True)
        temperature = number("temperature", temperature, 0.0)
        number_of = integer("count", count, 1, none=True)
        generator = np.random.default_rng(seed("random_state", random_state))
        start = self._after(reader.prefix(prefix))
        samples = [
            self.alphabet_.join(self.alphabet_.decode(_draw(start.copy(), length, temperature, generator, reader)))
            for _ in range(number_of or 1)
        ]
        return samples[0] if number_of is None else samples

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, which `glnn.load` reads; no pickle is involved."""
        from glnn.estimators.persistence import save

        check_is_fitted(self, "predictor_")
        save(self, path)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The fitted arrays, and what else is needed to restore `predictor_`, for a model file."""
        raise NotImplementedError

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any]) -> Self:
        """The inverse of `_arrays`; `alphabet_` is set already."""
        raise NotImplementedError

    def _check_reading(self) -> None:
        """Look at the parameters that all models have."""
        flag("end", self.end)
        choice("unknown", self.unknown, ("error", "escape"))

    def _read(self, data: Any, mask: Any = None) -> Reading:
        check_is_fitted(self, "predictor_")
        return Reader(self.alphabet_).read(data, mask)

    def _surprise(self, reading: Reading, regularised: bool) -> np.ndarray:
        data = reading.encoded
        if not data.codes.size:
            return np.zeros(0)
        everything = kept_positions(data, np.ones(data.codes.size, bool))
        own = evaluation.surprise(self.predictor_, everything, regularised)
        return own + np.where(data.mask, reading.escaped, 0.0)

    def _after(self, codes: np.ndarray) -> State:
        state = self.predictor_.begin()
        for code in codes:
            state.advance(int(code))
        return state

    def __sklearn_tags__(self) -> Any:
        """Sequences of symbols, not rows of numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.required = False
        tags.non_deterministic = True
        return tags


def _draw(
    state: State, length: int | None, temperature: float, generator: np.random.Generator, reader: Reader
) -> list[int]:
    """Codes until the end symbol or the length; never an escape, which names no symbol."""
    codes: list[int] = []
    while length is None or len(codes) < length:
        pi = state.probabilities()
        if reader.escape is not None:
            pi[reader.escape] = 0.0
        code = _choose(pi, temperature, generator)
        if code == reader.end:
            break
        codes.append(code)
        state.advance(code)
    return codes


def _choose(pi: np.ndarray, temperature: float, generator: np.random.Generator) -> int:
    """One code with probability ∝ π^{1/temperature}."""
    if temperature == 0.0:
        return int(np.argmax(pi))
    if temperature != 1.0:
        with np.errstate(divide="ignore"):
            logarithms = np.log(pi) / temperature
        pi = np.exp(logarithms - logarithms.max())
    cumulated = np.cumsum(pi)
    return int(np.searchsorted(cumulated, generator.random() * cumulated[-1], side="right"))
