"""The tables of `damage.md` from the raw results: mean over swap, drop, insert and replace.

python experiments/damage_table.py experiments/results/damage.jsonl
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def main() -> None:
    found: dict[str, dict[tuple[str, str], list[dict]]] = defaultdict(lambda: defaultdict(list))
    with Path(sys.argv[1]).open() as file:
        for line in map(json.loads, file):
            found[line["model"]][line["ranking"], line["log"]].append(line)
    for model, cells in found.items():
        logs = list(dict.fromkeys(log for _, log in cells))
        rows = []
        for ranking in dict.fromkeys(ranking for ranking, _ in cells):
            parts = [cells[ranking, log] for log in logs]
            areas = [sum(one["auc"] for one in part) / len(part) for part in parts]
            caught = [sum(one["at_1_percent"] for one in part) / len(part) for part in parts]
            rows.append((sum(areas) / len(areas), ranking, areas, sum(caught) / len(caught)))
        print(f"\n{model}\n\n| ranking | {' | '.join(logs)} | mean | at 1 % |")
        print("|---|" + "---:|" * (len(logs) + 2))
        for mean, ranking, areas, caught in sorted(rows, reverse=True):
            print(f"| {ranking} | {' | '.join(f'{area:.3f}' for area in areas)} | {mean:.4f} | {caught:.3f} |")


if __name__ == "__main__":
    main()
