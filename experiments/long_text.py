"""One LSTM on a long text with settings of its own: how units, places, rates and noise were chosen for long data.

    python experiments/long_text.py units=256 places=32 length=50 rate=0.004 noise=0.15 sec=80 [size=…] [refit=0.3]

The text is not that of `benchmarks/large_text.py`: sources of the packages of Python's library, in an order drawn at
random. `refit` is the part of the time for going on over all data, at `rate2` times the rate. One line of JSON a run,
in `experiments/results/learning/large_text.jsonl`.
"""

from __future__ import annotations

import random
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.records import append
from glnn.models.lstm import LSTM
from glnn.network import random_graph
from glnn.sequences import Alphabet, Encoded
from glnn.training import stochastic
from glnn.training.budget import Budget
from glnn.training.parallel import single_threaded_blas
from glnn.training.settings import Settings
from glnn.training.updates import ADAM_RATE
from glnn.training.validation import Validation, hold_out

PATH = Path(__file__).parent / "results" / "learning" / "large_text.jsonl"
OPTIONS: dict[str, Any] = {
    **{"units": 128, "places": 16, "length": 50, "rate": 0.01, "noise": "auto"},
    **{"sec": 80.0, "size": 1_000_000, "refit": 0.0, "rate2": 1.0},
}
WITHOUT = ("site-packages", "test", "idlelib", "pydoc_data", "encodings")
BEFORE = 2000
"""Symbols before the scored part that are read only."""


def text_of(size: int) -> str:
    """So many characters."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = sorted(path for path in library.glob("*/*.py") if not any(word in str(path) for word in WITHOUT))
    found = ""
    for path in random.Random(1).sample(sources, len(sources)):
        found += path.read_text(errors="replace")
        if len(found) >= size:
            return found[:size]
    raise ValueError(f"there are {len(found):,} characters: ask for fewer than {size:,}")


def run(options: dict[str, Any]) -> dict[str, Any]:
    """Train, and score the last fifth."""
    text = text_of(options["size"])
    alphabet = Alphabet(sorted(set(text)))
    codes, cut = np.asarray(alphabet.encode(text), np.int32), len(text) * 4 // 5

    def one(part: np.ndarray) -> Encoded:
        return Encoded(part, np.array([0, part.size]), np.ones(part.size, bool), alphabet)

    fit, scored = one(codes[:cut]), one(codes[cut - BEFORE :])
    scored.mask[:BEFORE] = False
    train, held, _ = hold_out(fit, min(50_000 / cut, 0.07))
    units = options["units"]
    model = LSTM(random_graph(units, units, 0), len(alphabet))
    model.rate_for_chunks = options["rate"] / ADAM_RATE
    stochastic.SHORT_STREAMS = stochastic.MANY_STREAMS = (options["places"], options["length"])
    counts = np.bincount(codes[:cut], minlength=len(alphabet)).astype(float)
    params = model.initial_for_chunks(counts, counts, np.random.default_rng(0))
    settings = Settings(training="stochastic", metric="adam", noise=options["noise"], patience_part=0.4)
    trainer = stochastic.StochasticTrainer(model, train, params, settings, Validation(model, held, True), 0)
    with single_threaded_blas():
        progress = trainer.run(Budget(seconds=options["sec"] * (1.0 - options["refit"])))
        best = progress.best
        if options["refit"]:
            passes = int(options["sec"] * options["refit"] * progress.passes / progress.seconds)
            model.rate_for_chunks *= options["rate2"]
            again = replace(settings, noise=stochastic.last_noise(progress.memory), patience_part=None)
            best = stochastic.StochasticTrainer(model, fit, best, again, None, 1).run(Budget(passes=passes)).best
        bits = float(-Validation(model, scored).log_likelihoods(best).sum()) / np.log(2.0) / (codes.size - cut)
    epochs = progress.passes * trainer._streams.positions / train.codes.size
    held_bits = -progress.best_score / np.log(2.0) / held.codes.size
    told = {"bits": round(bits, 4), "held": round(float(held_bits), 4), "epochs": round(epochs, 1)}
    return {**told, "reason": progress.reason, "spent": round(progress.seconds, 1)}


def main() -> None:
    given = dict(one.split("=") for one in sys.argv[1:])
    options = {**OPTIONS, **{name: _like(OPTIONS[name], value) for name, value in given.items()}}
    found = run(options)
    study = "one LSTM on another megabyte of code"
    append(PATH, {"study": study, **options, **found, "command": " ".join(["python", *sys.argv])})
    print(found)


def _like(example: Any, value: str) -> Any:
    if isinstance(example, str):
        return value if value == "auto" else float(value)
    return type(example)(value)


if __name__ == "__main__":
    main()
