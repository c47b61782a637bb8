"""What every test shares: reproducible property tests, and which tests run again without compilation or with bounds."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from hypothesis import settings

settings.register_profile("glnn", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("glnn")

ROOT = Path(__file__).resolve().parents[1]


@cache
def folders_with_kernels() -> set[str]:
    """Folders of the package with compiled code, and training, which runs all of it."""
    files = (ROOT / "src" / "glnn").rglob("*.py")
    return {"training"} | {file.parent.name for file in files if "\n@kernel" in file.read_text(encoding="utf-8")}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """As plain Python, and with bounds checked, only tests of kernels can find anything that the whole run does not.

    The others are not even read: what they import would take longer than many of the tests.
    """
    if not (os.environ.get("NUMBA_DISABLE_JIT") == "1" or os.environ.get("NUMBA_BOUNDSCHECK") == "1"):
        return None
    room = collection_path.relative_to(ROOT / "tests").parts[:1]
    return True if room and room[0] not in {*folders_with_kernels(), "test_naive.py"} else None
