"""Contexts alone, a network alone and the mixture of both on the paper's sources: regret in equal CPU time.

    python benchmarks/mixture_sources.py [--sources NAME ...] [--models NAME ...] [--budget 60] [--seed 7 8 9]

Each run is a line of JSON at once. What is fitted is one sample, what is scored another.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.data_sets import text
from benchmarks.real_data import members_alone
from benchmarks.records import about, append, markdown, read

RESULTS = Path(__file__).parent / "results" / "mixture_sources.jsonl"
SOURCES = ("anbn", "music", "insertions")
SEEDS = (7, 8, 9)
"""Of the samples that the table shows."""


def _models(budget: float, seed: int) -> dict[str, Callable[..., Any]]:
    import glnn

    return {
        "Mixture contexts": lambda **given: glnn.Mixture(networks=0, **given),
        "GLNN": lambda **given: glnn.GLNN(budget=budget, random_state=seed, **given),
        "Mixture": lambda **given: glnn.Mixture(budget=budget, random_state=seed, **given),
    }


def measure(source_name: str, model_name: str, budget: float, seed: int) -> dict[str, Any]:
    """One run: the regret in bits, and what the mixture decided."""
    from glnn import sources

    source = sources.get(source_name)
    fitted, scored = (source.sample(seed=500 + 2 * seed + which).text for which in range(2))
    build = _models(budget, seed)[model_name]
    started = time.process_time()
    model = build(alphabet=sorted(set(fitted + scored)), verbose=0).fit(fitted)
    spent = time.process_time() - started
    told = {field: getattr(model, field) for field in ("trials_", "shares_", "units_") if hasattr(model, field)}
    exact = source.bits(scored)
    members = members_alone(model, text(source_name, scored.encode())._replace(score=scored)).get("members", {})
    alone = {name: bits - exact for name, bits in members.items()}
    return {"regret": float(model.bits(scored) - exact), "cpu_seconds": spent, **told, "members": alone}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--models", nargs="+", default=list(_models(0.0, 0)), choices=list(_models(0.0, 0)))
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--seed", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for source, seed, model in product(options.sources, options.seed, options.models):
        found = measure(source, model, options.budget, seed)
        key = {"source": source, "model": model, "budget": options.budget, "seed": seed}
        append(options.out, {**key, **found, **about()})
        print(f"{source:12} {seed:3} {model:18} {found['regret']:10.1f} bits", flush=True)
    print(table(options.out, options.seed))


def table(path: Path = RESULTS, seeds: Sequence[int] = SEEDS) -> str:
    """Regret in bits on the samples of these seeds, a row a source, the last run of each; the least mean is bold."""
    found = {(line["source"], line["model"], line["seed"]): line["regret"] for line in read(path)}
    models = [model for model in ("Mixture", "GLNN", "Mixture contexts") if any(key[1] == model for key in found)]
    rows = []
    for source in SOURCES:
        cells = [[found[key] for seed in seeds if (key := (source, model, seed)) in found] for model in models]
        least = min((fmean(cell) for cell in cells if cell), default=None)
        texts = [", ".join(f"{regret:,.0f}" for regret in cell) for cell in cells]
        best = [bool(cell) and fmean(cell) == least for cell in cells]
        rows.append([source, *(f"**{text}**" if bold else text for text, bold in zip(texts, best, strict=True))])
    return markdown(["", *models], rows)


if __name__ == "__main__":
    main()
