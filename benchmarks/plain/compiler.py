"""Compiles `glnn.cpp` with g++ on first use and loads it: the yardstick is built for the processor at hand.

The library is kept in the untracked folder `build/plain`, named by a hash of the source, the flags, and the
compiler's predefined macros, which tell its version and the instructions that -march=native allows.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_name("glnn.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffast-math")
# Linking with -ffast-math as well would flush subnormal numbers in the whole process, the engine's too.
LINK_FLAGS = ("-shared",)
BUILD = Path(__file__).resolve().parents[2] / "build" / "plain"


class CompilerMissingError(RuntimeError):
    """There is no g++ to build the yardstick with."""


def available() -> bool:
    """Whether the yardstick can be compiled here."""
    return shutil.which("g++") is not None


def version() -> str:
    """The compiler and the flags, to print beside a timing."""
    return f"{_run('g++', '--version').splitlines()[0]}, {' '.join(FLAGS)}"


@cache
def library() -> ctypes.CDLL:
    """The compiled yardstick; compiles it if this source, compiler or processor is new."""
    if not available():
        raise CompilerMissingError(
            "the C++ yardstick needs g++, and none was found in PATH: install g++ to compare with it"
        )
    macros = _run("g++", *FLAGS, "-dM", "-E", "-x", "c++", "/dev/null")
    flags = " ".join(FLAGS + LINK_FLAGS)
    digest = hashlib.sha256(SOURCE.read_bytes() + flags.encode() + macros.encode()).hexdigest()
    path = BUILD / f"glnn-{digest[:16]}.so"
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            compiled, linked = f"{folder}/glnn.o", f"{folder}/glnn.so"
            _run("g++", *FLAGS, "-fPIC", "-c", str(SOURCE), "-o", compiled)
            _run("g++", *LINK_FLAGS, compiled, "-o", linked)
            Path(linked).replace(path)
    return ctypes.CDLL(str(path))


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{done.stderr}")
    return done.stdout
