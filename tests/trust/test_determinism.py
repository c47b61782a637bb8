"""The same seed gives the same bits: on 1 and 2 threads, with a warm and a cold cache, here and in a sweep's worker."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glnn
from tests.trust.effort import TIMES

ROOT = Path(__file__).parents[2]
TEXT = "abracadabra, " * 40
CHANGES: list[dict[str, Any]] = [{}, {"metric": "ruop"}]
# What has few kernels, since each takes a moment to compile.
QUICK: dict[str, Any] = {"kind": "RNN", "metric": "plain", "validation_fraction": 0, "restarts": 1}


def bits_of_a_training(kind: str = "GLNN", threads: int = 1, **changes: Any) -> str:
    """A checksum over everything that a training learned."""
    options: dict[str, Any] = {
        "units": 5,
        "degree": 2,
        "restarts": 2,
        "budget": "8 steps",
        "random_state": 3,
        **changes,
    }
    model = getattr(glnn, kind)(**options, n_jobs=threads, verbose=0).fit(TEXT)
    digest = hashlib.sha256()
    for part in vars(model.params_).values():
        digest.update(part.tobytes())
    for row in model.history_:
        digest.update(repr({name: value for name, value in row.items() if name != "seconds"}).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("kind", ["GLNN", "GNN", "RNN", "LSTM"])
def test_threads(kind: str) -> None:
    assert bits_of_a_training(kind) == bits_of_a_training(kind, threads=2)


def test_other_seeds_have_other_bits() -> None:
    assert bits_of_a_training() != bits_of_a_training(random_state=4)


def test_a_worker_of_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is begun anew, as sweeps begin theirs, and does one training after another."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
    here = [bits_of_a_training(**changes) for changes in CHANGES]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        jobs = [pool.apply_async(bits_of_a_training, kwds=changes) for changes in (*CHANGES, CHANGES[0])]
        there = [job.get() for job in jobs]
    assert there == [*here, here[0]]


@pytest.mark.skipif(TIMES == 1, reason="compiles all kernels anew, half a minute: make test-thorough does it")
def test_a_cold_cache(tmp_path: Path) -> None:
    """Kernels compiled just now, in a process of its own, do what kernels from the cache do."""
    code = f"from tests.trust.test_determinism import bits_of_a_training as f; print(f(**{QUICK})); print(f(**{QUICK}))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert any((tmp_path / "kernels").rglob("*.nbc"))
    assert done.stdout.split() == [bits_of_a_training(**QUICK)] * 2
