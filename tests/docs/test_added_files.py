"""docs/add_a_model.md and docs/add_a_metric.md followed to the letter: one file each, and the command line has both."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import glnn
from tests.training.pages import DOCS

PACKAGE = Path(glnn.__file__).parent
COMMANDS = """
import sys
from glnn.cli import main
for words in (
    "train text --model leaky --metric drbpm --units 3 --budget 2steps --run run --quiet",
    "score run text --json", "compress run text small --json", "decompress run small again --json",
):
    try:
        main(words.split())
    except SystemExit as left:
        if left.code:
            raise
"""


def blocks(page: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_a_model_and_a_metric_are_one_file_each(tmp_path: Path) -> None:
    for path in PACKAGE.rglob("*"):
        place = tmp_path / "glnn" / path.relative_to(PACKAGE)
        if path.is_file() and path.suffix != ".pyc":
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)
    (model,) = (block for block in blocks("add_a_model.md") if "@registry.network" in block)
    direction, method = blocks("add_a_metric.md")[:2]
    (tmp_path / "glnn" / "models" / "leaky.py").write_text(model)
    # The page says so: the last line is for notebooks.
    own_lines = method.rstrip().rsplit("\n", 1)[0]
    (tmp_path / "glnn" / "metrics" / "diagonal.py").write_text(f"{direction}\n{own_lines}\n")
    touched = [path for path in (tmp_path / "glnn").rglob("*.py") if not path.is_symlink()]
    assert sorted(str(path.relative_to(tmp_path)) for path in touched) == [
        "glnn/metrics/diagonal.py",
        "glnn/models/leaky.py",
    ]
    (tmp_path / "text").write_text("abracadabra " * 4)
    # Nothing is compiled for this copy: it would take longer than the few symbols do.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again").read_text() == "abracadabra " * 4
