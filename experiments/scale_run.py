"""Ten million symbols, thirty letters: what `glnn train --budget 10m` takes and comes to, beside the context tree.

The data are made up, with structure of three ranges: words of one to nine letters, common ones much more often than
rare ones (Zipf); an automaton of 24 states, each with words of its own, that chooses the next word; and long memory:
the automaton has four sets of edges, of which one holds for about 5,000 words, and now and then a passage of 20 to 300
letters that stood up to 200,000 letters before comes again. The last tenth is kept back and only scored at the end, by
the trained model and by a `ContextTree` fitted to the same nine tenths. Each is a process of its own; what it had
resident at most is what the system says of it.

    python experiments/scale_run.py --symbols 1000000 --budget 1m
    python experiments/scale_run.py --symbols 10000000 --budget 10m
"""

from __future__ import annotations

import argparse
import json
import os
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "scale_run.jsonl"
LETTERS = string.ascii_lowercase + ".,;"
STATES, FASHIONS, WORDS, EDGES = 24, 4, 4000, 5
TREE = """
import sys
import glnn
model = glnn.ContextTree(verbose=0).fit(glnn.read_file(sys.argv[1]))
print(model.bits(glnn.read_file(sys.argv[2])))
"""


def text(symbols: int, seed: int) -> str:
    """So many letters of the language of this seed."""
    generator = np.random.default_rng(seed)
    chances = generator.dirichlet(np.full(len(LETTERS), 0.7))
    words = ["".join(generator.choice(list(LETTERS), 1 + k % 9, p=chances)) + " " for k in range(WORDS)]
    own = [generator.permutation(WORDS)[: WORDS // 6] for _ in range(STATES)]
    zipf = 1.0 / np.arange(1, WORDS // 6 + 1)
    zipf = np.cumsum(zipf / zipf.sum())
    edges = generator.integers(STATES, size=(FASHIONS, STATES, EDGES))
    made, count, state, fashion = "", 0, 0, 0
    pieces: list[str] = []
    while count < symbols:
        # A block at a time: its random numbers are drawn at once.
        turns, draws = generator.random((2, 4096)), generator.random((3, 4096))
        steps = generator.integers(EDGES, size=4096)
        block: list[str] = []
        for k in range(4096):
            if turns[0, k] < 1.0 / 5000.0:
                fashion = int(draws[0, k] * FASHIONS)
            if turns[1, k] < 0.01 and len(made) > 1000:
                begin = len(made) - int(draws[1, k] * (len(made) - 400)) - 400
                block.append(made[begin : begin + 20 + int(draws[2, k] * 280)])
            state = int(edges[fashion, state, steps[k]])
            block.append(words[own[state][int(np.searchsorted(zipf, draws[2, k]))]])
        pieces.append("".join(block))
        made = (made + pieces[-1])[-200_000:]
        count += len(pieces[-1])
    return "".join(pieces)[:symbols]


def measured(command: list[str], folder: Path) -> tuple[str, dict[str, float]]:
    """Run a command; gives what it printed, its CPU seconds and the most memory it had resident."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{command} failed")
        out.seek(0)
        return out.read(), {
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "wall_seconds": round(time.monotonic() - begin, 1),
            "peak_mib": round(usage.ru_maxrss / 1024, 1),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, default=1_000_000)
    parser.add_argument("--budget", default="1m")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cut = options.symbols - options.symbols // 10
    result: dict[str, Any] = vars(options)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = text(options.symbols, options.seed)
        (folder / "data.txt").write_text(made[:cut])
        (folder / "end.txt").write_text(made[cut:])
        result["letters"] = len(set(made))
        glnn = [sys.executable, "-c", "from glnn.cli import main; main()"]
        said, used = measured(
            [*glnn, "train", "data.txt", "--budget", options.budget, "--run", "run", "--json"], folder
        )
        found = json.loads(said)
        result["train"] = {**used, "charged_seconds": round(found["cpu_seconds"], 1), "stopped": found["stopped"]}
        said, used = measured([*glnn, "score", "run", "end.txt", "--json"], folder)
        result["score"] = {**used, "bits_a_symbol": json.loads(said)["bits"] / (options.symbols - cut)}
        said, used = measured([sys.executable, "-c", TREE, "data.txt", "end.txt"], folder)
        result["context_tree"] = {**used, "bits_a_symbol": float(said) / (options.symbols - cut)}
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as out:
        out.write(json.dumps(result) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
