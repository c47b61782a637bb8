"""The command line: one file per command, heavy imports inside the commands so that `--help` is quick.

Exit codes: 0 success, 2 wrong input, explained in one line on standard error (`GLNN_TRACEBACK=1` shows where), 130
interrupted, 141 when the reader of the output is gone.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Any

BROKEN_PIPE = 141
_ADVICE = {
    errno.ENOENT: "check the name",
    errno.EISDIR: "give a file",
    errno.ENOTDIR: "give a folder",
    errno.EACCES: "change its permissions, or choose another place",
    errno.EPERM: "change its permissions, or choose another place",
    errno.EROFS: "choose another place",
    errno.ENOSPC: "make room on the disk, then try again",
    errno.EDQUOT: "make room on the disk, then try again",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; `arguments` replaces those of the process."""
    from glnn.cli.app import app

    _write_any_symbol()
    code: object = 0
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="glnn", standalone_mode=False) or 0
    except SystemExit as left:
        code = left.code
    # The library reports wrong input with ValueError (InputError where data are concerned).
    except (ValueError, OSError, MemoryError) as error:
        if os.environ.get("GLNN_TRACEBACK"):
            raise
        scarce = "; choose fewer units, fewer edges or shorter data" if isinstance(error, MemoryError) else ""
        print(f"glnn: {one_line(error)}{scarce}", file=sys.stderr)
        code = 2
    except Exception as error:
        # Wrong usage, as typer reports it; where its errors are defined depends on its version.
        if not hasattr(error, "format_message"):
            raise
        code = _wrong_usage(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer would be tried again, and complained about, when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    sys.exit(code)  # type: ignore[arg-type]


def one_line(error: BaseException | str) -> str:
    """An error as one line; those of the operating system as the file and what is wrong with it."""
    if isinstance(error, OSError) and error.strerror:
        advice = f"; {_ADVICE[error.errno]}" if error.errno in _ADVICE else ""
        named = error.filename is not None and not isinstance(error.filename, int)
        return f"{error.filename}: {error.strerror}{advice}" if named else f"{error.strerror}{advice}"
    return " ".join(str(error).split()) or type(error).__name__


def _wrong_usage(error: Any) -> int:
    """Say what is wrong with the arguments in one line; without any, typer shows the help instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        command = error.ctx.command_path if getattr(error, "ctx", None) is not None else "glnn"
        print(f"glnn: {one_line(error.format_message()).rstrip('.')}: see {command} --help", file=sys.stderr)
    return int(error.exit_code)


def _write_any_symbol() -> None:
    """Where the terminal's encoding lacks a symbol, write its number instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
