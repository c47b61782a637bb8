"""Train with random settings of both recipes on random data: no crash, no NaN, no silent divergence, to the same file.

Networks and data are tiny and take a few steps each; the data are what breaks things, as in
`tests/trust/test_sane_training.py`: one symbol only, constant stretches, symbols that occur once, sequences of one
symbol, masks with one position. Settings that exclude each other must be refused with an InputError. Children are
forked when the kernels are compiled, some hundred settings each; a finding is told with its number, which makes the
same setting again.

    python experiments/random_settings.py --settings 10000
    python experiments/random_settings.py --only 1234
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from in_a_child import Child

import glnn
from glnn import registry
from glnn.codec.fingerprint import fingerprint
from glnn.estimators import estimator
from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.models.recurrence import ACTIVATIONS
from glnn.sequences import InputError

RESULTS = Path(os.environ.get("GLNN_RESULTS", Path(__file__).parent / "results")) / "random_settings.jsonl"
FOR_A_CHILD = 250
SECONDS_FOR_ONE = 60


def setting(number: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The model, its parameters, and what `fit` is given."""
    draw = random.Random(number)
    units = draw.choice((1, 2, 3, 5, 9))
    parameters: dict[str, Any] = {
        "units": draw.choice((units, units, units, "auto")),
        "degree": draw.choice((draw.randint(1, units), draw.randint(1, units), "auto")),
        "recipe": draw.choice(("paper", "best", "best")),
        "budget": draw.choice(("1 steps", "2 steps", "4 steps", "6 steps", "5 passes", 0.03)),
        "random_state": draw.randrange(1000),
        "verbose": 0,
    }
    some: dict[str, tuple[Any, ...]] = {
        "training": ("auto", "batch", "stochastic"),
        "metric": ("auto", "adam", *TRANSITION_METHODS),
        "output_metric": tuple(WRITING_METHODS),
        "activation": tuple(ACTIVATIONS),
        "noise": ("auto", 0.0, 0.1, 1.0, 50.0),
        "averaging": ("auto", 0.0, 1.0, 50.0, 1e8),
        "damping": (1.0, 0.0, 1e-12, 1e-3, 1e6),
        "restarts": ("auto", 1, 2, 3),
        "batch_size": (None, 1, 2, 100),
        "sequence_weights": ("length", "equal"),
        "patience": ("auto", None, 1, 3, 0.3, 0.9),
        "validation_fraction": ("auto", 0.0, 0.1, 0.5, 0.95),
        "smoothing": ("auto", 0.0, 0.01, 0.5),
        "calibration": ("auto", True, False),
        "members": ("auto", 1, 2, 3, 4),
        "refit": (True, False),
        "folds": (True, False),
        "start": ("auto", "trained", "typical"),
        "precision": ("float64", "float32"),
        "n_jobs": (None, 1, 2),
        "end": (True, False),
        "unknown": ("auto", "error", "escape", "grow"),
    }
    for name, values in some.items():
        if draw.random() < 0.35:
            parameters[name] = draw.choice(values)
    name = draw.choice(sorted(registry.networks()))
    if draw.random() < 0.1:
        return "mixture", _of_mixture(parameters, draw), given(draw)
    return name, parameters, given(draw)


def _of_mixture(parameters: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """What a mixture has of these settings, and its own."""
    common = ("budget", "random_state", "verbose", "n_jobs", "end", "unknown")
    own = {"networks": draw.choice((0, 1, 2, "auto")), "learning": draw.choice(("auto", "online", "frozen"))}
    return {name: value for name, value in parameters.items() if name in common} | own


def given(draw: random.Random) -> dict[str, Any]:
    """Sequences made of constant stretches, noise, and symbols that occur nowhere else; masks, weights, validation."""
    symbols = draw.randint(1, 5)

    def sequence() -> list[int]:
        parts: list[int] = []
        for _ in range(draw.randint(1, 3)):
            how = draw.randrange(4)
            if how == 0:
                parts += [draw.randrange(symbols)] * draw.choice((1, 2, 9, 60))
            elif how == 1:
                parts += [draw.randrange(symbols) for _ in range(draw.randint(1, 25))]
            elif how == 2:
                parts += list(range(symbols)) * draw.randint(1, 6)
            else:
                parts += [symbols]
        return parts

    data = [sequence() for _ in range(draw.choice((1, 1, 2, 3, 8)))]
    found: dict[str, Any] = {"data": data, "alphabet": None}
    if draw.random() < 0.3:
        found["alphabet"] = range(symbols + draw.randint(1, 3))
    if draw.random() < 0.3:
        found["mask"] = [[draw.random() < draw.choice((0.02, 0.5)) for _ in own] for own in data]
        found["mask"][0][-1] = True
    if draw.random() < 0.3:
        known = sorted({symbol for own in data for symbol in own})
        found["validation"] = [
            [draw.choice(known) for _ in range(draw.randint(1, 20))] for _ in range(draw.randint(1, 3))
        ]
    if draw.random() < 0.15:
        found["sample_weight"] = [draw.choice((0.5, 1.0, 3.0, 1e-6)) for _ in data]
    return found


def tried(number: int) -> str:
    """How it went: "fitted", or "refused" with the reason; anything else is an error."""
    name, parameters, what = setting(number)
    data, mask = what.pop("data"), what.get("mask")
    try:
        model: Any = estimator(name)(alphabet=what.pop("alphabet"), **parameters).fit(data, **what)
    except InputError as error:
        assert len(str(error)) > 20 and "\n" not in str(error), f"a refusal that explains nothing: {error}"
        return f"refused: {str(error).split(':')[0][:40]}"
    sane(model, data, mask)
    draw = random.Random(number)
    if draw.random() < 0.1:
        # What was learned before may be forgotten, as people who give a single sequence of one symbol ask for.
        model.partial_fit(data[-1:])
        sane(model, data[-1:], None)
        assert np.isfinite(model.bits(data)), "bits that are not finite"
    if draw.random() < 0.1:
        stream = model.stream(learning="online")
        assert np.isfinite(stream.push_many(data[0][:40])).all()
    return "fitted"


def sane(model: Any, data: list[list[int]], mask: Any) -> None:
    """Finite, not diverged, and the same from its file."""
    for one in (
        model.networks_ if hasattr(model, "members_") else [net for own in model.networks_ for net in own.networks_]
    ):
        assert all(np.isfinite(part).all() for part in vars(one.params).values()), "parameters that are not finite"
    for row in getattr(model, "history_", ()):
        assert np.isfinite(row["log_likelihood"]), "a likelihood that is not finite"
        assert row["validation"] is None or np.isfinite(row["validation"]), "a validation score that is not finite"
    bits = model.bits(data, mask)
    symbols = sum(map(len, data)) if mask is None else sum(map(sum, mask))
    worst = 3.0 * np.log2(len(model.alphabet_) + 1) * (symbols + len(data)) + 70.0
    assert 0.0 <= bits < worst, f"{bits} bits where chance would take {worst / 3:.0f}"
    pi = model.predict_proba(data[0][:5])
    assert np.isfinite(pi).all() and pi.min() >= 0.0 and abs(pi.sum() - 1.0) < 1e-9, "no distribution"
    model.sample(3, random_state=0)
    with tempfile.TemporaryDirectory() as place:
        model.save(Path(place) / "model")
        again = glnn.load(Path(place) / "model")
    assert fingerprint(again.predictor_) == fingerprint(model.predictor_), "another model from its file"
    few = [own[:20] for own in data]
    assert [list(part) for part in again.decompress(model.compress(few))] == few, "decoded to something else"


def child(first: int, count: int, out: Any) -> None:
    """Try settings from the number `first` on."""
    warnings.simplefilter("ignore")

    def late(signal_number: int, frame: object) -> None:
        raise TimeoutError("takes too long")

    signal.signal(signal.SIGPROF, late)
    for number in range(first, first + count):
        out.send(("trying", number))
        signal.setitimer(signal.ITIMER_PROF, SECONDS_FOR_ONE)
        try:
            out.send(("done", number, tried(number)))
        except BaseException as fault:
            where = traceback.extract_tb(fault.__traceback__)[-1]
            text = f"{type(fault).__name__} in {Path(where.filename).name}: {str(fault)[:160]}"
            out.send(("found", number, text))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    out.send(("end", time.process_time()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, help="one setting, here, with its traceback")
    options = parser.parse_args()
    if options.only is not None:
        print(setting(options.only))
        print(tried(options.only))
        return
    warnings.simplefilter("ignore")
    # Compiles what the children need.
    for number in range(10**6, 10**6 + 150):
        try:
            tried(number)
        except Exception as fault:
            print(f"{number}: {type(fault).__name__}: {str(fault)[:200]}", file=sys.stderr, flush=True)
    print(f"compiled after {time.process_time():.0f} CPU s", file=sys.stderr, flush=True)
    counts: collections.Counter[str] = collections.Counter()
    findings: dict[str, dict[str, Any]] = {}
    seconds = 0.0
    for first in range(options.first, options.first + options.settings, FOR_A_CHILD):
        running, ended = Child(child, first, FOR_A_CHILD), False
        for message in running.messages():
            if message[0] == "end":
                ended, seconds = True, seconds + message[1]
            elif message[0] == "done":
                counts[message[2]] += 1
            else:
                counts["found"] += 1
                findings.setdefault(message[2], {"setting": message[1], "times": 0})["times"] += 1
        if not ended:
            findings[f"the interpreter ended ({running.exitcode})"] = {"setting": running.last, "times": 1}
        print(f"{sum(counts.values())} settings, {seconds:.0f} CPU s, {findings}", file=sys.stderr, flush=True)
    refused = sum(count for name, count in counts.items() if name.startswith("refused"))
    result = {
        "first": options.first,
        "settings": sum(counts.values()),
        "fitted": counts["fitted"],
        "refused": refused,
        "cpu_seconds": round(seconds),
        "reasons": {name: count for name, count in counts.most_common() if name.startswith("refused")},
        "findings": findings,
    }
    with RESULTS.open("a") as file:
        file.write(json.dumps(result) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
