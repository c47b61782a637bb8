"""`glnn inspect` and `glnn report`: pictures and pages of what is inside a run."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from glnn.cli.inspect import part_of
from glnn.estimators import load
from glnn.report.heat_map import png
from glnn.sequences import Sequences, Words
from tests.cli.conftest import MORE, Command


def pixels(content: bytes) -> np.ndarray:
    """A PNG of 8-bit colours without filters, read back."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    place, chunks = 8, {}
    while place < len(content):
        length, name = struct.unpack(">I4s", content[place : place + 8])
        body = content[place + 8 : place + 8 + length]
        assert struct.unpack(">I", content[place + 8 + length : place + 12 + length])[0] == zlib.crc32(name + body)
        chunks[name], place = body, place + 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 2)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 3)


@pytest.mark.small
def test_the_heat_map_has_a_cell_for_each_activity() -> None:
    picture = pixels(png(np.array([[1.0, 0.0], [-1.0, 0.5]]), np.array([0, 2])))
    height, width, _ = picture.shape
    assert (height, width) == (2 * 16, 2 * 16)
    centre = picture[8::16, 8::16]
    assert centre[0, 0].tolist() == [178, 24, 43]
    assert centre[0, 1].tolist() == [33, 102, 172]
    assert centre[1, 0].tolist() == [247, 247, 247]
    assert centre[1, 1, 0] > centre[1, 1, 1]
    assert (picture[:16, :16] == centre[0, 0]).all()


@pytest.mark.small
def test_sequences_stand_apart_and_long_ones_in_bands() -> None:
    activities = np.full((3, 1), -1.0)
    picture = pixels(png(activities, np.array([0, 1, 3])))
    assert picture[8, 8::16, 0].tolist() == [33, 255, 33, 33]
    long = pixels(png(np.full((1000, 3), -1.0), np.array([0, 1000])))
    assert long.shape == (3 * 3 * 16 + 2 * 12, 1600, 3)
    assert (long[3 * 16 : 3 * 16 + 12] == 255).all()
    assert (long[-1, : 200 * 4] == [33, 102, 172]).all()
    assert (long[-1, 200 * 4 :] == 255).all()
    assert pixels(png(np.array([[4.0, -2.0]]), np.array([0, 1])))[0, 0].tolist() == [178, 24, 43]


def test_a_picture_of_the_units(in_trained: Command, trained: Path) -> None:
    done = in_trained("inspect", "tunes", "more.txt", "--begin", 5, "--length", 20, "--out", "units.png")
    assert (done.code, done.out) == (0, "4 units over 20 symbols: units.png\n")
    trace = load(trained / "tunes" / "model.safetensors").trace(MORE[5:25])
    assert (trained / "units.png").read_bytes() == png(trace.activities, trace.starts)
    done = in_trained("inspect", "tunes", "more.txt", "--length", 6, "--out", "u.png", "--json")
    expected = load(trained / "tunes" / "model.safetensors").trace(MORE[:6])
    assert done.json["activities"] == expected.activities.tolist()
    assert done.json["bits"] == expected.bits.tolist()


def test_a_page_of_the_units(in_trained: Command, trained: Path) -> None:
    done = in_trained("inspect", "orders", "new.csv")
    assert done.code == 0
    page = (trained / "new-inside.html").read_text()
    assert "GLNN on new.csv" in page
    again = in_trained("inspect", "orders", "new.csv")
    assert (again.code, "exists already" in again.err) == (2, True)
    assert in_trained("inspect", "orders", "new.csv", "--force").code == 0


@pytest.mark.small
def test_parts_of_data() -> None:
    assert part_of("abcdef", 2, 3) == "cde"
    words = part_of(Words(["a", "b", "c"]), 1, 9)
    assert (type(words), words) == (Words, ["b", "c"])
    cases = Sequences([["a", "b"], ["c"], ["d", "e"]], ["x", "y", "z"])
    part = part_of(cases, 1, 2)
    assert (list(part), part.names) == ([["c"], ["d", "e"]], ("y", "z"))
    assert list(part_of(cases, 0, 2)) == [["a", "b"]]
    with pytest.raises(ValueError, match="--begin 6: the data have 6"):
        part_of("abcdef", 6, 3)


@pytest.mark.parametrize(("model", "name"), [("mixture", "last 2"), ("contexttree", "after 1"), ("ngram", "after 1")])
def test_what_has_no_units_shows_who_spoke(model: str, name: str, in_trained: Command, files: Path) -> None:
    options = ("--networks", 0) if model == "mixture" else ()
    assert in_trained("train", "tunes.txt", "--model", model, *options, "--run", files / model).code == 0
    done = in_trained("inspect", files / model, "more.txt", "--length", 30, "--out", files / "voices.png")
    assert done.code == 0 and name in done.out and "rows over 30 symbols" in done.out
    trace = load(files / model / "model.safetensors").trace(MORE[:30])
    assert len(trace.names) == trace.activities.shape[1] == len(set(trace.names))
    assert (files / "voices.png").read_bytes() == png(trace.activities, trace.starts)
    found = in_trained("inspect", files / model, "more.txt", "--length", 30, "--out", files / "v.html", "--json").json
    assert found["names"] == list(trace.names) and (files / "v.html").exists()


def test_what_cannot_be_inspected(in_trained: Command, trained: Path) -> None:
    done = in_trained("inspect", "tunes", "more.txt", "--out", "units.jpg")
    assert (done.code, "ends with .html or .png" in done.err) == (2, True)


def test_the_page_of_a_run(in_trained: Command, trained: Path) -> None:
    done = in_trained("report", "tunes", "--json")
    assert done.code == 0
    assert done.json["out"] == "tunes/report.html"
    assert done.json["data"].endswith("more.txt")
    page = (trained / "tunes" / "report.html").read_text()
    assert "GLNN on more.txt" in page
    assert "bits per symbol" in page
    assert (in_trained("report", "tunes").code, in_trained("report", "tunes", "--force").code) == (2, 0)
    done = in_trained("report", "tunes", "--data", "tunes.txt", "--out", "other.html")
    assert "other.html (" in done.out
    assert "GLNN on tunes.txt" in (trained / "other.html").read_text()


def test_the_page_of_a_model_file_needs_data(in_trained: Command, trained: Path) -> None:
    done = in_trained("report", "tunes/model.safetensors")
    assert (done.code, "say with --data" in done.err) == (2, True)
    done = in_trained("report", "tunes/model.safetensors", "--data", "more.txt")
    assert done.code == 0
    assert (trained / "model.html").exists()


def test_the_page_of_a_log_names_its_cases(in_trained: Command, trained: Path) -> None:
    assert in_trained("report", "orders").code == 0
    assert "GLNN on log.csv" in (trained / "orders" / "report.html").read_text()
