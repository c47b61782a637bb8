"""The folder of a run: the model, how to repeat it, its history and checkpoints, with a lock against a second writer.

`config.json` says everything that is needed to repeat the run; `result.json` is there when the run is finished.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glnn.cli.inputs import Data, read, sha256
from glnn.sequences.errors import InputError
from glnn.sequences.formats.columns import NO_TIME
from glnn.sequences.formats.source import STANDARD_INPUT, ReadOptions, RememberedOptions
from glnn.storage.atomic import write_whole

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel

MODEL, CONFIG, HISTORY, RESULT, LOCK = "model.safetensors", "config.json", "history.jsonl", "result.json", ".lock"
_FORMAT = 1
# What is reported about a result, besides its numbers.
_TOLD = ("model", "units", "best_step", "stopped", "run", "validation_bits", "held_out")


@dataclass(frozen=True)
class Input:
    """A file that a run was given."""

    given: str
    path: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Input:
        """The file as it is now."""
        if str(path) == STANDARD_INPUT or path.is_fifo():
            return cls(str(path), STANDARD_INPUT, "")
        return cls(str(path), str(path.resolve()), sha256(path))

    def found(self) -> Path:
        """Where the file is now; it must be the same."""
        if self.path == STANDARD_INPUT:
            pipe = "standard input" if self.given == STANDARD_INPUT else f"the pipe {self.given}"
            raise InputError(f"the data came from {pipe}: train on a file to be able to resume")
        for path in (Path(self.path), Path(self.given)):
            # Only regular files: a device never ends.
            if path.is_file():
                if sha256(path) != self.sha256:
                    raise InputError(f"{path} has changed since the run began: put the old file back")
                return path
        raise InputError(f"{self.path} is missing: put it back, the run needs its data")


@dataclass
class Config:
    """All that is needed to repeat a run."""

    model: str
    parameters: dict[str, Any]
    reading: ReadOptions
    inputs: dict[str, Input]
    save_every: float = 30.0
    command: list[str] = field(default_factory=list)
    started: str = ""
    size: dict[str, int] | None = None
    """What "auto" was resolved to."""
    sizes_for: float | None = None
    """The budget in seconds that sizes and rivals were chosen for, where it has grown since."""
    resumed: list[dict[str, Any]] = field(default_factory=list)

    def data(self, name: str) -> Data | None:
        """The data that were given under this name, read again."""
        if name not in self.inputs:
            return None
        mask = self.inputs.get(f"{name}_mask")
        return read(self.inputs[name].found(), self.reading, None if mask is None else mask.found())

    def as_json(self) -> dict[str, Any]:
        """For `config.json`."""
        import platform
        from importlib.metadata import version

        from glnn import __version__

        machine = {"python": platform.python_version(), "machine": platform.machine()}
        packages = {name: version(name) for name in ("numpy", "numba")}
        return {"format": _FORMAT, "glnn": __version__, **machine, **packages, **asdict(self)}

    @classmethod
    def from_json(cls, document: Any, where: Path) -> Config:
        """The inverse of `as_json`."""
        try:
            if document["format"] != _FORMAT:
                raise InputError(f"{where} has format {document['format']!r}, this glnn reads format {_FORMAT}")
            names = {part.name for part in fields(cls)}
            given = {name: value for name, value in document.items() if name in names}
            given["reading"] = _reading(document)
            given["inputs"] = {name: Input(**value) for name, value in given["inputs"].items()}
            found = cls(**given)
            found._check_types()
            return found
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{where} is not a description of a run ({type(error).__name__}: {error})") from None

    def _check_types(self) -> None:
        """Refuse what is of another type than this package writes."""
        texts = [self.model, *(text for one in self.inputs.values() for text in vars(one).values())]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a name, path or checksum is not a text")
        if not isinstance(self.parameters, dict) or "data" not in self.inputs:
            raise TypeError("it lacks parameters or data")
        if not isinstance(self.save_every, int | float) or not isinstance(self.resumed, list):
            raise TypeError("save_every is not a number, or resumed not a list")
        if self.sizes_for is not None and not isinstance(self.sizes_for, int | float):
            raise TypeError("sizes_for is not a number")
        if self.size is not None and not isinstance(self.size, dict):
            raise TypeError("size is not a table")


class RunFolder:
    """A folder, and the files in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model, self.config_file, self.history, self.result_file = (
            path / name for name in (MODEL, CONFIG, HISTORY, RESULT)
        )

    @property
    def began(self) -> bool:
        """Whether a run was begun here."""
        return self.config_file.exists()

    def config(self) -> Config:
        """How the run was begun."""
        if not self.began:
            raise InputError(f"{self.path} is not the folder of a run: it holds no {CONFIG}")
        return Config.from_json(_read_json(self.config_file), self.config_file)

    def write_config(self, config: Config) -> None:
        """Write `config.json`."""
        write_whole(self.config_file, json.dumps(config.as_json(), indent=1).encode() + b"\n")

    def result(self) -> dict[str, Any] | None:
        """The result of the run; None while it is not finished."""
        if not self.result_file.exists():
            return None
        found = _read_json(self.result_file)
        numbers = ("steps", "parameters", "cpu_seconds", "wall_seconds")
        whole = isinstance(found, dict) and {*numbers, *_TOLD} <= found.keys()
        if not whole or not all(isinstance(found[name], int | float) for name in numbers):
            raise InputError(f"{self.result_file} is not the result of a run: remove it, then glnn resume {self.path}")
        return found  # type: ignore[no-any-return]

    def write_result(self, result: dict[str, Any]) -> None:
        """Write `result.json`."""
        write_whole(self.result_file, json.dumps(result, indent=1, allow_nan=False).encode() + b"\n")

    def clear(self) -> None:
        """Remove what a run wrote, and nothing else."""
        from glnn.storage.checkpoint import NAME, PREVIOUS

        for name in (RESULT, NAME, PREVIOUS, MODEL, HISTORY, CONFIG):
            (self.path / name).unlink(missing_ok=True)

    def unfinished(self) -> set[Path]:
        """What a killed process had begun to write, or another is writing."""
        names = (MODEL, CONFIG, HISTORY, RESULT, "checkpoint.safetensors", "checkpoint.previous.safetensors")
        patterns = [f".{name}.{end}" for name in names for end in ("*.part", "*.unfinished", "new")]
        return {left for pattern in patterns for left in self.path.glob(pattern)}

    def _sweep(self) -> None:
        """Remove that; under the lock nobody else is writing."""
        for left in self.unfinished():
            left.unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers out; the system releases the lock when the process ends, however it ends."""
        file = (self.path / LOCK).open("a+")
        try:
            if _lock(file, self.path):
                self._sweep()
            yield
        finally:
            file.close()


@contextmanager
def new_run(path: Path, force: bool) -> Iterator[RunFolder]:
    """A locked folder for a new run. If nothing is started in it, it is left as it was."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file: a run needs a folder")
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    folder = RunFolder(path)
    had_lock = (path / LOCK).exists()
    try:
        if folder.began and not force:
            raise InputError(
                f"{path} holds a run already: choose another folder with --run, --force to replace it, "
                f"or continue with: glnn resume {path}"
            )
        others = {entry for entry in path.iterdir() if entry.name != LOCK} - folder.unfinished()
        if not folder.began and others:
            raise InputError(f"the folder {path} holds other things: choose another with --run")
        with folder.locked():
            yield folder
    finally:
        if not folder.began:
            if not had_lock:
                (path / LOCK).unlink(missing_ok=True)
            for empty in made:
                if not any(empty.iterdir()):
                    empty.rmdir()


def _reading(document: Any) -> ReadOptions:
    """How the data were read; runs of older versions kept it under another name, and knew texts and tables only."""
    if "reading" in document:
        return ReadOptions(**document["reading"])
    before = ReadOptions(**document["cutting"])
    if before.case is None:
        return before.found(format="text", delimiter=None)
    return before.found(format="csv", time=before.time or NO_TIME)


def open_model(path: Path) -> tuple[SequenceModel, ReadOptions]:
    """The model of a run's folder or of a model file, and how its data are read."""
    from glnn.estimators import load

    if not path.is_dir():
        model = load(path)
        return model, ReadOptions.of_alphabet(model.alphabet_)
    folder = RunFolder(path)
    config = folder.config()
    if not folder.model.exists():
        raise InputError(f"{path} holds no model yet: the run was stopped too early; continue with: glnn resume {path}")
    return load(folder.model), RememberedOptions(**vars(config.reading))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON: it was damaged") from None


def _lock(file: Any, path: Path) -> bool:
    """Lock a file; whether this system can."""
    try:
        import fcntl
    except ImportError:
        # On systems without it, nothing keeps two runs out of one folder.
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"another process is working in {path}: wait for it, or choose another folder") from None
    return True
