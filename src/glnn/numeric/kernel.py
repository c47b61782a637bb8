"""How every kernel is compiled: lazily, without the GIL, cached under a folder named by the sources' hash.

Numba's own cache looks only at the file of the function it caches, so an edit of a jitted helper elsewhere
would go unnoticed, and a read-only installation could not be cached at all. One folder in the user's cache for
each state of the sources solves both. `NUMBA_CACHE_DIR`, when set, is respected. Where nothing can be written,
kernels are compiled again in each process.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be split over vector lanes; NaN and infinity keep their meaning (never the full "fast").
REASSOCIATE = {"contract", "reassoc", "nsz", "arcp"}
# Only fused multiply-add: the order of every sum stays as written.
CONTRACT = {"contract"}


def kernel(fastmath: set[str] | bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function on first use; `fastmath` names the liberties its arithmetic may take."""

    def decorate(function: Function) -> Function:
        config: Any = numba.config
        previous = config.CACHE_DIR
        folder = previous or cache_folder()
        config.CACHE_DIR = folder
        try:
            settings = {"cache": folder != "" and _writable(folder), "nogil": True, "error_model": "numpy", **options}
            return numba.njit(fastmath=fastmath, **settings)(function)
        finally:
            config.CACHE_DIR = previous

    return decorate


@cache
def _writable(folder: str) -> bool:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder() -> str:
    """The folder for this state of the sources; empty for a user without a home."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(path.name.encode() + text)
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return ""
    return str(home / "glnn" / f"kernels-{digest.hexdigest()[:16]}")
