"""Where compiled kernels are kept, and that a place where nothing can be written stops nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import event

from glnn.numeric.kernel import digest_of, kernel

PROGRAM = """
from glnn.numeric.kernel import kernel

@kernel()
def twice(x):
    return 2.0 * x

print(twice(1.0))
"""


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_kernels_work_where_nothing_can_be_written(variable: str, tmp_path: Path) -> None:
    # A file in the place of the folder: no one, not even root, can make a folder of it.
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "HOME": str(tmp_path / "file"), variable: str(tmp_path / "file" / "cache")}
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "2.0\n", done.stderr


def test_kernels_are_kept_for_the_next_process(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("NUMBA_DISABLE_JIT", None)
    (tmp_path / "program.py").write_text(PROGRAM)
    subprocess.run([sys.executable, str(tmp_path / "program.py")], env=environment, check=True, capture_output=True)
    assert list((tmp_path / "cache" / "glnn").rglob("*.nbi"))


def test_every_source_that_is_compiled_has_a_say_in_where_kernels_are_kept(tmp_path: Path) -> None:
    def written(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return digest_of(tmp_path)

    digests = {written("a.py", f"@{kind}\ndef f(): return {n}\n") for kind in ("kernel()", "intrinsic") for n in (1, 2)}
    assert len(digests) == 4
    assert written("b.py", "x = 1\n") == written("b.py", "x = 2\n")


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="users without a home are of POSIX systems")
def test_a_user_without_a_home_compiles_in_every_process(tmp_path: Path) -> None:
    """As in a container that runs under a number no one has: nothing tells where home is."""
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    environment.pop("NUMBA_CACHE_DIR", None)
    program = "import pwd\ndef getpwuid(number):\n    raise KeyError(number)\npwd.getpwuid = getpwuid\n" + PROGRAM
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "2.0\n", done.stderr


def _doubled(x: float) -> float:
    return 2.0 * x


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_processes_write_to_the_folder_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    doubled, compiled = kernel()(_doubled), threading.Event()
    compiling = threading.Thread(target=doubled, args=[2.0])
    told = event.TimingListener()
    told.on_end = lambda _: compiled.set()
    event.register("numba:compile", told)
    with (tmp_path / "saving.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        compiling.start()
        assert compiled.wait(60.0)
        event.unregister("numba:compile", told)
        compiling.join(0.3)
        assert compiling.is_alive() and not list(tmp_path.rglob("*.nbi"))
    compiling.join()
    assert list(tmp_path.rglob("*.nbi"))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_what_kernels_call_is_compiled_apart_from_what_python_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    doubled: Any = kernel()(_doubled)

    @kernel()
    def fourfold(x: float) -> float:
        return doubled(doubled(x))  # type: ignore[no-any-return]

    assert fourfold(3.0) == 12.0 and not doubled.overloads
    assert [path.name.split("-")[0] for path in (tmp_path / "called").rglob("*.nbi")] == ["test_kernel_cache._doubled"]
    assert doubled(3.0) == 6.0 and len(doubled.overloads) == 1
