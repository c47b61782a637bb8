"""The benchmark of memory: files that repeat to the byte, and a process whose peak and steps are read right."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchmarks import memory


def test_files_repeat_and_longer_ones_begin_like_shorter_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_PIECE", 1000)
    for name, symbols in (("short", 2_500), ("again", 2_500), ("long", 6_000)):
        memory.write_text(tmp_path / name, symbols)
    short, long = (tmp_path / "short").read_bytes(), (tmp_path / "long").read_bytes()
    assert (tmp_path / "again").read_bytes() == short == long[:2_500]
    assert len(long) == 6_000 and set(long) == set(memory.LETTERS)
    # Pieces are no copies of each other.
    assert len({hashlib.sha256(long[k : k + 1000]).digest() for k in range(0, 6_000, 1000)}) == 6


def test_a_small_training(tmp_path: Path) -> None:
    path = tmp_path / "text"
    memory.write_text(path, 3_000)
    line = {"symbols": 3_000, **memory.train(path, tmp_path / "run", 3)}
    assert 20 < line["peak_before_training_mib"] <= line["peak_mib"] < memory.LIMIT_MIB
    assert len(line["step_seconds"]) == len(line["rejected"]) == 3
    assert line["held_out"] == 300
    assert line["cpu_seconds"] > line["step_seconds"][-1]


def test_time_is_that_of_training_symbols_without_the_first_step() -> None:
    line = {"symbols": 1_100, "held_out": 100, "step_seconds": [5.0, 6.0, 7.0]}
    assert memory.per_symbol_ns(line) == pytest.approx(1e6)


def test_what_fits_the_memory_budget() -> None:
    assert memory.kept({"symbols": 100_000, "held_out": 0})
    assert not memory.kept({"symbols": 1_000_000, "held_out": 50_000})


def test_a_training_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="left with 2"):
        memory.train(tmp_path / "nothing", tmp_path / "run", 2)
    with pytest.raises(ValueError, match="at least 2"):
        memory.run([100], 1)
