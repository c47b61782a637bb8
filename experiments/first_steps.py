"""Runs from before saturating first steps were refused, taken over where their first step would not be.

    python experiments/first_steps.py [--out DIR]

For every run of the table that began at 1/N without a metric and is the best of its row, or at or under the paper's
figure, the first step is made again under both readings. Where it is the same, so is the whole run: its line is written
again under the table's reading, with a note. Insertions are left out, since those runs had other sequences.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from glnn.reproduction.results import appending, read_lines, settings_of
from glnn.reproduction.running import new_trainer, sequences_of
from glnn.reproduction.settings import ROWS, SOURCES, Setting, from_json, readings, to_json

RESULTS = Path(__file__).parent / "results" / "reproduction"
NOTE = "run with a first rate of 1/N; its first step is the same under the table's reading"


def first_step(setting: Setting) -> tuple[float, float]:
    info = new_trainer(setting, sequences_of(setting), validated=False).step()
    return info.transition_rate, info.log_likelihood


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    path = parser.parse_args().out / "table.jsonl"
    lines = read_lines(path)
    there = settings_of(lines)
    paper = {(row.key, source): row.paper[place] for row in ROWS for place, source in enumerate(SOURCES)}
    best: dict[tuple[tuple[str, str, str], str], float] = {}
    for line in lines:
        setting = from_json(line["setting"])
        if line["regret"] is not None and not setting.first_rate:
            place = setting.row, setting.source
            best[place] = min(line["regret"], best.get(place, line["regret"]))
    with appending(path) as file:
        for line in lines:
            setting = from_json(line["setting"])
            read = readings(setting)[0]
            if setting.source == "insertions" or setting in readings(setting) or read in there:
                continue
            place = setting.row, setting.source
            if line["regret"] is None or line["regret"] > max(paper[place], best[place]):
                continue
            same = first_step(setting) == first_step(replace(setting, first_rate=read.first_rate))
            print(setting, "the same" if same else "another first step", sep=": ")
            if same:
                there.add(read)
                file.append({**line, "setting": to_json(read), "note": NOTE})


if __name__ == "__main__":
    main()
