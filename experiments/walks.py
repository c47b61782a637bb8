"""How far one walks through the package: functions, files and depth that four everyday calls enter.

    python experiments/walks.py [fit] [train] [compress] [report]

Each walk runs in a process of its own, after one run that compiles; what is trained is trained as in the paper. Counted
are the Python functions of the package, class bodies and comprehensions left out; depth is the most of them that are
open at once. Compiled kernels count as one call each where Python enters them, not at all inside.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

TEXT = "the cat sat on the mat and the dog sat on the log. " * 20
OPTIONS: dict[str, Any] = {"units": 16, "degree": 3, "budget": "3 steps", "random_state": 0, "verbose": 0}
WALKS = ("fit", "train", "compress", "report")
_NO_FUNCTIONS = {"<module>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>"}


def counted(walk: Callable[[], Any]) -> dict[str, int]:
    """Run a walk under a profiler of calls."""
    import glnn

    package = str(Path(glnn.__file__).parent)
    functions: set[tuple[str, str, int]] = set()
    depth = deepest = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(package):
            return
        if code.co_name in _NO_FUNCTIONS:
            return
        if event == "call":
            functions.add((code.co_filename, code.co_name, code.co_firstlineno))
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = max(depth - 1, 0)

    sys.setprofile(look)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return {"functions": len(functions), "files": len({file for file, _, _ in functions}), "depth": deepest}


def prepared(name: str, folder: Path) -> Callable[[], Any]:
    """The walk of a name; what it needs is there when this returns."""
    import glnn

    # Versions before the recipes know nothing but the paper's.
    paper = {"recipe": "paper"} if "recipe" in inspect.signature(glnn.GLNN.__init__).parameters else {}
    options = {**OPTIONS, **paper}
    if name == "fit":
        return lambda: glnn.GLNN(**options).fit(TEXT)
    if name == "compress":
        model = glnn.GLNN(**options).fit(TEXT)
        return lambda: model.compress(TEXT)
    from glnn.cli import main

    file, run = folder / "text.txt", folder / "run"
    file.write_text(TEXT)
    command = ["train", file, "--model", "glnn", "--units", 16, "--degree", 3, "--budget", "3 steps"]
    # A checkpoint in between, on a busy machine, would count too.
    command += ["--run", run, "--json", "--force", "--save-every", 3600, *(["--recipe", "paper"] if paper else [])]

    def call(*words: Any) -> None:
        try:
            main([str(word) for word in words])
        except SystemExit as left:
            if left.code:
                raise

    if name == "train":
        return lambda: call(*command)
    call(*command)
    return lambda: call("report", run, "--data", file, "--out", folder / "page.html", "--force")


def main() -> None:
    """Print a table, one line for each walk."""
    if sys.argv[1:2] == ["--one"]:
        with tempfile.TemporaryDirectory() as folder:
            walk = prepared(sys.argv[2], Path(folder))
            walk()
            print(json.dumps(counted(walk)))
        return
    print(f"{'walk':10} {'functions':>10} {'files':>6} {'depth':>6}")
    for name in sys.argv[1:] or WALKS:
        done = subprocess.run([sys.executable, __file__, "--one", name], capture_output=True, text=True)
        if done.returncode:
            print(f"{name:10} failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        print(f"{name:10} {found['functions']:10} {found['files']:6} {found['depth']:6}")


if __name__ == "__main__":
    main()
