"""Sequences of symbols: alphabet, codes, masks, and reading them from files."""

from glnn.sequences.alphabet import Alphabet
from glnn.sequences.encoded import Encoded, encode
from glnn.sequences.errors import InputError
from glnn.sequences.tokens import Lines, Sequences, Words

__all__ = ["Alphabet", "Encoded", "InputError", "Lines", "Sequences", "Words", "encode"]
