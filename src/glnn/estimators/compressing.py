"""What every fitted model offers for compression: of data and of files, there and back (`glnn.codec`)."""

from __future__ import annotations

import os
from typing import Any

from glnn.codec import files, message
from glnn.estimators.parameters import Conventions, check_fitted


class Compressing(Conventions):
    """A model that compresses with what it predicts."""

    def compress(self, data: Any) -> bytes:
        """Data of any kind that the model reads, as bytes that `decompress` turns back into the same symbols.

        A text that is cut into words comes back with single spaces; `compress_file` keeps every byte.
        """
        check_fitted(self)
        return message.compress(self, data)

    def decompress(self, blob: bytes, *, most_symbols: int | None = None) -> Any:
        """What `compress` was given; refuses a damaged stream, one of another model, one of too many symbols."""
        check_fitted(self)
        return message.decompress(self, blob, most_symbols=most_symbols)

    def compress_file(
        self,
        path: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        progress: files.Progress | None = None,
    ) -> int:
        """Compress a file, cut as the model was trained, into another; returns the number of bytes written. `progress`
        is called now and then with the part of the work that is done, 0 to 1.
        """
        check_fitted(self)
        return files.compress_file(self, path, target, progress=progress)

    def decompress_file(
        self,
        path: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        progress: files.Progress | None = None,
        most_symbols: int | None = None,
    ) -> int:
        """The file that `compress_file` was given, byte for byte; returns the number of bytes written."""
        check_fitted(self)
        return files.decompress_file(self, path, target, progress=progress, most_symbols=most_symbols)
