"""Wrong input to every command: one line that says what to do, exit code 2, nothing printed, nothing half-written.

The table names each bad input once; a snapshot of the whole folder, contents included, is compared afterwards.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from glnn.cli.app import COMMANDS, app
from tests.cli.conftest import SMALL, Command

STEPS = ("--budget", "2 steps", *SMALL)

# Files that are wrong in one way each.
FILES = {
    "empty.txt": b"",
    "binary.bin": bytes(range(256)) * 3,
    "latin1.txt": "erste Zeile\nzweite Zeile für alle\n".encode("latin-1"),
    "cut.txt": "abcabc€".encode()[:-1],
    "utf16.txt": "abcabcabc".encode("utf-16"),
    "blank.txt": b"  \n \n",
    "letter.txt": b"a",
    "same.txt": b"aaaaaaaa",
    "text.txt": b"abracadabra " * 20,
    "taken.out": b"precious",
    "short.mask": b"0110",
    "zero.mask": b"0" * 240,
    "words.mask": b"yes no",
    "noise.glnn": b"\x97GLN" + bytes(range(200)),
    "noise.safetensors": bytes(range(256)),
    "empty.csv": b"",
    "header.csv": b"order,step\n",
    "ragged.csv": b"order,step\n1,a\n2\n",
    "blank.csv": b"order,step\n1,\n",
    "times.csv": b"order,step,at\n1,a,soon\n",
    "mixed.csv": b"order,step,at\n1,a,3\n1,b,2020-01-01\n",
    "twice.csv": b"order,order,step\n1,1,a\n",
}

# What every command that reads a file refuses, with a part of its message.
BAD_FILES = [
    ("empty.txt", "is empty"),
    ("binary.bin", "not UTF-8 text: byte 0x80 at offset 128"),
    ("latin1.txt", "byte 0xfc at offset 26 (line 2)"),
    ("latin1.txt", "--tokens bytes"),
    ("cut.txt", "at offset 6"),
    ("utf16.txt", "not UTF-8"),
    ("missing.txt", "missing.txt: No such file or directory; check the name"),
    ("folder", "folder: Is a directory; give a file"),
    ("text.txt/inside", "Not a directory"),
    ("nul\0name", ""),
]
BAD_RUNS = [
    ("missing", "check the name"),
    ("folder", "folder is not the folder of a run: it holds no config.json"),
    ("text.txt", "is not a model file"),
    ("empty.txt", "is not a model file"),
    ("binary.bin", "is not a model file"),
    ("noise.safetensors", "not a model file"),
    ("begun", "the run was stopped too early; continue with: glnn resume begun"),
    ("broken", "is not JSON"),
]
BAD_BUDGETS = ("", "soon", "0", "0s", "-5s", "nan", "inf", "1e3s", "5 parsecs", "1.5 steps", "60 s s", "9" * 400)
READING = ("train", "score", "predict", "sample", "compress", "decompress", "resume", "report", "compare", "inspect")
FOLLOW = ("follow", "tunes", "more.txt", "--once")
LOG = ("--case", "order", "--activity", "step")

TABLE: list[tuple[tuple[str, ...], str]] = [
    *[(("train", name, *STEPS, "--run", "new"), message) for name, message in BAD_FILES],
    *[(("train", "text.txt", "--valid", name, *STEPS, "--run", "new"), message) for name, message in BAD_FILES],
    *[(("score", "tunes", name), message) for name, message in BAD_FILES],
    *[(("inspect", "tunes", name, "--out", "new.html"), message) for name, message in BAD_FILES],
    *[(("report", "tunes", "--data", name, "--out", "new.html"), message) for name, message in BAD_FILES],
    *[(("compare", name, "--budget", "2 steps"), message) for name, message in BAD_FILES],
    *[(("resume", name), "") for name, _ in BAD_RUNS if name != "begun"],
    *[(("score", name, "text.txt"), message) for name, message in BAD_RUNS],
    *[(("predict", name), message) for name, message in BAD_RUNS],
    *[(("sample", name), message) for name, message in BAD_RUNS],
    *[(("compress", name, "tunes.txt", "new.out"), message) for name, message in BAD_RUNS],
    *[(("decompress", name, "noise.glnn", "new.out"), message) for name, message in BAD_RUNS],
    *[(("inspect", name, "tunes.txt", "--out", "new.html"), message) for name, message in BAD_RUNS],
    *[(("report", name, "--out", "new.html"), message) for name, message in BAD_RUNS],
    *[(("follow", name, "text.txt", "--once"), message) for name, message in BAD_RUNS],
    *[((*FOLLOW, "--normal", name), message) for name, message in BAD_FILES],
    # Parameters.
    *[
        (("train", "text.txt", "--run", "new", "--budget", "2 steps", *arguments), message)
        for arguments, message in [
            (("--units", "0"), "units is 0: it must be a whole number, 1 or more"),
            (("--units", "-3"), "1 or more"),
            (("--units", "many"), "--units is 'many': it must be a whole number, 1 or more, or 'auto'"),
            (("--units", "2.5"), "--units is 2.5"),
            (("--units", "nan"), "--units is nan"),
            (("--units", "1e9"), "--units is 1000000000.0"),
            (("--degree", "0"), "degree is 0"),
            (("--degree", "-1"), "degree is -1"),
            (("--units", "4", "--degree", "9"), "degree is 9"),
            (("--restarts", "0"), "restarts is 0"),
            (("--metric", "rpbm"), "did you mean 'rbpm'?"),
            (("--metric", "RBPM"), "did you mean 'rbpm'?"),
            (("--metric", ""), "it must be one of"),
            (("--output-metric", "qdhh"), "did you mean 'qdh'?"),
            (("--model", "gln"), "did you mean glnn?"),
            (("--model", "transformer"), "there are mixture, glnn, gnn, rnn, lstm, "),
            (("--model", "hmm", "--metric", "rbpm"), "--metric is not for the model hmm"),
            (("--model", "contexttree", "--units", "3"), "--units is not for the model contexttree"),
            (("--depth", "3"), "--depth is not for the model glnn"),
            (("--model", "contexttree", "--depth", "-1"), "--depth"),
            (("--patience", "0"), "--patience"),
            (("--seed", "-1"), "--seed"),
            (("--seed", "one"), "--seed"),
            (("--threads", "0"), "--threads"),
            (("--save-every", "-1"), "--save-every"),
            (("--save-every", "nan"), "--save-every"),
            (("--tokens", "runes"), "'runes': a file is cut into one of chars, bytes, words, lines"),
            (("--unknown", "ignore"), "unknown is 'ignore'"),
            (("--nonsense",), "No such option"),
            (("--valid-mask", "short.mask"), "--valid-mask was given without --valid"),
            (("--mask", "short.mask"), "length 4, the data 240 symbols"),
            (("--mask", "zero.mask"), "predicts nothing"),
            (("--mask", "words.mask"), "it is made of 0 and 1"),
            (("--mask", "missing"), "check the name"),
            (("--mask", "folder"), "Is a directory"),
            (("--mask", "short.mask", "--predict-after", "a"), "were both given"),
            (("--predict-after", "q"), "'q'"),
            (("--case", "order"), "no column 'order'"),
            (("--activity", "step"), "no column 'step'"),
            (("--time", "at"), "no column 'at'"),
            (("--format", "cvs"), "did you mean csv?"),
            (("--format", "xes"), "is not XML"),
            (("--format", "fasta"), "stands before any header"),
            (("--format", "abc"), "holds no tune"),
            (("--format", "jsonl"), "line 1 of text.txt is not JSON"),
            (("--format", "lines", "--tokens", "numbers"), "not a row of whole numbers"),
            (("--empty", "guess"), "choose one of error, skip, keep"),
        ]
    ],
    *[(("train", "text.txt", "--run", "new", "--budget", budget), "give") for budget in BAD_BUDGETS],
    *[(("compare", "text.txt", "--budget", budget), "give") for budget in BAD_BUDGETS],
    *[(("demo", "--budget", budget, "--out", "new.html"), "give") for budget in BAD_BUDGETS],
    *[(("resume", "tunes", "--budget", budget), "give") for budget in (*BAD_BUDGETS, "1 steps")],
    # Data in which there is nothing to learn.
    (("train", "letter.txt", *STEPS, "--run", "new"), ""),
    (("train", "same.txt", *STEPS, "--run", "new"), ""),
    (("train", "blank.txt", "--tokens", "words", *STEPS, "--run", "new"), "holds no words"),
    # Event logs.
    *[
        (("train", name, *LOG, *extra, *STEPS, "--run", "new"), message)
        for name, extra, message in [
            ("empty.csv", (), "is empty"),
            ("header.csv", (), "holds no event"),
            ("ragged.csv", (), "line 3 of ragged.csv has 1 fields"),
            ("blank.csv", (), "nothing in column 'step'"),
            ("twice.csv", (), "more than one column 'order'"),
            ("times.csv", ("--time", "at"), "is not a number or an ISO 8601 date"),
            ("times.csv", ("--time", "at", "--time-format", "%Y"), "is not of the format '%Y'"),
            ("mixed.csv", ("--time", "at"), "cannot be compared"),
            ("text.txt", (), "no column 'order'"),
            ("binary.bin", (), "not UTF-8"),
            ("log.csv", ("--time", "noon"), "no column 'noon'"),
            ("log.csv", ("--delimiter", ";;"), "give one character"),
            ("log.csv", ("--delimiter", ""), "give one character"),
            ("log.csv", ("--delimiter", "\n"), "--delimiter"),
        ]
    ],
    # Outputs that exist, are folders, or stand nowhere.
    (("train", "text.txt", *STEPS, "--run", "tunes"), "--force to replace it, or continue with: glnn resume tunes"),
    (("train", "text.txt", *STEPS, "--run", "taken.out"), "taken.out is a file: a run needs a folder"),
    (("train", "text.txt", *STEPS, "--run", "taken.out/run"), "Not a directory"),
    (("train", "text.txt", *STEPS, "--run", "folder"), "holds other things"),
    *[
        ((*arguments, name), message)
        for arguments in [
            ("compress", "tunes", "tunes.txt"),
            ("decompress", "tunes", "noise.glnn"),
            ("inspect", "tunes", "tunes.txt", "--out"),
            ("report", "tunes", "--out"),
            ("source", "anbn", "--size", "1", "--out"),
            ("compare", "text.txt", "--budget", "2 steps", "--page"),
            ("demo", "--budget", "2 steps", "--out"),
        ]
        for name, message in [
            ("taken.html", "exists already: choose another name, or --force to replace it"),
            ("folder.html", "is a folder: give the name of a file"),
            ("nowhere/new.html", "the folder nowhere does not exist: make it first"),
            ("taken.out/new.html", ""),
        ]
    ],
    (("inspect", "tunes", "tunes.txt", "--out", "new.docx"), "ends with .html or .png"),
    (("compress", "tunes", "tunes.txt", "tunes.txt", "--force"), "is the input file"),
    (("decompress", "tunes", "noise.glnn", "noise.glnn", "--force"), ""),
    # What only one command has.
    *[(("decompress", "tunes", name, "new.out"), message) for name, message in [
        ("noise.glnn", ""),
        ("text.txt", "not a stream that glnn compressed"),
        ("empty.txt", "not a stream that glnn compressed"),
        ("missing", "check the name"),
        ("folder", "Is a directory"),
    ]],
    *[(("compress", "tunes", name, "new.out"), message) for name, message in [
        ("missing", "check the name"),
        ("folder", "Is a directory"),
        ("latin1.txt", "not UTF-8"),
    ]],
    *[((command, "tunes", "--prefix", "a", "--prefix", "b"), "takes one text") for command in ("predict", "sample")],
    (("predict", "tunes", "--top", "0"), "--top"),
    (("sample", "tunes", "-n", "-1"), "--length"),
    (("sample", "tunes", "-n", "many"), "--length"),
    (("sample", "tunes", "--count", "0"), "--count"),
    (("sample", "tunes", "--temperature", "-1"), "--temperature"),
    (("sample", "tunes", "--temperature", "nan"), "temperature"),
    (("sample", "tunes", "--temperature", "warm"), "--temperature"),
    (("follow",), ""),
    (("follow", "tunes", "missing.txt", "--once"), "missing.txt"),
    (("follow", "tunes", "folder", "--once"), "folder"),
    ((*FOLLOW, "--threshold", "-1"), "--threshold"),
    ((*FOLLOW, "--threshold", "high"), "--threshold"),
    ((*FOLLOW, "--threshold", "nan"), ""),
    ((*FOLLOW, "--false-alarms", "-1"), ""),
    ((*FOLLOW, "--false-alarms", "2"), ""),
    ((*FOLLOW, "--false-alarms", "nan"), ""),
    ((*FOLLOW, "--threshold", "3", "--false-alarms", "0.1"), ""),
    ((*FOLLOW, "--cases", "0"), "--cases"),
    ((*FOLLOW, "--save-every", "-1"), "--save-every"),
    ((*FOLLOW, "--state", "taken.out"), "taken.out"),
    ((*FOLLOW, "--state", "folder"), "folder"),
    ((*FOLLOW, "--state", "tunes/model.safetensors"), "model.safetensors"),
    (("score", "tunes", "more.txt", "--by", "luck"), "rank cases by one of"),
    (("score", "tunes", "more.txt", "--mask", "short.mask"), "length 4"),
    (("score", "tunes", "more.txt", "--case", "order"), "no column 'order'"),
    (("inspect", "tunes", "tunes.txt", "--begin", "999999", "--out", "new.html"), "--begin 999999"),
    (("inspect", "tunes", "tunes.txt", "--length", "0", "--out", "new.html"), "--length"),
    (("compare", "text.txt", "--models", "glnn,elman", "--budget", "2 steps"), "elman"),
    (("compare", "text.txt", "--models", ",", "--budget", "2 steps"), ""),
    (("compare", "text.txt", "--units", "0", "--models", "glnn", "--budget", "2 steps"), "--units is 0"),
    *[((*arguments, "--out", "new.out"), message) for arguments, message in [
        (("source", "musik"), "did you mean 'music'?"),
        (("source", "anbn", "--size", "0"), "size is 0"),
        (("source", "anbn", "--size", "-4"), "size is -4"),
        (("source", "anbn", "--size", "two"), "--size"),
        (("source", "anbn", "--seed", "-1"), "--seed"),
        (("source", "anbn", "--set", "shortest"), "NAME=VALUE"),
        (("source", "anbn", "--set", "shortst=3"), "did you mean 'shortest'?"),
        (("source", "anbn", "--set", "shortest=x"), "is not of that type"),
        (("source", "anbn", "--set", "shortest=0"), "expected 1 <= shortest"),
        (("source", "xor", "--set", "stretch=nan"), ""),
        (("source", "xor", "--set", "length=-3"), "length"),
        (("demo", "--source", "musik"), "did you mean 'music'?"),
    ]],
    *[((command,), "") for command in (*READING, "source", "reproduce")],
    *[
        (("reproduce", *arguments, "--out", "new"), message)
        for arguments, message in [
            (("tables",), "table"),
            (("table", "--scale", "0"), "scale"),
            (("table", "--scale", "-1"), "scale"),
            (("table", "--scale", "nan"), "scale"),
            (("table", "--workers", "0"), "--workers"),
            (("table", "--steps", "0"), "--steps"),
            (("table", "--sizes", "4,x"), "sizes"),
            (("table", "--sizes", "0"), "sizes"),
            (("table", "--sizes", ""), "sizes"),
            (("table", "--limit", "0"), "--limit"),
            (("xor", "--lines", "0"), "--lines"),
            (("xor", "--seeds", "none"), "--seeds"),
            (("figures",), ""),
        ]
    ],
    (("bench", "--models", "elman"), "elman"),
    (("bench", "--metrics", "rpbm"), "rpbm"),
    (("bench", "--models", ""), ""),
    (("bench", "--steps", "0"), "--steps"),
    (("bench", "--threads", "0"), "--threads"),
    (("trian", "text.txt"), "Did you mean 'train'?"),
]  # fmt: skip


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the trained runs, with the files that are wrong beside them."""
    for name in ("tunes", "orders"):
        shutil.copytree(trained / name, tmp_path / name)
    for name in ("tunes.txt", "more.txt", "log.csv"):
        shutil.copyfile(trained / name, tmp_path / name)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    for name in ("folder", "folder.html", "begun", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / "precious").write_text("precious")
    (tmp_path / "taken.html").write_text("precious")
    shutil.copyfile(tmp_path / "tunes" / "config.json", tmp_path / "begun" / "config.json")
    (tmp_path / "broken" / "config.json").write_text('{"format": 1,')
    yield tmp_path


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything under a folder; the lock of a run is a file that stays, and says nothing."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.name != ".lock"
    }


def check(done: object, message: str, arguments: tuple[str, ...]) -> None:
    code, out, err = done.code, done.out, done.err  # type: ignore[attr-defined]
    what = f"{' '.join(arguments)}\n→ {code}\n{out}{err}"
    assert code == 2, what
    assert err.startswith("glnn: ") and err.count("\n") == 1 and err.endswith("\n"), what
    assert len(err) < 700, what
    assert "Traceback" not in err and out == "", what
    assert message in err, f"{message!r} is not in\n{what}"


def check_all(
    table: list[tuple[tuple[str, ...], str]], glnn: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of a table: it is refused as it should be, and leaves the folder as it was."""
    # Typer makes all commands anew for every call, which takes longer than what is tested here.
    made = get_command(app)
    monkeypatch.setattr("typer.main.get_command", lambda _: made)
    before, faults = contents(folder), []
    for arguments, message in table:
        try:
            check(glnn(*arguments), message, arguments)
        except BaseException as fault:
            faults.append(f"{' '.join(arguments)}: {type(fault).__name__}: {str(fault)[:600]}")
        after = contents(folder)
        if after != before:
            changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
            faults.append(f"{' '.join(arguments)} changed {sorted(changed)}")
            before = after
    assert not faults, f"{len(faults)} of {len(table)}:\n" + "\n\n".join(faults)


def test_every_bad_input(glnn: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test for the whole table, since the folder it needs is the same and stays as it is."""
    check_all(TABLE, glnn, folder, monkeypatch)


def test_the_table_has_every_command() -> None:
    assert {arguments[0] for arguments, _ in TABLE} >= {command.__name__ for command in COMMANDS}
    assert len(TABLE) > 250
