"""The three sanity checks of the table on the same sequences: bzip2, context tree weighting, hidden Markov model.

bzip2 and the context tree read the validation sequence as the continuation of the training sequence and learn on. The
hidden Markov model is trained by EM within the CPU budget of the networks, and the best model on validation is kept.
"""

from __future__ import annotations

import math
import time
from typing import Any

from glnn.baselines.compressors import added_bits
from glnn.baselines.hmm import EMStep, fit_hmm, initial_hmm
from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
from glnn.predictors import bits
from glnn.reproduction.running import POINTS, Sequences, finite, thinned
from glnn.reproduction.settings import Setting
from glnn.sequences import encode
from glnn.training.budget import parse_budget

# Enough for the exact mixture over all trees of that depth.
_TREE = ContextTreeSettings.paper(depth=16)
_MOST_STEPS = 10**6


def run_baseline(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    """The regrets of one baseline."""
    run = {"bzip2": _bzip2, "ctw": _context_tree, "hmm": _hidden_markov}[setting.model]
    true = {"train": sequences.train.bits, "valid": sequences.valid.bits, "third": sequences.third.bits}
    return {**run(setting, sequences), "true_bits": {name: round(value, 2) for name, value in true.items()}}


def _bzip2(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    train, valid, third = sequences.train, sequences.valid, sequences.third
    return {
        "regret": round(added_bits(train.text, valid.text, "bzip2") - valid.bits, 2),
        "third_regret": round(added_bits(train.text, third.text, "bzip2") - third.bits, 2),
    }


def _context_tree(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    begun = time.process_time()
    model = fit_context_tree(sequences.encoded(sequences.train), _TREE)
    regrets = [
        round(bits(model.continuing(), sequences.encoded(sample)) - sample.bits, 2)
        for sample in (sequences.valid, sequences.third)
    ]
    seconds = round(time.process_time() - begun, 2)
    return {"regret": regrets[0], "third_regret": regrets[1], "passes": 1, "cpu_seconds": seconds}


def _hidden_markov(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    train, valid = sequences.encoded(sequences.train), sequences.encoded(sequences.valid)
    few = encode(sequences.train.text[:200], alphabet=sequences.source.alphabet)
    # Compiles, or reads from the cache, outside the budget.
    fit_hmm(few, initial_hmm(few, setting.units, setting.degree), steps=2)
    budget = parse_budget(setting.budget)
    spent, mark = 0.0, time.process_time()
    history: list[tuple[float, int, float, float]] = []
    best_bits, best_step, best_model = math.inf, 0, initial_hmm(train, setting.units, setting.degree, setting.seed)

    def watch(step: EMStep) -> bool:
        nonlocal spent, mark, best_bits, best_step, best_model
        spent += time.process_time() - mark
        score = bits(step.model, valid, regularised=True)
        history.append((spent, step.step, -step.log_likelihood / math.log(2.0), score))
        if score < best_bits:
            best_bits, best_step, best_model = score, step.step, step.model
        mark = time.process_time()
        return budget.spent(spent, step.step, step.step)

    fit_hmm(train, best_model, _MOST_STEPS, 1e-9, watch)
    third = bits(best_model, sequences.encoded(sequences.third), regularised=True)
    points = thinned(len(history), POINTS, best_step)
    return {
        "regret": finite(round(best_bits - sequences.valid.bits, 2)),
        "third_regret": finite(round(third - sequences.third.bits, 2)),
        "steps": history[-1][1],
        "passes": history[-1][1],
        "best_step": best_step,
        "cpu_seconds": round(spent, 3),
        "trajectory": {
            name: [finite(round(history[k][column], 3)) for k in points]
            for column, name in enumerate(("seconds", "steps", "train_bits", "valid_bits"))
        },
    }
