"""Models and compressed files travel between builds: another Python, NumPy, Numba and LLVM give the same bytes.

`write` fits small models of every kind, saves them, and compresses a text with each and without any; `read`, run by
another Python, loads them and decompresses; `compare` fits the same models anew, too. What must agree: the decompressed
bytes and the fingerprint of every model that was loaded. Models fitted anew may differ in their last bits: that
is only told.

    python experiments/other_builds.py write FOLDER
    PYTHONPATH=src /path/to/another/python experiments/other_builds.py read FOLDER       (or compare, to fit anew too)
"""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np

import glnn
from glnn.codec.fingerprint import fingerprint
from glnn.sources import get

RESULTS = Path(os.environ.get("GLNN_RESULTS", Path(__file__).parent / "results")) / "other_builds.jsonl"
TEXT, OTHER = get("music").sample(60, 1).text, get("music").sample(40, 2).text
EVENTS = [["open", f"read {n % 3}", "close"] for n in range(40)]


def models() -> dict[str, Any]:
    """One of each kind, fitted."""
    network: dict[str, Any] = {"units": 6, "degree": 2, "random_state": 1, "verbose": 0}
    return {
        "glnn-paper": glnn.GLNN(recipe="paper", restarts=1, budget="6 steps", **network).fit(TEXT),
        "glnn-best": glnn.GLNN(members=2, budget="12 steps", **network).fit(TEXT),
        "gnn": glnn.GNN(recipe="paper", restarts=1, budget="4 steps", **network).fit(TEXT),
        "rnn": glnn.RNN(recipe="paper", restarts=1, budget="4 steps", **network).fit(TEXT),
        "lstm": glnn.LSTM(recipe="paper", restarts=1, budget="4 steps", **network).fit(TEXT),
        "hmm": glnn.HMM(units=5, degree=3, budget="4 steps", random_state=1, verbose=0).fit(TEXT),
        "tree": glnn.ContextTree(verbose=0).fit(TEXT),
        "ngram": glnn.NGram(verbose=0).fit(TEXT),
        "mixture": glnn.Mixture(networks=1, budget="6 steps", random_state=1, verbose=0).fit(TEXT),
    }


def alone() -> dict[str, Any]:
    """What is compressed without a model."""
    return {"bytes": OTHER.encode(), "text": OTHER, "events": EVENTS, "numbers": [n * n % 300 for n in range(900)]}


def build() -> dict[str, str]:
    """What computes here."""
    from llvmlite import __version__ as llvmlite

    versions = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    return {**versions, "llvmlite": llvmlite}


def write(folder: Path) -> None:
    """Fit, save, compress."""
    folder.mkdir(parents=True, exist_ok=True)
    prints = {}
    for name, model in models().items():
        model.save(folder / f"{name}.model")
        (folder / f"{name}.glnn").write_bytes(model.compress(OTHER))
        prints[name] = fingerprint(model.predictor_).hex()
    for name, data in alone().items():
        (folder / f"{name}.alone").write_bytes(glnn.compress(data))
    (folder / "about.json").write_text(json.dumps({"build": build(), "fingerprints": prints}))


def read(folder: Path) -> dict[str, Any]:
    """Load and decompress what another build wrote; all must agree."""
    about = json.loads((folder / "about.json").read_text())
    agreeing = 0
    for name, written in about["fingerprints"].items():
        model: Any = glnn.load(folder / f"{name}.model")
        assert fingerprint(model.predictor_).hex() == written, f"{name} is another model here"
        blob = (folder / f"{name}.glnn").read_bytes()
        assert model.decompress(blob) == OTHER, f"{name} decodes to something else"
        assert model.compress(OTHER) == blob, f"{name} encodes to something else"
        agreeing += 1
    for name, data in alone().items():
        blob = (folder / f"{name}.alone").read_bytes()
        found = glnn.decompress(blob)
        assert [list(one) for one in found] == data if name == "events" else list(found) == list(data), name
        assert glnn.compress(data) == blob, f"{name} is compressed to something else"
    return {"written_by": about["build"], "read_by": build(), "models": agreeing, "alone": len(alone())}


def main() -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "write":
        return write(folder)
    result = read(folder)
    if what == "compare":
        written = json.loads((folder / "about.json").read_text())["fingerprints"]
        anew = {name: fingerprint(model.predictor_).hex() == written[name] for name, model in models().items()}
        result["same_bits_when_fitted_anew"] = anew
    with RESULTS.open("a") as out:
        out.write(json.dumps(result) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
