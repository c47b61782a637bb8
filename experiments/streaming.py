"""Learning that goes on while symbols arrive: what it is worth, what it costs, and what it takes.

    python experiments/streaming.py prequential [SET ...] [only=MODEL]   bits per event, frozen and online
    python experiments/streaming.py harm                      the same where nothing drifts: sources of the paper
    python experiments/streaming.py speed [MODEL ...]         CPU time of one push, best of many, on a chain
    python experiments/streaming.py logs [SET ...] [only=MODEL]    the same on event logs, whose cases end
    python experiments/streaming.py bytes                     what one of many streams side by side takes
    python experiments/streaming.py cost MODEL LEARNING [N]   CPU time and memory over ten million events
    python experiments/streaming.py killed                    kill -9 in the middle of a stream, and go on
    python experiments/streaming.py tables                    the lines as the tables of experiments/streaming.md

Each result is a JSON line in experiments/results/streaming, written at once. Cases come one after the other, each event
is predicted before it is learned. Dynamic evaluation is plain gradient steps over the same windows. Networks are kept
in build/streaming, and those that are there are not trained again.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn import sources
from glnn.predictors.network_learner import NetworkLearner
from glnn.training.engine import Sweep
from glnn.training.online import OnlineSteps

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results" / "streaming"
KEPT = ROOT / "build" / "streaming"
SETS = ("bpi_12_w", "env_permit", "progc", "argparse.py")
HARMLESS = {"music": 1500, "insertions": 300, "anbn": 10}
BUDGET = "8s"
CASE = 20
RATES = (0.003, 0.03, 0.3)


class PlainSteps(OnlineSteps):
    """Dynamic evaluation: θ ← θ + η G / n."""

    rate = 0.0

    def _step(self, found: Sweep, n: int) -> None:
        params, eta = self.params, self.rate / n
        self.params = params.replace(
            w=params.w + eta * found.writing.gradient, theta=params.theta + eta * found.transition.gradient
        )


class PlainLearner(NetworkLearner):
    """Predicts with what it learned, whatever that is worth."""

    weight = 1.0  # type: ignore[assignment]

    def weigh(self, learned: float, first: float) -> None:
        """Nothing is weighed."""


def tell(name: str, **found: Any) -> None:
    """Write a result down and print it."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    line = json.dumps({**found, "command": " ".join(["python", "experiments/streaming.py", *sys.argv[1:]])})
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
    from glnn.sequences.alphabet import END

    network = model.predictor_
    learner = PlainLearner(network)
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


def fitted(data: str, kind: str, model: Any, fit: Any, several: bool) -> Any:
    """The model, fitted; one with a network from an earlier time if there is one."""
    path, trained = KEPT / f"{data}.{kind}", kind in ("glnn", "mixture")
    if trained and path.exists():
        return glnn.load(path)
    model.fit(glnn.Sequences(fit) if several else fit)
    if trained:
        KEPT.mkdir(parents=True, exist_ok=True)
        model.save(path)
    return model


def compared(name: str, data: str, models: dict[str, Any], fit: Any, score: list[Any], several: bool) -> None:
    """Fit each model, and tell its bits per event, frozen and online; what has a line is not done again."""
    there = {(one["data"], one["model"], one["learning"]) for one in lines(name)}
    for kind, model in models.items():
        sgd = [f"sgd {rate}" for rate in RATES] if kind == "glnn" else []
        if all((data, kind, learning) in there for learning in ("frozen", "online", *sgd)):
            continue
        found = fitted(data, kind, model, fit, several)
        for learning in ("frozen", "online"):
            bits, events, seconds = pushed(found, score, several, learning)
            each = {"bits_an_event": bits / events, "microseconds_an_event": 1e6 * seconds / events}
            tell(name, data=data, model=kind, learning=learning, events=events, **each)
        if kind == "glnn":
            for rate in RATES:
                bits, events = dynamic_evaluation(found, score, several, rate)
                tell(name, data=data, model=kind, learning=f"sgd {rate}", events=events, bits_an_event=bits / events)


def prequential(names: list[str]) -> None:
    """Event logs, whose later cases differ from the earlier ones, and programs, which repeat themselves."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import data_sets

    only = [name.removeprefix("only=") for name in names if name.startswith("only=")]
    for name in [name for name in names if not name.startswith("only=")] or SETS:
        found = data_sets.ALL[name]()
        known = {"alphabet": found.alphabet, "verbose": 0}
        models = {
            "glnn": network(alphabet=found.alphabet),
            "contexttree": glnn.ContextTree(**known),
            "ngram": glnn.NGram(**known),
            "mixture of contexts": glnn.Mixture(networks=0, **known),
        }
        if found.several:
            models["mixture"] = glnn.Mixture(budget="60s", random_state=0, **known)
        models = {kind: model for kind, model in models.items() if not only or kind in only}
        score = list(found.score) if found.several else [found.score]
        compared("prequential", name, models, found.fit, score, found.several)


def harm(names: list[str]) -> None:
    """Sources that never change."""
    for name in names or HARMLESS:
        source, size = sources.get(name), HARMLESS[name]
        fit, score = source.sample(size, 0).text, source.sample(size, 1).text
        compared("harm", name, {"glnn": network(alphabet=sorted(set(fit + score)))}, fit, [score], False)


def endless(seed: int, block: int = 10_000) -> Iterator[list[str]]:
    """A chain of 16 symbols, each 1 to 3 after the last one: contexts of more than a few symbols are always new."""
    random, last = np.random.default_rng(seed), 0
    while True:
        codes = (last + np.cumsum(random.integers(1, 4, block))) % 16
        last = int(codes[-1])
        yield [chr(97 + code) for code in codes.tolist()]


def of_the_chain(kind: str) -> Any:
    """A model of such a chain."""
    models = {
        "glnn": lambda: glnn.GLNN(units=32, degree=3, budget="5 steps", recipe="paper", random_state=0, verbose=0),
        "mixture": lambda: glnn.Mixture(networks=0, verbose=0),
        "log": lambda: glnn.Mixture(networks=0, verbose=0),
        "lstm": lambda: glnn.LSTM(units=32, budget="5 steps", recipe="paper", random_state=0, verbose=0),
        "hmm": lambda: glnn.HMM(units=16, budget="5 steps", random_state=0, verbose=0),
        "contexttree": lambda: glnn.ContextTree(verbose=0),
        "ngram": lambda: glnn.NGram(verbose=0),
        "networks": lambda: glnn.Mixture(networks=1, budget="20s", random_state=0, verbose=0),
    }
    if kind == "text":
        return models["mixture"]().fit(Path(__file__).read_text())
    chain = endless(0)
    symbols = next(chain) + next(chain)
    if kind in ("log", "networks"):
        # In cases: then a tree and n-grams stand beside the contexts, if they are worth it.
        found = models[kind]().fit(glnn.Sequences([symbols[k : k + CASE] for k in range(0, len(symbols), CASE)]))
        print("beside the contexts:", ", ".join(f"{name} {share:.3f}" for name, share in found.shares_.items()))
        return found
    return models[kind]().fit("".join(symbols))


ASKED = ("nothing", "bits", "bits held", "expected")


def push_all(stream: Any, symbols: Any, asked: str) -> None:
    """Push symbols, and look at what is asked for; a record that is held is still there at the next push."""
    if asked == "nothing":
        stream.push_many(symbols)
    elif asked == "bits held":
        held = None
        for symbol in symbols:
            held = stream.push(symbol)
        del held
    else:
        for symbol in symbols:
            getattr(stream.push(symbol), asked)


def speed(kinds: list[str]) -> None:
    """The best of 40 times 500 pushes, for each way to use what is told."""
    for kind in kinds or ("glnn", "mixture", "contexttree", "ngram"):
        model = of_the_chain(kind)
        for learning in ("frozen", "online"):
            for asked in ASKED:
                stream, chain, best = model.stream(learning=learning), endless(1, 500), np.inf
                for _ in range(41):
                    symbols, begun = next(chain), time.process_time()
                    push_all(stream, symbols, asked)
                    best = min(best, time.process_time() - begun)
                load = os.getloadavg()[0]
                tell("speed", model=kind, learning=learning, asked=asked, microseconds_a_push=2000 * best, load=load)


def logs(names: list[str]) -> None:
    """The same over the cases of event logs, ends included, in stretches of 500 events or more."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import data_sets

    only = [name.removeprefix("only=") for name in names if name.startswith("only=")]
    for name in [name for name in names if not name.startswith("only=")] or ("bpi_12_w", "env_permit"):
        found = data_sets.ALL[name]()
        known = {"alphabet": found.alphabet, "verbose": 0}
        models = {
            "mixture of contexts": glnn.Mixture(networks=0, **known),
            "contexttree": glnn.ContextTree(**known),
            "ngram": glnn.NGram(**known),
            "mixture": glnn.Mixture(budget="60s", random_state=0, **known),
        }
        for kind, blank in models.items():
            if only and kind not in only:
                continue
            model = fitted(name, kind, blank, found.fit, True)
            score = glnn.Sequences(found.score)
            begun = time.process_time()
            model.bits(score)
            each = 1e6 * (time.process_time() - begun) / found.scored_symbols
            tell("logs", data=name, model=kind, asked="model.bits(log)", microseconds_an_event=each)
            for learning in ("frozen", "online"):
                for asked in ASKED:
                    cases = list(found.score)[: 300 if kind == "mixture" and learning == "online" else None]
                    times = stretches(model.stream(learning=learning), cases, asked)
                    each = {"microseconds_an_event": min(times), "median": float(np.median(times))}
                    load = os.getloadavg()[0]
                    tell("logs", data=name, model=kind, learning=learning, asked=asked, **each, load=load)


def stretches(stream: Any, cases: list[Any], asked: str) -> list[float]:
    """CPU microseconds an event of each stretch."""
    found, events, begun = [], 0, time.process_time()
    for case in cases:
        push_all(stream, case, asked)
        stream.end()
        events += len(case) + 1
        if events >= 500:
            found.append(1e6 * (time.process_time() - begun) / events)
            events, begun = 0, time.process_time()
    return found


def side_by_side(kinds: list[str], number: int = 10_000) -> None:
    """Bytes that Python has allocated for each of many streams, frozen, with its key, after 8 symbols each."""
    import tracemalloc

    for kind in kinds or ("glnn", "lstm", "hmm", "contexttree", "ngram", "mixture", "text", "log", "networks"):
        model = of_the_chain(kind)
        streams, symbols = model.streams(), next(endless(1, 8))
        if kind == "text":
            symbols = [*"two\nlines"]
        for symbol in symbols:
            streams.push("first", symbol)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        # A symbol to each in turn, as events of cases arrive.
        for symbol in symbols:
            for key in range(number):
                streams.push(key, symbol)
        each = (tracemalloc.get_traced_memory()[0] - before) / number
        tracemalloc.stop()
        streams.push(0, symbols[0])
        begun = time.process_time()
        for key in range(number // 10):
            streams.push(key, symbols[0])
        turn = 1e7 * (time.process_time() - begun) / number
        tell("bytes", model=kind, streams=number, bytes_a_stream=round(each), microseconds_in_turn=round(turn, 1))


def resident() -> float:
    """Megabytes that this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def cost(kind: str, learning: str, events: int) -> None:
    """A line after 100,000 events and after each million."""
    stream, chain = of_the_chain(kind).stream(learning=learning), endless(1)
    done, before, begun = 0, 0, time.process_time()
    for symbols in chain:
        for place, symbol in enumerate(symbols):
            stream.push(symbol)
            if kind == "log" and place % CASE == CASE - 1:
                stream.end()
        done += len(symbols)
        if done == 100_000 or done % 1_000_000 == 0:
            seconds = time.process_time() - begun
            each = {"microseconds_an_event": 1e6 * seconds / (done - before), "bits_an_event": stream.bits / done}
            tell("cost", model=kind, learning=learning, events=done, **each, megabytes=resident())
            before, begun = done, time.process_time()
        if done >= events:
            break


def killed(kinds: list[str]) -> None:
    """A stream that saves now and then is killed, and what takes it up pushes on to the bits of one that was not."""
    length, every = 60_000, 1_000
    for kind in kinds or ("glnn", "mixture"):
        path = KEPT / f"killed-{kind}.stream"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        blocks = endless(1, every)
        symbols = [symbol for _ in range(length // every) for symbol in next(blocks)]
        whole = of_the_chain(kind).stream(learning="online").push_many(symbols)
        child = subprocess.Popen([sys.executable, __file__, "push", kind, str(path), str(every)])
        while not path.exists():
            time.sleep(0.05)
        time.sleep(1.0)
        child.send_signal(signal.SIGKILL)
        child.wait()
        again = glnn.load_stream(path)
        at = again.symbols
        rest = again.push_many(symbols[at:])
        same = rest.tolist() == whole[at:].tolist()
        told = {"bits_the_same": same, "total_the_same": again.bits == float(np.cumsum(whole)[-1])}
        tell("killed", model=kind, learning="online", events=length, taken_up_after=at, **told)


def push(kind: str, path: str, every: int) -> None:
    """What is killed."""
    stream = of_the_chain(kind).stream(learning="online")
    for symbols in endless(1, every):
        stream.push_many(symbols)
        stream.save(path)


def lines(name: str) -> list[dict[str, Any]]:
    """The results of a kind."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables() -> None:
    """Print what was found."""
    for name in ("prequential", "harm"):
        found = {(one["data"], one["model"], one["learning"]): one["bits_an_event"] for one in lines(name)}
        print("\n| data | model | frozen | online | best SGD |\n|---|---|--:|--:|--:|")
        for data, model in dict.fromkeys((data, model) for data, model, _ in found):
            plain = [bits for (a, b, how), bits in found.items() if (a, b) == (data, model) and how.startswith("sgd")]
            frozen, online = (found[data, model, how] for how in ("frozen", "online"))
            change = f"{online:.4g} ({100 * (online / frozen - 1):+.1f} %)"
            print(f"| {data} | {model} | {frozen:.4g} | {change} | {f'{min(plain):.4g}' if plain else ''} |")
    heads = "| nothing | bits | bits, record held | expected |\n"
    print(f"\n| model | learning {heads}|---|---|--:|--:|--:|--:|")
    timed = {(one["model"], one["learning"], one["asked"]): one["microseconds_a_push"] for one in lines("speed")}
    for model, learning in dict.fromkeys((model, learning) for model, learning, _ in timed):
        found_in = (f"{timed[model, learning, asked]:.1f}" for asked in ASKED if (model, learning, asked) in timed)
        print(f"| {model} | {learning} | {' | '.join(found_in)} |")
    print(f"\n| data | model | learning {heads}|---|---|---|--:|--:|--:|--:|")
    on_logs = {
        (one["data"], one["model"], one.get("learning", ""), one["asked"]): one["microseconds_an_event"]
        for one in lines("logs")
    }
    for data, model, learning in dict.fromkeys(key[:3] for key in on_logs):
        found_in = (f"{on_logs[data, model, learning, a]:.1f}" for a in ASKED if (data, model, learning, a) in on_logs)
        print(f"| {data} | {model} | {learning or 'model.bits'} | {' | '.join(found_in)} |")
    print("\n| model | bytes a stream | µs a push, each in turn |\n|---|--:|--:|")
    for one in lines("bytes"):
        print(f"| {one['model']} | {one['bytes_a_stream']:,} | {one['microseconds_in_turn']} |")
    print("\n| model | learning | events | CPU µs an event | resident MB |\n|---|---|--:|--:|--:|")
    for one in lines("cost"):
        each, size = one["microseconds_an_event"], one["megabytes"]
        print(f"| {one['model']} | {one['learning']} | {one['events']:,} | {each:.1f} | {size:.0f} |")
    print("\n| model | events | taken up after | bits the same |\n|---|--:|--:|---|")
    for one in lines("killed"):
        print(f"| {one['model']} | {one['events']:,} | {one['taken_up_after']:,} | {one['bits_the_same']} |")


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["help"]
    if what == "prequential":
        prequential(rest)
    elif what == "harm":
        harm(rest)
    elif what == "speed":
        speed(rest)
    elif what == "logs":
        logs(rest)
    elif what == "bytes":
        side_by_side(rest)
    elif what == "cost":
        cost(rest[0], rest[1], int(rest[2]) if len(rest) > 2 else 10_000_000)
    elif what == "killed":
        killed(rest)
    elif what == "tables":
        tables()
    elif what == "push":
        push(rest[0], rest[1], int(rest[2]))
    else:
        print(__doc__)
