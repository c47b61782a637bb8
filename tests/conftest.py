"""What every test shares: reproducible property tests, and which tests run again without compilation or with bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("glnn", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("glnn")

ROOT = Path(__file__).resolve().parents[1]


def folders_with_kernels() -> set[str]:
    """Folders of the package with compiled code, and training, which runs all of it."""
    files = (ROOT / "src" / "glnn").rglob("*.py")
    return {"training"} | {file.parent.name for file in files if "\n@kernel" in file.read_text(encoding="utf-8")}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """As plain Python, and with bounds checked, only tests of kernels can find anything that the whole run does not."""
    if not (os.environ.get("NUMBA_DISABLE_JIT") == "1" or os.environ.get("NUMBA_BOUNDSCHECK") == "1"):
        return
    wanted = {ROOT / "tests" / name for name in folders_with_kernels()} | {ROOT / "tests" / "test_naive.py"}
    kept = [item for item in items if wanted & {item.path, *item.path.parents}]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
