"""Files of the formats that others write, and logs that are followed: whole ones, and how each is read and used."""

from __future__ import annotations

import contextlib
import gzip
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import glnn
from glnn.sequences.reader import read_training_data
from tests.trust.damage import Kind, attacked, forged_model, packed_again, patched, twisted_lines

STEPS = ("open", "read", "close")
CSV = "case,step,who\n" + "".join(f"{n},{step},{n % 3}\n" for n in range(12) for step in STEPS)
DATED = "case;step;at\n" + "".join(
    f"{n};{s};2020-01-{k + 1:02}T1{n}:00:00\n" for n in range(6) for k, s in enumerate(STEPS)
)
FASTA = "".join(f">seq{n} some words\nACGTACGTNNACGT\nTTGACA\n" for n in range(6))
ABC = "".join(f'X:{n}\nT:Tune {n}\nM:4/4\nK:G\n|:"G"G2 ^c\'3/2 [CEG] (3abc {{d}}e z2 !trill!f:|\n' for n in range(1, 5))
JSON_LINES = "".join(f'{{"name": "n{n}", "events": ["open", "{n}", "close"]}}\n' for n in range(8))
JSON_EVENTS = "".join(f'{{"case": {n}, "activity": "{s}", "time": {n}}}\n' for n in range(8) for s in STEPS)
NUMBERS = "".join(f"{n} 1 2, {n}; 3\n" for n in range(9))
XES = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0" xmlns="http://www.xes-standard.org/">\n'
    + "".join(
        f'<trace><string key="concept:name" value="case {n}"/>'
        + "".join(
            f'<event><string key="concept:name" value="{step}"><int key="deep" value="1"/></string></event>'
            for step in STEPS
        )
        + "</trace>\n"
        for n in range(6)
    )
    + "</log>\n"
)
MOST_SYMBOLS = 100_000


def formats() -> dict[str, Kind]:
    """Every format that `glnn.read` knows, by its name and by what it looks like."""
    packed = gzip.compress(XES.encode(), 1)
    return {
        "text": Kind(CSV.encode(), _taken(glnn.read_file)),
        "mask": Kind(b"01" * 20, _taken(glnn.read_mask)),
        "event log": Kind(CSV.encode(), _taken(lambda path: glnn.read_event_log(path, "case", "step", "who"))),
        "FASTA": Kind(FASTA.encode(), _use("in.fasta"), patched),
        "FASTA, packed": Kind(gzip.compress(FASTA.encode(), 1), _use("in.fa.gz"), packed_again(patched)),
        "XES": Kind(XES.encode(), _use("in.xes"), attacked),
        "XES, packed": Kind(packed, _use("in.xes.gz"), packed_again(attacked)),
        "ABC": Kind(ABC.encode(), _use("in.abc", format="abc"), patched),
        "CSV": Kind(CSV.encode(), _use("in.csv"), patched),
        "CSV with times": Kind(DATED.encode(), _use("in.csv", case="case", activity="step", time="at"), patched),
        "CSV, empty cells kept": Kind(CSV.encode(), _use("in.csv", empty="keep"), patched),
        "JSON lines": Kind(JSON_LINES.encode(), _use("in.jsonl"), twisted_lines),
        "JSON events": Kind(JSON_EVENTS.encode(), _use("in.jsonl"), _either(twisted_lines, patched)),
        "lines of numbers": Kind(NUMBERS.encode(), _use("in.txt", format="lines"), patched),
        "whatever it is": Kind(ABC.encode(), _use("in"), _either(patched, _another)),
    }


def followed(events: Any, letters: Any, command: Callable[[list[str]], None]) -> dict[str, Kind]:
    """What `glnn follow` reads: its own state, and the logs."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        events.save("events.model")
        letters.save("letters.model")
        models = {name: Path(name).read_bytes() for name in ("events.model", "letters.model")}
        Path("log.csv").write_text(CSV)
        command(_FOLLOW_CSV)
        state = Path("kept.state").read_bytes()

    def use(name: str, arguments: list[str], others: dict[str, bytes]) -> Callable[[bytes, Path], None]:
        def follow(content: bytes, folder: Path) -> None:
            for other, whole in {**models, **others, name: content}.items():
                (folder / other).write_bytes(whole)
            with contextlib.chdir(folder):
                command(arguments)
            made = {path.name for path in folder.iterdir()} - {*models, *others, name, "kept.state"}
            assert not made, f"{made} was written beside"

        return follow

    plain = ["follow", "letters.model", "log.txt", "--once", "--threshold", "3", "--state", "kept.state", "--quiet"]
    objects = [
        "follow", "events.model", "log.jsonl", "--once", "--threshold", "1", "--state", "kept.state", "--quiet",
        "--format", "jsonl", "--activity", "activity", "--case", "case", "--json",
    ]  # fmt: skip
    text = b"abab\nabba\nab\n" * 3
    again = CSV.encode() + b"new,read,1\n"
    return {
        "state of following": Kind(state, use("kept.state", _FOLLOW_CSV, {"log.csv": again}), forged_model),
        "followed table": Kind(CSV.encode(), use("log.csv", _FOLLOW_CSV, {}), patched),
        "followed JSON": Kind(JSON_EVENTS.encode(), use("log.jsonl", objects, {}), _either(twisted_lines, patched)),
        "followed lines": Kind(text, use("log.txt", [*plain, "--format", "lines", "--tokens", "chars"], {}), _short),
    }


_FOLLOW_CSV = [
    "follow", "events.model", "log.csv", "--once", "--learn", "--false-alarms", "0.05", "--state", "kept.state",
    "--quiet", "--format", "csv", "--case", "case", "--activity", "step",
]  # fmt: skip


def _use(name: str, **options: Any) -> Callable[[bytes, Path], None]:
    def use(content: bytes, folder: Path) -> None:
        (folder / name).write_bytes(content)
        found = glnn.read(folder / name, **options)
        repr(found)
        if sum(map(len, found)) < MOST_SYMBOLS:
            read_training_data(found, None, None, None)

    return use


def _taken(read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    def use(content: bytes, folder: Path) -> Any:
        (folder / "in").write_bytes(content)
        return read(folder / "in")

    return use


def _either(*forgers: Callable[[bytes, random.Random], bytes]) -> Callable[[bytes, random.Random], bytes]:
    return lambda content, generator: generator.choice(forgers)(content, generator)


def _short(content: bytes, generator: random.Random) -> bytes:
    """Every character is an event."""
    return patched(content, generator)[:3000]


def _another(content: bytes, generator: random.Random) -> bytes:
    """The beginning of one format and the end of another."""
    one, other = (generator.choice((CSV, FASTA, ABC, JSON_LINES, NUMBERS, XES)).encode() for _ in range(2))
    return one[: generator.randrange(len(one))] + other[generator.randrange(len(other)) :]
