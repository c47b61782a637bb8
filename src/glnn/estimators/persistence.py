"""Fitted models to files and back: hyper-parameters, alphabet and a record of the training as JSON, the rest as arrays.

`load` opens files of any model; every size is checked against the arrays before a network is built from it.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from glnn import registry
from glnn.estimators.architectures import estimator_of
from glnn.estimators.base import SequenceModel
from glnn.metrics import TransitionMethod
from glnn.sequences import Alphabet, InputError
from glnn.sequences.tokens import token_from_json, token_to_json
from glnn.storage.model_file import (
    ModelFileError,
    alphabet_from_json,
    alphabet_to_json,
    read_model_file,
)
from glnn.training.budget import Budget


def packed(model: SequenceModel) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A fitted model as the arrays and the header of a file."""
    name = type(model).__name__
    entry = registry.titled(name)
    if entry is None or estimator_of(entry) is not type(model):
        raise InputError(
            f"{type(model).__qualname__} is not registered, so a file of it could not be opened: register it with "
            "glnn.registry first"
        )
    from glnn import __version__

    arrays, fitted = model._arrays()
    parameters = {key: _parameter_to_json(key, value) for key, value in model.get_params(deep=False).items()}
    header = {
        "glnn": __version__,
        "class": name,
        "parameters": parameters,
        "alphabet": alphabet_to_json(model.alphabet_),
        "escape_probability": _written(model.escape_probability_),
        "fitted": {key: _written(value) for key, value in fitted.items()},
    }
    return arrays, header


def load(path: str | os.PathLike[str]) -> SequenceModel:
    """The model that `save` wrote to the file: fitted, ready to predict."""
    return unpacked(*read_model_file(path), path)


def unpacked(arrays: dict[str, np.ndarray], header: dict[str, Any], path: Any) -> SequenceModel:
    """The inverse of `packed`; `path` is named in errors."""
    try:
        name = header["class"]
        entry = registry.titled(name)
        if entry is None:
            raise ModelFileError(f"{path} holds a model of class {name!r}, which this glnn does not know")
        kind = estimator_of(entry)
        known = kind.default_params()
        given = {key: _parameter_from_json(value) for key, value in header["parameters"].items() if key in known}
        model = kind(**given)
        model.alphabet_ = alphabet_from_json(header["alphabet"])
        escape = _read(header["escape_probability"])
        fitted = {key: _read(value) for key, value in header["fitted"].items()}
        return model._restore(arrays, fitted, escape)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(f"{path} does not fit together ({type(error).__name__}: {error})") from None


def as_bytes(model: SequenceModel) -> np.ndarray:
    """The file of a model, for one inside another."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return np.frombuffer(path.read_bytes(), np.uint8)


def from_bytes(content: np.ndarray) -> SequenceModel:
    """The model that `as_bytes` was given."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content.astype(np.uint8).tobytes())
        return load(path)


def _parameter_to_json(name: str, value: Any) -> Any:
    """A hyper-parameter as JSON. Of a generator the seed is kept, in `seed_`; of a metric the name; of a trainer none.

    None of them affects what a fitted model predicts.
    """
    if isinstance(value, np.random.Generator | np.random.RandomState) or callable(value):
        return None
    if isinstance(value, TransitionMethod):
        return value.name
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Budget):
        return {"budget": asdict(value)}
    if name == "alphabet" and value is not None:
        return {"alphabet": alphabet_to_json(value if isinstance(value, Alphabet) else Alphabet(value))}
    if isinstance(value, np.ndarray | list | tuple):
        return {"numbers": [float(item).hex() for item in np.asarray(value, np.float64).ravel()]}
    if value is None or isinstance(value, str | int | float):
        return token_to_json(value)
    raise InputError(f"{name} is of type {type(value).__name__}, which a model file cannot hold")


def _parameter_from_json(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        kind, content = next(iter(value.items()))
        if kind == "budget":
            return Budget(**content)
        if kind == "alphabet":
            return alphabet_from_json(content)
        if kind == "numbers":
            return np.array([float.fromhex(item) for item in content])
    return token_from_json(value)


def _written(value: Any) -> Any:
    """Numbers, names, None, and lists and dicts of these; floats in hexadecimal, so that they come back exactly."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    if isinstance(value, dict):
        return {"dict": {key: _written(item) for key, item in value.items()}}
    return token_to_json(value)


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(item) for item in value]
    if isinstance(value, dict) and isinstance(value.get("dict"), dict):
        return {key: _read(item) for key, item in value["dict"].items()}
    return token_from_json(value)
