"""Once everything is chosen, the networks that are kept go on over training and validation data together.

Validation data have told which networks to keep, when to stop them and how to weigh them. Where there are many of them,
what they can still teach is worth far more than a little more time on the rest (`experiments/learning.md`). Nothing
validates then, so a length is set beforehand: on chunks as many as fit into the time that is left, with rates that rise
and fall anew and the noise that was found; on all data at once until they are as likely as the training data were, less
what more data make it harder to learn by heart. Lengths follow from what is recorded, never from a clock, and a
training that is taken up again repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from glnn.models import Params
from glnn.output.uniform import log_mixed
from glnn.sequences import Encoded, TrainingData
from glnn.training.budget import Budget
from glnn.training.race import Listener, Run, Together, Training, interrupted, take_turns
from glnn.training.settings import Settings
from glnn.training.stochastic import last_noise
from glnn.training.trainer import Trainer
from glnn.training.validation import least_share, state_after

PART = 0.3
"""Of the budget."""
PART_OF_BATCHES = 0.1
"""The same for networks that are trained on all data at once."""
WORTH_IT = 0.2
"""Validation data that are a smaller part of the training data teach too little."""
ROOM = 1.5
"""A network need not go on for longer than so many times what it took to its best, over as many times the data."""
_COMPLETE = ("budget", "enough", "converged")


def teaches(parts: TrainingData, budget: Budget, few: bool = False) -> bool:
    """Whether there are validation data worth going on with, and a time to share.

    A `few` will do where one network reads long data: what came last is most like what comes next, and no other member
    has learned it.
    """
    if parts.validation is None or budget.seconds is None or budget.steps is not None or budget.passes is not None:
        return False
    return few or int(parts.validation.mask.sum()) >= WORTH_IT * int(parts.train.mask.sum())


def before(budget: Budget) -> Budget:
    """What may be spent until everything is chosen."""
    assert budget.seconds is not None
    return Budget(seconds=(1.0 - PART) * budget.seconds)


def left_for_batches(budget: Budget) -> float:
    """What batch training may spend of the rest: a few steps over all data are enough for it."""
    assert budget.seconds is not None
    return (PART - PART_OF_BATCHES) * budget.seconds


def joined(parts: TrainingData) -> Encoded:
    """Training and validation data as one set of sequences."""
    train, held = parts.train, parts.validation
    assert held is not None
    begins = held.starts[1:] if parts.continues else held.starts
    after = begins + train.codes.size
    before_it = train.starts[:-1]
    starts = np.concatenate([before_it, after]).astype(train.starts.dtype)
    codes, mask = np.concatenate([train.codes, held.codes]), np.concatenate([train.mask, held.mask])
    return replace(train, codes=codes, mask=mask, starts=starts)


def go_on(
    training: Training,
    budget: Budget,
    trainer: Callable[[Run], Trainer],
    listener: Listener,
    together: Together | None = None,
) -> None:
    """Give every run that is kept a `final` progress; those that are broken off keep what they had."""
    kept = training.kept()
    ended = {run.progress.reason for run in training.runs if run.progress is not None}
    if ended & {"callback", "interrupted"}:
        return
    finals = _prepared(training, kept, budget)
    # Steps of batch training cost more on more data, chunks do not.
    what = "passes" if _on_chunks(kept[0]) else "steps"
    begun = [final for final in finals if final is not None]
    try:
        take_turns(begun, {what: 1.0}, trainer, listener, together)
    except KeyboardInterrupt:
        interrupted(kept)
    for run, final in zip(kept, finals, strict=True):
        if final is None or final.progress is None:
            continue
        assert run.progress is not None
        if final.progress.reason in _COMPLETE and _finite(final.progress.best):
            run.final = final.progress if _learned(run, final.progress.best, training) else None
        elif final.progress.reason in ("callback", "interrupted"):
            run.progress.reason = final.progress.reason


def _prepared(training: Training, kept: Sequence[Run], budget: Budget) -> list[Run | None]:
    parts, seconds = training.split, budget.seconds
    assert parts.validation is not None and seconds is not None
    data = joined(parts)
    growth = int(data.mask.sum()) / max(int(parts.train.mask.sum()), 1)
    share = max(seconds - training.used("seconds"), 0.0) / len(kept)
    finals: list[Run | None] = []
    for run in kept:
        progress, settings = run.progress, run.settings
        if progress is None or settings is None or progress.seconds <= 0.0 or progress.step == 0:
            finals.append(None)
            continue
        time = min(share, ROOM * growth * run.useful)
        if _on_chunks(run):
            amount = time * progress.passes / progress.seconds
            settings = replace(settings, noise=last_noise(progress.memory), patience_part=None)
        else:
            amount = time * progress.step / progress.seconds / growth
            settings = replace(settings, enough=_enough(run, training.judged or parts, growth), patience=None)
        if amount < 1.0:
            finals.append(None)
            continue
        seed = (run.seed + 1) % 2**32
        final = Run(seed, run.model, progress.best, None, settings=settings, trainer=run.trainer, data=data)
        final.weight = float(int(amount))
        finals.append(final)
    return finals


def _learned(run: Run, params: Params, training: Training) -> bool:
    """Whether the validation data, which it has gone on with, are at least as likely as before.

    If not, the fresh cycle of rates has destroyed more than it has built, and the former parameters are the better ones
    (aⁿbⁿ: a network that has just begun to count).
    """
    assert run.progress is not None
    if run.validation is None:
        return True
    parts = training.judged or training.split
    before, after = (_likelihood_held(run, one, parts) for one in (run.progress.best, params))
    return after >= before


def _on_chunks(run: Run) -> bool:
    settings: Settings | None = run.settings
    return settings is not None and settings.training == "stochastic"


def _enough(run: Run, parts: TrainingData, growth: float) -> float:
    """The log-likelihood a symbol at which all data are learned as well as they should be.

    With c the loss of the best such network, n times the data are met with c − g/2n after learning, where the training
    data alone had c − g/2 and the validation data c + g/2.
    """
    progress = run.progress
    assert progress is not None and run.validation is not None
    at_best = next(info for info in progress.history if info.step >= progress.best_step)
    learned = at_best.log_likelihood / max(int(parts.train.mask.sum()), 1)
    held = _likelihood_held(run, progress.best, parts)
    gap = max(learned - held, 0.0)
    return 0.5 * (learned + held) + 0.5 * gap / growth


def _likelihood_held(run: Run, params: Params, parts: TrainingData) -> float:
    """Of a validation symbol, in the mean.

    Not the score, whose regularisation costs more than all else where nearly everything is foreseen.
    """
    assert run.validation is not None
    values = run.validation.log_likelihoods(params, state_after(run.model, params, parts, _on_chunks(run)))
    return float(log_mixed(values, least_share(parts), len(parts.train.alphabet)).mean())


def _finite(params: Params) -> bool:
    return all(bool(np.isfinite(part).all()) for part in (params.w, params.theta, params.V0))
