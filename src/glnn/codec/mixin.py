"""The methods of compression, for any class with a fitted `predictor_`."""

from __future__ import annotations

import os
from typing import Any

from glnn.codec.files import Progress


class Compressing:
    """`compress`, `decompress` and the same for files, with the distribution that `bits` speaks of."""

    def compress(self, data: Any) -> bytes:
        """Data of any kind that the model reads, as bytes that `decompress` turns back into the same symbols."""
        from glnn.codec import compress

        return compress(self, data)

    def decompress(self, blob: bytes) -> Any:
        """What `compress` was given; refuses a damaged stream and one of another model."""
        from glnn.codec import decompress

        return decompress(self, blob)

    def compress_file(
        self, path: str | os.PathLike[str], target: str | os.PathLike[str], *, progress: Progress | None = None
    ) -> int:
        """Compress a file, cut as the model was trained, into another; gives the bytes written."""
        from glnn.codec import compress_file

        return compress_file(self, path, target, progress=progress)

    def decompress_file(
        self, path: str | os.PathLike[str], target: str | os.PathLike[str], *, progress: Progress | None = None
    ) -> int:
        """The file that `compress_file` was given, byte for byte."""
        from glnn.codec import decompress_file

        return decompress_file(self, path, target, progress=progress)
