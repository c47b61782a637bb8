"""Compression with any predictor: a range coder driven by its probabilities, exact on every machine."""

from glnn.codec.alone import compress_file_alone, decompress_file_alone
from glnn.codec.errors import DamagedStream, StreamError, WrongModel
from glnn.codec.files import compress_file, decompress_file
from glnn.codec.message import compress, decompress, encoded_bits

__all__ = [
    "DamagedStream",
    "StreamError",
    "WrongModel",
    "compress",
    "compress_file",
    "compress_file_alone",
    "decompress",
    "decompress_file",
    "decompress_file_alone",
    "encoded_bits",
]
