"""Sequences of symbols: alphabet, codes, masks, and reading them from files."""

from glnn.sequences.alphabet import END, Alphabet
from glnn.sequences.encoded import Encoded, encode, mask_after
from glnn.sequences.errors import InputError, UnknownSymbolWarning
from glnn.sequences.formats import ReadOptions, read, read_event_log
from glnn.sequences.formats.text import read_file, read_mask
from glnn.sequences.reader import Reader, Reading, TrainingData, read_training_data
from glnn.sequences.several import Sequences
from glnn.sequences.tokens import Lines, Words

__all__ = [
    "END",
    "Alphabet",
    "Encoded",
    "InputError",
    "Lines",
    "ReadOptions",
    "Reader",
    "Reading",
    "Sequences",
    "TrainingData",
    "UnknownSymbolWarning",
    "Words",
    "encode",
    "mask_after",
    "read",
    "read_event_log",
    "read_file",
    "read_mask",
    "read_training_data",
]
