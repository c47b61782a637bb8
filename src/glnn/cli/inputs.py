"""How commands read files and what they say about them, and the names of files they write.

They name the file, what it was taken for and how much is in it; nothing is replaced without being asked.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glnn.sequences.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from glnn.sequences import Alphabet, ReadOptions


@dataclass(frozen=True)
class Data:
    """What was read from a file."""

    content: Any
    """One text, bytes, words or lines; or several sequences."""
    mask: np.ndarray | None
    names: tuple[str, ...] | None
    """The names of the sequences: the cases of an event log."""
    path: Path
    options: ReadOptions | None = None
    """How the file was read, with everything that was recognised."""
    said: str = ""
    """What the file was taken for, to be said once it is clear that it can be used."""


def read(path: Path, options: ReadOptions, mask_path: Path | None = None) -> Data:
    """Read a file; the mask is that of `mask_path`, or of what follows a symbol."""
    from glnn.sequences import mask_after, read_mask
    from glnn.sequences.formats import Source, read_with

    found = read_with(Source(path), options)
    assert found.options is not None
    content = found[0] if found.options.format == "text" else found
    mask = None
    if mask_path is not None:
        if options.predict_after:
            raise InputError("--mask and --predict-after were both given: one of them says what is to be predicted")
        mask = read_mask(mask_path)
    elif options.predict_after:
        mask = mask_after(content, options.predict_after)
    note = f" ({found.note})" if found.note else ""
    said = f"{found.source}: {found.title}, {found.summary()}{note}"
    return Data(content, mask, found.names, path, found.options, said)


def sha256(path: Path) -> str:
    """The checksum of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prefix_of(texts: list[str] | None, alphabet: Alphabet) -> Any:
    """A prefix as the model reads it: events one by one, anything else as one text; every symbol must be known.

    A single text that is not a symbol itself is split into words, if each of them is one.
    """
    from glnn.sequences.nearest import nearest_of
    from glnn.sequences.tokens import parts_of

    if not texts:
        return None
    prefix: Any
    if alphabet.kind in ("tokens", "integers"):
        known = set(alphabet.symbols)
        prefix = [_as_symbol(text, alphabet) for text in texts]
        words = [_as_symbol(word, alphabet) for word in texts[0].split()]
        if len(texts) == 1 and prefix[0] not in known and known.issuperset(words):
            prefix = words
    elif len(texts) > 1:
        raise InputError(f"--prefix was given {len(texts)} times: a model of {alphabet.kind} takes one text")
    else:
        prefix = texts[0].encode() if alphabet.kind == "bytes" else texts[0]
    (tokens,) = parts_of(prefix, alphabet.kind).tokens
    unknown = alphabet.lookup(tokens) < 0
    if unknown.any():
        symbol = tokens.symbol(int(unknown.argmax()))
        raise InputError(f"--prefix holds {symbol!r}, which the model does not know{nearest_of(symbol, alphabet)}")
    return prefix


def _as_symbol(text: str, alphabet: Alphabet) -> Any:
    """Symbols that are numbers are written as numbers."""
    if isinstance(alphabet.symbols[0], int):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def check_free(path: Path, force: bool) -> None:
    """Refuse a path that is taken, before any work is done for it."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist: make it first")
    if path.exists() and not force:
        raise InputError(f"the file {path} exists already: choose another name, or --force to replace it")


def free_name(stem: str, suffix: str, force: bool) -> Path:
    """A name in the current folder for output that nobody named: one that is not taken, unless it may be replaced."""
    number = 1
    while True:
        path = Path(f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        if force or not path.exists():
            return path
        number += 1
