"""Commands find out what a file is and say it; headers and commas are never learned."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from glnn.estimators import load
from tests.cli.conftest import Command

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
