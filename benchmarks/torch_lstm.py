"""The small recurrent network people would write in PyTorch: 64 units, Adam 3e-3, dropout 0.2, batches of 32.

A tenth of what is fitted is held out; the network is scored there twenty times and the best one is kept. One long
sequence is cut into 32 streams that run side by side, windows of 64 symbols, state carried over; of several sequences
32 at a time are padded. Budgets are CPU seconds on one thread; scoring is not charged. The curve tells what the best
one so far needs for what is scored, whenever a look has found a better one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.data_sets import DataSet

UNITS, EMBEDDING, RATE, DROPOUT, BATCH, WINDOW, CLIP, LOOKS = 64, 32, 3e-3, 0.2, 32, 64, 1.0, 20
_PADDING = -100


def bits_of_peer(data: DataSet, seconds: float, kind: str = "LSTM", seed: int = 0) -> dict[str, Any]:
    """Fit within the budget; the bits of the scored part, with what was spent."""
    import torch
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    fitted, held, scored, letters = _encoded(data)
    network = _recurrent(kind, letters)
    adam = torch.optim.Adam(network.parameters(), lr=RATE)
    generator = np.random.default_rng(seed)
    looks = iter(seconds * np.linspace(0.0, 1.0, LOOKS + 1)[1:] ** 2)
    due, spent, best, kept, epochs = next(looks), 0.0, np.inf, {}, 0
    curve: list[list[float]] = []

    def bits_scored() -> float:
        # One long sequence is scored from where the fitted part ends.
        state = None if data.several else _state_after(network, np.concatenate([*fitted, *held]), letters)
        return _bits(network, scored, letters, state)

    while spent < seconds:
        epochs += 1
        state = None
        for before, after in _batches(fitted, data.several, letters, generator):
            started = time.process_time()
            logits, state = network(before, None if data.several else state)
            loss = cross_entropy(logits.flatten(0, 1), after.flatten(), ignore_index=_PADDING)
            adam.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            adam.step()
            state = _detached(state)
            spent += time.process_time() - started
            if spent >= due:
                score = _bits(network, held, letters)
                due = next(looks, np.inf)
                if score < best:
                    best, kept = score, {name: value.clone() for name, value in network.state_dict().items()}
                    curve.append([round(spent, 2), round(bits_scored() / data.scored_symbols, 5)])
            if spent >= seconds:
                break
    if kept:
        network.load_state_dict(kept)
    return {"bits": bits_scored(), "cpu_seconds": spent, "epochs": epochs, "curve": curve}


def _encoded(data: DataSet) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], int]:
    """Codes to fit, to hold out and to score; several sequences end with a letter of their own."""
    codes = {symbol: code for code, symbol in enumerate(data.alphabet)}
    end = [len(codes)] if data.several else []

    def encode(part: Any) -> np.ndarray:
        return np.array([codes[symbol] for symbol in part] + end, np.int64)

    if data.several:
        fitted, scored = [encode(part) for part in data.fit], [encode(part) for part in data.score]
        cut = max(1, len(fitted) * 9 // 10)
        return fitted[:cut], fitted[cut:] or fitted[-1:], scored, len(codes) + 1
    whole, scored_codes = encode(data.fit), encode(data.score)
    cut = len(whole) * 9 // 10
    return [whole[:cut]], [whole[cut:]], [scored_codes], len(codes)


def _batches(
    fitted: list[np.ndarray], several: bool, letters: int, generator: np.random.Generator
) -> Iterator[tuple[Any, Any]]:
    """What is read and what comes next, (time, batch), over one epoch."""
    import torch

    if not several:
        codes = fitted[0]
        streams = max(1, min(BATCH, len(codes) // 4))
        steps = len(codes) // streams
        before = np.concatenate([[letters], codes[:-1]])
        columns = [np.ascontiguousarray(row[: steps * streams].reshape(streams, steps).T) for row in (before, codes)]
        for begin in range(0, steps, WINDOW):
            yield tuple(torch.from_numpy(column[begin : begin + WINDOW]) for column in columns)
        return
    order = generator.permutation(len(fitted))
    for begin in range(0, len(order), BATCH):
        chosen = [fitted[place][:512] for place in order[begin : begin + BATCH]]
        longest = max(map(len, chosen))
        before, after = np.full((longest, len(chosen)), letters), np.full((longest, len(chosen)), _PADDING)
        for column, codes in enumerate(chosen):
            before[1 : len(codes), column] = codes[:-1]
            after[: len(codes), column] = codes
        yield torch.from_numpy(before), torch.from_numpy(after)


def _recurrent(kind: str, letters: int) -> Any:
    """Embedding, one recurrent layer, softmax; the code `letters` stands before the first symbol."""
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.read = nn.Embedding(letters + 1, EMBEDDING)
            self.drop = nn.Dropout(DROPOUT)
            self.layer = getattr(nn, kind)(EMBEDDING, UNITS)
            self.write = nn.Linear(UNITS, letters)

        def forward(self, codes: Any, state: Any = None) -> tuple[Any, Any]:
            hidden, state = self.layer(self.drop(self.read(codes)), state)
            return self.write(self.drop(hidden)), state

    return Recurrent()


def _detached(state: Any) -> Any:
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


def _state_after(network: Any, codes: np.ndarray, letters: int) -> tuple[Any, int]:
    """The state after a sequence whose last letter is still to be read, and that letter."""
    import torch

    network.eval()
    with torch.inference_mode():
        before = torch.from_numpy(np.concatenate([[letters], codes[:-1]])[:, None])
        state = network(before)[1]
    network.train()
    return state, int(codes[-1])


def _bits(network: Any, parts: list[np.ndarray], letters: int, given: tuple[Any, int] | None = None) -> float:
    """The bits of whole sequences, each from the start or after what was given."""
    import torch

    total = 0.0
    network.eval()
    with torch.inference_mode():
        for codes in parts:
            state, last = given or (None, letters)
            before = torch.from_numpy(np.concatenate([[last], codes[:-1]])[:, None])
            logits, _ = network(before, state)
            chosen = torch.log_softmax(logits[:, 0].double(), dim=1).gather(1, torch.from_numpy(codes)[:, None])
            total -= float(chosen.sum()) / np.log(2.0)
    network.train()
    return total
