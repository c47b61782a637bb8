"""How every kernel is compiled: lazily, without the GIL, cached under a folder named by the sources' hash.

Numba's own cache looks only at the file of the function it caches, so an edit of a jitted helper elsewhere
would go unnoticed, and a read-only installation could not be cached at all. One folder in the user's cache for
each state of the sources solves both. `NUMBA_CACHE_DIR`, when set, is respected. Where nothing can be written,
kernels are compiled again in each process.

What makes a kernel callable from Python takes as long to compile as the kernel itself where it is given tuples of many
arrays. Kernels that are called by kernels do without: they are compiled apart from what Python calls.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numba

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be split over vector lanes; NaN and infinity keep their meaning (never the full "fast").
REASSOCIATE = {"contract", "reassoc", "nsz", "arcp"}
# Only fused multiply-add: the order of every sum stays as written.
CONTRACT = {"contract"}


def kernel(fastmath: set[str] | bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function on first use; `fastmath` names the liberties its arithmetic may take."""
    settings = {"fastmath": fastmath, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}

    def decorate(function: Function) -> Function:
        compiled: Any = _compiled_into("", settings, function)
        if compiled is not function:
            _apart_for_kernels(compiled, partial(_compiled_into, _CALLED, settings, function))
        return compiled  # type: ignore[no-any-return]

    return decorate


_CALLED = "called"
"""The folder of what is called by kernels only."""
_changing = threading.Lock()


def _compiled_into(subfolder: str, settings: dict[str, Any], function: Function) -> Any:
    """Numba's dispatcher, whose code is kept in this folder below that of this state of the sources."""
    config: Any = numba.config
    with _changing:
        previous = config.CACHE_DIR
        folder = previous or cache_folder()
        keeps = folder != "" and _writable(folder)
        config.CACHE_DIR = str(Path(folder) / subfolder) if keeps else previous
        try:
            own = {**settings, "cache": keeps, "no_cpython_wrapper": subfolder == _CALLED}
            compiled: Any = numba.njit(**own)(function)
            if keeps and compiled is not function:
                _save_alone(compiled, Path(folder))
            return compiled
        finally:
            config.CACHE_DIR = previous


def one_at_a_time() -> bool:
    """Whether processes can fill the same folder: they write to it one at a time."""
    return fcntl is not None


def _save_alone(compiled: Any, folder: Path) -> None:
    """Two processes that save code of one function for different arguments at once would exchange it."""
    kept = compiled._cache
    save = kept.save_overload

    def alone(signature: Any, found: Any) -> None:
        if fcntl is None:
            save(signature, found)
            return
        with (folder / "saving.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Closing the file gives the lock back.
            save(signature, found)

    kept.save_overload = alone


def _apart_for_kernels(compiled: Any, make: Callable[[], Any]) -> None:
    """Let kernels that call this one be given another that Python cannot call."""
    called = cache(make)
    compiled.get_call_template = lambda args, kws: called().get_call_template(args, kws)
    compiled.get_overload = lambda signature: called().get_overload(signature)


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
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return ""
    return str(home / "glnn" / f"kernels-{digest_of(Path(__file__).resolve().parents[1])[:16]}")


def digest_of(package: Path) -> str:
    """A number that changes with every source that is compiled, kernels and what is put into them."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text or b"intrinsic" in text:
            digest.update(path.name.encode() + text)
    return digest.hexdigest()
