"""Learning probabilistic models of symbol sequences with Riemannian metrics.

The public names are imported when they are first used, so that `import glnn` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "GLNN": "glnn.estimators",
    "GNN": "glnn.estimators",
    "HMM": "glnn.estimators",
    "LSTM": "glnn.estimators",
    "RNN": "glnn.estimators",
    "ContextTree": "glnn.estimators",
    "Mixture": "glnn.estimators",
    "NGram": "glnn.estimators",
    "load": "glnn.estimators",
    "compress": "glnn.codec.alone",
    "decompress": "glnn.codec.alone",
    "load_stream": "glnn.estimators.streaming",
    "load_streams": "glnn.estimators.streaming",
    "Alphabet": "glnn.sequences",
    "END": "glnn.sequences",
    "Encoded": "glnn.sequences",
    "InputError": "glnn.sequences",
    "ModelFileError": "glnn.storage.model_file",
    "Sequences": "glnn.sequences",
    "UnknownSymbolWarning": "glnn.sequences",
    "encode": "glnn.sequences",
    "mask_after": "glnn.sequences",
    "read": "glnn.sequences",
    "read_event_log": "glnn.sequences",
    "read_file": "glnn.sequences",
    "read_mask": "glnn.sequences",
}

__all__ = [
    "END",
    "GLNN",
    "GNN",
    "HMM",
    "LSTM",
    "RNN",
    "Alphabet",
    "ContextTree",
    "Encoded",
    "InputError",
    "Mixture",
    "ModelFileError",
    "NGram",
    "Sequences",
    "UnknownSymbolWarning",
    "__version__",
    "compress",
    "decompress",
    "encode",
    "load",
    "load_stream",
    "load_streams",
    "mask_after",
    "read",
    "read_event_log",
    "read_file",
    "read_mask",
]

if TYPE_CHECKING:
    from glnn.codec.alone import compress, decompress
    from glnn.estimators import GLNN, GNN, HMM, LSTM, RNN, ContextTree, Mixture, NGram, load
    from glnn.estimators.streaming import load_stream, load_streams
    from glnn.sequences import (
        END,
        Alphabet,
        Encoded,
        InputError,
        Sequences,
        UnknownSymbolWarning,
        encode,
        mask_after,
        read,
        read_event_log,
        read_file,
        read_mask,
    )
    from glnn.storage.model_file import ModelFileError


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name[:1].isupper():
        from glnn import registry

        # A network that is registered and has no line above.
        if registry.titled(name) is not None:
            return getattr(import_module("glnn.estimators"), name)
    raise AttributeError(f"module 'glnn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
