"""Another Python, with another NumPy and Numba where it has them, loads the same models and decodes the same bytes.

Skipped where there is none: GLNN_OTHER_PYTHON names one, else python3.11 to python3.14 are looked for, with what glnn
needs installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = "import sys, numpy, numba, safetensors, threadpoolctl; print(*sys.version_info[:2], numpy.__version__)"


def build_of(python: str) -> str | None:
    """What a Python says of itself, if it has all that is needed."""
    done = subprocess.run([python, "-c", NEEDED], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def others() -> list[str]:
    named = os.environ.get("GLNN_OTHER_PYTHON")
    names = [named] if named else [f"python3.{minor}" for minor in range(11, 15)]
    found = [path for path in map(shutil.which, names) if path is not None]
    own = build_of(sys.executable)
    return [path for path in found if build_of(path) not in (None, own)]


def test_models_and_streams_travel_between_builds(tmp_path: Path) -> None:
    pythons = others()
    if not pythons:
        pytest.skip("no other Python with NumPy, Numba, safetensors and threadpoolctl: name one in GLNN_OTHER_PYTHON")
    script = str(ROOT / "experiments" / "other_builds.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "GLNN_RESULTS": str(tmp_path)}
    subprocess.run([sys.executable, script, "write", str(tmp_path / "made")], env=environment, check=True)
    for python in pythons:
        environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
        done = subprocess.run([python, script, "read", str(tmp_path / "made")], env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr[-2000:]
