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
from glnn.sequences.errors import InputError
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
) -> TrainingData:
    """Read training and validation data of any accepted kind; the parameters are those that all models have."""
    reader, reading = Reader.fitted(data, mask, alphabet, end, unknown)
    held = None
    if validation is not None:
        held = reader.read(validation, validation_mask).known("validation")
    elif validation_mask is not None:
        raise InputError("validation_mask was given without validation data: give both")
    escape = None if reader.escape is None else escape_probability(reading.encoded.codes, reader.escape)
    return TrainingData(reader.alphabet, reading.known(), held, escape)


def escape_probability(codes: np.ndarray, escape: int) -> float:
    """ε from the codes of the training data, where `escape` is the largest code."""
    counts = np.bincount(codes, minlength=escape + 1)
    return float((counts[escape] + np.sum(counts[:escape] == 1) + 0.5) / (codes.size + 1.0))
