"""The command line: one file a command, heavy imports inside the commands so that `--help` is quick.

Exit codes: 0 fine, 2 wrong input, told in one line on standard error (`GLNN_TRACEBACK=1` shows where it arose), 130
interrupted, 141 when whoever read the output went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; `arguments` stand in for those of the process."""
    from glnn.cli.app import app

    _write_any_symbol()
    code: object = 0
    try:
        app(args=None if arguments is None else list(arguments), prog_name="glnn")
    except SystemExit as left:
        code = left.code
    # The library tells wrong input with ValueError (InputError where data are concerned).
    except (ValueError, OSError) as error:
        if os.environ.get("GLNN_TRACEBACK"):
            raise
        print(f"glnn: {one_line(error)}", file=sys.stderr)
        code = 2
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer would be tried again, and complained about, when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    sys.exit(code)  # type: ignore[arg-type]


def one_line(error: BaseException) -> str:
    """An error as one line; those of the operating system as the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _write_any_symbol() -> None:
    """Where the terminal's encoding lacks a symbol, write its number instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
