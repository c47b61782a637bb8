"""Checkpoints: a training that is killed continues from its last one, to the same bits as if nothing had happened.

A checkpoint holds the `Progress` of every random start. Continuing means repeating the training with a
`glnn.training.records.Replay` for each start: steps that are in the record are read from it, all others are
computed. So whatever decides how a budget is shared decides it again from the same numbers, and need not be written
down.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from glnn.models import Params
from glnn.storage.model_file import ModelFileError, read_model_file, write_model_file
from glnn.training.records import Progress, StepInfo

NAME, PREVIOUS = "checkpoint.safetensors", "checkpoint.previous.safetensors"
_VERSION = 1
_PARTS = tuple(field.name for field in fields(Params))
_NUMBERS = ("writing_rate", "transition_rate", "best_score", "seconds")
_WHOLE = ("best_step", "step", "passes")
_COLUMNS = tuple(field.name for field in fields(StepInfo) if field.name != "notes")
_WHOLE_COLUMNS = {field.name for field in fields(StepInfo) if field.type == "int"}


@dataclass(frozen=True)
class Checkpoint:
    """Where every random start stands, in the order they began, and whatever else its writer wants back."""

    runs: tuple[Progress, ...]
    about: dict[str, Any]

    @property
    def steps(self) -> int:
        """Steps done by all starts together."""
        return sum(run.step for run in self.runs)


def write_checkpoint(folder: Path, runs: Sequence[Progress], about: Mapping[str, Any]) -> None:
    """Write a checkpoint at once or not at all; the one before is kept too."""
    arrays: dict[str, np.ndarray] = {}
    described = []
    for k, run in enumerate(runs):
        for which, params in (("params", run.params), ("best", run.best)):
            arrays.update({f"{k}.{which}.{part}": getattr(params, part) for part in _PARTS})
        if run.coherence is not None:
            arrays[f"{k}.coherence"] = run.coherence
        arrays.update({f"{k}.memory.{name}": part for name, part in run.memory.items()})
        history = run.history
        table = [[_number(getattr(info, name)) for name in _COLUMNS] for info in history]
        arrays[f"{k}.history"] = np.array(table, np.float64).reshape(-1, len(_COLUMNS))
        described.append(
            {
                **{name: float(getattr(run, name)).hex() for name in _NUMBERS},
                **{name: int(getattr(run, name)) for name in _WHOLE},
                "generator": run.generator,
                "reason": run.reason,
                "notes": [[place, *info.notes] for place, info in enumerate(history) if info.notes],
            }
        )
    header = {"checkpoint": _VERSION, "columns": list(_COLUMNS), "runs": described, "about": dict(about)}
    if (folder / NAME).exists():
        _keep(folder / NAME, folder / PREVIOUS)
    write_model_file(folder / NAME, arrays, header)


def read_checkpoint(folder: Path) -> Checkpoint:
    """The last checkpoint in a folder, or the one before when the last cannot be read."""
    problems = []
    for name in (NAME, PREVIOUS):
        try:
            return _read(folder / name)
        except FileNotFoundError:
            continue
        except ModelFileError as error:
            problems.append(str(error))
    if problems:
        raise ModelFileError("; ".join(problems))
    raise FileNotFoundError(2, "No checkpoint there", str(folder))


def has_checkpoint(folder: Path) -> bool:
    """Whether there is something to continue from."""
    return (folder / NAME).exists() or (folder / PREVIOUS).exists()


def _read(path: Path) -> Checkpoint:
    arrays, header = read_model_file(path)
    version = header.get("checkpoint")
    if version is None:
        raise ModelFileError(f"{path} is a file of glnn, but not a checkpoint")
    if version != _VERSION:
        raise ModelFileError(f"{path} is a checkpoint of version {version!r}, this glnn reads version {_VERSION}")
    try:
        if header["columns"] != list(_COLUMNS):
            raise ModelFileError(f"{path} was written by a glnn that records other things about a step: start again")
        runs = tuple(_progress(k, run, arrays) for k, run in enumerate(header["runs"]))
        return Checkpoint(runs, dict(header["about"]))
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} does not fit together ({type(error).__name__}: {error})") from None


def _progress(k: int, described: dict[str, Any], arrays: dict[str, np.ndarray]) -> Progress:
    params, best = (Params(*(arrays[f"{k}.{which}.{part}"] for part in _PARTS)) for which in ("params", "best"))
    for one, other in zip(vars(params).values(), vars(best).values(), strict=True):
        if one.dtype.kind != "f" or one.shape != other.shape or one.dtype != other.dtype:
            raise KeyError("the parameters and the best ones are of different sizes")
        if not (np.isfinite(one).all() and np.isfinite(other).all()):
            raise KeyError("some parameters are not finite")
    if described["generator"] is not None or described["step"] > 0:
        np.random.default_rng().bit_generator.state = described["generator"]
    history = [_info(row) for row in arrays[f"{k}.history"].tolist()]
    for place, *notes in described["notes"]:
        history[place] = replace(history[place], notes=tuple(notes))
    if len(history) != described["step"]:
        raise KeyError(f"{described['step']} steps were done and {len(history)} are recorded")
    if [info.step for info in history] != list(range(1, len(history) + 1)):
        raise KeyError("the steps are not recorded in order")
    if not all(np.isfinite(info.seconds) and info.seconds >= 0.0 for info in history):
        raise KeyError("a recorded time is not a time")
    memory = f"{k}.memory."
    numbers: dict[str, Any] = {name: float.fromhex(described[name]) for name in _NUMBERS}
    numbers.update({name: int(described[name]) for name in _WHOLE})
    return Progress(
        params=params,
        best=best,
        generator=described["generator"],
        coherence=_quotients(arrays.get(f"{k}.coherence")),
        memory={name[len(memory) :]: part for name, part in arrays.items() if name.startswith(memory)},
        reason=str(described["reason"]),
        history=history,
        **numbers,
    )


def _quotients(found: np.ndarray | None) -> np.ndarray | None:
    if found is not None and not (found.ndim == 1 and found.dtype.kind == "f" and (found >= 1.0).all()):
        raise KeyError("the factors that shorten steps are not numbers of 1 or more, one per unit")
    return found


def _info(row: list[float]) -> StepInfo:
    cells: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    for name in _WHOLE_COLUMNS:
        cells[name] = int(cells[name])
    if np.isnan(cells["validation"]):
        cells["validation"] = None
    return StepInfo(**cells)


def _keep(current: Path, previous: Path) -> None:
    """Give the file a second name, in place of what had it; the first name stays all the time."""
    second = current.with_name(f".{previous.name}.new")
    second.unlink(missing_ok=True)
    try:
        os.link(current, second)
    except OSError:
        # Not every file system allows two names for one file.
        shutil.copyfile(current, second)
    second.replace(previous)
    # Renaming does nothing between two names of one file, as a crash after this line may have left them.
    second.unlink(missing_ok=True)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
