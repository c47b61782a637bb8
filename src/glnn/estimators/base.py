"""What every model offers once it is fitted: bits, score, surprise, distributions, samples, compression, streams.

scikit-learn's conventions: `__init__` only stores its parameters, `fit` checks them, what is learned ends in `_`.
All of it goes through `predictor_`, so anything that sets it is a model.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from glnn import predictors
from glnn.codec import files, message
from glnn.estimators.parameters import (
    Conventions,
    check_fitted,
    checked,
    choice,
    flag,
    integer,
    number,
    parameter,
    seed,
)
from glnn.predictors import Predictor, State
from glnn.predictors.escape import WithEscape
from glnn.predictors.learning import learned_from
from glnn.predictors.protocol import without_share
from glnn.predictors.sampling import draw
from glnn.sequences import Alphabet, Encoded, InputError, Reader, Reading, TrainingData, read_training_data
from glnn.sequences.alphabet import grown, new_symbols
from glnn.sequences.errors import one_line
from glnn.sequences.nearest import nearest_of
from glnn.storage.model_file import write_model_file

if TYPE_CHECKING:
    from glnn.streams import Stream, Streams

_Path = str | os.PathLike[str]
# A sample ends by itself where an end is learned; this only guards against a model that never ends.
_LONGEST = 100_000


@dataclass(eq=False, repr=False, kw_only=True)
class SequenceModel(Conventions):
    """A probabilistic model of sequences of symbols.

    `fit` sets `predictor_`, the fitted predictor, and `alphabet_`, the symbols in the order of its probabilities; a
    model of several sequences has an end symbol there, one that takes unknown symbols an escape.
    """

    end: bool = parameter(True, flag, "learn where sequences end, when there are several")
    unknown: str = parameter(
        "auto",
        partial(choice, allowed=("auto", "error", "escape", "grow")),
        'a symbol first met later: "escape" gives it a small probability, "error" refuses it, "grow" lets it join the '
        'alphabet with `partial_fit`; "auto" is "escape", but "error" in the recipe "paper"',
    )
    alphabet: Any = parameter(None, None, "every symbol that can occur, if the data do not have them all")
    verbose: int = parameter(1, partial(integer, low=0), "0 is silent, 1 shows progress, 2 prints every step")

    @property
    def kernels(self) -> int:
        """About how many kernels a first training compiles; 0 where they are few."""
        return 0

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
            raise InputError("the data are empty: there is no symbol to score")
        return -float(self._surprise(reading, False).sum()) / predicted

    def surprise(self, data: Any, mask: Any = None, *, regularised: bool = False) -> np.ndarray | list[np.ndarray]:
        """The bits of each symbol, 0 where the mask predicts nothing; for several sequences a list of arrays.

        Where an end is learned, it is the last number of each sequence. They sum to `bits`.
        """
        reading = self._read(data, mask)
        return reading.split(self._surprise(reading, regularised))

    def predict_proba(self, prefix: Any = None) -> np.ndarray:
        """The distribution of the symbol after `prefix`, in the order of `alphabet_`; None is an empty prefix. Several
        sequences are several prefixes, one row each.
        """
        check_fitted(self)
        reader = Reader(self.alphabet_)
        prefixes = [reader.prefix(None)] if prefix is None else reader.prefixes(prefix)
        rows = np.array([self._after(codes).probabilities() for codes in prefixes])
        return rows if len(rows) > 1 else rows[0]

    def predict(self, prefix: Any = None) -> Any:
        """The likeliest symbol after `prefix`; `glnn.END` where a sequence most likely ends; a list for several
        prefixes.

        An escape is never predicted: it names no symbol.
        """
        rows = np.atleast_2d(self.predict_proba(prefix))
        escape = self.alphabet_.escape
        if escape is not None:
            rows[:, escape] = -1.0
        found = [self.alphabet_.symbols[code] for code in np.argmax(rows, axis=1).tolist()]
        return found if len(found) > 1 else found[0]

    def sample(
        self,
        length: int | None = None,
        *,
        prefix: Any = None,
        temperature: float = 1.0,
        random_state: Any = None,
        count: int | None = None,
    ) -> Any:
        """New symbols, of the kind of the data: `length` of them (200 by default), or fewer where an end is learned.

        `prefix` is read first and is not part of the result. A temperature under 1 makes the likely more likely (0
        takes the most likely symbol each time), one above 1 less. `count` asks for a list of that many samples. A
        network's samples are drawn without `smoothing`.
        """
        check_fitted(self)
        if length is None:
            length = 200 if self.alphabet_.end is None else _LONGEST
        length = integer("length", length, 0)
        temperature = number("temperature", temperature, 0.0)
        number_of = integer("count", count, 1, none=True)
        generator = np.random.default_rng(seed("random_state", random_state))
        # Smoothing guards scores against surprises; a sample would only get noise from it.
        alphabet = self.alphabet_
        start = self._after(Reader(alphabet).prefix(prefix), without_share(self.predictor_))
        samples = [
            alphabet.join(alphabet.decode(draw(start.copy(), alphabet, length, temperature, generator)))
            for _ in range(number_of or 1)
        ]
        return samples[0] if number_of is None else samples

    def compress(self, data: Any, *, verify: bool = True) -> bytes:
        """Data of any kind that the model reads, as bytes that `decompress` turns back into the same symbols.

        A text that is cut into words comes back with single spaces; `compress_file` keeps every byte. It is
        decoded once to be sure, which takes as long again; `verify=False` leaves that out.
        """
        check_fitted(self)
        return message.compress(self, data, verify=verify)

    def decompress(self, blob: bytes, *, most_symbols: int | None = None) -> Any:
        """What `compress` was given; refuses a damaged stream, one of another model, one of too many symbols."""
        check_fitted(self)
        return message.decompress(self, blob, most_symbols=most_symbols)

    def compress_file(
        self, path: _Path, target: _Path, *, progress: files.Progress | None = None, verify: bool = True
    ) -> int:
        """Compress a file, cut as the model was trained, into another; returns the number of bytes written. `progress`
        is called now and then with the part of the work that is done, 0 to 1; `verify` as in `compress`.
        """
        check_fitted(self)
        return files.compress_file(self, path, target, progress=progress, verify=verify)

    def decompress_file(
        self, path: _Path, target: _Path, *, progress: files.Progress | None = None, most_symbols: int | None = None
    ) -> int:
        """The file that `compress_file` was given, byte for byte; returns the number of bytes written."""
        check_fitted(self)
        return files.decompress_file(self, path, target, progress=progress, most_symbols=most_symbols)

    def that_held_out(self) -> Self:
        """The model that never saw the end of the data, where `fit` held that out; the same in most models."""
        return self

    def before_the_end(self, data: Encoded) -> tuple[Self, int] | None:
        """The model as if it had read all but the end of its training data, and how many symbols that end has.

        None for what does not learn by reading once: it cannot be had again in moments.
        """
        return None

    def partial_fit(self, data: Any, mask: Any = None) -> Self:
        """Go on learning: the first call fits, each later one learns from more data, in place.

        Context trees, n-grams and mixtures read on. Networks take steps as on a stream, weighed against what they know,
        unless training on the new data alone, within the budget, serves their end clearly better (`recipe="paper"`
        always trains). Hidden Markov models take further steps of EM, in which all earlier data still count.
        Calibration and smoothing stay. With `unknown="grow"` symbols never seen before join the alphabet.
        """
        if not hasattr(self, "predictor_"):
            return self.fit(data, mask=mask)  # type: ignore[attr-defined,no-any-return]
        checked(self, SequenceModel)
        new = new_symbols(data, self.alphabet_.base) if self.unknown == "grow" else []
        if new:
            self._take_symbols(grown(self.alphabet_, new), len(new))
        self._go_on(Reader(self.alphabet_).read(data, mask).encoded.known())
        return self

    def stream(self, *, learning: str = "frozen") -> Stream:
        """A sequence as it arrives: `push` a symbol, and see what it cost and what was expected instead.

        With `learning="online"` the stream learns from what is pushed; the model itself stays as it is.
        """
        from glnn.estimators.streaming import stream

        check_fitted(self)
        return stream(self, learning)

    def streams(self, *, learning: str = "frozen", most: int | None = None) -> Streams:
        """Many sequences side by side, by their keys: `streams[key].push(symbol)`, one for each case or user.

        With `learning="online"` each sequence is learned when it ends, for all streams. Beyond `most` streams the one
        unused longest is forgotten.
        """
        from glnn.estimators.streaming import streams

        check_fitted(self)
        return streams(self, learning, integer("most", most, 1, none=True))

    def save(self, path: str | os.PathLike[str], metric: bool = True) -> None:
        """Write the fitted model to one file, which `glnn.load` reads; no pickle is involved.

        Without the metric and the rates that the last `partial_fit` of a network ended with, the file is smaller, and
        the next one finds them anew.
        """
        from glnn.estimators.persistence import packed

        check_fitted(self)
        arrays, header = packed(self)
        kept = {name: part for name, part in arrays.items() if metric or not name.startswith("running")}
        write_model_file(path, kept, header)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The fitted arrays, and what else is needed to restore `predictor_`, for a model file."""
        raise NotImplementedError

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        """The inverse of `_arrays`, for a model whose `alphabet_` is set; `escape` is the probability of an escape."""
        raise NotImplementedError

    def _given(
        self, data: Any, validation: Any, mask: Any, validation_mask: Any, sample_weight: Any = None
    ) -> TrainingData:
        """What `fit` was given, read; checks the parameters that all models have."""
        checked(self, SequenceModel)
        unknown = self.unknown
        if unknown == "auto":
            unknown = "error" if getattr(self, "recipe", "") == "paper" else "escape"
        options = {"alphabet": self.alphabet, "end": self.end, "unknown": unknown, "sample_weight": sample_weight}
        return read_training_data(data, validation, mask, validation_mask, **options)

    def _predict_with(self, predictor: Predictor, escape: float | None) -> None:
        """Set `predictor_`: over the symbols of the data and their end, and an escape if there is one."""
        self.escape_probability_ = escape
        self.predictor_ = predictor if escape is None else WithEscape(predictor, self.alphabet_, escape)

    def _take(self, predictor: Predictor) -> None:
        """Take over what a learner of `predictor_` has become."""
        self.predictor_ = predictor

    def _go_on(self, data: Encoded) -> None:
        """Learn from more data: a predictor that can go on learning reads them, sequence by sequence."""
        self._take(learned_from(self.predictor_, data))

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        """Extend the predictor to an alphabet with `new` symbols more; `alphabet_` is the old one."""
        raise InputError(f"{type(self).__name__} cannot take new symbols: fit again, with alphabet= naming all of them")

    def _without_escape(self) -> Any:
        """The predictor that `_predict_with` was given."""
        return self.predictor_.inner if isinstance(self.predictor_, WithEscape) else self.predictor_

    def _traceable(self, data: Any) -> tuple[Reading, Encoded]:
        """Data for a trace: not empty, and of known symbols only."""
        reading = self._read(data)
        if not reading.encoded.codes.size:
            raise InputError("the data are empty: there is nothing to trace")
        if reading.escapes.size:
            place, symbol = int(reading.escapes[0]), reading.outside[0]
            which = int(np.searchsorted(reading.encoded.starts, place, side="right")) - 1
            of = f" of sequence {which}" if len(reading.encoded) > 1 else ""
            raise InputError(
                f"symbol {one_line(symbol)} at position {place - reading.encoded.starts[which]}{of} is not one that "
                f"the model knows{nearest_of(symbol, self.alphabet_)}: a trace is for known symbols, so choose a part "
                "without it (--begin, --length)"
            )
        return reading, reading.encoded.known()

    def _read(self, data: Any, mask: Any = None) -> Reading:
        check_fitted(self)
        return Reader(self.alphabet_).read(data, mask)

    def _surprise(self, reading: Reading, regularised: bool) -> np.ndarray:
        data = reading.encoded
        if not data.codes.size:
            return np.zeros(0)
        full = data.kept(np.ones(data.codes.size, bool))
        own = predictors.surprise(without_share(self.predictor_) if regularised else self.predictor_, full, regularised)
        return own + np.where(data.mask, reading.escaped, 0.0)

    def _after(self, codes: np.ndarray, predictor: Predictor | None = None) -> State:
        state = (self.predictor_ if predictor is None else predictor).begin()
        for code in codes:
            state.advance(int(code))
        return state
