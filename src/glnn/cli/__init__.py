"""The command line: one file a command, heavy imports inside the commands so that `--help` is quick.

Wrong input is told in one line on standard error, with exit code 2; `GLNN_TRACEBACK=1` shows where it arose.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; `arguments` stand in for those of the process."""
    from glnn.cli.app import app

    try:
        app(args=None if arguments is None else list(arguments), prog_name="glnn")
    # The library tells wrong input with ValueError (InputError where data are concerned).
    except (ValueError, OSError) as error:
        if os.environ.get("GLNN_TRACEBACK"):
            raise
        print(f"glnn: {one_line(error)}", file=sys.stderr)
        sys.exit(2)


def one_line(error: ValueError | OSError) -> str:
    """An error as one line; those of the operating system as the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())
