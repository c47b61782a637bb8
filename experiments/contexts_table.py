"""Context trees, n-grams and hidden Markov models beside PPMd on texts and event logs: bits per symbol, held out.

    python experiments/contexts_table.py --data FOLDER --out experiments/results/baselines/contexts.jsonl [--budget 60s]

The folder holds texts, of which the last fifth is scored after the rest, and event logs as CSV files (`CaseID`,
`ActivityID`, `CompleteTimestamp`), of which the last fifth of the cases is. Python's own `argparse.py`, the GPL-3 among
Debian's common licences and the first 1,000,000 bytes of the modules of Python's library, in the order of their names,
are added. Each result is written as soon as there is one; what is in the file is not run again.
"""

from __future__ import annotations

import argparse
import csv
import json
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import glnn

LICENCE = Path("/usr/share/common-licenses/GPL-3")
PAPER = {"depth": 16, "weighting": "mixture", "prior": 0.5, "first_ratio": 1.0}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "ContextTree()": ("ContextTree", {}),
    "the paper's tree": ("ContextTree", PAPER),
    "the paper's tree, prior 1/16": ("ContextTree", PAPER | {"prior": 1 / 16}),
    "switching, KT": ("ContextTree", {"prior": 0.5}),
    "depth 16": ("ContextTree", {"depth": 16}),
    "first_ratio 1": ("ContextTree", {"first_ratio": 1.0}),
    "NGram()": ("NGram", {}),
    "HMM()": ("HMM", {"random_state": 0}),
}
ORDERS = (4, 6, 8, 12, 16)


def sets(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """Name, what is fitted, what is scored."""
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    texts = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in (".txt", ".abc")}
    if LICENCE.exists():
        texts["GPL-3"] = LICENCE.read_bytes()
    texts["argparse.py"] = next(path for path in library if path.name == "argparse.py").read_bytes()
    texts["Python library, 1 MB"] = b"".join(path.read_bytes() for path in library)[:1_000_000]
    for name, text in texts.items():
        cut = len(text) * 4 // 5
        yield name, text[:cut], text[cut:]
    for path in sorted(folder.glob("*.csv")):
        cases: dict[str, list[tuple[str, str]]] = {}
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                cases.setdefault(row["CaseID"], []).append((row["CompleteTimestamp"], row["ActivityID"]))
        in_time = sorted(cases.values(), key=lambda case: min(case)[0])
        sequences = [[activity for _, activity in sorted(case, key=lambda event: event[0])] for case in in_time]
        cut = len(sequences) * 4 // 5
        yield path.name, sequences[:cut], sequences[cut:]


def ppmd(train: bytes, test: bytes) -> dict[str, Any]:
    """What the end adds to the size of the compressed file, at the best of several orders."""
    import pyppmd

    begun, added = time.process_time(), {}
    for order in ORDERS:
        sizes = [len(pyppmd.compress(text, max_order=order, mem_size=1 << 28)) for text in (train, train + test)]
        added[order] = 8.0 * (sizes[1] - sizes[0]) / len(test)
    best = min(added, key=lambda order: added[order])
    return {"bits": added[best], "detail": f"order {best}", "cpu_seconds": time.process_time() - begun}


def run(kind: str, parameters: dict[str, Any], train: Any, test: Any, budget: str) -> dict[str, Any]:
    """Bits a symbol, ends of sequences included."""
    if kind == "HMM":
        parameters = {"budget": budget, **parameters}
    begun = time.process_time()
    model: Any = getattr(glnn, kind)(verbose=0, unknown="escape", **parameters).fit(train)
    symbols = len(test) if isinstance(test, bytes) else sum(len(case) + 1 for case in test)
    detail = {name: getattr(model, name) for name in ("order_", "units_", "n_parameters_") if hasattr(model, name)}
    bits = model.bits(test) / symbols
    return {"bits": bits, "detail": detail, "cpu_seconds": time.process_time() - begun}


def main() -> None:
    """Run what is not there yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--only", default="", help="a part of the names of sets")
    parser.add_argument("--without", default="", help="models to leave out, with commas between: HMM,PPMd")
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if given.out.exists():
        done = {(row["set"], row["model"]) for row in map(json.loads, given.out.read_text().splitlines())}
    for name, train, test in sets(given.data):
        for model, (kind, parameters) in ({"PPMd": ("PPMd", {})} | MODELS).items():
            if (
                kind in given.without.split(",")
                or (name, model) in done
                or given.only not in name
                or (kind == "PPMd" and not isinstance(test, bytes))
            ):
                continue
            found = ppmd(train, test) if kind == "PPMd" else run(kind, parameters, train, test, given.budget)
            row = {"set": name, "model": model, **found} | ({"budget": given.budget} if kind == "HMM" else {})
            row |= {key: round(row[key], 4) for key in ("bits", "cpu_seconds")}
            with given.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
