"""Whether trainings of `recipe="paper"` still give the same bits: a hash of each, to compare between two versions.

    python experiments/same_bits.py > before.txt        (in one version)
    python experiments/same_bits.py before.txt          (in another: says which differ, and leaves with 1 if any does)

Four networks by seven metrics by one and several sequences, with other output metrics, single precision, batches and
several starts. Hashed are parameters, the history of steps, bits, a distribution, a sample and compressed bytes. The
hashes are those of one machine: another processor adds sums in other lanes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import glnn

ONE = "the cat sat on the mat and the dog sat on the log. " * 12
SEVERAL = glnn.Sequences([list(line) for line in ("abcab", "abca", "bcabcabc", "cab", "abcabcab") * 8])
METRICS = ("rbpm", "ruop", "qdrbpm", "qdruop", "fb", "rms", "plain")
# What is measured by a clock.
TIMED = {"seconds", "cpu_seconds", "wall_seconds", "time"}


def settings() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """A name, an estimator with its parameters, and the data."""
    for kind in ("GLNN", "GNN", "RNN", "LSTM"):
        for metric in METRICS:
            for name, data in (("one", ONE), ("several", SEVERAL)):
                yield f"{kind} {metric} {name}", {"kind": kind, "metric": metric}, data
    for output in ("dh", "plain"):
        yield f"GLNN output {output}", {"kind": "GLNN", "metric": "rbpm", "output_metric": output}, ONE
    yield "GLNN float32", {"kind": "GLNN", "metric": "rbpm", "precision": "float32"}, ONE
    yield "GLNN batches", {"kind": "GLNN", "metric": "rbpm", "batch_size": 7}, SEVERAL
    yield "GLNN starts", {"kind": "GLNN", "metric": "rbpm", "restarts": 3}, ONE


def hashed(given: dict[str, Any], data: Any) -> str:
    """The hash of everything that a training gives."""
    kind, values = given["kind"], {name: value for name, value in given.items() if name != "kind"}
    model = getattr(glnn, kind)(
        units=6, degree=3, recipe="paper", budget="6 steps", random_state=1, verbose=0, n_jobs=1, **values
    ).fit(data)
    found = hashlib.sha256()
    for array in (model.params_.w, model.params_.theta, model.params_.V0):
        found.update(np.ascontiguousarray(array).tobytes())
    for step in model.history_:
        kept = {name: repr(value) for name, value in step.items() if not any(word in name for word in TIMED)}
        found.update(json.dumps(kept, sort_keys=True).encode())
    found.update(repr(model.bits(data)).encode())
    found.update(np.ascontiguousarray(model.predict_proba("the c" if data is ONE else list("abc"))).tobytes())
    found.update(repr(model.sample(40, random_state=3)).encode())
    found.update(model.compress(data))
    return found.hexdigest()[:16]


def main() -> None:
    """Print a line for each training; beside an earlier list, say which differ."""
    before: dict[str, str] = {}
    if len(sys.argv) > 1:
        before = dict(line.rsplit("\t", 1) for line in Path(sys.argv[1]).read_text().splitlines() if "\t" in line)
    differ = 0
    for name, given, data in settings():
        found = hashed(given, data)
        print(f"{name}\t{found}", flush=True)
        if before and before.get(name) != found:
            differ += 1
            print(f"differs: {name} was {before.get(name)}", file=sys.stderr)
    if before:
        print(f"{differ} of {len(before)} differ", file=sys.stderr)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
