"""`glnn source`: what it writes, what it prints, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glnn import read_mask, sources
from glnn.cli import main, source
from glnn.storage.atomic import write_whole

pytestmark = pytest.mark.small


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


@pytest.mark.parametrize("name", sources.NAMES)
def test_the_file_and_the_bits_are_those_of_the_source(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sample"
    assert run("source", name, "--seed", 3, "--size", 4, "--out", out, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    sample = sources.get(name).sample(4, 3)
    text = out.read_bytes().decode()
    assert text == sample.text
    assert facts["bits"] == pytest.approx(sources.get(name).bits(text), abs=1e-6)
    assert facts["total_bits"] == pytest.approx(sources.get(name).bits(text, masked=False), rel=1e-9)
    assert (facts["symbols"], facts["predicted"]) == (len(text), int(sample.mask.sum()))
    assert (facts["source"], facts["seed"], facts["size"], facts["file"]) == (name, 3, 4, str(out))
    assert [path.name for path in tmp_path.iterdir()] == ["sample"]


def test_the_mask_as_a_file(tmp_path: Path) -> None:
    out, mask_out = tmp_path / "sample", tmp_path / "mask"
    assert run("source", "xor", "--size", 3, "--out", out, "--mask-out", mask_out) == 0
    sample = sources.get("xor").sample(3, 0)
    assert read_mask(mask_out).tolist() == sample.mask.tolist()
    assert sample.mask.sum() == 3


def test_the_readable_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("source", "anbn", "--size", 2, "--out", tmp_path / "sample") == 0
    printed = capsys.readouterr().out
    assert "anbn, seed 0, 2 blocks" in printed
    assert "20.0" in printed
    assert "not to be predicted" not in printed
    assert printed.endswith(f"{tmp_path / 'sample'}\n")
    assert run("source", "xor", "--size", 2, "--out", tmp_path / "masked") == 0
    assert "not to be predicted" in capsys.readouterr().out


def test_without_a_size_it_is_the_papers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("source", "anbn", "--out", tmp_path / "sample", "--json") == 0
    assert json.loads(capsys.readouterr().out)["size"] == sources.get("anbn").default_size


def test_constants_are_read_as_the_type_of_the_papers_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sample"
    constants = ("--set", "shortest=2", "--set", "longest=2")
    assert run("source", "anbn", "--size", 2, "--out", out, *constants) == 0
    assert out.read_text() == sources.get("anbn", shortest=2, longest=2).sample(2, 0).text
    assert source._parsed(["after_last_digit=FALSE", "block_probability=0.5"], sources.get("insertions")) == {
        "after_last_digit": False,
        "block_probability": 0.5,
    }


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("nothing", (), "no source is called 'nothing'"),
        ("anbn", ("--size", 0), "size is 0"),
        ("anbn", ("--set", "shortest"), "write a constant as NAME=VALUE"),
        ("anbn", ("--set", "shortest=few"), "shortest is 1024 in the paper, and 'few' is not of that type"),
        ("anbn", ("--set", "shortst=3"), "no constant 'shortst' (did you mean 'shortest'?)"),
        ("music", ("--set", "progression=C"), "can be changed in Python only"),
        ("insertions", ("--set", "after_last_digit=perhaps"), "is not of that type"),
    ],
)
def test_wrong_options(
    name: str, arguments: tuple, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("source", name, "--out", tmp_path / "sample", *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_file_that_exists_is_kept_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, mask_out = tmp_path / "sample", tmp_path / "mask"
    out.write_text("precious")
    assert run("source", "anbn", "--size", 1, "--out", out) == 2
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == "precious"
    mask_out.write_text("precious")
    out.unlink()
    assert run("source", "anbn", "--size", 1, "--out", out, "--mask-out", mask_out) == 2
    assert not out.exists()
    assert run("source", "anbn", "--size", 1, "--out", out, "--mask-out", mask_out, "--force") == 0
    assert out.read_text() == sources.get("anbn").sample(1, 0).text
    assert read_mask(mask_out).all()


def test_places_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("source", "anbn", "--out", tmp_path) == 2
    assert "is a folder" in capsys.readouterr().err
    assert run("source", "anbn", "--out", tmp_path / "none" / "sample") == 2
    assert "none does not exist: make it first" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    gone = tmp_path / "gone" / "file"
    with pytest.raises(FileNotFoundError) as error:
        write_whole(gone, b"new")
    assert error.value.filename == str(gone)
    with pytest.raises(IsADirectoryError) as folder:
        write_whole(tmp_path, b"new")
    assert (folder.value.filename, folder.value.filename2) == (str(tmp_path), None)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]
    monkeypatch.undo()
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
