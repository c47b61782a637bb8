"""What people would use instead: PyTorch LSTM and GRU with Adam, at equal CPU time beside `glnn.GLNN()` as it comes.

    python benchmarks/peers.py [--sources insertions music anbn] [--scale 1.0] [--draw]

All train on one sequence and keep what is best on a second; a third is scored once at the end. Peers are tuned over
a grid, which is not charged; nothing is tuned for the GLNN. One line of JSON a run, at once; runs that are there are
skipped. `--draw` only draws the figure and prints the table.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import glnn
from benchmarks.records import RESULTS, Record, about, append, markdown, read
from glnn.predictors import regularise
from glnn.sequences import Encoded
from glnn.sources import Source, get

SECONDS = {"insertions": 60.0, "music": 30.0, "anbn": 30.0}
SEEDS = (0, 1, 2)
"""Of the sequences to train on, to keep the best by, and to score at the end."""
BITS = 1.0 / np.log(2.0)
VALIDATIONS = 20
EMBEDDING = 32
CLIP = 1.0


class Peer(NamedTuple):
    """One point of the grid: the kind of network, its width, Adam's rate, dropout, streams and their window."""

    kind: str
    hidden: int
    rate: float
    dropout: float
    streams: int
    window: int


# Streams side by side, and how far derivatives go back: the best of a few tries of 10 seconds.
CUTS = {"insertions": (16, 100), "music": (16, 50), "anbn": (16, 100)}
KINDS = ("LSTM", "GRU")
GRID = ((64, 1e-2, 0.0), (128, 3e-3, 0.5), (64, 3e-3, 0.3), (32, 1e-2, 0.0))


def grid(source: str) -> list[Peer]:
    """The settings that are tried for each source."""
    return [Peer(kind, *point, *CUTS[source]) for point in GRID for kind in KINDS]


class Texts(NamedTuple):
    """The three sequences of a source, and the true model's bits of each."""

    source: Source
    encoded: tuple[Encoded, Encoded, Encoded]
    bits: tuple[float, float, float]


def texts(name: str, size: int | None = None) -> Texts:
    """Samples with fixed seeds; `size` is the number of lines, bars or blocks (the paper's if None)."""
    source = get(name)
    samples = [source.sample(size, seed).text for seed in SEEDS]
    first, second, third = (source.encode(text) for text in samples)
    exact = tuple(source.bits(text) for text in samples)
    return Texts(source, (first, second, third), (exact[0], exact[1], exact[2]))


def train_ours(given: Texts, seconds: float, seed: int = 0) -> Record:
    """`GLNN()` with nothing but its budget; the time of all its random starts counts."""
    spent: dict[int, float] = {}
    curve: list[list[float]] = []
    best = np.inf

    def look(info: Any, trainer: Any) -> None:
        nonlocal best
        spent[id(trainer.model)] = info.seconds
        if info.validation is None:
            return
        score = -info.validation * BITS - given.bits[1]
        if score < best:
            best = score
            curve.append([round(sum(spent.values()), 4), round(score, 2)])

    model = glnn.GLNN(budget=seconds, random_state=seed, verbose=0)
    model.fit(given.encoded[0], validation=given.encoded[1], callbacks=[look])
    return {
        "valid_regret": round(model.validation_bits_ - given.bits[1], 2),
        "test_regret": round(model.bits(given.encoded[2], regularised=True) - given.bits[2], 2),
        "cpu_seconds": round(model.total_seconds_, 2),
        "parameters": model.n_parameters_,
        "passes": model.steps_,
        "chosen": {"units": model.units_, "degree": model.degree_, "starts": len(model.restarts_)},
        "curve": curve,
    }


def train_peer(peer: Peer, given: Texts, seconds: float, seed: int = 0) -> Record:
    """Truncated backpropagation through time with Adam; validating is not charged, as for the GLNN."""
    import torch
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    letters = len(given.source.alphabet)
    network = recurrent(peer, letters)
    adam = torch.optim.Adam(network.parameters(), lr=peer.rate)
    # Halves the rate when three looks in a row see nothing better: usual, and it helps the peers.
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(adam, factor=0.5, patience=2)
    read_codes, next_codes = streams(given.encoded[0].codes, peer.streams, letters)
    windows = range(0, len(read_codes), peer.window)

    def update(begin: int, state: Any) -> Any:
        part = slice(begin, begin + peer.window)
        logits, state = network(read_codes[part], state)
        loss = cross_entropy(logits.flatten(0, 1), next_codes[part].flatten())
        adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        adam.step()
        return detached(state)

    looks = seconds * np.linspace(0.0, 1.0, VALIDATIONS + 1)[1:] ** 2
    curve: list[list[float]] = []
    best, kept, spent, look, passes = np.inf, {}, 0.0, 0, 0.0
    while spent < seconds:
        state = None
        for begin in windows:
            started = time.process_time()
            state = update(begin, state)
            spent += time.process_time() - started
            passes += 1.0 / len(windows)
            if spent >= looks[look]:
                while look < len(looks) - 1 and spent >= looks[look]:
                    look += 1
                score = regularised_bits(network, given.encoded[1], letters) - given.bits[1]
                schedule.step(score)
                if score < best:
                    best = score
                    kept = {name: value.clone() for name, value in network.state_dict().items()}
                    curve.append([round(spent, 4), round(score, 2)])
            if spent >= seconds:
                break
    network.load_state_dict(kept)
    return {
        "valid_regret": round(best, 2),
        "test_regret": round(regularised_bits(network, given.encoded[2], letters) - given.bits[2], 2),
        "cpu_seconds": round(spent, 2),
        "parameters": sum(part.numel() for part in network.parameters()),
        "passes": round(passes, 1),
        "chosen": {"units": peer.hidden},
        "curve": curve,
        "torch": torch.__version__,
    }


def recurrent(peer: Peer, letters: int) -> Any:
    """Embedding, one recurrent layer, softmax; the code `letters` stands before the first symbol."""
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.read = nn.Embedding(letters + 1, EMBEDDING)
            self.drop = nn.Dropout(peer.dropout)
            self.layer = getattr(nn, peer.kind)(EMBEDDING, peer.hidden)
            self.write = nn.Linear(peer.hidden, letters)

        def forward(self, codes: Any, state: Any = None) -> tuple[Any, Any]:
            hidden, state = self.layer(self.drop(self.read(codes)), state)
            return self.write(self.drop(hidden)), state

    return Recurrent()


def streams(codes: np.ndarray, count: int, letters: int) -> tuple[Any, Any]:
    """What is read and what comes next, (steps, streams): the sequence cut into stretches that run side by side."""
    import torch

    before = np.concatenate([[letters], codes[:-1]]).astype(np.int64)
    steps = len(codes) // count
    cut = [np.ascontiguousarray(row[: steps * count].reshape(count, steps).T) for row in (before, codes)]
    return torch.from_numpy(cut[0]), torch.from_numpy(cut[1].astype(np.int64))


def detached(state: Any) -> Any:
    """The state without its history."""
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


def log_likelihoods(network: Any, data: Encoded, letters: int, block: int = 8192) -> np.ndarray:
    """log π_t(x_t) of one whole sequence, state carried on from the first symbol to the last."""
    import torch

    before, after = streams(data.codes, 1, letters)
    found, state = [], None
    network.eval()
    with torch.inference_mode():
        for begin in range(0, len(before), block):
            part = slice(begin, begin + block)
            logits, state = network(before[part], state)
            chosen = torch.log_softmax(logits[:, 0].double(), dim=1).gather(1, after[part])
            found.append(chosen[:, 0].numpy())
    network.train()
    return np.concatenate(found)


def regularised_bits(network: Any, data: Encoded, letters: int) -> float:
    """The paper's validation score in bits, as for every model here."""
    return float(-regularise(log_likelihoods(network, data, letters), letters).sum() * BITS)


def run(sources: Iterable[str], scale: float, path: Path, size: int | None = None) -> None:
    """All runs that are not in the file yet; each point of the grid on every source before the next one."""
    given = {name: texts(name, size) for name in sources}
    plan: list[tuple[str, Peer | None]] = [(name, None) for name in given]
    for place in range(len(GRID) * len(KINDS)):
        plan += [(name, grid(name)[place]) for name in given]
    for name, peer in plan:
        seconds = SECONDS[name] * scale
        model, setting = ("GLNN", {}) if peer is None else (peer.kind, peer._asdict())
        key = {"source": name, "model": model, "setting": setting, "budget": seconds}
        if any(key == {field: line[field] for field in key} for line in read(path)):
            continue
        result = train_ours(given[name], seconds) if peer is None else train_peer(peer, given[name], seconds)
        append(path, {**key, "true_bits": [round(value, 2) for value in given[name].bits], **result, **about()})
        print(f"{name:11} {model:5} valid {result['valid_regret']:,.1f}, test {result['test_regret']:,.1f}", flush=True)


def best_of_grid(lines: Sequence[Record], source: str, model: str) -> Record | None:
    """The run of a model with the best validation score."""
    mine = [line for line in lines if line["source"] == source and line["model"] == model]
    return min(mine, key=lambda line: line["valid_regret"], default=None)


def table(lines: Sequence[Record]) -> str:
    """Regrets of the GLNN and of the best of each peer's grid, by validation."""
    rows = []
    for name, seconds in SECONDS.items():
        for model in ("GLNN", *KINDS):
            best = best_of_grid(lines, name, model)
            if best is None:
                continue
            tried = sum(line["source"] == name and line["model"] == model for line in lines)
            numbers = (f"{best[field]:,.0f}" for field in ("valid_regret", "test_regret"))
            words = (name, model, described(best), str(tried), f"{seconds:g}")
            rows.append([*words, *numbers, f"{best['curve'][-1][0]:.1f}", f"{best['parameters']:,}"])
    columns = (
        "source",
        "model",
        "",
        "tried",
        "CPU s",
        "regret, validation",
        "regret, test",
        "best at, s",
        "parameters",
    )
    return markdown(columns, rows, left=3)


def described(line: Record) -> str:
    """What was chosen, by the grid or by the defaults."""
    chosen, setting = line["chosen"], line["setting"]
    if not setting:
        starts = chosen["starts"]
        return f"{chosen['units']} units, d = {chosen['degree']}, {starts} start{'s' * (starts > 1)}"
    return f"{setting['hidden']} units, rate {setting['rate']:g}, dropout {setting['dropout']:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", nargs="+", choices=list(SECONDS), default=list(SECONDS))
    parser.add_argument("--scale", type=float, default=1.0, help="times the budgets of 60, 30 and 30 CPU seconds")
    parser.add_argument("--out", type=Path, default=RESULTS / "peers.jsonl")
    parser.add_argument("--draw", action="store_true", help="draw what is there, run nothing")
    options = parser.parse_args()
    if not options.draw:
        run(options.sources, options.scale, options.out)
    from benchmarks.figures import draw_peers

    lines = read(options.out)
    draw_peers(lines)
    print(table(lines))


if __name__ == "__main__":
    main()
