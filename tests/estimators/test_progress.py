"""What a training shows: nothing, plain lines, a bar in a terminal, a line in a notebook."""

from __future__ import annotations

import io
import sys
import time
import types
from typing import Any

import pytest

from glnn import progress
from glnn.progress import Display

from .conftest import CASES, MODELS, TEXT, make


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", MODELS)
def test_silence(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    make(name).fit(TEXT)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", MODELS)
def test_lines_in_a_pipe(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    make(name).set_params(verbose=1).fit(TEXT)
    out, err = capfd.readouterr()
    assert out == "" and err.startswith(f"{name}: ") and f"{len(TEXT):,} symbols" in err
    if name not in ("ContextTree", "Mixture", "NGram"):
        assert f"the last {round(0.1 * len(TEXT)):,} are held out for validation" in err
        assert "stopped (budget)" in err


def test_other_openings(capfd: pytest.CaptureFixture[str]) -> None:
    make("GLNN", validation_fraction=0, restarts=2).set_params(verbose=1).fit(TEXT)
    err = capfd.readouterr().err
    assert "nothing validates" in err and "2 random starts" in err and "from start" in err
    make("GLNN").set_params(verbose=1).fit(CASES, CASES)
    assert "validation data are given" in capfd.readouterr().err


def test_every_step_on_demand(capfd: pytest.CaptureFixture[str]) -> None:
    make("GLNN").set_params(verbose=2).fit(TEXT)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines if line.startswith("step")] == [f"step {k}" for k in range(1, 7)]
    assert "bits per symbol, validation" in lines[1]


def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    display = Display(1)
    display.update(0.25, "step 1 [of] many")
    display.say("a line that stays")
    display.update(2.0, "step 2")
    display.close()
    shown = screen.getvalue()
    assert "step 1 [of] many" in shown and " 25%" in shown and "a line that stays" in shown and "100%" in shown
    assert "\x1b[2K" in shown  # the bar is taken away again


def test_drawing_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    surface = types.SimpleNamespace(draw=lambda fraction, text: drawn.append(text))
    monkeypatch.setattr(progress, "_surface", lambda: surface)
    monkeypatch.setattr(progress, "_PAUSE", 3600.0)
    # The clock of a machine that was just started is under an hour: no draw must wait for it.
    monkeypatch.setattr(time, "monotonic", lambda: 1e6)
    display = Display(1)
    for step in range(50):
        display.update(step / 50, str(step))
    assert drawn == ["0"]


def test_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[tuple[str, str]] = []

    class Handle:
        def update(self, content: str) -> None:
            events.append(("update", content))

    def show(content: str, display_id: bool = False) -> Handle | None:
        events.append(("show", content))
        return Handle() if display_id else None

    shell = types.SimpleNamespace(kernel=object())
    module: Any = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    inner: Any = types.ModuleType("IPython.display")
    inner.HTML, inner.display = str, show
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    display = Display(1)
    display.say("a < b")
    display.update(0.5, "step 1")
    display.update(0.6, "step 2")
    display.close()
    assert events[0] == ("show", "<pre>a &lt; b</pre>")
    assert events[1][0] == "show" and "step 1" in events[1][1] and 'value="0.500"' in events[1][1]
    assert events[2][0] == "update" and "step 2" in events[2][1]
    assert events[3] == ("update", "")


def test_slow_things_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    display = Display(1)
    with display.said_if_slow("compiling", seconds=0.0):
        time.sleep(0.2)
    with display.said_if_slow("not this", seconds=3600.0):
        pass
    assert capfd.readouterr().err == "compiling\n"


def test_rich_is_imported_late() -> None:
    import subprocess

    program = "import sys, glnn.progress; glnn.progress.Display(0).update(0, ''); print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
