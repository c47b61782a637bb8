"""Why insertions stay above the paper's regret: where a network's excess lies, and what changes it.

    python experiments/insertions_excess.py              run the variants that are not there
    python experiments/insertions_excess.py table        what is there so far
    python experiments/insertions_excess.py forgetful    what a model pays that remembers nothing across a block
    python experiments/insertions_excess.py "gnn ruop"   the same of the best run of a row of the paper's table

One GLNN (QDH+RBPM, 32 units, d = 3, seed 0) after the paper's way, with other dampings ε of M̃, with the damping of the
writing weights by counts in place of frequencies, on sequences in which no block follows the digit 9, and with more
units and time. Each variant is a line of JSON with its regret, that of the third sequence, and the excess over the true
model by kind of position.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from validation_draws import best_run

from glnn.models import Params
from glnn.output.uniform import regularise
from glnn.reproduction import running
from glnn.reproduction.running import Sequences, excess, new_trainer, versions
from glnn.reproduction.settings import Setting, from_json
from glnn.reproduction.tables import as_markdown, number
from glnn.sources.insertions import Insertions
from glnn.training import proposals
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

RESULTS = Path(__file__).parent / "results" / "insertions_excess.jsonl"
SETTING = Setting("insertions", "glnn", "qdh", "rbpm", 32, 3, 0, "54s")


class Variant(NamedTuple):
    """A departure from the paper's way, and its name."""

    name: str
    damping: float = 1.0
    units: int = 32
    after_nine: bool = True
    damped_by_counts: bool = False
    budget: str = SETTING.budget


VARIANTS = (
    Variant("as in the paper"),
    Variant("damping 0.1", damping=0.1),
    Variant("damping 10", damping=10.0),
    Variant("damping 100", damping=100.0),
    Variant("w damped by counts", damped_by_counts=True),
    Variant("none after 9", after_nine=False),
    Variant("none after 9, 64 units", after_nine=False, units=64),
    Variant("128 units, 240 s", units=128, budget="240s"),
)


def kind_of(before: str, symbol: str) -> str:
    """What is to be known at a position, from the symbol there and the one before it."""
    if symbol.isupper():
        return "random capital"
    if before.isupper():
        return "end of capitals"
    for marks, name in (
        (")", "letter after a block"),
        ("]", "digit after a block"),
        ("(\n", "first of a block or line"),
    ):
        if before in marks:
            return name
    return "insertion or next digit" if before.isdigit() else "insertion or next letter"


def excess_by_kind(trainer: Trainer, best: Params, sequences: Sequences) -> dict[str, dict[str, float]]:
    """Positions of each kind in the validation sequence, and the bits above the true model spent on them."""
    text = sequences.valid.text
    own = Validation(trainer.model, sequences.encoded(sequences.valid)).log_likelihoods(best)
    own = regularise(own, len(sequences.source.alphabet), np.arange(len(own)))
    bits = (sequences.source.log_likelihoods(text) - own) / math.log(2.0)
    kinds = [kind_of(before, symbol) for before, symbol in zip("\n" + text, text, strict=False)]
    totals: Counter[str] = Counter()
    for kind, value in zip(kinds, bits, strict=True):
        totals[kind] += value
    numbers = Counter(kinds)
    return {kind: {"positions": numbers[kind], "bits": round(value, 1)} for kind, value in totals.most_common()}


def forgetful(text: str) -> dict[str, tuple[int, float]]:
    """Blocks of each kind, and the bits above the true model that whoever forgets its place in them pays at least.

    That is what follows a block, by its own frequencies; all else is taken for known.
    """
    found = {}
    for end in ")]":
        after = Counter(following for before, following in pairwise(text) if before == end)
        total = sum(after.values())
        found[end] = total, sum(number * math.log2(total / number) for number in after.values())
    return found


def of_cell(row: str) -> None:
    """Train the best run of a row (a model and a metric) again to its best step, and print where its excess lies."""
    line = best_run(f"insertions {row}")
    setting = from_json(line["setting"])
    sequences = running.sequences_of(setting)
    trainer = new_trainer(setting, sequences)
    progress = trainer.run(f"{line['best_step']} steps")
    score = Validation(trainer.model, sequences.encoded(sequences.valid)).score(progress.params)
    trained = excess(progress.history[-1].log_likelihood, sequences.train)
    print(f"{setting}: {excess(score, sequences.valid)} bits, {line['regret']} in its line; training {trained}")
    for kind, found in excess_by_kind(trainer, progress.params, sequences).items():
        print(f"{kind}: {found['bits']:,.0f} bits at {found['positions']:,.0f} positions")


def run(variant: Variant) -> dict[str, Any]:
    """Train a variant; its line of results."""
    source = Insertions(after_last_digit=variant.after_nine)
    train, valid, third = (source.sample(None, seed) for seed in running.seeds_of(SETTING))
    sequences = Sequences(source, train, valid, third)
    setting = replace(SETTING, units=variant.units, budget=variant.budget)
    made = new_trainer(setting, sequences)
    settings = replace(made.settings, damping=variant.damping)
    trainer = Trainer(made.model, sequences.encoded(train), made.progress.params, settings, made.validation)
    given: Callable[[np.ndarray], np.ndarray] = proposals.hessian_damping
    if variant.damped_by_counts:
        proposals.hessian_damping = lambda counts: counts + np.finfo(float).eps
    try:
        progress = trainer.run(setting.budget)
    finally:
        proposals.hessian_damping = given
    score = Validation(trainer.model, sequences.encoded(third)).score(progress.best)
    return {
        "variant": variant.name,
        "units": variant.units,
        "regret": excess(progress.best_score, valid),
        "third_regret": excess(score, third),
        "true_bits": round(valid.bits, 2),
        "best_step": progress.best_step,
        "steps": progress.step,
        "train_excess_at_best": excess(progress.history[progress.best_step - 1].log_likelihood, train),
        "excess": excess_by_kind(trainer, progress.best, sequences),
        "command": "python experiments/insertions_excess.py",
        **versions(),
    }


def read() -> list[dict[str, Any]]:
    """The lines that are there."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def tables() -> tuple[str, str]:
    """Where the excess lies as the paper trains, and the regret of every variant."""
    lines = read()
    plain = next(line for line in lines if line["variant"] == VARIANTS[0].name)
    kinds = [[kind, f"{found['positions']:,}", number(found["bits"])] for kind, found in plain["excess"].items()]
    variants = [
        [
            line["variant"],
            str(line["units"]),
            number(line["regret"]),
            number(line["third_regret"]),
            f"{line['best_step']} of {line['steps']}",
            number(line["train_excess_at_best"]),
            number(line["excess"]["random capital"]["bits"]),
        ]
        for line in lines
    ]
    columns = ("", "units", "regret", "third", "best step", "training then", "of the regret on random capitals")
    return as_markdown(("positions", "number", "excess, bits"), kinds), as_markdown(columns, variants)


def main(arguments: list[str]) -> None:
    """Run the variants that have no line yet, or show what is there, or where a row's excess lies."""
    if arguments == ["table"]:
        print(*tables(), sep="\n\n")
        return
    if arguments == ["forgetful"]:
        text = running.sequences_of(replace(SETTING, after_nine=False)).valid.text
        for end, (blocks, bits) in forgetful(text).items():
            print(f"after {end}: {blocks:,} times, {bits:,.0f} bits")
        return
    if arguments:
        of_cell(*arguments)
        return
    there = {line["variant"] for line in read()}
    for variant in VARIANTS:
        if variant.name not in there:
            line = run(variant)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(f"{variant.name}: {line['regret']} bits", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
