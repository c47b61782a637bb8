"""The README's example and the documentation's: they run as printed."""

from __future__ import annotations

import gzip
import io
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_readmes_example(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = examples("README.md")
    names: dict = {}
    exec(compile(example, "README.md", "exec"), names)
    network, tree, true = (float(number) for number in capsys.readouterr().out.split()[:3])
    # The network counts, which a context tree cannot, and nothing is better than the true model.
    assert true < network < tree


def test_the_examples_of_the_page_on_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.txt").write_text("to be or not to be")
    (tmp_path / "log.txt").write_text("one\ntwo\n")
    (tmp_path / "program.exe").write_bytes(b"\x7f\x00")
    (tmp_path / "mask.txt").write_text("0 1\n")
    (tmp_path / "log.csv").write_text("order,step,at\n1,pay,2\n1,order,1\n")
    (tmp_path / "orders.csv").write_text("order,step,at\n1,pay,2\n1,order,1\n2,pay,1\n")
    (tmp_path / "genes.fasta.gz").write_bytes(gzip.compress(b">a\nACGT\n"))
    (tmp_path / "names.txt").write_text("anna\nbob\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"some text")))
    monkeypatch.chdir(tmp_path)
    found = examples("docs/sequences.md")
    assert len(found) == 5
    names: dict = {}
    for example in found:
        exec(compile(example, "docs/sequences.md", "exec"), names)
    assert names["data"].codes[:5].tolist() == [0, 1, 4, 0, 2]
    assert names["log"].names == ("1", "2") and "case 'order'" in names["log"].note
    assert names["valid"].alphabet is names["data"].alphabet
