"""Files of every kind that glnn writes, whole, and how each is read and then used.

A reader may refuse what `tests/trust/damage.py` makes of them with InputError (a ValueError) or an error of the
operating system, or take the file if it still makes sense. `readers()` has all, also those that others write
(`tests/trust/kinds_of_data.py`). Used by the tests and, for longer, by experiments/fuzz_readers.py.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from typer.main import get_command

import glnn
from glnn.cli import main
from glnn.cli.app import app
from glnn.cli.run_folder import RunFolder
from glnn.codec import decompress_file, decompress_file_alone
from glnn.storage.checkpoint import NAME, read_checkpoint
from glnn.training.records import Replay
from glnn.training.trainer import Trainer
from tests.trust import kinds_of_data
from tests.trust.damage import Kind, forged_model, sealed, sealed_layout, sealed_log, twisted_json

TEXT = "abracadabra, " * 12
LOG = "case,step,who\n" + "".join(f"{n},{step},{n % 3}\n" for n in range(12) for step in ("open", "read", "close"))
MOST_SYMBOLS = 20_000
_MIXTURES = ("Mixture", "Mixture of cases", "Mixture with ends")
_RECIPES = {
    "paper": ("--recipe", "paper", "--units", "3", "--degree", "2", "--restarts", "1"),
    "best": ("--units", "3", "--degree", "2", "--members", "2"),
    "race": ("--recipe", "paper", "--units", "3", "--degree", "2", "--restarts", "3"),
    "all data": ("--units", "3", "--degree", "2", "--members", "3", "--valid", "valid.txt"),
    "folds": ("--units", "3", "--degree", "2", "--members", "3", "--folds"),
}


def _use_model(content: bytes, folder: Path) -> None:
    path = folder / "model"
    path.write_bytes(content)
    model: Any = glnn.load(path)
    base = [symbol for symbol in model.alphabet_.symbols if not hasattr(symbol, "value")][:3]
    model.bits([base])
    model.predict_proba()
    model.sample(3, random_state=0)
    model.save(folder / "again")


def _use_stream(content: bytes, folder: Path) -> None:
    path = folder / "stream"
    path.write_bytes(content)
    stream = glnn.load_stream(path)
    stream.predict()
    stream.push_many([symbol for symbol in stream.alphabet.symbols if not hasattr(symbol, "value")][:3])
    stream.end()
    stream.save(folder / "again")


def _use_streams(content: bytes, folder: Path) -> None:
    path = folder / "streams"
    path.write_bytes(content)
    streams = glnn.load_streams(path)
    symbol = streams.predictor.alphabet.symbols[0]
    for key in [*streams, "new"]:
        streams.push(key, symbol)
    streams.end("new")
    streams.save(folder / "again")


def _use_checkpoint(content: bytes, folder: Path) -> None:
    (folder / NAME).write_bytes(content)
    arguments = _trainer_arguments()
    for run in read_checkpoint(folder).runs:
        again = Trainer(*arguments, recorder=Replay(run))
        # A checkpoint of another network is refused by whoever knows the network (glnn resume).
        shapes = [[part.shape for part in vars(params).values()] for params in (run.params, arguments[2])]
        if shapes[0] == shapes[1] and run.step <= 10:
            again.run(f"{run.step + 1} steps")


def _use_run(name: str, recipe: str = "paper") -> Callable[[bytes, Path], None]:
    """A run's folder with one file of it changed, as commands meet it; nothing may be written beside the folder."""

    def use(content: bytes, folder: Path) -> None:
        run = folder / "run"
        run.mkdir()
        _write_texts(folder)
        for other, whole in _run_folder(recipe).items():
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
        assert {path.name for path in folder.iterdir()} == {"run", *_TEXTS}, "a file was written outside the run"

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
        # Following tells of lines that are left out before it tells why it cannot go on.
        told = err.getvalue().splitlines()
        assert (len(told) == 1 or arguments[0] == "follow") and told[-1].startswith("glnn: "), err.getvalue()
        assert "Traceback" not in err.getvalue(), err.getvalue()


@cache
def _commands() -> Any:
    return get_command(app)


@cache
def _model(name: str) -> Any:
    options: dict[str, Any] = {"budget": "2 steps", "random_state": 0, "verbose": 0, "unknown": "escape"}
    cases = [list("abab"), list("ab"), list("abba")] * 4
    if name in ("GLNN", "members"):
        own: dict[str, Any] = {"restarts": 1} if name == "GLNN" else {"members": 2, "start": "typical"}
        return glnn.GLNN(3, 2, **own, **options).fit(TEXT)
    if name == "LSTM":
        return glnn.LSTM(2, 1, restarts=1, **options).fit(cases)
    if name == "HMM":
        return glnn.HMM(3, 2, **options).fit(TEXT)
    if name == "NGram":
        return glnn.NGram(order=3, verbose=0).fit(cases)
    if name == "Mixture":
        return glnn.Mixture(networks=0, verbose=0).fit(TEXT * 4)
    if name == "all data":
        # So short a time is all for the first steps; the members then go on over both texts.
        return glnn.GLNN(3, 2, members=3, **{**options, "budget": 0.4}).fit(TEXT, validation=TEXT)
    if name == "Mixture with ends":
        model = copy(_model("Mixture of cases"))
        beside = model.recipe_.beside.without_networks()
        beside = replace(beside, own=0.9 - sum(beside.weights[1:]), ends=0.1)
        recipe = replace(model.recipe_, beside=beside, cut=model.recipe_.codes.size)
        model._use(recipe, (), model.alphabet_, model.escape_probability_)
        return model
    if name == "Mixture of cases":
        return glnn.Mixture(networks=1, budget="2 steps", random_state=0, verbose=0).fit(cases * 20)
    return glnn.ContextTree(depth=2, verbose=0).fit([["open", "read", "close"]] * 12 if name == "events" else cases)


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


_TEXTS = {"data.txt": TEXT, "valid.txt": TEXT[::-1]}


def _write_texts(folder: Path) -> None:
    for name, text in _TEXTS.items():
        (folder / name).write_text(text)


@cache
def _run_folder(recipe: str = "paper") -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        _write_texts(Path())
        budget = "0.4s" if recipe in ("all data", "folds") else "3 steps"
        options = [*_RECIPES[recipe], "--budget", budget, "--quiet"]
        _command(["train", "data.txt", "--run", "run", *options])
        kept = ("config.json", "result.json", "model.safetensors", "history.jsonl", NAME)
        return {name: (Path("run") / name).read_bytes() for name in kept}


@cache
def readers() -> dict[str, Kind]:
    """Every kind of file, by name."""
    kinds = {
        f"model {name}": _saved(name)
        for name in ("LSTM", "HMM", "ContextTree", "NGram", "members", "all data", *_MIXTURES)
    }
    kinds |= compressed() | _streams() | _alone()
    kinds["checkpoint"] = Kind(_run_folder()[NAME], _use_checkpoint, forged_model)
    for name in ("config.json", "result.json"):
        kinds[name] = Kind(_run_folder()[name], _use_run(name), twisted_json)
    for recipe in _RECIPES:
        kinds[f"{recipe} run's checkpoint"] = Kind(_run_folder(recipe)[NAME], _use_run(NAME, recipe), forged_model)
    return kinds | kinds_of_data.formats() | kinds_of_data.followed(_model("events"), _model("ContextTree"), _command)


def _saved(name: str) -> Kind:
    with tempfile.TemporaryDirectory() as place:
        _model(name).save(Path(place) / "model")
        return Kind((Path(place) / "model").read_bytes(), _use_model, forged_model)


@cache
def compressed() -> dict[str, Kind]:
    """What is compressed with a model, and one of the models."""
    from glnn.codec.event_log import compress_log, decompress_log
    from glnn.sequences import ReadOptions

    kinds = {"model GLNN": _saved("GLNN")}
    cutting = ReadOptions(format="csv", case="case", activity="step")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "text").write_text(TEXT)
        _model("GLNN").compress_file(folder / "text", folder / "packed")
        packed = (folder / "packed").read_bytes()
        (folder / "log.csv").write_text(LOG)
        compress_log(_model("events"), cutting, folder / "log.csv", folder / "log.glnn")
        log = (folder / "log.glnn").read_bytes()

    def stream(name: str) -> Callable[[bytes, Path], Any]:
        return lambda content, folder: _model(name).decompress(content, most_symbols=MOST_SYMBOLS)

    def unpack(content: bytes, folder: Path) -> None:
        (folder / "in").write_bytes(content)
        try:
            decompress_file(_model("GLNN"), folder / "in", folder / "out", most_symbols=MOST_SYMBOLS)
        except ValueError:
            assert not (folder / "out").exists() and not list(folder.glob(".*"))
            raise

    def unpack_log(content: bytes, folder: Path) -> None:
        (folder / "in").write_bytes(content)
        try:
            decompress_log(_model("events"), cutting, folder / "in", folder / "out")
        except ValueError:
            assert not (folder / "out").exists() and not list(folder.glob(".*"))
            raise

    for name in ("GLNN", "HMM", "ContextTree"):
        data: Any = TEXT[:40] if name != "ContextTree" else [list("abab"), list("ba")]
        kinds[f"stream {name}"] = Kind(_model(name).compress(data), stream(name), sealed)
    kinds["compressed file"] = Kind(packed, unpack, sealed)
    kinds["compressed log"] = Kind(log, unpack_log, sealed_log)
    return kinds


def _streams() -> dict[str, Kind]:
    """Streams and groups of them, frozen and learning, in the middle of something."""
    kinds: dict[str, Kind] = {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "kept"
        for name in ("GLNN", "members", "ContextTree", *_MIXTURES):
            for learning in ("frozen", "online"):
                stream = _model(name).stream(learning=learning)
                stream.push_many("abab")
                stream.save(path)
                kinds[f"{learning} stream's state {name}"] = Kind(path.read_bytes(), _use_stream, forged_model)
        for name in ("ContextTree", "LSTM", "Mixture of cases"):
            streams = _model(name).streams(learning="online", most=3)
            for key in ("one", 2, ("three", 3.0)):
                streams[key].push_many("aba")
            streams.end("one")
            streams.more = {"beside": [1, "two"]}
            streams.save(path)
            kinds[f"group of streams {name}"] = Kind(path.read_bytes(), _use_streams, forged_model)
    return kinds


def _alone() -> dict[str, Kind]:
    """What stands alone: bytes, and symbols of several kinds."""

    def unpack(content: bytes, folder: Path) -> None:
        (folder / "in").write_bytes(content)
        try:
            decompress_file_alone(folder / "in", folder / "out", most_symbols=MOST_SYMBOLS)
        except ValueError:
            assert not (folder / "out").exists() and not list(folder.glob(".*"))
            raise

    def back(content: bytes, folder: Path) -> None:
        glnn.decompress(content, most_symbols=MOST_SYMBOLS)

    events = [[("open", 1), ("a", 2.5, None), ()], [("close", "b")], []]
    return {
        "file that stands alone": Kind(glnn.compress(TEXT.encode()), unpack, sealed),
        "symbols that stand alone": Kind(glnn.compress(events), back, sealed_layout),
        "numbers that stand alone": Kind(glnn.compress(np.arange(300) % 270), back, sealed_layout),
        "texts that stand alone": Kind(glnn.compress(glnn.Sequences(["abab", "ba"])), back, sealed_layout),
    }
