"""Files of every kind that glnn reads, and damage to them: blind, or by a forger who signs what he changes.

`readers()` gives for each kind a whole file and the way it is read and then used; `damaged` makes a bad one of it. A
reader may refuse with InputError (a ValueError) or an error of the operating system, or take the file if it still makes
sense. Used by the tests and, for longer, by experiments/fuzz_readers.py.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import struct
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from typer.main import get_command

import glnn
from glnn.cli import main
from glnn.cli.app import app
from glnn.cli.run_folder import RunFolder
from glnn.codec import decompress_file
from glnn.codec.container import CHECKSUM, MAGIC, checksum
from glnn.storage.checkpoint import NAME, read_checkpoint
from glnn.storage.model_file import signed
from glnn.training.records import Replay
from glnn.training.trainer import Trainer

TEXT = "abracadabra, " * 12
LOG = "case,step,who\n" + "".join(f"{n},{step},{n % 3}\n" for n in range(12) for step in ("open", "read", "close"))
MOST_SYMBOLS = 20_000
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 2**70, 10**15, -(2**70), 0.5, -0.0, 1e308, float("nan"), float("inf"),
    "", "a", "nan", "inf", "0x1p+1", "../../outside", "/dev/zero", "\0", "\ud800", "x" * 5000, [], [[]], [1, 2], ["a"],
    {}, {"float": "nan"}, {"float": "x"}, {"tuple": []}, {"bytes": "zz"}, {"numbers": ["nan"]}, {"budget": {}},
    {"budget": {"steps": -1}}, {"alphabet": {}}, {"__class__": "os.system"},
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of file: one that is whole, how it is read and used, and how a forger would change it."""

    whole: bytes
    read: Callable[[bytes, Path], Any]
    forge: Callable[[bytes, random.Random], bytes] | None = None


def damaged(kind: Kind, generator: random.Random) -> bytes:
    """One bad file."""
    if kind.forge is not None and generator.random() < 0.6:
        return kind.forge(kind.whole, generator)
    return bitten(kind.whole, generator)


def bitten(content: bytes, generator: random.Random) -> bytes:
    """Bytes changed, put in, taken out, cut off, said twice, or replaced by numbers that claim too much."""
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 5, 20))):
        place = generator.randrange(len(changed) + 1)
        how = generator.randrange(7)
        if how == 0 and place < len(changed):
            changed[place] ^= 1 << generator.randrange(8)
        elif how == 1:
            changed[place:place] = generator.randbytes(generator.randint(1, 9))
        elif how == 2:
            del changed[place : place + generator.randint(1, 40)]
        elif how == 3:
            del changed[place:]
        elif how == 4:
            changed[place:place] = changed[place : place + generator.randint(1, 200)]
        elif how == 5:
            large = generator.choice((2**63 - 1, 2**50, 2**40, 2**32 - 1, 10**8, 0))
            changed[place : place + 8] = struct.pack("<Q", large)
        else:
            changed[place : place + 1] = generator.choice((b"\xff" * 9, b"\x00", b"9" * 30, b"[" * 3000, b'"', b"\x80"))
    return bytes(changed)


def twisted(value: Any, generator: random.Random) -> Any:
    """A JSON document with one thing in it changed, taken out or put in."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    value = copy.deepcopy(value)
    walk(value)
    if not places:
        return generator.choice(STRANGE)
    node, key = generator.choice(places)
    how = generator.randrange(5)
    if how == 0:
        del node[key]
    elif how == 1 and isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    elif how == 2 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] += generator.choice((1, -1, 0.5, 10**6, -(10**9)))
    else:
        node[key] = generator.choice(STRANGE)
    return value


def _forged_model(content: bytes, generator: random.Random) -> bytes:
    """Header and arrays changed, with a checksum that says they are right."""
    arrays = {name: array.copy() for name, array in load_tensors(content).items()}
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["glnn"])
    header.pop("sha256")
    for _ in range(generator.choice((1, 1, 2, 4))):
        if generator.random() < 0.6:
            header = twisted(header, generator)
        else:
            name = generator.choice(sorted(arrays))
            arrays[name] = _other_array(arrays[name], generator)
            if generator.random() < 0.1:
                del arrays[name]
        if not isinstance(header, dict) or not arrays:
            break
    try:
        text = signed(arrays, header)
    except (TypeError, ValueError, AttributeError):
        # What cannot be signed as the library does, a forger writes by hand.
        text = json.dumps(header)
    return bytes(save_tensors(arrays, metadata={"glnn": text.encode("utf-8", "replace").decode()}))


def _other_array(array: np.ndarray, generator: random.Random) -> np.ndarray:
    how = generator.randrange(7)
    if how == 0:
        return array.ravel()
    if how == 1:
        return np.concatenate([array, array])
    if how == 2:
        return array[: len(array) // 2].copy()
    if how == 3:
        return array.astype(generator.choice((np.float32, np.int8, np.int64, np.float64, np.uint8, bool)))
    if how == 4:
        return np.zeros(generator.choice(((0,), (1,), (3, 0), (2, 2, 2), (1, 10_000))))
    if array.size:
        values = (np.nan, np.inf, 1e300, -1, 0, 2**31 - 1, 10**6) if array.dtype.kind == "f" else (-1, 0, 10**6, 2**31)
        with np.errstate(all="ignore"), contextlib.suppress(OverflowError):
            array.reshape(-1)[generator.randrange(array.size)] = generator.choice(values)
    return array


def _sealed(content: bytes, generator: random.Random) -> bytes:
    """A stream changed behind its magic, with the checksum of what it became."""
    body = content[: len(MAGIC)] + bitten(content[len(MAGIC) : -CHECKSUM], generator)
    digest = checksum()
    digest.update(body)
    return body + digest.digest()


def _sealed_log(content: bytes, generator: random.Random) -> bytes:
    place = content.index(MAGIC)
    return content[:place] + _sealed(content[place:], generator)


def _twisted_json(content: bytes, generator: random.Random) -> bytes:
    found = json.loads(content)
    for _ in range(generator.choice((1, 1, 3))):
        if isinstance(found, dict | list):
            found = twisted(found, generator)
    return json.dumps(found).encode()


def _use_model(content: bytes, folder: Path) -> None:
    path = folder / "model"
    path.write_bytes(content)
    model: Any = glnn.load(path)
    base = [symbol for symbol in model.alphabet_.symbols if not hasattr(symbol, "value")][:3]
    model.bits([base])
    model.predict_proba()
    model.sample(3, random_state=0)
    model.save(folder / "again")


def _use_checkpoint(content: bytes, folder: Path) -> None:
    (folder / NAME).write_bytes(content)
    arguments = _trainer_arguments()
    for run in read_checkpoint(folder).runs:
        again = Trainer(*arguments, recorder=Replay(run))
        # A checkpoint of another network is refused by whoever knows the network (glnn resume).
        shapes = [[part.shape for part in vars(params).values()] for params in (run.params, arguments[2])]
        if shapes[0] == shapes[1] and run.step <= 10:
            again.run(f"{run.step + 1} steps")


def _use_run(name: str) -> Callable[[bytes, Path], None]:
    """A run's folder with one file of it changed, as commands meet it; nothing may be written beside the folder."""

    def use(content: bytes, folder: Path) -> None:
        run = folder / "run"
        run.mkdir()
        (folder / "data.txt").write_text(TEXT)
        for other, whole in _run_folder().items():
            (run / other).write_bytes(whole)
        (run / name).write_bytes(content)
        if name == NAME:
            # Without its result the run goes on from the checkpoint.
            (run / "result.json").unlink()
        with contextlib.chdir(folder):
            _command(["predict", "run"])
            _command(["resume", "run", "--json"])
            if name == "config.json":
                with contextlib.suppress(ValueError, OSError):
                    RunFolder(Path("run")).config().data("data")
        assert {path.name for path in folder.iterdir()} == {"run", "data.txt"}, "a file was written outside the run"

    return use


def _command(arguments: list[str]) -> None:
    """A command leaves with 0 or 2, and 2 means one line."""
    err = io.StringIO()
    # Typer makes all commands anew for every call, which takes longer than what is tried here.
    once = patch("typer.main.get_command", lambda _: _commands())
    with once, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as left:
            code = left.code
    assert code in (0, 2), f"{arguments} left with {code}"
    if code == 2:
        assert err.getvalue().count("\n") == 1 and "Traceback" not in err.getvalue(), err.getvalue()


@cache
def _commands() -> Any:
    return get_command(app)


@cache
def _models() -> dict[str, Any]:
    options: dict[str, Any] = {"budget": "2 steps", "random_state": 0, "verbose": 0, "unknown": "escape"}
    cases = [list("abab"), list("ab"), list("abba")] * 4
    return {
        "GLNN": glnn.GLNN(3, 2, restarts=1, **options).fit(TEXT),
        "LSTM": glnn.LSTM(2, 1, restarts=1, **options).fit(cases),
        "HMM": glnn.HMM(3, 2, **options).fit(TEXT),
        "ContextTree": glnn.ContextTree(depth=2, verbose=0).fit(cases),
        "events": glnn.ContextTree(depth=2, verbose=0).fit([["open", "read", "close"]] * 12),
    }


@cache
def _trainer_arguments() -> tuple[Any, ...]:
    from glnn.models import MODELS
    from glnn.network import random_graph
    from glnn.sequences import encode

    data = encode(TEXT)
    generator = np.random.default_rng(0)
    model = MODELS["glnn"](random_graph(3, 2, generator), len(data.alphabet))
    counts = np.bincount(data.codes, minlength=len(data.alphabet)).astype(float)
    return model, data, model.initial(counts, counts, generator)


@cache
def _run_folder() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        Path("data.txt").write_text(TEXT)
        options = ["--units", "3", "--degree", "2", "--restarts", "1", "--budget", "2 steps", "--quiet"]
        _command(["train", "data.txt", "--run", "run", *options])
        kept = ("config.json", "result.json", "model.safetensors", "history.jsonl", NAME)
        return {name: (Path("run") / name).read_bytes() for name in kept}


@cache
def readers() -> dict[str, Kind]:
    """Every kind of file, by name."""
    from glnn.codec.event_log import compress_log, decompress_log
    from glnn.sequences import ReadOptions

    kinds: dict[str, Kind] = {}
    models = _models()
    cutting = ReadOptions(format="csv", case="case", activity="step")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("GLNN", "LSTM", "HMM", "ContextTree"):
            models[name].save(folder / "model")
            kinds[f"model {name}"] = Kind((folder / "model").read_bytes(), _use_model, _forged_model)
        (folder / "text").write_text(TEXT)
        models["GLNN"].compress_file(folder / "text", folder / "packed")
        packed = (folder / "packed").read_bytes()
        (folder / "log.csv").write_text(LOG)
        compress_log(models["events"], cutting, folder / "log.csv", folder / "log.glnn")
        log = (folder / "log.glnn").read_bytes()

    def stream(name: str) -> Callable[[bytes, Path], Any]:
        return lambda content, folder: models[name].decompress(content, most_symbols=MOST_SYMBOLS)

    def unpack(content: bytes, folder: Path) -> None:
        (folder / "in").write_bytes(content)
        try:
            decompress_file(models["GLNN"], folder / "in", folder / "out", most_symbols=MOST_SYMBOLS)
        except ValueError:
            assert not (folder / "out").exists() and not list(folder.glob(".*"))
            raise

    def unpack_log(content: bytes, folder: Path) -> None:
        (folder / "in").write_bytes(content)
        try:
            decompress_log(models["events"], cutting, folder / "in", folder / "out")
        except ValueError:
            assert not (folder / "out").exists() and not list(folder.glob(".*"))
            raise

    def text(read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
        def use(content: bytes, folder: Path) -> Any:
            (folder / "in").write_bytes(content)
            return read(folder / "in")

        return use

    for name in ("GLNN", "HMM", "ContextTree"):
        data: Any = TEXT[:40] if name != "ContextTree" else [list("abab"), list("ba")]
        kinds[f"stream {name}"] = Kind(models[name].compress(data), stream(name), _sealed)
    kinds["compressed file"] = Kind(packed, unpack, _sealed)
    kinds["compressed log"] = Kind(log, unpack_log, _sealed_log)
    kinds["checkpoint"] = Kind(_run_folder()[NAME], _use_checkpoint, _forged_model)
    for name in ("config.json", "result.json"):
        kinds[name] = Kind(_run_folder()[name], _use_run(name), _twisted_json)
    kinds["run's checkpoint"] = Kind(_run_folder()[NAME], _use_run(NAME), _forged_model)
    kinds["text"] = Kind(TEXT.encode(), text(glnn.read_file))
    kinds["mask"] = Kind(b"01" * 20, text(glnn.read_mask))
    kinds["event log"] = Kind(LOG.encode(), text(lambda path: glnn.read_event_log(path, "case", "step", "who")))
    return kinds
