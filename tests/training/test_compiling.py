"""Compiling is announced where something is compiled, and only there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import pytest

from glnn.training.compiling import (
    Ahead,
    _left,
    compile_beside,
    nothing_compiled,
    said_if_compiling,
    wait_for_beside,
)


class Spy:
    def __init__(self) -> None:
        self.said: list[str] = []
        self.drawn: list[tuple[float, str]] = []

    @contextmanager
    def said_if_slow(self, text: str) -> Iterator[None]:
        self.said.append(text)
        yield

    def update(self, fraction: float, text: str) -> None:
        self.drawn.append((fraction, text))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_only_what_is_compiled_is_said() -> None:
    spy = Spy()
    twice = numba.njit(lambda x: 2 * x)
    with said_if_compiling(spy):  # type: ignore[arg-type]
        pass
    assert spy.said == []
    with said_if_compiling(spy):  # type: ignore[arg-type]
        assert twice(2) == 4 and twice(2.0) == 4.0
    assert spy.said == ["compiling kernels, once"]
    with said_if_compiling(spy):  # type: ignore[arg-type]
        assert twice(3) == 6
    assert len(spy.said) == 1


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_the_bar_counts_our_kernels_only() -> None:
    def twice(x: int) -> int:
        return 2 * x

    spy, other = Spy(), numba.njit(lambda x: 3 * x)
    twice.__module__ = "glnn.somewhere"
    ours = numba.njit(twice)
    with said_if_compiling(spy, kernels=4):  # type: ignore[arg-type]
        assert other(2) == 6 and ours(2) == 4 and ours(2.0) == 4.0
    assert [fraction for fraction, _ in spy.drawn] == [0.25, 0.5]
    assert all("s left" in text for _, text in spy.drawn)


@pytest.mark.small
def test_the_seconds_left_follow_from_those_that_passed() -> None:
    assert _left(10.0, 20, 100) == "compiling kernels, once: about 40 s left"
    assert _left(10.0, 100, 100).endswith("nearly done")


@pytest.mark.small
def test_what_is_compiled_ahead_is_waited_for_and_fails_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    ahead = Ahead(lambda: done.append(1))
    ahead.wait()
    assert done == [1]
    Ahead(lambda: done[7]).wait()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert nothing_compiled()
    (tmp_path / "inner").mkdir()
    for kernel in range(3):
        (tmp_path / "inner" / f"{kernel}.nbi").touch()
    assert nothing_compiled()
    (tmp_path / "inner" / "one.nbi").touch()
    assert not nothing_compiled()


def test_what_is_compiled_in_another_process_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "later.py").write_text(
        "import pathlib, time\ntime.sleep(0.3)\npathlib.Path(__file__ + '.done').touch()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    compile_beside("later")
    assert not (tmp_path / "later.py.done").exists()
    wait_for_beside()
    assert (tmp_path / "later.py.done").exists()
    # What fails there is compiled here.
    compile_beside("nowhere.at_all")
    wait_for_beside()


def test_the_program_that_compiles_networks_comes_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from glnn.cli import compile_networks
    from glnn.training import fitting

    monkeypatch.setattr(fitting, "compiling", fitting.compiling)
    compile_networks.main()
