"""Streams of a model, and their files: the model as it is, what was learned since, and where each stream stands.

A file of streams is a model file with more arrays: those of the model begin with "model/", those of stream k with "k/",
and what a learner knows beyond the model with "learned/"; where a learner cannot say that, the model is what it became.
"""

from __future__ import annotations

import os
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from glnn.estimators.base import SequenceModel
from glnn.estimators.parameters import choice, integer
from glnn.estimators.persistence import packed, unpacked
from glnn.predictors.learning import KeptLearner, Learner, part_of, stream_learner_of
from glnn.predictors.protocol import frozen
from glnn.sequences.tokens import token_from_json, token_to_json
from glnn.storage.model_file import ModelFileError, read_model_file, write_model_file
from glnn.streams import Stream, Streams
from glnn.streams.desk import Desk

LEARNING = ("frozen", "online")
_CLASS = "Streams"
# What an altered file can lead to.
_MISFITS = (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError)


def stream(model: SequenceModel, learning: str) -> Stream:
    """A stream of its own.

    One that does not learn leaves even a tree as it is: those that learn from what they score keep that in their state.
    """
    return Stream(_desk_of(model, _learner(model, learning)))


def streams(model: SequenceModel, learning: str, most: int | None) -> Streams:
    """A group of streams."""
    learner = _learner(model, learning)
    desk = _desk_of(model, None) if learner is None else None
    found = Streams(frozen(model.predictor_), most, learner, desk)
    found.write = partial(save_streams, model, found)
    return found


def _desk_of(model: SequenceModel, learner: Learner | None) -> Desk:
    """A desk of its own for a stream that learns; streams that learn nothing share the model's."""
    if learner is not None:
        return Desk(frozen(model.predictor_), learner.begin_learning, partial(save_stream, model, learner))
    predictor, desk = model._desk or (None, None)
    if desk is None or predictor is not model.predictor_:
        desk = Desk(frozen(model.predictor_), write=partial(save_stream, model, None))
        model._desk = model.predictor_, desk
    return desk


def save_stream(model: SequenceModel, learner: Learner | None, found: Stream, path: str | os.PathLike[str]) -> None:
    """Write one stream with its model."""
    _write(path, model, learner, [(None, found)], {"single": True, "most": None})


def save_streams(model: SequenceModel, found: Streams, path: str | os.PathLike[str]) -> None:
    """Write a group with its model."""
    about = {"single": False, "most": found.most, "more": found.more}
    _write(path, model, found.learner, [(key, found[key]) for key in list(found)], about)


def load_stream(path: str | os.PathLike[str]) -> Stream:
    """The stream that `Stream.save` wrote, which continues to the same bits."""
    model, places, learned, about = _read(path)
    try:
        if not about["single"]:
            raise ModelFileError(f"{path} holds a group of streams: open it with glnn.load_streams")
        learner = _learner(model, about["learning"])
        _recall(learner, learned)
        ((_, place, numbers),) = places
        numbers.pop("read")
        return Stream(_desk_of(model, learner), place, **numbers)
    except _MISFITS as error:
        raise _broken(path, error) from None


def load_streams(path: str | os.PathLike[str]) -> Streams:
    """The group that `Streams.save` wrote; `more` is what was kept with it."""
    model, places, learned, about = _read(path)
    try:
        if about["single"]:
            raise ModelFileError(f"{path} holds one stream: open it with glnn.load_stream")
        found = streams(model, about["learning"], integer("most", about["most"], 1, none=True))
        _recall(found.learner, learned)
        for key, place, numbers in places:
            found[key] = found.make(place, **numbers)
        found.more = dict(about["more"])
    except _MISFITS as error:
        raise _broken(path, error) from None
    return found


def _learner(model: SequenceModel, learning: str) -> Learner | None:
    return stream_learner_of(model.predictor_) if choice("learning", learning, LEARNING) == "online" else None


def _recall(learner: Learner | None, arrays: dict[str, np.ndarray]) -> None:
    if isinstance(learner, KeptLearner):
        learner.recall(arrays)


def _write(
    path: str | os.PathLike[str],
    model: SequenceModel,
    learner: Learner | None,
    found: list[tuple[Any, Stream]],
    about: dict[str, Any],
) -> None:
    kept: dict[str, np.ndarray] = {}
    if isinstance(learner, KeptLearner):
        kept = {f"learned/{name}": array for name, array in learner.memory().items()}
    elif learner is not None:
        model = copy(model)
        model._take(learner.learned())
    arrays, header = packed(model)
    tensors = kept | {f"model/{name}": array for name, array in arrays.items()}
    told = []
    for k, (key, one) in enumerate(found):
        tensors |= {f"{k}/{name}": array for name, array in one.place().items()}
        tensors[f"{k}/read"] = one.gathered()
        told.append({"key": token_to_json(key), "symbols": one.symbols, "bits": float(one.bits).hex()})
    learning = "frozen" if learner is None else "online"
    write_model_file(path, tensors, {"class": _CLASS, "model": header, "streams": told, "learning": learning, **about})


def _read(
    path: str | os.PathLike[str],
) -> tuple[SequenceModel, list[tuple[Any, Any, dict[str, Any]]], dict[str, np.ndarray], dict[str, Any]]:
    """The model, each stream's key, place and numbers, what was learned, and what else the header says."""
    tensors, header = read_model_file(path)
    if header.get("class") != _CLASS:
        raise ModelFileError(f"{path} holds no streams: a model file is opened with glnn.load")
    try:
        model = unpacked(part_of(tensors, "model/"), header["model"], path)
        grouped: dict[str, dict[str, np.ndarray]] = {}
        for name, array in tensors.items():
            number, _, rest = name.partition("/")
            grouped.setdefault(number, {})[rest] = array
        places = []
        for k, told in enumerate(header["streams"]):
            place = grouped[str(k)]
            numbers = {"symbols": int(told["symbols"]), "bits": float.fromhex(told["bits"])}
            places.append((token_from_json(told["key"]), place, {**numbers, "read": _codes(place.pop("read"), model)}))
        return model, places, part_of(tensors, "learned/"), header
    except ModelFileError:
        raise
    except _MISFITS as error:
        raise _broken(path, error) from None


def _codes(read: np.ndarray, model: SequenceModel) -> list[int]:
    """The codes of an unfinished sequence."""
    if (
        read.ndim != 1
        or read.dtype != np.int32
        or (read.size and not 0 <= read.min() <= read.max() < len(model.alphabet_))
    ):
        raise ValueError("the codes of an unfinished sequence are outside this alphabet")
    return [int(code) for code in read]


def _broken(path: Any, error: Exception) -> ModelFileError:
    return ModelFileError(f"{path} does not fit together ({type(error).__name__}: {error}): use another copy")
