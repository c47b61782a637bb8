"""Work that stands in for a training in tests of runners; in a file that other processes can import."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from glnn.reproduction.settings import Setting, to_json

FOLDER = "GLNN_TEST_FOLDER"


def settings(count: int) -> list[Setting]:
    one = Setting("music", "glnn", "qdh", "rbpm", 4, 3, 0, "1 steps")
    return [replace(one, seed=seed) for seed in range(count)]


def line(setting: Setting) -> dict[str, Any]:
    return {"setting": to_json(setting), "regret": 100.0 + setting.seed, "process": os.getpid()}


def dies_once(setting: Setting) -> dict[str, Any]:
    """The process is killed when it is first at seed 1."""
    mark = Path(os.environ[FOLDER]) / "died"
    if setting.seed == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return line(setting)


def always_dies(setting: Setting) -> dict[str, Any]:
    """The process is killed whenever it is at seed 0."""
    if setting.seed == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return line(setting)


def fails(setting: Setting) -> dict[str, Any]:
    if setting.seed == 0:
        raise ValueError("seed 0 does not please me")
    return line(setting)


def leaves_a_mark(setting: Setting) -> dict[str, Any]:
    """Says which process is at it, waits until told to go on, and says that it is done."""
    folder = Path(os.environ[FOLDER])
    (folder / f"begun-{setting.seed}-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.02)
    return line(setting)
