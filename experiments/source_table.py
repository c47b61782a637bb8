"""The four sources: size, exact bits, and the regret of file compressors, beside the paper's bzip2 column.

Train has seed 2k, valid seed 2k + 1, k = 0 … 4; for bzip2 also k = 0 … 99, because five pairs leave a standard
error of 8 % on aⁿbⁿ. Writes results/source_table.json and prints the table in markdown. The mask of distant XOR
is left aside here: a compressor pays for every symbol.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from glnn import sources
from glnn.baselines import compressors
from glnn.sources import Source

PAIRS = 5
MANY_PAIRS = 100
RESULTS = Path(__file__).parent / "results" / "source_table.json"
# Table "fig:res" of the paper: cumulative regret of bzip2 on one validation sequence.
PAPER_BZIP2 = {"insertions": 27206.1, "music": 6035.7, "anbn": 244.0}
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("insertions", "insertions", {}),
    ("insertions, not after 9", "insertions", {"after_last_digit": False}),
    ("insertions, not after z", "insertions", {"after_last_letter": False}),
    (
        "insertions, after neither",
        "insertions",
        {"after_last_letter": False, "after_last_digit": False},
    ),
    ("music", "music", {}),
    ("distant XOR, every symbol", "xor", {}),
    ("aⁿbⁿ", "anbn", {}),
]


def regret(source: Source, pair: int, compressor: str) -> float:
    train, valid = source.sample(seed=2 * pair), source.sample(seed=2 * pair + 1)
    return compressors.added_bits(train.text, valid.text, compressor) - valid.total_bits


def measure(source: Source) -> dict[str, Any]:
    """Length, exact bits and compressor regrets of the validation text, one entry per pair of seeds."""
    row: dict[str, Any] = {
        "alphabet": len(source.alphabet),
        "entropy_bits": source.entropy_bits(masked=False),
        "length": [],
        "exact_bits": [],
        "regret": {name: [] for name in compressors.NAMES},
    }
    for pair in range(PAIRS):
        text = source.sample(seed=2 * pair + 1).text
        row["length"].append(len(text))
        row["exact_bits"].append(round(source.bits(text, masked=False), 1))
        for name, regrets in row["regret"].items():
            regrets.append(round(regret(source, pair, name), 1))
    row["mean_regret"] = {name: round(mean(regrets), 1) for name, regrets in row["regret"].items()}
    return row


def measure_many(source: Source) -> dict[str, float]:
    """The mean bzip2 regret over many pairs of seeds, with its standard error and the spread of one pair."""
    regrets = [regret(source, pair, "bzip2") for pair in range(MANY_PAIRS)]
    spread = stdev(regrets)
    return {
        "pairs": MANY_PAIRS,
        "mean": round(mean(regrets), 1),
        "standard_error": round(spread / MANY_PAIRS**0.5, 1),
        "standard_deviation": round(spread, 1),
    }


def markdown(table: dict[str, dict[str, Any]]) -> str:
    lines = [
        "| source | symbols | alphabet | exact bits | bzip2 regret, 5 pairs | mean | mean of 100 pairs "
        "| paper | xz | ppmd |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for title, row in table.items():
        regrets = row["mean_regret"]
        paper, many = row["paper_bzip2"], row["bzip2_many"]
        cells = [
            title,
            f"{mean(row['length']):,.0f}",
            str(row["alphabet"]),
            f"{mean(row['exact_bits']):,.0f}",
            " ".join(f"{regret:,.0f}" for regret in row["regret"]["bzip2"]),
            compared(regrets["bzip2"], paper),
            f"{compared(many['mean'], paper)} ± {many['standard_error']:,.0f}" if many else "",
            f"{paper:,.0f}" if paper else "",
            f"{regrets['xz']:,.0f}",
            f"{regrets['ppmd']:,.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def compared(value: float, paper: float | None) -> str:
    return f"{value:,.0f}" + (f" ({value / paper - 1:+.1%})" if paper else "")


def main() -> None:
    table = {}
    for title, name, constants in ROWS:
        source = sources.get(name, **constants)
        table[title] = {
            "source": name,
            "constants": constants,
            "paper_bzip2": PAPER_BZIP2.get(name),
            **measure(source),
            "bzip2_many": measure_many(source) if name in PAPER_BZIP2 else None,
        }
        print(f"measured {title}", flush=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(markdown(table))


if __name__ == "__main__":
    main()
