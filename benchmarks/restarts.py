"""What eight random starts cost beside one, and what they bring: a race by halving, one start, all eight to their end.

    python benchmarks/restarts.py [--groups 4]

The race's budget is such that its winner gets as many steps as a start that is trained alone. One line of JSON for
each group of eight starts, at once; groups that are there are skipped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import mean, median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import glnn
from benchmarks.peers import Texts, texts
from benchmarks.records import RESULTS, Record, about, append, markdown, read

STARTS = 8
UNITS, DEGREE = 8, 3
RACE_STEPS = 512
# Four rounds of 128 steps: 16, 32, 64 and 128 for whoever is in all of them.
ALONE_STEPS = 240
RESULT = RESULTS / "restarts.jsonl"
_TITLES = {"anbn": "aⁿbⁿ", "music": "music"}


def fitted(given: Texts, starts: int, steps: int, seed: int) -> glnn.GLNN:
    """A small GLNN, as the paper has it for aⁿbⁿ."""
    options = {"restarts": starts, "budget": f"{steps} steps", "random_state": seed}
    model = glnn.GLNN(UNITS, DEGREE, recipe="paper", smoothing=0.0, verbose=0, **options)
    return model.fit(given.encoded[0], validation=given.encoded[1])


def measure(given: Texts, group: int, race_steps: int = RACE_STEPS, alone_steps: int = ALONE_STEPS) -> Record:
    """A race of eight starts, then each of them alone; the steps of the race's winner must be those it takes alone."""
    race = fitted(given, STARTS, race_steps, group)
    alone = [fitted(given, 1, alone_steps, start["seed"]) for start in race.restarts_]
    same = next(model for model in alone if model.seed_ == race.seed_)
    shared = list(zip(race.history_, same.history_, strict=False))
    return {
        "race_seconds": round(race.total_seconds_, 3),
        "alone_seconds": [round(model.total_seconds_, 3) for model in alone],
        "race_regret": round(race.validation_bits_ - given.bits[1], 2),
        "alone_regret": [round(model.validation_bits_ - given.bits[1], 2) for model in alone],
        "winner_steps": race.steps_,
        "steps_compared": len(shared),
        "largest_difference": max(abs(one["log_likelihood"] - other["log_likelihood"]) for one, other in shared),
    }


def table(lines: list[Record]) -> str:
    """Cost beside one start, and regrets, of every group."""
    rows = []
    for line in lines:
        regrets = sorted(line["alone_regret"])
        rows.append(
            [
                _TITLES[line["source"]],
                f"{line['race_seconds']:.1f} s",
                f"{mean(line['alone_seconds']):.1f} s",
                f"**{line['race_seconds'] / mean(line['alone_seconds']):.2f}**",
                f"{line['race_regret']:,.0f}",
                f"{regrets[0]:,.0f}",
                f"{median(regrets):,.0f}",
                f"{line['largest_difference']:.0e}" if line["largest_difference"] else "none",
            ]
        )
    columns = (
        "source", "race of eight", "one start", "ratio", "regret of the race", "best of eight", "median of eight",
        "steps differ by",
    )  # fmt: skip
    return markdown(columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--sources", nargs="+", default=list(_TITLES), choices=list(_TITLES))
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    there = {(line["source"], line["group"]) for line in read(options.out)}
    for source in options.sources:
        given = texts(source)
        for group in range(options.groups):
            if (source, group) not in there:
                append(options.out, {**about(), "source": source, "group": group, **measure(given, group)})
                print(table(read(options.out)[-1:]).splitlines()[-1], flush=True)
    print(table(read(options.out)))


if __name__ == "__main__":
    main()
