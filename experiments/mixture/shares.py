"""Mixture without networks beside its members alone, frozen and online: bits per symbol, one JSON line for each.

    python experiments/mixture/shares.py [--unseen] [SET …]

The sets are those that the way to read and the shares were developed with; `--unseen` takes logs used for nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import glnn  # noqa: E402
from benchmarks import data_sets  # noqa: E402

RESULTS = ROOT / "experiments" / "results" / "mixture" / "shares.jsonl"
SEEN = ("receipt", "bpic2013_closed", "teleclaims", "bpi_12_w", "env_permit", "orchid", "chloroplast")
UNSEEN = {
    "bpic2013_incidents": "07_bpic2013_incidents.xes.gz",
    "reviewing": "04_reviewing.xes.gz",
    "repair_example": "03_repairExample.xes.gz",
    "sepsis_variants": "13_SEPSIS_1t_per_variant.xes.gz",
}


def data_set(name: str) -> data_sets.DataSet:
    if name not in UNSEEN:
        return data_sets.ALL[name]()
    path = f"tests/compressed_input_data/{UNSEEN[name]}"
    return data_sets.xes_log(name, data_sets.package("pm4py")[path])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--unseen", action="store_true")
    arguments = parser.parse_args()
    data_sets.WANTED |= {f"tests/compressed_input_data/{file}" for file in UNSEEN.values()}
    for name in arguments.names or (list(UNSEEN) if arguments.unseen else SEEN):
        data = data_set(name)
        for kind in (glnn.Mixture, glnn.ContextTree, glnn.NGram):
            for learning in ("frozen", "online"):
                options = {"networks": 0} if kind is glnn.Mixture else {}
                model = kind(alphabet=data.alphabet, verbose=0, learning=learning, **options)
                model.fit(glnn.Sequences(data.fit))
                begin = time.process_time()
                bits = model.bits(glnn.Sequences(data.score)) / data.scored_symbols
                seconds = time.process_time() - begin
                found = {
                    "set": name,
                    "model": kind.__name__,
                    "learning": learning,
                    "bits": round(bits, 4),
                    "fit_seconds": round(model.seconds_, 2),
                    "score_microseconds": round(1e6 * seconds / data.scored_symbols, 1),
                }
                if kind is glnn.Mixture:
                    found["shares"] = {part: round(share, 3) for part, share in model.shares_.items()}
                    found["shuffled"] = model.recipe_.stationary
                print(json.dumps(found), flush=True)
                with RESULTS.open("a") as file:
                    file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
