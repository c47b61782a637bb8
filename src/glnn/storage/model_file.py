"""Model files: arrays and a JSON header in one safetensors file, with a checksum over both; nothing is ever executed.

Reading refuses what is truncated, altered, foreign or too new, and brings older formats up to date.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glnn.sequences import Alphabet, InputError
from glnn.sequences.alphabet import Special
from glnn.sequences.tokens import token_from_json, token_to_json
from glnn.storage.atomic import write_whole

FORMAT = 2
_MOST_HEADER = 100_000_000
_KINDS_OF_NUMBERS = "fiub"

Header = dict[str, Any]


class ModelFileError(InputError):
    """A file that cannot be used as a model file."""


def write_model_file(path: str | os.PathLike[str], tensors: Mapping[str, np.ndarray], header: Header) -> None:
    """Write arrays and header; `format` is added. An existing file is replaced at once or not at all."""
    from safetensors.numpy import save

    # safetensors writes an array's memory as it is: other orders would be read back scrambled.
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    # One entry of metadata: safetensors writes several in a random order, and equal models should be equal files.
    content = save(arrays, metadata={"glnn": signed(arrays, {"format": FORMAT, **header})})
    write_whole(path, content)


def read_model_file(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], Header]:
    """The arrays and the header, in the current format."""
    path = Path(path)
    tensors, metadata = _open(path)
    text = metadata.get("glnn")
    if text is None:
        raise ModelFileError(f"{path} is a safetensors file, but not one of glnn: give a file that save() wrote")
    try:
        header = json.loads(text)
        version, written = header["format"], header.pop("sha256", None)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise ModelFileError(f"{path} has a header that cannot be read: {_DAMAGED}") from None
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{path} has the format version {version!r}: {_DAMAGED}")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} has format version {version}, this glnn reads versions up to {FORMAT}: install a newer glnn"
        )
    if written != checksum(tensors, header):
        raise ModelFileError(f"{path} has a wrong checksum: {_DAMAGED}")
    while version < FORMAT:
        try:
            header = _UPGRADES[version](header)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise ModelFileError(f"{path} is not a whole file of version {version}: {_DAMAGED}") from None
        version += 1
        header["format"] = version
    return tensors, header


def signed(tensors: Mapping[str, np.ndarray], header: Header) -> str:
    """The header as JSON, with the checksum in it."""
    return _dump({**header, "sha256": checksum(tensors, header)})


def checksum(tensors: Mapping[str, np.ndarray], header: Header) -> str:
    """SHA-256 over the header and over name, type, shape and bytes of every array."""
    digest = hashlib.sha256(_dump(header).encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def alphabet_to_json(alphabet: Alphabet) -> dict[str, Any]:
    """An alphabet of any tokens that can be written, with its special symbols."""
    base = alphabet.base
    return {
        "kind": base.kind,
        "symbols": [token_to_json(symbol) for symbol in base.symbols],
        "special": [special.value for special in alphabet.special],
    }


def alphabet_from_json(value: Any) -> Alphabet:
    """The inverse of `alphabet_to_json`."""
    try:
        symbols = [token_from_json(symbol) for symbol in value["symbols"]]
        base = Alphabet(symbols, value["kind"])
        special = [Special(name) for name in value["special"]]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"the file's alphabet cannot be read ({error}): {_DAMAGED}") from None
    return base.with_special(*special)


_DAMAGED = "it is damaged or was altered; use another copy"


def _dump(header: Header) -> str:
    return json.dumps(header, sort_keys=True, allow_nan=False)


def _open(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    from safetensors import SafetensorError, safe_open

    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        opening = file.read(1)
    if size < 10 or opening != b"{" or length > _MOST_HEADER:
        raise ModelFileError(f"{path} is not a model file: give a file that save() wrote")
    if length > size - 8:
        raise ModelFileError(f"{path} is {size} bytes long and should be longer: it was cut off; use another copy")
    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFileError(f"{path} cannot be read as safetensors ({error}): {_DAMAGED}") from None
    for name, array in tensors.items():
        if array.dtype.kind not in _KINDS_OF_NUMBERS:
            raise ModelFileError(f"{path} holds an array {name!r} of type {array.dtype}: {_DAMAGED}")
    return tensors, metadata


def _from_version_1(header: Header) -> Header:
    """Version 1 knew no special symbols."""
    alphabet = {**header.get("alphabet", {}), "special": []}
    return {**header, "alphabet": alphabet, "escape_probability": None}


_UPGRADES: dict[int, Callable[[Header], Header]] = {1: _from_version_1}
