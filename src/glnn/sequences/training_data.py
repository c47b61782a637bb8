"""What `fit` was given, read once: the alphabet it calls for, codes without escapes, and the probability of an escape.

ε = (n + n₁ + ½) / (T + 1), where n₁ symbols were met once and n escapes were read among T symbols of training: Good
and Turing's estimate of meeting a new symbol, with half a count so that it is never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.encoded import Encoded
from glnn.sequences.errors import InputError, one_line
from glnn.sequences.reader import Reader


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

    `sample_weight` has one whole number for each sequence: it is learned from as if it had come so many times.
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
            "sample_weight holds something else than whole numbers, 0 or more: a weight says how often a sequence "
            "counts; multiply fractions until they are whole"
        )
    if not array.any():
        raise InputError("sample_weight is 0 everywhere: there would be nothing to learn from")
    return array.astype(np.int64)


def escape_probability(codes: np.ndarray, escape: int) -> float:
    """ε from the codes of the training data, where `escape` is the largest code."""
    counts = np.bincount(codes, minlength=escape + 1)
    return float((counts[escape] + np.sum(counts[:escape] == 1) + 0.5) / (codes.size + 1.0))
