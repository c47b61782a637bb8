"""One setting, from its sequences to the line of results that says all that is needed to repeat it.

Insertions and music have one fixed training, validation and third sequence; aⁿbⁿ and distant XOR draw new ones for
every run, as the paper does. The third is used neither for stopping nor for choosing.
"""

from __future__ import annotations

import hashlib
import math
import platform
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import glnn
from glnn.progress import Display
from glnn.reproduction.settings import BASELINES, FIXED, Setting, to_json
from glnn.sequences import Encoded
from glnn.sources import Sample, Source, get

if TYPE_CHECKING:
    from glnn.models import Params
    from glnn.training.records import Progress, StepInfo
    from glnn.training.trainer import Trainer

POINTS = 60
# A score of the validation data costs about a third of a step.
VALIDATE_EVERY = 3
# A run ends at this step at the earliest, when it has made this many times the steps that its best score took.
TURNED_FROM, TURNED = 120, 2.5
_WARM_UP_SYMBOLS = 400


@dataclass(frozen=True)
class Sequences:
    """What a run trains on, stops on, and is scored on once at its end."""

    source: Source
    train: Sample
    valid: Sample
    third: Sample
    apart: bool = False
    batches: int = 0

    def encoded(self, which: Sample) -> Encoded:
        """A sample over the source's alphabet, as one sequence or cut into its pieces."""
        data = self.source.encode(which.text)
        return self.source.apart(data) if self.apart else data

    def to_train_on(self) -> Encoded:
        """The training sequence; for steps on stretches of it, as sequences of whole lines, equally many in each."""
        data = self.encoded(self.train)
        if not self.batches:
            return data
        lines = self.source.apart(data).starts
        places = np.linspace(0, len(lines) - 1, min(self.batches, len(lines) - 1) + 1).round().astype(int)
        return Encoded(data.codes, lines[places], data.mask, data.alphabet)


def seeds_of(setting: Setting) -> tuple[int, int, int]:
    """The seeds of the three sequences: 0, 1, 2 where they are fixed, otherwise drawn from the setting itself."""
    if setting.source in FIXED:
        return 0, 1, 2
    # The budget has no part in it: a longer run of the same setting has the same sequences.
    name = f"{setting.source} {setting.row} {setting.units} {setting.degree} {setting.seed}"
    digest = hashlib.sha256(name.encode()).digest()
    first, second, third = (int.from_bytes(digest[6 * k : 6 * k + 6], "big") for k in range(3))
    return first, second, third


def source_of(setting: Setting) -> Source:
    """The source of a run, read as its setting says."""
    constants: dict[str, Any] = {} if setting.after_nine else {"after_last_digit": False}
    return get(setting.source, **constants, **({"length": setting.length} if setting.length else {}))


def sequences_of(setting: Setting) -> Sequences:
    """The three sequences of a run."""
    source = source_of(setting)
    train, valid, third = (source.sample(setting.size or None, seed) for seed in seeds_of(setting))
    return Sequences(source, train, valid, third, setting.apart, setting.batches)


def run_setting(setting: Setting) -> dict[str, Any]:
    """Run one setting; the line of its results."""
    begun = time.time()
    if setting.model in BASELINES:
        from glnn.reproduction.baselines import run_baseline

        result = run_baseline(setting, sequences_of(setting))
    elif setting.source == "xor":
        from glnn.reproduction.xor import run_xor

        result = run_xor(setting, sequences_of(setting))
    else:
        result = run_network(setting, sequences_of(setting))
    about = {"setting": to_json(setting), "sequence_seeds": list(seeds_of(setting)), **versions()}
    return {**about, **result, "wall_seconds": round(time.time() - begun, 1)}


def run_network(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    """Train a network; its regrets, how it got there, and how well conditioned it was."""
    from glnn.training.validation import Validation

    trainer = new_trainer(setting, sequences)
    progress = trainer.run(setting.budget, (has_turned,))
    third = Validation(trainer.model, sequences.encoded(sequences.third)).score(progress.best)
    history = progress.history
    scored = [info for info in history if info.validation is not None]
    best = next((place for place, info in enumerate(scored) if info.step == progress.best_step), 0)
    points = [scored[place] for place in thinned(len(scored), POINTS, best)]
    return {
        "regret": excess(progress.best_score, sequences.valid),
        "third_regret": excess(third, sequences.third),
        "steps": progress.step,
        "passes": progress.passes,
        "best_step": progress.best_step,
        "best_seconds": round(history[progress.best_step - 1].seconds, 3) if progress.best_step else None,
        "cpu_seconds": round(progress.seconds, 3),
        "stopped": "turned" if progress.reason == "callback" else progress.reason,
        "validate_every": VALIDATE_EVERY,
        "true_bits": {
            "train": round(sequences.train.bits, 2),
            "valid": round(sequences.valid.bits, 2),
            "third": round(sequences.third.bits, 2),
        },
        "last_train_bits": bits(history[-1].log_likelihood) if history else None,
        "last_valid_bits": bits(scored[-1].validation) if scored else None,
        **step_records(progress),
        "parameters": sum(np.size(part) for part in (progress.best.w, progress.best.theta, progress.best.V0)),
        "trajectory": {
            "seconds": [round(info.seconds, 3) for info in points],
            "steps": [info.step for info in points],
            "train_bits": [bits(info.log_likelihood) for info in points],
            "valid_bits": [bits(info.validation) for info in points],
        },
    }


def has_turned(info: StepInfo, trainer: Trainer) -> bool:
    """Whether validation has not improved for so long that its best counts as final.

    Overfitting ends most runs of gated networks long before their time: what is left is better spent on another run.
    """
    return info.step >= TURNED_FROM and info.step > TURNED * trainer.progress.best_step


def step_records(progress: Progress) -> dict[str, Any]:
    """What the records of the steps show when a run does not learn: rates at its end, rejections, singular blocks."""
    history = progress.history
    return {
        "rejected": sum(info.writing_rejected + info.transition_rejected for info in history),
        "writing_rate": progress.writing_rate,
        "transition_rate": progress.transition_rate,
        "conditioning": finite(max((info.conditioning for info in history), default=0.0)),
        "retries": sum(info.retries for info in history),
        "fallbacks": sum(info.quasi_diagonal for info in history),
        "resting": sum(info.resting for info in history),
    }


def new_trainer(setting: Setting, sequences: Sequences, validated: bool = True) -> Any:
    """A trainer at its start, its kernels compiled; `validated` says whether it scores the validation sequence."""
    from glnn.models import MODELS
    from glnn.network import Graph, random_graph
    from glnn.reproduction.first_step import NoSaturatingFirstStep
    from glnn.training.compiling import compiling
    from glnn.training.parallel import single_threaded_blas
    from glnn.training.quasi_newton import QuasiNewtonTrainer
    from glnn.training.records import Progress
    from glnn.training.settings import Settings
    from glnn.training.trainer import Trainer
    from glnn.training.validation import Validation

    train, valid = sequences.to_train_on(), sequences.encoded(sequences.valid)
    symbols = len(sequences.source.alphabet)
    generator = np.random.default_rng(setting.seed)
    # Those of a GNN are in its start.
    leaky = setting.longest and setting.model == "glnn"
    scales = {"time_scales": 1.0 / np.geomspace(2.0, setting.longest, setting.units)} if leaky else {}
    graph = random_graph(setting.units, setting.degree, generator)
    if setting.graph == "into":
        graph = Graph.from_edges(graph.units, graph.edge_targets, graph.sources)
    model = MODELS[setting.model](graph, symbols, **scales)
    params = first_params(setting, model, train, generator)
    coherence = setting.coherence or None
    options = Settings(
        setting.metric,
        setting.output_metric,
        validate_every=VALIDATE_EVERY,
        coherence=coherence,
        batch_size=1 if setting.batches else None,
        batch_steps=setting.dwell or 1,
    )
    few = sequences.source.encode(sequences.train.text[:_WARM_UP_SYMBOLS])
    # Outside the budget; processes that compile at once would spoil the cache, so they wait for each other.
    with compiling(Display(0)):
        Trainer(model, few, params, options, Validation(model, few)).step()
    validation = Validation(model, valid) if validated else None
    rate = 1.0 / setting.units
    slow = rate / train.codes.size if setting.first_rate == "mean" else rate
    progress = Progress(params, rate, slow, best=params)
    given = (model, train, params, options, validation, setting.seed, progress)
    if setting.quasi:
        faster = QuasiNewtonTrainer(*given)
        faster.first_steps = setting.quasi
        return faster
    trainer = Trainer(*given)
    if setting.first_rate == "unsaturated":
        with single_threaded_blas():
            trainer.accept = NoSaturatingFirstStep(trainer)
    return trainer


def first_params(setting: Setting, model: Any, train: Encoded, generator: np.random.Generator) -> Params:
    """The parameters with which a run begins, drawn from the generator."""
    from glnn.reproduction.starts import silenced, started

    symbols = model.alphabet_size
    counts = np.bincount(train.codes, minlength=symbols).astype(float)
    predicted = np.bincount(train.codes[train.mask], minlength=symbols).astype(float)
    params = started(setting.start, model, model.initial(predicted, counts, generator), setting.longest)
    return silenced(params, predicted) if setting.silent else params


def warm_up(setting: Setting) -> dict[str, Any]:
    """Compile the kernels of a setting, on sequences of one line."""
    if setting.model not in BASELINES:
        new_trainer(setting, sequences_of(replace(setting, size=1)))
    return {}


def kinds_of_kernels(settings: Iterable[Setting]) -> list[Setting]:
    """A setting of every kind that needs kernels of its own: row, and whether the matrices are dense."""
    kinds = {
        (setting.row, setting.source == "xor", 4 * setting.degree >= setting.units): setting for setting in settings
    }
    return list(kinds.values())


def thinned(total: int, points: int, wanted: int) -> list[int]:
    """About this many of the places 0 … total − 1, denser at the beginning; first, last and the wanted one included."""
    if total <= points:
        return list(range(total))
    places = np.round(np.linspace(0.0, 1.0, points) ** 1.5 * (total - 1)).astype(int)
    return sorted({*places.tolist(), max(wanted, 0)})


def bits(log_likelihood: float | None) -> float | None:
    """Bits of a natural log-likelihood; None where it is not finite, as JSON has no infinity."""
    if log_likelihood is None or not math.isfinite(log_likelihood):
        return None
    return round(-log_likelihood / math.log(2.0), 2)


def excess(log_likelihood: float, sample: Sample) -> float | None:
    """The regret: bits above those of the true model."""
    value = bits(log_likelihood)
    return None if value is None else round(value - sample.bits, 2)


def finite(value: float) -> float | None:
    """The number, or None."""
    return float(value) if math.isfinite(value) else None


@cache
def versions() -> dict[str, Any]:
    """What the numbers may depend on besides the setting."""
    import numba

    return {
        "version": glnn.__version__,
        "commit": commit(Path(glnn.__file__).parent),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "processor": _processor(),
    }


def commit(package: Path) -> str | None:
    """The git commit of the sources, marked if they differ from it; None if they are not in a repository."""
    try:
        for arguments in (["ls-files", "--error-unmatch", "__init__.py"], ["rev-parse", "HEAD"]):
            done = subprocess.run(["git", *arguments], cwd=package, capture_output=True, text=True, check=True)
        changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "."], cwd=package, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() + ("+changes" if changed.returncode else "")


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()
