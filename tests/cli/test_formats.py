"""Commands find out what a file is and say it; headers and commas are never learned."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest

from glnn.estimators import load
from tests.cli.conftest import Command, Done

TREE = ("--model", "contexttree", "--depth", "2", "--run", "run")
FASTA = "".join(f">gene{k} some words\nACGTACGTAC{'GATTACA' * (k % 3)}\n" for k in range(12))


def alphabet(folder: Path) -> set[str]:
    model = load(folder / "run" / "model.safetensors")
    return {symbol for symbol in model.alphabet_.symbols if isinstance(symbol, str)}


def test_headers_are_not_learned_and_what_was_read_is_said(glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "x.fasta").write_text(FASTA)
    done = glnn("train", "x.fasta", *TREE)
    assert done.code == 0, done.err
    assert "x.fasta: FASTA, 12 sequences, 204 symbols of 4 kinds" in done.err
    assert alphabet(tmp_path) == set("ACGT")
    scored = glnn("score", "run", "x.fasta", "--json").json
    assert {row["case"] for row in scored["cases"]} == {f"gene{k}" for k in range(12)}
    assert scored["symbols"] == 204 + 12


def test_commas_are_not_learned(glnn: Command, files: Path) -> None:
    done = glnn("train", "log.csv", *TREE)
    assert "case 'order', activity 'step', in the order of 'at'" in done.err
    assert alphabet(files) == {"order", "pay", "ship"}
    assert glnn("train", "log.csv", "--format", "text", *TREE, "--force").code == 0
    assert "," in alphabet(files)


def test_standard_input(glnn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FASTA.encode())))
    assert glnn("train", "-", *TREE).code == 0
    assert alphabet(tmp_path) == set("ACGT")
    done = glnn("resume", "run", "--budget", "3 steps")
    assert (done.code, done.err.count("\n")) == (2, 1)
    done = glnn("report", "run")
    assert done.code == 2 and "data came from standard input" in done.err


def test_a_prefix_that_the_model_does_not_know_is_refused(in_trained: Command) -> None:
    done = in_trained("predict", "orders", "--prefix", "Order")
    assert (done.code, done.out) == (2, "")
    assert "--prefix holds 'Order', which the model does not know: the nearest it knows is 'order'" in done.err
    assert in_trained("sample", "orders", "--prefix", "paid").code == 2
    assert "knows" in in_trained("predict", "tunes", "--prefix", "é").err


def test_a_pipe_with_a_name_is_read_once(glnn: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def through_the_pipe(*arguments: str) -> Done:
        writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(FASTA,))
        writer.start()
        done = glnn(*arguments)
        writer.join()
        return done

    done = through_the_pipe("train", "pipe", *TREE)
    assert (done.code, alphabet(tmp_path)) == (0, set("ACGT")), done.err
    assert through_the_pipe("score", "run", "pipe", "--json").json["symbols"] == 204 + 12
    assert through_the_pipe("compress", "pipe", "packed").code == 0
    assert glnn("decompress", "packed", "back").code == 0
    assert (tmp_path / "back").read_text() == FASTA
    done = glnn("report", "run")
    assert (done.code, "the data came from the pipe pipe" in done.err) == (2, True)


@pytest.mark.parametrize(("content", "said"), [(b"", "is empty"), (b"ab\xff", "is not UTF-8 text")])
def test_what_is_wrong_with_standard_input_is_said_of_it(
    content: bytes, said: str, glnn: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    done = glnn("train", "-", *TREE)
    assert (done.code, f"glnn: standard input {said}" in done.err) == (2, True), done.err


def test_a_log_of_a_header_alone_is_named(glnn: Command, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case,what,time\n")
    done = glnn("train", "log.csv", *TREE)
    assert (done.code, "log.csv holds no event under its header" in done.err) == (2, True), done.err
