"""The steps of a run of distant XOR one by one, to see what goes on where its curve stands still.

    python experiments/xor_steps.py [--metric ruop] [--seed 5] [--steps 270]

Begun at half a count. Writes a line of JSON for every step to results/reproduction/xor_steps_METRIC_SEED.jsonl.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from glnn.reproduction.planned import xor_settings
from glnn.reproduction.running import new_trainer, sequences_of

RESULTS = Path(__file__).parent / "results" / "reproduction"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", choices=["rbpm", "ruop"], default="ruop")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--steps", type=int, default=270)
    options = parser.parse_args()
    found = (s for s in xor_settings(half_count=True) if (s.metric, s.seed) == (options.metric, options.seed))
    setting = next(found)
    trainer = new_trainer(setting, sequences_of(setting), validated=False)
    with (RESULTS / f"xor_steps_{options.metric}_{options.seed}.jsonl").open("w", encoding="utf-8") as file:

        def tell(info: Any, trainer: Any) -> None:
            params = trainer.progress.params
            line = {
                "step": info.step,
                "log_likelihood": round(info.log_likelihood, 2),
                "writing_rate": float(f"{info.writing_rate:.2e}"),
                "transition_rate": float(f"{info.transition_rate:.2e}"),
                "writing_rejected": info.writing_rejected,
                "transition_rejected": info.transition_rejected,
                "writing_size": float(f"{info.writing_size:.2e}"),
                "transition_size": float(f"{info.transition_size:.2e}"),
                "conditioning": float(f"{info.conditioning:.1e}"),
                "retries": info.retries,
                "fallbacks": info.quasi_diagonal,
                "largest_transition": round(float(np.abs(params.theta).max()), 1),
                "largest_writing": round(float(np.abs(params.w).max()), 1),
            }
            file.write(json.dumps(line) + "\n")

        trainer.run(f"{options.steps} steps", (tell,))


if __name__ == "__main__":
    main()
