"""Wrong input to what reads formats, follows, stands alone and ranks cases: as `test_bad_commands` for the rest.

More than 500 commands: one line that says what to do, exit code 2, nothing printed, nothing changed.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.trust.damage import BOMB
from tests.trust.test_bad_commands import BAD_FILES, BAD_RUNS, FOLLOW, STEPS, check_all, folder

__all__ = ["folder"]

_TRACE = '<trace><event><string key="concept:name" value="{}"/></event></trace>'
FILES = {
    "bare.fasta": (b"ACGTACGT\n", "stands before any header"),
    "headers.fasta": (b">a\n>b\n", ""),
    "binary.fasta": (b">a\n\xff\xfe\n", "UTF-8"),
    "doctype.xes": (b"<!DOCTYPE log><log/>", "document type"),
    "external.xes": (b'<!DOCTYPE log SYSTEM "file:///etc/passwd"><log/>', "document type"),
    "laughs.xes": (f'<!DOCTYPE log [<!ENTITY e0 "ha">{BOMB}]><log>&e11;</log>'.encode(), "document type"),
    "entity.xes": (b'<?xml version="1.0"?><log>' + _TRACE.format("&x;").encode() + b"</log>", "is not XML"),
    "deep.xes": (b"<log>" * 150, "nested more than"),
    "cut.xes": (b"<log><trace><event>", "is not XML"),
    "empty.xes": (b"<log></log>", "holds no trace"),
    "nameless.xes": (b"<log><trace><event/></trace></log>", "event without"),
    "twice.xes": (b"<log/><log/>", "is not XML"),
    "encoding.xes": (b"<?xml version='1.0' encoding='utf-7'?><log/>", "line 1 of encoding.xes"),
    "cut.xes.gz": (gzip.compress(b"<log>" + b"<trace/>" * 999 + b"</log>")[:-9], "cannot be unpacked"),
    "bomb.xes.gz": (gzip.compress(b"<log>" + b" " * 30_000_000, 9), "unpacks to far more"),
    "header.xes.gz": (b"\x1f\x8b\x08\x00", "cannot be unpacked"),
    "none.abc": (b"T:No tune\n", "holds no tune"),
    "silent.abc": (b"X:1\nT:Silent\nK:C\n", "holds no tune"),
    "half.jsonl": (b'{"events": ["a"\n', "is not JSON"),
    "deep.jsonl": (b"[" * 100_000 + b"\n", "is not JSON"),
    "nested.jsonl": (b'[["a"]]\n', "as a symbol"),
    "scalar.jsonl": (b'["a"]\n3\n', "a line is a list, a text or an object"),
    "mixed.jsonl": (b'["a", 1]\n', "mixed types"),
    "other.jsonl": (b'{"case": 1, "activity": "a"}\n[1]\n', "is not an object"),
    "empty.jsonl": (b"\n\n", "is empty"),
    "huge.jsonl": (b"[" + b"9" * 5000 + b"]\n", "is not JSON"),
    "wide.csv": (b"case,activity\n1," + b"x" * 140_000 + b"\n", "is not CSV"),
    "short.csv": (b"case,activity\n1,a\n2\n", "fields"),
    "names.csv": (b"x,y\n1,a\n", ""),
}
LINES = {
    "letters.numbers": (b"1 2 x\n", "not a row of whole numbers"),
    "fractions.numbers": (b"1 2.5\n", "not a row of whole numbers"),
    "nothing.numbers": (b"\n\n", "is empty"),
}
PATHS: list[tuple[str, ...]] = [
    (),
    ("text.txt",),
    ("tunes", "text.txt", "new.out", "more"),
    ("text.txt", "taken.out"),
    ("text.txt", "folder"),
    ("text.txt", "nowhere/new"),
    ("text.txt", "text.txt", "--force"),
    ("text.txt", "taken.out/new"),
    ("text.txt", "new.out", "--level", "9"),
]
_FORMAT = {".fasta": "fasta", ".xes": "xes", ".gz": "xes", ".abc": "abc", ".jsonl": "jsonl", ".csv": "csv"}


def of(name: str) -> tuple[str, ...]:
    """The file and its format."""
    suffix = Path(name).suffix
    columns = ("--case", "case", "--activity", "activity") if suffix == ".csv" else ()
    return (name, "--format", _FORMAT[suffix], *columns)


NUMBERS = ("-1", "nan", "x", "")
WRONG: dict[tuple[str, ...], tuple[str, ...]] = {
    ("--noise",): (*NUMBERS, "100", "inf"),
    ("--averaging", "--training", "stochastic"): (*NUMBERS, "1e10"),
    ("--damping",): NUMBERS,
    ("--members",): ("0", "1.5", *NUMBERS),
    ("--restarts",): ("0", "2.5", *NUMBERS),
    ("--batch-size",): ("0", "1.5", *NUMBERS),
    ("--smoothing",): ("1", "2", *NUMBERS),
    ("--validation-fraction",): ("1", "2", *NUMBERS),
    ("--patience",): ("0", "-0.5", *NUMBERS),
    ("--start",): ("", "late", "Typical"),
    ("--precision",): ("", "float16", "64"),
    ("--training",): ("", "online", "Batch"),
    ("--activation",): ("", "relu", "Tanh"),
    ("--sequence-weights",): ("", "even", "Length"),
    ("--recipe",): ("", "book", "Best"),
    ("--networks", "--model", "mixture"): ("1.5", *NUMBERS),
    ("--learning", "--model", "mixture"): ("", "offline", "Online"),
    ("--learning", "--model", "contexttree"): ("", "offline"),
    ("--depth", "--model", "contexttree"): ("1.5", *NUMBERS),
    ("--max-nodes", "--model", "contexttree"): ("0", "1.5", *NUMBERS),
    ("--order", "--model", "ngram"): ("0", "1.5", "1000", *NUMBERS),
}
CLASHES = [
    ("--metric", "adam", "--training", "batch"),
    ("--averaging", "10", "--training", "batch"),
    ("--patience", "0.5", "--training", "batch"),
    ("--batch-size", "2", "--training", "stochastic"),
    ("--networks", "1", "--units", "3"),
    ("--model", "hmm", "--noise", "0.1"),
    ("--model", "ngram", "--depth", "3"),
    ("--model", "mixture", "--members", "3"),
    ("--model", "contexttree", "--calibration"),
    ("--recipe", "paper", "--metric", "adam", "--training", "batch"),
]
STATES = ("taken.out", "folder", "tunes/model.safetensors", "orders/checkpoint.safetensors", "noise.safetensors")

TABLE: list[tuple[tuple[str, ...], str]] = [
    *[(("train", *of(name), *STEPS, "--run", "new"), message) for name, (_, message) in FILES.items()],
    *[(("train", *of(name), "--model", "mixture", "--run", "new"), message) for name, (_, message) in FILES.items()],
    *[
        (("compare", *of(name), "--budget", "2 steps", "--no-page"), "" if name == "mixed.jsonl" else message)
        for name, (_, message) in FILES.items()
    ],
    *[
        (("score", "orders", *of(name)), "" if name.endswith(".csv") else message)
        for name, (_, message) in FILES.items()
    ],
    # As the tables that they are not.
    *[
        ((*command, name, *out), "")
        for *command, out in [
            ("inspect", "orders", ("--out", "new.html")),
            ("compress", "orders", ("new.out",)),
            ("report", "orders", "--out", "new.html", "--data", ()),
        ]
        for name in FILES
    ],
    *[
        (("follow", "orders", name, "--once", "--threshold", "3", "--state", "new.state"), "no single column 'order'")
        for name in FILES
        # What is no text is left out, line by line, and what is empty may still come.
        if not name.endswith(".gz") and name != "empty.jsonl"
    ],
    *[
        (("train", name, "--format", "lines", "--tokens", "numbers", *STEPS, "--run", "new"), message)
        for name, (_, message) in LINES.items()
    ],
    *[
        (("train", "log.csv", "--format", format, *STEPS, "--run", "new"), "")
        for format in ("xes", "fasta", "abc", "jsonl", "gff", "", "XES", "lines,csv")
    ],
    *[(("train", "text.txt", "--tokens", cut, *STEPS, "--run", "new"), "") for cut in ("numbers", "", "Chars", "byte")],
    *[
        (("train", "text.txt", "--run", "new", "--budget", "2 steps", option, value, *others), "")
        for (option, *others), values in WRONG.items()
        for value in values
    ],
    *[(("train", "text.txt", "--run", "new", "--budget", "2 steps", *clash), "") for clash in CLASHES],
    # Following.
    *[(("follow", name, "more.txt", "--once"), message) for name, message in BAD_RUNS],
    *[((*FOLLOW, "--state", state), "") for state in STATES],
    *[((*FOLLOW, "--normal", name, "--state", "new"), message) for name, message in BAD_FILES],
    *[((*FOLLOW, "--threshold", bits, "--state", "new"), "") for bits in ("-1", "nan", "x", "-inf", "")],
    *[((*FOLLOW, "--false-alarms", rate, "--state", "new"), "") for rate in ("0", "1", "-1", "2", "nan", "x", "")],
    *[((*FOLLOW, "--cases", number, "--state", "new"), "") for number in ("0", "-1", "1.5", "x")],
    *[((*FOLLOW, "--save-every", seconds, "--state", "new"), "") for seconds in ("-1", "x", "")],
    *[((*FOLLOW, "--format", name, "--state", "new"), "") for name in ("fasta", "xes", "abc", "jsonl", "csv", "cvs")],
    *[((*FOLLOW, "--predict-after", symbol, "--state", "new"), "") for symbol in ("zz", "", "§")],
    (("follow", "orders", "missing.csv", "--once", "--state", "new"), "missing.csv"),
    (("follow", "orders", "folder", "--once", "--state", "new"), "folder"),
    (("follow", "orders", "log.csv", "--once", "--state", "nowhere/new"), "the folder nowhere does not exist"),
    (("follow", "orders", "log.csv", "--once", "--state", "text.txt/new"), ""),
    (("follow", "orders", "log.csv", "--once", "--delimiter", ";;", "--state", "new"), "one character"),
    # What stands alone.
    *[
        ((command, name, "new.out"), "")
        for command in ("compress", "decompress")
        for name in ("missing", "folder", "text.txt/inside", "nul\0name")
    ],
    # Without the check at the end, all checks at the beginning.
    *[
        (("compress", "--no-verify", name, "new.out"), "")
        for name in ("missing", "folder", "text.txt/inside", "nul\0name")
    ],
    *[(("compress", "--no-verify", "orders", name, "new.out"), "") for name in FILES],
    *[(("compress", "--no-verify", name, "tunes.txt", "new.out"), message) for name, message in BAD_RUNS],
    *[(("compress", "--no-verify", *paths), "") for paths in PATHS],
    (("compress", "--no-verify", "--verify=maybe", "text.txt", "new.out"), ""),
    (("decompress", "--no-verify", "text.txt", "new.out"), ""),
    *[
        (("decompress", name, "new.out"), "not a stream")
        for name in ("text.txt", "empty.txt", "binary.bin", "noise.safetensors", "log.csv", "tunes/model.safetensors")
    ],
    (("decompress", "noise.glnn", "new.out"), ""),
    *[
        ((command, *paths), "")
        for command in ("compress", "decompress")
        for paths in PATHS
    ],
    # Ranking, looking, telling.
    *[(("score", "orders", "log.csv", "--alarms", rate), "") for rate in ("0", "1", "-1", "2", "nan", "x", "")],
    *[(("score", "orders", "log.csv", "--top", number), "") for number in ("0", "-1", "1.5", "x")],
    *[(("score", "orders", "log.csv", "--by", what), "rank cases") for what in ("", "max", "Two", "bits")],
    *[(("score", "tunes", "more.txt", "--normal", name), message) for name, message in BAD_FILES],
    *[(("score", "orders", "log.csv", option, "nothing"), "") for option in ("--case", "--activity", "--time")],
    *[(("score", "tunes", "more.txt", "--mask", name), "") for name in ("short.mask", "missing", "folder")],
    *[(("predict", "tunes", "--top", number), "") for number in ("0", "-1", "1.5", "x")],
    *[(("inspect", "tunes", "more.txt", "--out", "new.html", "--length", n), "") for n in ("0", "1", "-1", "x")],
    *[(("inspect", "tunes", "more.txt", "--out", "new.html", "--begin", n), "") for n in ("-1", "99999", "x")],
    *[(("inspect", "tunes", "more.txt", "--out", name), "") for name in ("new", "new.pdf", "nowhere/new.png")],
    *[(("report", "tunes", "--followed", name, "--out", "new.html"), message) for name, message in BAD_FILES[-4:]],
    *[(("report", "tunes", "--followed", state, "--out", "new.html"), "") for state in (*STATES, "text.txt")],
    *[(("compare", "text.txt", "--budget", "2 steps", "--learning", how), "") for how in ("", "both", "Online")],
    *[(("compare", "text.txt", "--budget", "2 steps", "--seeds", number), "") for number in ("0", "-1", "1.5", "x")],
    *[(("compare", "text.txt", "--budget", "2 steps", "--models", names), "") for names in ("", "glnn,,x", " ")],
]  # fmt: skip


def test_every_bad_input(glnn: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, (content, _) in {**FILES, **LINES}.items():
        (folder / name).write_bytes(content)
    check_all(TABLE, glnn, folder, monkeypatch)


def test_there_are_many() -> None:
    assert len(TABLE) > 500
