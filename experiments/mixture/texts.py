"""Contexts of one text as they are and as they were, on whole texts read from nothing: one JSON line a text.

    python experiments/mixture/texts.py [NAME ...]

Bits a symbol of all and of the last fifth, by the version of the plan. Texts whose files are not there are left out.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import data_sets  # noqa: E402
from glnn.contexts.mixing import firsts, new_reader  # noqa: E402
from glnn.contexts.mixing_plan import VERSIONS, make_plan  # noqa: E402
from glnn.contexts.mixing_script import script_of  # noqa: E402

RESULTS = ROOT / "experiments" / "results" / "mixture" / "texts.jsonl"
LIBRARY, LICENCES = Path(sysconfig.get_path("stdlib")), Path("/usr/share/common-licenses")
SOURCES = ("typing", "inspect", "heapq", "_pydecimal", "tarfile", "subprocess", "turtle", "argparse", "html/entities")
PATHS = {
    **{f"{name}.py": LIBRARY / f"{name}.py" for name in SOURCES},
    **{name: LICENCES / name for name in ("GPL-2", "GFDL-1.3", "MPL-2.0")},
    **{
        name: data_sets.SHARED / name
        for name in ("paper1.txt", "progc.txt", "jigs.abc", "orchid.fasta", "chloroplast.faa")
    },
}


def text_of(name: str) -> str:
    """A file, or one of the benchmarks' texts."""
    if name in PATHS:
        return PATHS[name].read_text(encoding="utf-8", errors="replace")
    data = data_sets.ALL[name]()
    return str(data.fit) + str(data.score)


def bits(text: str, version: int) -> dict[str, float]:
    """Bits a symbol when everything is learned as it is read."""
    symbols, codes = np.unique(list(text), return_inverse=True)
    known = symbols.tolist()
    plan = make_plan(np.bincount(codes), script_of(known), version=version)
    each = -np.log2(new_reader(plan).read(codes, firsts(np.array([0, codes.size]))))
    return {"all": round(float(each.mean()), 5), "last": round(float(each[codes.size * 4 // 5 :].mean()), 5)}


def main(names: list[str]) -> None:
    there = [name for name, path in PATHS.items() if path.exists()]
    for name in names or [*there, "licence", "aird_airs", "essen_erk"]:
        text = text_of(name)
        line = {"text": name, "symbols": len(text), **{f"version {one}": bits(text, one) for one in VERSIONS}}
        print(json.dumps(line), flush=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
