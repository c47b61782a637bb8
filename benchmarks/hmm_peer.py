"""hmmlearn's hidden Markov model over symbols: 32 or 60 states, EM until the budget is spent or the gain is small.

Ends of sequences are a symbol of their own, as for everyone. A symbol that training never showed would be impossible:
a millionth of the uniform distribution is mixed into what each state writes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.data_sets import DataSet

STEPS_AT_ONCE, LEAST_GAIN, SMOOTHING = 5, 1e-5, 1e-6


def bits_of_hmmlearn(data: DataSet, seconds: float, seed: int = 0, states: int = 32) -> dict[str, Any]:
    """Fit within the budget; the bits of the scored part, with what was spent."""
    from hmmlearn.hmm import CategoricalHMM

    fitted, lengths, letters = _encoded(data, data.fit)
    model = CategoricalHMM(states, n_features=letters, random_state=seed, n_iter=STEPS_AT_ONCE, tol=0.0)
    spent, steps, last = 0.0, 0, -np.inf
    while spent < seconds:
        started = time.process_time()
        model.fit(fitted, lengths)
        model.init_params = ""
        # A state that nothing visits any more has no way out, which hmmlearn refuses to go on from.
        for rows in (model.transmat_, model.emissionprob_):
            rows[rows.sum(1) == 0.0] = 1.0 / rows.shape[1]
        spent += time.process_time() - started
        steps += STEPS_AT_ONCE
        now = model.monitor_.history[-1]
        if now - last < LEAST_GAIN * abs(now):
            break
        last = now
    model.emissionprob_ = (1.0 - SMOOTHING) * model.emissionprob_ + SMOOTHING / letters
    scored, lengths, _ = _encoded(data, data.score)
    bits = -float(model.score(scored, lengths)) / np.log(2.0)
    return {"bits": bits, "cpu_seconds": spent, "steps": steps, "states": states}


def _encoded(data: DataSet, part: Any) -> tuple[np.ndarray, list[int], int]:
    """Codes in one column, the lengths of the sequences, and how many symbols there are."""
    codes = {symbol: code for code, symbol in enumerate(data.alphabet)}
    end = [len(codes)] if data.several else []
    sequences = part if data.several else [part]
    columns = [[codes[symbol] for symbol in sequence] + end for sequence in sequences]
    column = np.concatenate([np.array(one, np.int64) for one in columns])[:, None]
    return column, [len(one) for one in columns], len(codes) + len(end)
