"""Memory and time on long data: `glnn train` on 10 million symbols beside shorter files, each in a fresh process.

    python benchmarks/memory.py [--symbols 100000 1000000 10000000] [--steps 3]

Peak resident memory of the whole process, and CPU time for each symbol and step. At the command's memory budget (512
MiB of activities) one million symbols and more are computed again from checkpoints in each pass, fewer are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.records import RESULTS, Record, about, markdown, write

LETTERS = b"abcdefghijklmnopqrstuvwxyz .,\n"
UNITS, DEGREE = 32, 3
LIMIT_MIB = 1536
_PIECE = 1 << 20
_GLNN = "from glnn.cli import main; main()"


def write_text(path: Path, symbols: int, seed: int = 0) -> None:
    """A walk over 30 letters whose steps depend on where it stands; the same bytes for the same seed.

    A longer file begins like a shorter one, and this process holds a piece of it at a time.
    """
    generator = np.random.default_rng(seed)
    likely = generator.dirichlet(np.full(len(LETTERS), 0.3))
    letters = np.frombuffer(LETTERS, np.uint8)
    last = 0
    with path.open("wb") as file:
        for begin in range(0, symbols, _PIECE):
            steps = generator.choice(len(LETTERS), size=_PIECE, p=likely)
            places = (last + np.cumsum(steps)) % len(LETTERS)
            last = int(places[-1])
            file.write(letters[places[: symbols - begin]].tobytes())


def train(path: Path, run: Path, steps: int) -> Record:
    """`glnn train` in a process of its own: its peak memory, CPU time, and the record of its steps."""
    size = ["--units", str(UNITS), "--degree", str(DEGREE), "--restarts", "1"]
    command = ["train", str(path), *size, "--budget", f"{steps} steps", "--run", str(run), "--quiet", "--json"]
    child = subprocess.Popen([sys.executable, "-c", _GLNN, *command], stdout=subprocess.DEVNULL)
    reading = 0
    while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        # The history is begun when all is read and compiled, before the first step.
        if not (run / "history.jsonl").exists():
            reading = max(reading, _peak_kib(child.pid))
        time.sleep(0.05)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"glnn {' '.join(command)} left with {child.returncode}")
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    return {
        "peak_mib": round(usage.ru_maxrss / 1024),
        "peak_before_training_mib": round(reading / 1024),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "step_seconds": [round(line["seconds"], 3) for line in history],
        "rejected": [line["writing_rejected"] + line["transition_rejected"] for line in history],
        "held_out": json.loads((run / "result.json").read_text())["held_out"],
    }


def _peak_kib(process: int) -> int:
    """The peak of resident memory so far, as the system counts it; 0 when the process has just ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def per_symbol_ns(line: Record) -> float:
    """CPU nanoseconds for a symbol of training data and a step, without the first, which has one pass more."""
    seconds = line["step_seconds"]
    return round(1e9 * (seconds[-1] - seconds[0]) / (len(seconds) - 1) / (line["symbols"] - line["held_out"]), 1)


def kept(line: Record) -> bool:
    """Whether the activities fit the memory budget: two passes of activities and output terms, 8 bytes each."""
    from glnn.training.engine import DEFAULT_MEMORY

    return bool((line["symbols"] - line["held_out"]) * 2 * UNITS * 8 * 2 <= DEFAULT_MEMORY)


def run(sizes: Sequence[int], steps: int) -> Record:
    """A training for every size."""
    if steps < 2:
        raise ValueError(f"--steps {steps}: at least 2 are needed, as the first one is not counted")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder) / "warm.txt"
        write_text(warm, 2_000)
        train(warm, Path(folder) / "warm", 2)  # compiles what the others find compiled
        for symbols in sizes:
            path = Path(folder) / f"{symbols}.txt"
            write_text(path, symbols)
            line = {"symbols": symbols, **train(path, Path(folder) / str(symbols), steps)}
            line |= {"kept": kept(line), "ns_per_symbol_and_step": per_symbol_ns(line)}
            print(line, flush=True)
            lines.append(line)
            path.unlink()
    size = {"letters": len(LETTERS), "units": UNITS, "degree": DEGREE, "steps": steps}
    return {**about(), **size, "runs": lines}


def table(record: Record) -> str:
    """Memory and time of every size."""
    rows = []
    for line in record["runs"]:
        activities = "kept" if line["kept"] else "computed again"
        memory = (f"{line[name]:,} MiB" for name in ("peak_before_training_mib", "peak_mib"))
        cost = f"{line['ns_per_symbol_and_step']:,.0f} ns"
        rows.append([f"{line['symbols']:,}", activities, *memory, cost, str(sum(line["rejected"][1:]))])
    columns = ("symbols", "activities", "peak before the first step", "peak", "CPU a symbol and step", "taken back")
    return markdown(columns, rows, left=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "memory.json")
    options = parser.parse_args()
    record = run(options.symbols, options.steps)
    write(options.out, record)
    print(table(record))


if __name__ == "__main__":
    main()
