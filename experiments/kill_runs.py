"""Kill a training again and again, go on each time, and compare what it learns with a run that was left alone.

A real process is killed with SIGKILL at a random moment: while it starts, between two steps, inside a step, or while it
writes (it writes after every step, so that many kills meet a file half done). After each kill every file of the run
that is there must open. When the run has come to its end, model, history and checkpoint must have the same bits as
those of the run that was left alone. Each run is one line of JSON, written at once.

    python experiments/kill_runs.py --kills 100               go on until 100 kills are counted in all
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn.sources import get
from glnn.storage.checkpoint import has_checkpoint, read_checkpoint

RESULTS = Path(__file__).parent / "results" / "kill_runs.jsonl"
MODELS = ("glnn", "rnn", "gnn", "lstm")
STEPS = 60
WHILE_STARTING = 0.15


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from glnn.cli import main; main()", *map(str, arguments)]


def training(model: str, folder: str, seed: int) -> list[str]:
    return command(
        "train", "data.txt", "--valid", "valid.txt", "--model", model, "--units", 6, "--degree", 2, "--restarts", 2,
        "--budget", f"{STEPS} steps", "--save-every", 0, "--seed", seed, "--run", folder, "--quiet",
    )  # fmt: skip


def kill_once(arguments: list[str], work: Path, generator: random.Random) -> str:
    """Start a command and kill it; gives where it was, or how it ended before it could be killed."""
    history = work / "run" / "history.jsonl"
    before = _size(history)
    process = subprocess.Popen(arguments, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if generator.random() < WHILE_STARTING:
        time.sleep(generator.uniform(0.0, 3.0))
    else:
        # A resumed run writes its history anew at first: the first change says that it has begun.
        while process.poll() is None and _size(history) == before and not _begun(history, before):
            time.sleep(0.0005)
        time.sleep(generator.uniform(0.0, 0.25))
    process.send_signal(signal.SIGKILL)
    _, error = process.communicate()
    if process.returncode == -signal.SIGKILL:
        return "killed"
    if process.returncode:
        raise SystemExit(f"the run failed by itself: {error.decode()}")
    return "came to its end"


def _size(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _begun(path: Path, before: tuple[int, int]) -> bool:
    return _size(path) != before


def check_files(folder: Path) -> int:
    """Every file that is there opens; gives the steps of the checkpoint."""
    if (folder / "model.safetensors").exists():
        glnn.load(folder / "model.safetensors")
    if (folder / "config.json").exists():
        json.loads((folder / "config.json").read_bytes())
    return read_checkpoint(folder).steps if has_checkpoint(folder) else 0


def same(one: Path, other: Path) -> None:
    """Model, history and checkpoint of two runs are the same, to the bit."""
    models = [glnn.load(folder / "model.safetensors") for folder in (one, other)]
    checkpoints = [read_checkpoint(folder).runs for folder in (one, other)]
    pairs = [(models[0].params_, models[1].params_)]  # type: ignore[attr-defined]
    for run, twin in zip(*checkpoints, strict=True):
        pairs += [(run.params, twin.params), (run.best, twin.best)]
        for name in ("writing_rate", "transition_rate", "best_score", "best_step", "step", "passes", "generator"):
            assert getattr(run, name) == getattr(twin, name), name
    for first, second in pairs:
        for part in ("w", "theta", "V0"):
            assert np.array_equal(getattr(first, part), getattr(second, part)), part
    lines = [
        [{**json.loads(line), "seconds": None} for line in (folder / "history.jsonl").read_text().splitlines()]
        for folder in (one, other)
    ]
    assert lines[0] == lines[1], "the histories differ"


def run(number: int) -> dict[str, Any]:
    """One run, killed until it comes to its end in spite of it."""
    generator = random.Random(number)
    model = MODELS[number % len(MODELS)]
    music = get("music")
    kills, starts, lost = 0, 0, []
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        (work / "data.txt").write_text(music.sample(80, 2 * number).text)
        (work / "valid.txt").write_text(music.sample(20, 2 * number + 1).text)
        subprocess.run(training(model, "whole", number), cwd=work, check=True, stdout=subprocess.DEVNULL)
        steps = 0
        while True:
            begun = (work / "run" / "config.json").exists()
            arguments = command("resume", "run", "--quiet") if begun else training(model, "run", number)
            ended = kill_once(arguments, work, generator)
            starts += 1
            if ended != "killed":
                break
            kills += 1
            recorded = _lines(work / "run" / "history.jsonl")
            now = check_files(work / "run")
            assert now >= steps, f"the checkpoint went back from {steps} to {now} steps"
            lost.append(max(recorded - now, 0))
            steps = now
        same(work / "run", work / "whole")
    return {
        "run": number,
        "model": model,
        "version": glnn.__version__,
        "kills": kills,
        "starts": starts,
        "steps": STEPS,
        "most_steps_lost": max(lost, default=0),
        "same_bits": True,
    }


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how many kills are wanted in all")
    options = parser.parse_args()
    os.environ.pop("GLNN_TRACEBACK", None)
    RESULTS.parent.mkdir(exist_ok=True)
    while (done := sum(line["kills"] for line in read())) < options.kills:
        result = run(len(read()))
        with RESULTS.open("a") as out:
            out.write(json.dumps(result) + "\n")
        print(json.dumps(result), file=sys.stderr, flush=True)
    print(f"{done} kills in {len(read())} runs; all came to the same bits")


if __name__ == "__main__":
    main()
