"""What goes to standard output: tables for people, one JSON document for machines; and progress on standard error.

No colours and no cut columns where the output is not a terminal.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDE = 1000
# A line now and then where no one is watching.
_PLAIN_PAUSE = 5.0


def print_json(document: Any) -> None:
    """One JSON document; what is not finite becomes null."""
    typer.echo(json.dumps(finite(document), allow_nan=False))


def finite(value: Any) -> Any:
    """The same with None for numbers that are not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def console(quiet: bool = False) -> Console:
    """Standard output for people."""
    from rich.console import Console

    class Pipeable(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    # Without a terminal a table would be squeezed into 80 columns.
    width = None if sys.stdout.isatty() else _WIDE
    return Pipeable(highlight=False, quiet=quiet, width=width, soft_wrap=not sys.stdout.isatty())


def print_facts(rows: Sequence[tuple[str, str]]) -> None:
    """Names and values, one per line."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        typer.echo(f"{name:<{width}}  {value}")


def data_table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, title: str | None = None) -> Table:
    """A table whose first `left` columns are words, the others numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def tell(text: str, quiet: bool = False) -> None:
    """A line for people on standard error, so that it does not mix with the output."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)


@contextmanager
def working(text: str, quiet: bool = False) -> Iterator[None]:
    """Show that something is being done, when it takes longer than a moment."""
    from glnn.progress import Display

    if quiet:
        yield
    elif sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True, highlight=False).status(text, spinner="line"):
            yield
    else:
        with Display().said_if_slow(f"{text} ...", 2.0):
            yield


class ProgressLine:
    """Where a training stands: a line that changes in a terminal, one now and then elsewhere, or nothing."""

    def __init__(self, quiet: bool) -> None:
        from glnn.progress import Display

        self.display = Display(0 if quiet else 1)
        self._plain = not quiet and not sys.stderr.isatty()
        self._begun, self._said = time.monotonic(), float("-inf")

    def update(self, fraction: float, text: str, new: bool = False) -> None:
        """Show the text, and how much of the budget is spent; what is `new` is said at once."""
        if not self._plain:
            self.display.update(fraction, text)
            return
        now = time.monotonic()
        # A run of hours should not leave thousands of lines.
        if new or now - self._said >= max(_PLAIN_PAUSE, 0.1 * (now - self._begun)):
            self._said = now
            self.display.say(text)

    def close(self) -> None:
        """Remove the line."""
        self.display.close()
