"""The runs that show that the engine learns as the paper says: single settings, all methods side by side.

Each finished run is one line of JSON, written at once; runs that are there already are skipped.

    python experiments/engine_runs.py music                  music, 32 units, d = 5, QDH+RBPM, 8 seeds, 30 CPU seconds
    python experiments/engine_runs.py anbn                   aⁿbⁿ, 16 units, d = 3, eight seeds, 60 CPU seconds
    python experiments/engine_runs.py insertions             insertions, 64 units, d = 12, three seeds, 120 CPU seconds
    python experiments/engine_runs.py degrees                insertions, 64 units, RUOP with d = 12 and RBPM with d = 3
    python experiments/engine_runs.py methods                all methods on the three sources, 32 units, 3 seeds, 30 s
    python experiments/engine_runs.py precision              QDH+RBPM of the study of methods in float32
    python experiments/engine_runs.py table                  what is there so far, also into experiments/engine_runs.md
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sequences import encode
from glnn.sources import get
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation

RESULTS = Path(__file__).parent / "results" / "engine_runs.jsonl"
PAGE = Path(__file__).parent / "engine_runs.md"
BEGIN, END = "<!-- runs: begin -->", "<!-- runs: end -->"
TITLES = {
    "music": "Music, d = 5",
    "insertions": "Insertions, d = 12",
    "anbn": "aⁿbⁿ, d = 3",
    "degrees": "Insertions, RUOP with d = 12 and RBPM with d = 3",
    "methods": "All methods, everything else equal",
    "precision": "QDH+RBPM in float32, everything else as above",
}
DEGREES = {"insertions": 12, "music": 6, "anbn": 3}
METHODS = [
    ("qdh", "rbpm"),
    ("qdh", "ruop"),
    ("qdh", "qdrbpm"),
    ("qdh", "qdruop"),
    ("dh", "fb"),
    ("dh", "rms"),
    ("plain", "plain"),
]


def settings(which: str, model: str = "glnn") -> list[dict[str, Any]]:
    """The runs of a study."""
    common = {"study": which, "model": "glnn", "output_metric": "qdh", "metric": "rbpm"}
    if which == "music":
        return [{**common, "source": "music", "units": 32, "degree": 5, "seconds": 30, "seed": k} for k in range(8)]
    if which == "anbn":
        return [{**common, "source": "anbn", "units": 16, "degree": 3, "seconds": 60, "seed": k} for k in range(8)]
    if which == "degrees":
        common |= {"source": "insertions", "units": 64, "seconds": 60, "seed": 0}
        return [{**common, "metric": "ruop", "degree": 12}, {**common, "degree": 3}]
    if which == "insertions":
        return [
            {**common, "source": "insertions", "units": 64, "degree": 12, "seconds": 120, "seed": k} for k in range(3)
        ]
    runs = [
        {
            **common,
            "source": source,
            "model": model,
            "units": 32,
            "degree": degree,
            "seconds": 30,
            "seed": seed,
            "output_metric": output_metric,
            "metric": metric,
        }
        for seed in range(3)
        for source, degree in DEGREES.items()
        for output_metric, metric in METHODS
    ]
    if which == "precision":
        return [{**one, "precision": "float32"} for one in runs if one["metric"] == "rbpm"]
    return runs


def run(setting: dict[str, Any]) -> dict[str, Any]:
    """One training run; a new pair of sequences for each seed."""
    source = get(setting["source"])
    seed = setting["seed"]
    train, valid = source.sample(None, 2 * seed), source.sample(None, 2 * seed + 1)
    data = encode(train.text, alphabet=source.alphabet, mask=train.mask)
    held = encode(valid.text, alphabet=source.alphabet, mask=valid.mask)
    true_bits = source.bits(valid.text)
    generator = np.random.default_rng(seed)
    graph = random_graph(setting["units"], setting["degree"], generator)
    model = MODELS[setting["model"]](graph, len(source.alphabet))
    counts = np.bincount(data.codes, minlength=len(source.alphabet)).astype(float)
    params = model.initial(counts, counts, generator)
    options = Settings(
        metric=setting["metric"],
        output_metric=setting["output_metric"],
        precision=setting.get("precision", "float64"),
    )
    validation = Validation(model, held)
    Trainer(model, data, params, options, validation).step()  # compiles
    trainer = Trainer(model, data, params, options, validation)
    progress = trainer.run(float(setting["seconds"]))
    bits = [round(-info.validation / math.log(2) - true_bits, 1) for info in progress.history]
    last = progress.history[-1]
    return {
        **setting,
        "version": glnn.__version__,
        "regret": round(-progress.best_score / math.log(2) - true_bits, 2),
        "best_step": progress.best_step,
        "steps": progress.step,
        "passes": progress.passes,
        "stopped": progress.reason,
        "train_bits": round(-last.log_likelihood / math.log(2), 1),
        "true_train_bits": round(source.bits(train.text), 1),
        "transition_rate": last.transition_rate,
        "writing_rate": last.writing_rate,
        "worst_conditioning": max(info.conditioning for info in progress.history),
        "retries": sum(info.retries for info in progress.history),
        "fallbacks": sum(info.quasi_diagonal for info in progress.history),
        "curve": [[round(i.seconds, 2), b] for i, b in zip(progress.history, bits, strict=True)][
            :: max(1, len(bits) // 60)
        ],
    }


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def table() -> None:
    """Every regret found, by study: to the terminal, and between the markers of the documentation page."""
    found = read()
    lines = []
    for study in dict.fromkeys(line["study"] for line in found):
        chosen = [line for line in found if line["study"] == study]
        sources = [name for name in DEGREES if any(line["source"] == name for line in chosen)]
        seconds = "/".join(str(line["seconds"]) for line in {line["seconds"]: line for line in chosen}.values())
        lines += [
            f"### {TITLES[study]}",
            "",
            f"{seconds} CPU seconds a run, {chosen[0]['units']} units; seeds in order.",
            "",
        ]
        lines += ["| model, method | " + " | ".join(sources) + " |", "|---" * (len(sources) + 1) + "|"]
        for method in dict.fromkeys((line["model"], line["output_metric"], line["metric"]) for line in chosen):
            cells = []
            for source in sources:
                of = [
                    x
                    for x in chosen
                    if x["source"] == source and (x["model"], x["output_metric"], x["metric"]) == method
                ]
                values = [
                    f"{x['regret']:,.0f}" if x["regret"] >= 1000 else f"{x['regret']:.1f}" for x in sorted(of, key=seed)
                ]
                cells.append(" · ".join(values))
            lines.append(f"| {method[0].upper()} {method[1].upper()}+{method[2].upper()} | " + " | ".join(cells) + " |")
        lines.append("")
    print("\n".join(lines))
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n{END}{after}")


def seed(line: dict[str, Any]) -> int:
    return int(line["seed"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["music", "anbn", "insertions", "degrees", "methods", "precision", "table"])
    parser.add_argument("--model", choices=["glnn", "gnn", "rnn"], default="glnn", help="of the study of methods")
    parser.add_argument("--reverse", action="store_true", help="begin at the end, for a second process")
    options = parser.parse_args()
    which = options.study
    if which == "table":
        return table()
    RESULTS.parent.mkdir(exist_ok=True)
    for setting in settings(which, options.model)[:: -1 if options.reverse else 1]:
        if any(setting.items() <= line.items() for line in read()):
            continue
        result = run(setting)
        with RESULTS.open("a") as out:
            out.write(json.dumps(result) + "\n")
        print(json.dumps({k: v for k, v in result.items() if k != "curve"}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
