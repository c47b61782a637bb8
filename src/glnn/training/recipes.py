"""Recipes: what "auto" means. "paper" is the paper to the letter; "best" is the best known.

The best known is stochastic training by Adam's rule, with noise on the state that adapts to the validation data,
averaged parameters and an early end. Beside it, with a smaller share of the budget, small networks are trained on all
data at once, by the paper's steps and then by quasi-Newton ones, and the validation data choose
(`experiments/learning.md` has the measurements).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, NamedTuple

from glnn.metrics import TRANSITION_METHODS, TransitionMethod
from glnn.sequences import InputError
from glnn.training.settings import WINDOW, Settings
from glnn.training.stochastic import StochasticTrainer
from glnn.training.trainer import Trainer

RECIPES = ("best", "paper")
PATIENCE = 0.4
"""The part of the budget without a better score after which stochastic training ends."""


class Method(NamedTuple):
    """How a network is trained: with these settings, by this trainer, and what races against it."""

    settings: Settings
    trainer: Callable[..., Trainer]
    rival: Settings | None


def resolve(values: dict[str, Any], paper_metric: str) -> Method:
    """Fill in what is left at "auto"; `values` are an estimator's parameters, checked."""
    training, metric = values["training"], values["metric"]
    if training == "auto":
        # By the recipe, unless something is set that only one of the two kinds has.
        of_the_paper = isinstance(metric, TransitionMethod) or metric in TRANSITION_METHODS
        batch = of_the_paper or values["batch_size"] is not None or isinstance(values["patience"], int)
        training = "batch" if metric != "adam" and (values["recipe"] == "paper" or batch) else "stochastic"
    stochastic = training == "stochastic"
    if metric == "adam" and not stochastic:
        raise InputError('metric is "adam", which steps chunk by chunk: it needs training="stochastic"')
    if stochastic and values["batch_size"] is not None:
        raise InputError(
            f"batch_size is {values['batch_size']}: in stochastic training, chunks are the batches; leave it out"
        )
    if not stochastic and values["averaging"] != "auto":
        raise InputError(f'averaging is {values["averaging"]}, which is for training="stochastic": leave it out')
    if not stochastic and isinstance(values["patience"], float):
        raise InputError(f"patience is {values['patience']}: in batch training it is a whole number of steps")
    if metric == "auto":
        metric = "adam" if stochastic else paper_metric
    patience = values["patience"]
    if patience == "auto":
        patience = PATIENCE if stochastic else None
    part = patience if isinstance(patience, float) else None
    noise = values["noise"] if stochastic or values["noise"] != "auto" else 0.0
    chosen = {
        "training": training,
        "metric": metric,
        "noise": noise,
        "averaging": WINDOW if values["averaging"] == "auto" else values["averaging"],
        "patience": None if part is not None else patience,
        "patience_part": part,
    }
    known = {one.name for one in fields(Settings)}
    settings = Settings(**{name: value for name, value in {**values, **chosen}.items() if name in known})
    rival = None
    left_open = values["training"] == values["restarts"] == "auto" and values["trainer"] is None
    # It has no noise, so whoever asks for some does not mean it.
    left_open = left_open and values["noise"] in ("auto", 0.0)
    # A step of one is not a step of the other: they race for seconds only.
    if stochastic and left_open and values["budget"].seconds is not None:
        rival = replace(
            settings,
            training="batch",
            metric=paper_metric,
            noise=0.0,
            patience=None,
            patience_part=None,
            # A small network's step costs little more than a look at the validation data.
            validate_every=4,
        )
    return Method(settings, StochasticTrainer if stochastic else Trainer, rival)


def in_batches(settings: Settings, paper_metric: str) -> Settings:
    """The settings to train on with, on all of the new data at once: the paper's where they are for chunks alone."""
    metric = paper_metric if settings.metric == "adam" else settings.metric
    noise = 0.0 if settings.noise == "auto" else settings.noise
    return replace(settings, training="batch", metric=metric, noise=noise, patience_part=None)


def recorded(recipe: str, settings: Settings) -> dict[str, Any]:
    """How a network was trained, for its record and its file."""
    stochastic = settings.training == "stochastic"
    patience = settings.patience if settings.patience_part is None else settings.patience_part
    return {
        "recipe": recipe,
        "training": settings.training,
        "metric": settings.transition_method.name,
        "noise": settings.noise,
        "averaging": settings.averaging if stochastic else None,
        "patience": patience,
    }
