"""Files of every format: recognised, said, read, and refused with the line that is wrong."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import glnn
from glnn.sequences import InputError, ReadOptions, Sequences, formats
from glnn.sequences.formats import FORMATS, Source, as_in, source
from glnn.sequences.formats.columns import find_columns, plain_name
from glnn.sequences.formats.xes import _DEEPEST

pytestmark = pytest.mark.small

FASTA = ">one first gene\nACGTACGTAC\nacgtn\n\n>two\nTTTTTTTTTTGGG\n"
XES = """<?xml version="1.0"?>
<log xmlns="http://www.xes-standard.org/"><string key="concept:name" value="the log"/>
<trace><string key="concept:name" value="c1"/>
  <event><string key="concept:name" value="open"><string key="concept:name" value="no"/></string></event>
  <event><string key="org:resource" value="ann"/><string key="concept:name" value="close &amp; pay"/></event></trace>
<trace><event><string key="concept:name" value="open"/></event></trace><trace/>
</log>"""
ABC = '%abc\n\nX: 1\nT:First % a jig\nM:6/8\nK:G\n|:"G"^c\'2>d (3abc | [CEG]2 z4 :|\nw: la la\n\nX:2\nK:D\nA,/2B//|]\n'
LOG = "Case ID;Activity;Complete Timestamp;who\n1;open;2024-01-02;x\n2;open;2024-01-01;y\n1;close;2024-01-03;x\n"
CASES = [["open", "close"], ["open"]]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lists(data: Sequences) -> list[Any]:
    return [item if isinstance(item, str) else list(item) for item in data]


EXAMPLES: dict[str, tuple[str, str, list[Any], tuple[str, ...] | None, str]] = {
    "fasta": ("genes.fasta", FASTA, ["ACGTACGTACACGTN", "TTTTTTTTTTGGG"], ("one", "two"), "FASTA"),
    "fasta by content": ("genes", FASTA, ["ACGTACGTACACGTN", "TTTTTTTTTTGGG"], ("one", "two"), "FASTA"),
    "xes": ("log.xes", XES, [["open", "close & pay"], ["open"]], ("c1", "trace 2"), "event log in XES"),
    "csv": ("log.csv", LOG, CASES, ("1", "2"), "semicolons"),
    "csv by content": ("log.txt", LOG, CASES, ("1", "2"), "semicolons"),
    "tsv": ("log.tsv", LOG.replace(";", "\t"), CASES, ("1", "2"), "tabs"),
    "abc": (
        "tunes.abc",
        ABC,
        [["|:", '"G"', "^c'2", ">", "d", "(3", "a", "b", "c", "|", "[CEG]2", "z4", ":|"], ["A,/2", "B//", "|]"]],
        ("First", "tune 2"),
        "ABC tunes",
    ),
    "numbers": (
        "runs.txt",
        "3 1 2\n\n-4, 5\n7\n",
        [[3, 1, 2], [-4, 5], [7]],
        ("line 1: 3 1 2", "line 3: -4, 5", "line 4: 7"),
        "numbers",
    ),
    "jsonl of lists": ("x.jsonl", '["a","b"]\n\n["b"]\n', [["a", "b"], ["b"]], ("line 1", "line 3"), "JSON lines"),
    "jsonl of objects": (
        "x.json",
        '{"id": 7, "tokens": ["a", "b"], "text": "ab"}\n{"id": 8, "tokens": ["b"]}\n',
        [["a", "b"], ["b"]],
        ("7", "8"),
        "JSON lines",
    ),
    "jsonl of events": (
        "x.jsonl",
        "".join(
            json.dumps(dict(zip(("session", "action", "time"), row, strict=True))) + "\n"
            for row in ((1, "open", 1), (2, "open", 2), (1, "pay", 9), (1, "close", 3))
        ),
        [["open", "close", "pay"], ["open"]],
        ("1", "2"),
        "event log in JSON lines",
    ),
    "text": ("poem.txt", "to be\nor not\n", ["to be\nor not\n"], None, "one sequence of characters"),
    "c program": ("x.c", "int a, b;\nint c, d;\n", ["int a, b;\nint c, d;\n"], None, "one sequence of characters"),
    "quotation": ("mail.txt", "> said he\nshe said\n", ["> said he\nshe said\n"], None, "one sequence of characters"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_a_file_is_taken_for(example: str, packed: bool, tmp_path: Path) -> None:
    name, content, expected, names, title = EXAMPLES[example]
    path = written(tmp_path, name, content)
    if packed:
        path = written(tmp_path, f"{name}.gz", gzip.compress(content.encode()))
    data = glnn.read(path)
    assert lists(data) == expected
    assert data.names == names
    assert title in data.title and title in repr(data)
    assert data.options is not None and data.options.format in {one.name for one in FORMATS}
    # The choices that were made read the same file in the same way.
    again = glnn.read(path, **vars(data.options))
    assert lists(again) == expected and again.options == data.options


def test_standard_input_is_recognised_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FASTA.encode())))
    data = glnn.read("-")
    assert data.names == ("one", "two")
    assert data.source == "standard input"


def test_a_guess_can_be_overruled(tmp_path: Path) -> None:
    path = written(tmp_path, "x.fasta", FASTA)
    assert lists(glnn.read(path, "text")) == [FASTA]
    assert lists(glnn.read(path, tokens="lines")) == [FASTA.split("\n")[:-1]]
    words = glnn.read(written(tmp_path, "x", "to be\nor\n"), "lines", tokens="words")
    assert lists(words) == [["to", "be"], ["or"]] and glnn.encode(words).alphabet.kind == "words"
    assert lists(glnn.read(written(tmp_path, "x", "anna\nbob\n"), format="lines")) == ["anna", "bob"]
    with pytest.raises(InputError, match=r"format.*'fastq'.*did you mean fasta"):
        glnn.read(path, "fastq")
    with pytest.raises(InputError, match="no option 'columns'"):
        glnn.read(path, columns=3)


def test_lines_that_may_be_sequences_are_said(tmp_path: Path) -> None:
    names = "".join(f"{'a' * (k % 7 + 1)}\n" for k in range(30))
    assert "--format lines" in glnn.read(written(tmp_path, "x", names)).note
    assert glnn.read(written(tmp_path, "x", "word word\n" * 30)).note == ""


def test_bytes_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "x", b"\x00\xff\x01")
    with pytest.raises(InputError, match=r"not UTF-8.*--tokens bytes"):
        glnn.read(path)
    data = glnn.read(path, tokens="bytes")
    assert data.title == "one sequence of bytes" and bytes(data[0]) == b"\x00\xff\x01"


def test_what_was_read_goes_into_a_model_and_back(tmp_path: Path) -> None:
    data = glnn.read(written(tmp_path, "log.csv", LOG))
    model = glnn.ContextTree(depth=2, verbose=0).fit(data)
    assert [len(bits) for bits in model.surprise(data)] == [3, 2]
    assert repr(data).endswith("2 sequences, 3 symbols of 2 kinds)")
    assert data[:1].names == ("1",) and data[[1, 0]].names == ("2", "1") and data[1] == ["open"]


@pytest.mark.parametrize(
    ("header", "case", "activity", "time"),
    [
        ("case:concept:name,concept:name,time:timestamp,concept:instance", 0, 1, 2),
        ("id,CaseID,ActivityID,CompleteTimestamp", 1, 2, 3),
        ("timestamp,user_id,page", 1, 2, 0),
        ("event_id,session,action,created_at", 1, 2, 3),
    ],
)
def test_columns_by_name(header: str, case: int, activity: int, time: int) -> None:
    names = header.split(",")
    rows = [["" for _ in names] for _ in range(8)]
    for k, row in enumerate(rows):
        row[:] = [str(k)] * len(names)
        row[case], row[activity], row[time] = str(k // 3), "ab"[k % 2], f"2024-01-0{k + 1}"
    found = find_columns(names, rows, ReadOptions(), "x")
    assert (found.case, found.activity, found.time) == (names[case], names[activity], names[time])
    assert plain_name("caseId") == plain_name("Case_ID") == "case id"


def test_columns_by_content() -> None:
    rows = [[f"2024-01-{k + 1:02}", str(k), f"v{k // 4}", "xyz"[k % 3]] for k in range(24)]
    found = find_columns(["A", "B", "C", "D"], rows, ReadOptions(), "x")
    assert (found.case, found.activity, found.time) == ("C", "D", "A")
    with pytest.raises(InputError, match=r"no column looks like an activity.*'A', 'B', 'C'.*--activity"):
        find_columns(["A", "B", "C"], [row[:3] for row in rows], ReadOptions(), "x")


def test_times_that_cannot_be_read_are_said_and_dotted_dates_can(tmp_path: Path) -> None:
    odd = glnn.read(written(tmp_path, "x.csv", "case,step,time\n1,b,soon\n1,a,later\n2,a,now\n"))
    assert lists(odd) == [["b", "a"], ["a"]] and "'time' could not be read" in odd.note
    dotted = glnn.read(written(tmp_path, "x.csv", "case,step,time\n1,b,02.01.2024\n1,a,31.12.2023\n2,a,01.01.2024\n"))
    assert lists(dotted) == [["a", "b"], ["a"]]


def test_an_empty_cell_is_a_line_number_and_a_choice(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "case,step\n1,a\n1,\n1,b\n")
    with pytest.raises(InputError, match=r"line 3 of .* nothing in column 'step'.*--empty skip.*--empty keep"):
        glnn.read(path)
    skipped = glnn.read(path, empty="skip")
    assert lists(skipped) == [["a", "b"]] and "1 events with empty cells left out" in skipped.note
    assert lists(glnn.read(path, empty="keep")) == [["a", "(empty)", "b"]]


@pytest.mark.parametrize("given", ["\\t", "tab", "\t"])
def test_a_tab_can_be_written_in_letters(given: str, tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", "case\tstep\n1\ta,b;c\n1\tb\n")
    assert lists(glnn.read(path, delimiter=given)) == [["a,b;c", "b"]]


ENTITY = (
    '<!DOCTYPE log [<!ENTITY a "{}">]><log><trace><event><string key="concept:name" value="&a;"/></event></trace></log>'
)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xes", ENTITY.format("boom"), "line 1 of .*document type or an entity"),
        ("x.xes", '<!DOCTYPE log SYSTEM "file:///etc/passwd"><log/>', "document type"),
        ("x.xes", "<log>" + "<list>" * _DEEPEST, "nested more than"),
        ("x.xes", "<log><trace></log>", "line 1 of .* is not XML"),
        ("x.xes", "<log>\n<trace><event/></trace></log>", "line 2 of .*event without 'concept:name'.*--empty skip"),
        ("x.xes", "<log/>", "holds no trace"),
        ("x.fasta", ">a\n>b\nACGT\n", "header on line 1 .*--empty skip"),
        ("x.jsonl", '["a"]\n[nonsense\n', "line 2 of .* is not JSON"),
        ("x.jsonl", '["a"]\n[["a"]]\n', r"line 2 of .* holds \['a'\] as a symbol"),
        ("x.jsonl", '["a"]\n3\n', "line 2 of .* is 3"),
        ("x.jsonl", "[" * 100_000 + "\n", "line 1 of .* is not JSON"),
        ("x.csv", "alone\n1\n2\n", "no column looks like"),
        ("x.csv", 'case,step\n1,"' + "a" * 200_000 + '"\n', "is not CSV"),
        ("x.gz", gzip.compress(b"abc" * 100, mtime=0)[:20], "cannot be unpacked"),
        ("x.txt", b"", "is empty"),
    ],
)
def test_files_that_are_wrong(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        glnn.read(written(tmp_path, name, content))


def test_numbers_that_are_none_are_told_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2 of .*'1 2\.5'.* not a row of whole numbers"):
        glnn.read(written(tmp_path, "x", "1 2\n1 2.5\n"), tokens="numbers")


def test_braces_without_an_end_take_no_time_that_is_their_square(tmp_path: Path) -> None:
    """What is looked for behind each of them is bounded, so a brace far from its end is a symbol like any other."""
    tune = "X:1\nK:C\n{ab}c" + "{" * 300_000 + "x" * 600 + "}"
    (found,) = glnn.read(written(tmp_path, "x.abc", tune))
    assert found[:2] == ["{ab}", "c"] and len(found) == 2 + 300_000 + 600 + 1


def test_what_unpacks_to_far_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "x.gz", gzip.compress(bytes(1 << 20)))
    assert len(glnn.read(path)[0]) == 1 << 20
    monkeypatch.setattr(source, "_MOST_UNPACKED", 1 << 10)
    with pytest.raises(InputError, match="unpacks to far more"):
        glnn.read(path)


def test_tags_without_an_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glnn.sequences.formats.xes._LONGEST_TAG", 1 << 17)
    path = written(tmp_path, "x.xes", '<log><trace><string key="' + "a" * (1 << 19))
    with pytest.raises(InputError, match="holds a tag of more than"):
        glnn.read(path)


def test_options_for_another_file(tmp_path: Path) -> None:
    text = ReadOptions(format="text", tokens="chars")
    assert as_in(text, case=None) == text
    assert as_in(text, case="a", activity="b") == ReadOptions(case="a", activity="b")
    log = ReadOptions(format="csv", case="a", activity="b", time="")
    assert as_in(log, case="c").case == "c" and as_in(log, case="c").format == "csv"
    assert as_in(log, format="xes") == ReadOptions(format="xes")
    other = Source(written(tmp_path, "x.csv", "case,step\n1,a\n1,b\n"))
    assert lists(FORMATS[4].read(other, ReadOptions(delimiter=";"))) == [["a", "b"]]


def test_comments_of_fasta_are_no_letters(tmp_path: Path) -> None:
    path = tmp_path / "old.fasta"
    path.write_text(";made by hand\n>a first\n;a note\nAC\n;ANOTHER\nGT\n")
    found = glnn.read(path)
    assert list(found) == ["ACGT"] and found.names == ("a",)


def test_an_event_without_a_time_has_no_place_and_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("case,activity,time\n1,b,2\n1,x,\n1,,1\n2,a,1\n2,b,2\n")
    found = glnn.read(path, empty="keep")
    assert list(found) == [["(empty)", "b"], ["a", "b"]]
    assert "1 events with empty cells left out" in found.note


def test_the_delimiter_is_the_one_on_which_lines_agree(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = "".join(f"{case};{step};fine\n" for case in (1, 2) for step in "ab")
    path.write_text(f"case;activity;remarks, doubts, hopes, the rest\n{rows}")
    assert list(glnn.read(path)) == [["a", "b"], ["a", "b"]]
    # Where lines agree on none, none is guessed.
    path.write_text("case|activity\n" + "1\n" * 9)
    with pytest.raises(InputError, match="no column looks like"):
        glnn.read(path)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"\xef\xbb\xbforder,step\n1,a\n1,b\n2,a\n2,b\n")
    assert glnn.read(path, case="order", activity="step").names == ("1", "2")
    (tmp_path / "tune.abc").write_bytes(b"\xef\xbb\xbfX:1\nK:C\nAB\n")
    assert list(glnn.read(tmp_path / "tune.abc")) == [["A", "B"]]


def test_lines_of_a_tune_that_go_on_are_one(tmp_path: Path) -> None:
    path = tmp_path / "tune.abc"
    path.write_text("X:1\nT:First title\nT:another\nK:C\nAB|\\\ncd|\n")
    found = glnn.read(path)
    assert list(found) == [["A", "B", "|", "c", "d", "|"]] and found.names == ("First title",)


def test_events_outside_of_traces_belong_to_none(tmp_path: Path) -> None:
    event = '<event><string key="concept:name" value="{}"/></event>'
    path = tmp_path / "log.xes"
    path.write_text(f"<log>{event.format('loose')}<trace>{event.format('a')}</trace>{event.format('late')}</log>")
    assert list(glnn.read(path)) == [["a"]]
    path.write_text(f"<log><trace>{event.format('a')}<list>{event.format('inner')}</list></trace></log>")
    assert list(glnn.read(path)) == [["a"]]


def test_a_line_cut_off_where_the_look_ends_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "numbers.txt"
    path.write_text("11 -22\n" * 9)
    # The look ends after a minus, which alone is no number.
    monkeypatch.setattr(source, "_HEAD", 18)
    assert list(glnn.read(path)) == [[11, -22]] * 9


def test_carriage_returns_alone_end_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "old.fasta"
    path.write_bytes(b">a\rAC\rGT\r>b\rTT\r")
    found = glnn.read(path)
    assert list(found) == ["ACGT", "TT"] and found.names == ("a", "b")


def test_a_column_whose_values_never_come_back_is_no_case() -> None:
    header, rows = (
        ["case id", "trace", "activity"],
        [["1", "x", "a"], ["2", "x", "b"], ["3", "y", "a"], ["4", "y", "b"]],
    )
    assert find_columns(header, rows, ReadOptions(), "log").case == "trace"


def test_of_two_columns_of_the_same_name_the_first_is_the_time() -> None:
    header, rows = ["case", "activity", "Time", "time"], [["1", "a", "1", "9"], ["1", "b", "2", "8"]] * 2
    assert find_columns(header, rows, ReadOptions(), "log").time == "Time"


def test_a_line_is_called_by_its_beginning_and_empty_ones_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("anna\n\n \n" + "x" * 100 + "\n")
    found = glnn.read(path, "lines")
    assert found.note == "2 empty lines left out"
    assert found.names == ("line 1: anna", f"line 4: {'x' * 39}…")


def test_wrapped_text_is_not_taken_for_a_sequence_a_line(tmp_path: Path) -> None:
    path = tmp_path / "wrapped.txt"
    path.write_text("ACGTACGTAC\n" * 30 + "ACG\n")
    assert glnn.read(path).note == ""


def test_a_quote_that_is_never_closed_is_told(tmp_path: Path) -> None:
    head = 'case,activity\n1,"two\nlines"\n1,b\n'
    (tmp_path / "log.csv").write_text(f'{head}2,"a\n2,b\n3,a\n')
    with pytest.raises(InputError, match=r"line 5 of .* opens a quote that is never closed"):
        glnn.read(tmp_path / "log.csv")
    # A quote inside a field is a character like any other.
    (tmp_path / "log.csv").write_text(f'{head}2,5" pipe\n2,b\n')
    assert [list(case) for case in glnn.read(tmp_path / "log.csv")] == [["two\nlines", "b"], ['5" pipe', "b"]]


def test_a_sample_without_letters_leaves_the_rest_of_a_fasta_file_readable(tmp_path: Path) -> None:
    options = ReadOptions(format="fasta")
    (tmp_path / "made.fasta").write_bytes(formats.written(["ACGT", "", "GA" * 50], options))
    assert list(glnn.read(tmp_path / "made.fasta")) == ["ACGT", "GA" * 50]
