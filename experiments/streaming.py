"""Learning that goes on while symbols arrive: what it is worth, what it costs, and what it takes.

    python experiments/streaming.py prequential [SET ...]     bits an event, frozen and online, on event logs
    python experiments/streaming.py harm                      the same where nothing drifts: sources of the paper
    python experiments/streaming.py cost [EVENTS]             CPU time an event and memory over many events

Each result is a JSON line in experiments/results/streaming, written at once. Cases come one after the other, each event
is predicted before it is learned. Dynamic evaluation is plain gradient steps over the same windows.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn import sources
from glnn.predictors.network_learner import NetworkLearner
from glnn.training.online import OnlineSteps
from glnn.training.results import Sweep

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results" / "streaming"
SETS = ("bpi_12_w", "env_permit")
BUDGET = "8s"
RATES = (0.003, 0.03, 0.3)


class PlainSteps(OnlineSteps):
    """Dynamic evaluation: θ ← θ + η G / n."""

    rate = 0.0

    def _step(self, found: Sweep, n: int) -> None:
        params, eta = self.params, self.rate / n
        self.params = params.replace(
            w=params.w + eta * found.writing.gradient, theta=params.theta + eta * found.transition.gradient
        )


def tell(name: str, **found: Any) -> None:
    """Write a result down and print it."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    line = json.dumps(found)
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    print(line, flush=True)


def pushed(model: Any, data: list[Any], several: bool, learning: str) -> tuple[float, int, float]:
    """Bits, events and CPU seconds of pushing sequences one after the other."""
    stream, begun = model.stream(learning=learning), time.process_time()
    for sequence in data:
        for symbol in sequence:
            stream.push(symbol)
        if several:
            stream.end()
    return stream.bits, stream.symbols, time.process_time() - begun


def dynamic_evaluation(model: Any, data: list[Any], several: bool, rate: float) -> tuple[float, int]:
    """Bits and events with plain gradient steps."""
    from glnn.sequences.special import END

    network = model.predictor_
    learner = NetworkLearner(network)
    steps = PlainSteps(network.model, network.params, network.alphabet)
    steps.rate = rate
    learner._steps = steps
    bits, events, end = 0.0, 0, [END] if several else []
    code = {symbol: k for k, symbol in enumerate(network.alphabet.symbols)}
    state = learner.begin_learning()
    for sequence in data:
        for symbol in [*sequence, *end]:
            bits -= float(np.log2(state.probabilities()[code[symbol]]))
            events += 1
            state.advance(code[symbol])
        if several:
            state = learner.begin_learning()
    return bits, events


def network(**options: Any) -> Any:
    """The network of all these measurements: 32 units, as the paper trains it."""
    return glnn.GLNN(
        units=32, degree=3, budget=BUDGET, restarts=1, recipe="paper", random_state=0, verbose=0, **options
    )


def compared(name: str, data: str, models: dict[str, Any], fit: Any, score: list[Any], several: bool) -> None:
    """Fit each model, and tell its bits an event, frozen and online."""
    for kind, model in models.items():
        model.fit(glnn.Sequences(fit) if several else fit)
        for learning in ("frozen", "online"):
            bits, events, seconds = pushed(model, score, several, learning)
            each = {"bits_an_event": bits / events, "microseconds_an_event": 1e6 * seconds / events}
            tell(name, data=data, model=kind, learning=learning, events=events, **each)
        if kind == "glnn":
            for rate in RATES:
                bits, events = dynamic_evaluation(model, score, several, rate)
                tell(name, data=data, model=kind, learning=f"sgd {rate}", events=events, bits_an_event=bits / events)


def prequential(names: list[str]) -> None:
    """Event logs, whose later cases differ from the earlier ones."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import data_sets

    for name in names or SETS:
        found = data_sets.ALL[name]()
        known = {"alphabet": found.alphabet, "verbose": 0}
        models = {
            "contexttree": glnn.ContextTree(**known),
            "ngram": glnn.NGram(**known),
            "mixture": glnn.Mixture(networks=0, **known),
            "glnn": network(alphabet=found.alphabet),
        }
        compared("prequential", name, models, found.fit, list(found.score), True)


def harm() -> None:
    """Sources that never change."""
    for name, size in (("music", 1500), ("insertions", 300)):
        source = sources.get(name)
        fit, score = source.sample(size, 0).text, source.sample(size, 1).text
        compared("harm", name, {"glnn": network(alphabet=sorted(set(fit + score)))}, fit, [score], False)


def cost(events: int) -> None:
    """CPU time and memory over many events of a chain of 16 symbols."""
    chance = np.random.default_rng(0)
    symbols = [chr(97 + k) for k in (np.cumsum(chance.integers(1, 4, 20_000)) % 16)]
    models = {
        "glnn": glnn.GLNN(units=32, degree=3, budget="5 steps", recipe="paper", random_state=0, verbose=0),
        "mixture": glnn.Mixture(networks=0, verbose=0),
        "contexttree": glnn.ContextTree(verbose=0),
        "ngram": glnn.NGram(verbose=0),
    }
    for kind, model in models.items():
        model.fit("".join(symbols))
        for learning in ("frozen", "online"):
            stream = model.stream(learning=learning)
            for symbol in symbols[:2000]:
                stream.push(symbol)
            number = events if kind == "glnn" else events // 10
            before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            for k in range(number):
                stream.push(symbols[k % 20_000])
            seconds = time.process_time() - begun
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            each = 1e6 * seconds / number
            tell(
                "cost", model=kind, learning=learning, events=number, microseconds_an_event=each, grown_kilobytes=grown
            )


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["help"]
    if what == "prequential":
        prequential(rest)
    elif what == "harm":
        harm()
    elif what == "cost":
        cost(int(rest[0]) if rest else 1_000_000)
    else:
        print(__doc__)
