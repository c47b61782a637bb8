"""What a training shows while it runs: a bar in a terminal, a line in a notebook, plain lines elsewhere, or nothing.

Everything goes to standard error, so that output still pipes. It is drawn a few times a second at most, by the
training itself: a thread of its own would cost CPU time that the budget is charged for.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PAUSE = 0.2


class Display:
    """Shows one training. `verbose` 0 is silent, 1 shows progress, 2 also prints a line for every step.

    `told` hears of every update too, as (part of the work, text).
    """

    def __init__(self, verbose: int = 1, told: Callable[[float, str], Any] | None = None) -> None:
        self.verbose, self._told = verbose, told
        self._surface: _Surface | None = None
        self._drawn = 0.0

    def say(self, text: str) -> None:
        """A line that stays."""
        if self.verbose:
            self._shown().say(text)

    def update(self, fraction: float, text: str) -> None:
        """How much of the budget is spent, and where the training stands."""
        if self._told is not None:
            self._told(fraction, text)
        if not self.verbose:
            return
        if self.verbose > 1:
            self._shown().say(text)
        now = time.monotonic()
        if now - self._drawn >= _PAUSE:
            self._drawn = now
            self._shown().draw(min(max(fraction, 0.0), 1.0), text)

    def close(self) -> None:
        """Take the bar away."""
        if self._surface is not None:
            self._surface.close()
            self._surface = None

    @contextmanager
    def said_if_slow(self, text: str, seconds: float = 1.0) -> Iterator[None]:
        """Say something when the block takes longer than that."""
        timer = threading.Timer(seconds, self.say, [text])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _shown(self) -> _Surface:
        if self._surface is None:
            self._surface = _surface()
        return self._surface


class _Surface:
    """Plain lines, where nobody watches: in a file or a pipe."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def draw(self, fraction: float, text: str) -> None:
        pass

    def close(self) -> None:
        pass


class _Terminal(_Surface):
    """A bar on the last line of the terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._bar: Any = None

    def say(self, text: str) -> None:
        self._console.print(text, markup=False)

    def draw(self, fraction: float, text: str) -> None:
        if self._bar is None:
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            columns = (BarColumn(bar_width=20), TaskProgressColumn(), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=self._console, transient=True, auto_refresh=False)
            self._task = self._bar.add_task("", total=1.0)
            self._bar.start()
        self._bar.update(self._task, completed=fraction, description=text)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class _Notebook(_Surface):
    """One line of output that changes."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html, self._display = HTML, display
        self._handle: Any = None

    def say(self, text: str) -> None:
        self._display(self._html(f"<pre>{html.escape(text)}</pre>"))

    def draw(self, fraction: float, text: str) -> None:
        line = f'<progress value="{fraction:.3f}" max="1"></progress> <code>{html.escape(text)}</code>'
        if self._handle is None:
            self._handle = self._display(self._html(line), display_id=True)
        else:
            self._handle.update(self._html(line))

    def close(self) -> None:
        if self._handle is not None:
            self._handle.update(self._html(""))
            self._handle = None


def _surface() -> _Surface:
    if _in_notebook():
        return _Notebook()
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else _Surface()


def _in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel; IPython is only asked when it is there already."""
    shell = sys.modules.get("IPython")
    current = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    return current is not None and hasattr(current, "kernel")
