"""The mixture of contexts and networks as an estimator: what to use when you know nothing about the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from glnn import predictors, registry
from glnn.contexts.mixing import CHUNK, firsts
from glnn.contexts.mixing_memory import new_cursor
from glnn.contexts.mixing_plan import names_of
from glnn.contexts.mixing_votes import votes
from glnn.contexts.tree import ReadProgress
from glnn.estimators.base import SequenceModel
from glnn.estimators.mixture_networks import Networks, inside
from glnn.estimators.network import KERNELS, Network
from glnn.estimators.parameters import checked, choice, described, integer, parameter, seed
from glnn.estimators.persistence import as_bytes, from_bytes
from glnn.predictors.experts import Beside
from glnn.predictors.frozen_trial import ENOUGH_SEQUENCES, FrozenTrial, in_no_order
from glnn.predictors.mixture import MixturePredictor, pieces
from glnn.predictors.mixture_budget import lasts_for_networks, within
from glnn.predictors.mixture_recipe import Progress, Recipe, recipe_from
from glnn.predictors.mixture_trial import Trial
from glnn.predictors.odds import even
from glnn.predictors.scores import Trace
from glnn.predictors.shares import Shares
from glnn.progress import Display
from glnn.sequences import Alphabet, Encoded, InputError, TrainingData
from glnn.sequences.alphabet import moved_up
from glnn.training.budget import Clock, parse_budget
from glnn.training.compiling import beginning, compiling
from glnn.training.observer import Observer
from glnn.training.validation import HELD_OUT_TO_SHOW, split

_KERNELS = 70
_RECORD = ("steps_", "passes_", "seconds_", "stopped_", "validation_bits_", "learning_", "trials_", "seed_")
# Without networks, this part of the sequences decides how they are best read.
_HELD_OUT = 0.2
# With fewer symbols there is too little for a network to learn from and for a mixer to see what it is worth.
_ENOUGH = 500


@registry.model("mixture", "contexts of every order, matches and networks under one online mixer", "mixture")
@described
@dataclass(eq=False, repr=False)
class Mixture(SequenceModel):
    """Contexts of every order, words, runs and repeats, and networks, mixed decision by decision.

    It reads the data once. Networks are trained on all but the end of them, and stay if they help to predict that end:
    for text they rarely do, where something must be counted or remembered they do most of the work. Of several
    sequences it is the mean of this mixture, a context tree, n-grams and, if it does not go on learning, the networks,
    with the shares that predict best.

    Fitted: `alphabet_`, `predictor_`, `networks_` (those that stayed), `trials_` (bits of the end of the data, without
    and with networks), `shares_` (of all in the mean), `n_parameters_` (contexts and decisions known),
    `learning_`, `seconds_`, `validation_bits_` when validation data were given, which are only scored. The mask applies
    to networks and scores only.
    """

    networks: int | str = parameter(
        "auto",
        partial(integer, low=0, word="auto"),
        'how many GLNNs to train; 0 for contexts alone, in seconds; "auto" trains one, or, where contexts are ahead of '
        "it after a fifth of the budget, an LSTM for the rest, and keeps it if it helps",
    )
    _: KW_ONLY
    learning: str = parameter(
        "auto",
        partial(choice, allowed=("auto", "online", "frozen")),
        '"online" goes on learning from what is scored, "frozen" does not, so that every sequence is scored alike; '
        '"auto" is online after one sequence and frozen after several',
    )
    budget: Any = parameter(
        "60s",
        lambda name, value: parse_budget(value),
        'for the networks: CPU seconds as a number or "60s", "5m", "2h"; or "200 steps", "1500 passes" of each',
    )
    n_jobs: int | None = parameter(
        None, partial(integer, low=1, none=True), "threads for training networks; None for all cores"
    )
    random_state: Any = parameter(None, seed, "seed of the networks, a generator to draw it from, or None")

    def fit(
        self,
        data: Any,
        validation: Any = None,
        mask: Any = None,
        validation_mask: Any = None,
        *,
        sample_weight: Any = None,
        callbacks: Iterable[Callable[[ReadProgress], Any]] = (),
        observer: Observer | None = None,
    ) -> Self:
        """Read one or several sequences; a callback gets a `ReadProgress` and stops the reading by returning True.

        An `observer` (`glnn.training.observer.Observer`) is told how far the reading is.
        """
        values = checked(self)
        given = self._given(data, validation, mask, validation_mask, sample_weight)
        known, learning = given.train, values["learning"]
        if learning == "auto":
            learning = "online" if len(known) == 1 else "frozen"
        self.learning_, self.seed_ = learning, values["random_state"]
        display = Display(self.verbose, None if observer is None else observer.advance)
        clock = Clock()
        display.say(f"Mixture: {known.codes.size:,} symbols, {learning}")
        with compiling(display), clock.paused():
            few = beginning(known)
            beside = Beside(0.4, 0.3, 0.3, order=2)
            Recipe(few.codes, few.starts, few.codes.size, False, False, None, beside, True).read(few.alphabet, (), True)
        if observer is not None:
            observer.ready()
        whole = known.codes.size
        known, values["networks"], trials = within(known, values["networks"], values["budget"])
        if known.codes.size < whole:
            display.say(f"{known.codes.size:,} of {whole:,} symbols are read: the budget is not enough for more")
        try:
            trial = self._trial(known, values["networks"], trials)
            networks, interrupted = self._networks(known, trial, values, display, clock)
            judged = tuple(network.that_held_out() for network in networks)
            members = tuple(network.predictor_ for network in judged)
            # The mixer learns from the end of the data what networks are worth, so it must hear none that knows it. A
            # file does not know what networks were before they went on over all data.
            forgotten = any(network.went_on for network in networks)
            apart = isinstance(trial, FrozenTrial) or (forgotten and trial.stand_apart(members))
            recipe = trial.recipe(members, apart, [inside(network) for network in networks])
            recipe, networks = _with_a_share(recipe, judged if forgotten and not apart else networks)
            # The trials take as much memory as the model itself.
            del trial
            look = _Look(known.codes.size, display, clock, tuple(callbacks))
            self._use(recipe, networks, given.alphabet, given.escape, look)
        finally:
            display.close()
        self.steps_ = self.passes_ = 1
        self.seconds_ = clock.seconds
        cut = "budget" if known.codes.size < whole else "read"
        self.stopped_ = "callback" if look.stopped else "interrupted" if interrupted else cut
        self.validation_bits_ = None
        if given.validation is not None:
            self.validation_bits_ = predictors.bits(self._without_escape(), given.validation, regularised=True)
        return self

    @property
    def tries_networks(self) -> bool:
        """Whether a network is trained, if the data are not too long for the budget."""
        return self.networks != 0 and (self.networks != "auto" or lasts_for_networks(parse_budget(self.budget)))

    @property
    def kernels(self) -> int:
        """About how many kernels a first training compiles."""
        return _KERNELS + (0 if self.networks == 0 else KERNELS)

    def trace(self, data: Any) -> Trace:
        """How much each context, match and network spoke for the symbol that came, with the symbols and their bits.

        One column for each, in nats of log-odds, as the model was when it was fitted.
        """
        reading, data = self._traceable(data)
        model = _mixture_of(self._without_escape())
        contexts, first, rows, cursor = model.contexts, firsts(data.starts), [], None
        for part, outside in pieces(model.members, data, CHUNK):
            cursor = new_cursor(contexts.plan) if cursor is None else cursor
            rows.append(votes(data.codes[part], first[part], outside, contexts.plan, contexts.memory, cursor))
        symbols = self.alphabet_.decode(data.codes)
        names = names_of(contexts.plan)
        return Trace(symbols, np.concatenate(rows), self._surprise(reading, False), data.starts, names)

    def before_the_end(self, data: Encoded) -> tuple[Self, int] | None:
        """The mixture that has read all but the last fifth, without networks, which may know the end.

        What goes on learning has even odds between its parts at first.
        """
        known = data.known()
        parts = split(TrainingData(known), HELD_OUT_TO_SHOW)
        if parts.validation is None:
            return None
        beside = self.recipe_.beside.without_networks()
        if self.learning_ == "online" and beside.own < 1.0:
            beside = replace(beside, odds=even(len(beside.places) - 1))
        first = in_no_order(parts.train) if self.recipe_.stationary else parts.train
        recipe = replace(self.recipe_, codes=first.codes, starts=first.starts, cut=first.codes.size)
        recipe = replace(recipe, planned=None, beside=beside, choose=False)
        other = copy(self)
        other._use(recipe, (), self.alphabet_, self.escape_probability_)
        return other, parts.held_out

    def _trial(self, data: Encoded, networks: int | str, trials: bool) -> Trial | FrozenTrial:
        """Where ways of reading and networks are compared: the part that networks hold out themselves."""
        parts = split(TrainingData(data), _HELD_OUT if networks == 0 else "auto")
        if trials and self.learning_ == "frozen" and len(data) >= ENOUGH_SEQUENCES and parts.validation is not None:
            return FrozenTrial(data, parts)
        return Trial(data, parts, self.learning_ == "online", 1 if networks == "auto" else int(networks))

    def _networks(
        self, data: Encoded, trial: Trial | FrozenTrial, values: dict[str, Any], display: Display, clock: Clock
    ) -> tuple[tuple[Network, ...], bool]:
        """The networks that help, and whether the last one was interrupted, which may be none of them."""
        networks = Networks(data, trial, clock, display.say, self.seed_, self.n_jobs)
        self.trials_ = networks.trials
        if values["networks"] == 0 or data.codes.size < _ENOUGH or trial.cut >= data.codes.size:
            return (), False
        return networks.that_help(values["networks"], values["budget"]), networks.interrupted

    def _use(
        self,
        recipe: Recipe,
        networks: tuple[Network, ...],
        alphabet: Alphabet,
        escape: float | None,
        progress: Progress | None = None,
    ) -> None:
        """Read the data, and set `predictor_`."""
        members = tuple(network.predictor_ for network in networks)
        judged = tuple(network.that_held_out().predictor_ for network in networks)
        predictor, beside = recipe.read(alphabet.known, members, self.learning_ == "online", progress, judged)
        self.alphabet_, self.networks_ = alphabet, networks
        self.recipe_ = replace(recipe, beside=beside, choose=False)
        self.shares_ = beside.named
        self.n_parameters_ = int(_mixture_of(predictor).contexts.memory.filled[1:3].sum())
        self._predict_with(predictor, escape)

    def _arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, how = self.recipe_.arrays(len(self.alphabet_))
        arrays |= {f"network{which}": as_bytes(network) for which, network in enumerate(self.networks_)}
        return arrays, {**{name: getattr(self, name) for name in _RECORD}, **how}

    def _take(self, predictor: Any) -> None:
        super()._take(predictor)
        # The predictors next to the mixture have read on with it.
        inner = self._without_escape()
        mixture = _mixture_of(inner)
        codes, starts, *_ = mixture.identity
        beside = self.recipe_.beside
        if isinstance(inner, Shares) and beside.odds is not None:
            beside = replace(beside, odds=inner.odds)
        self.recipe_, self.shares_ = replace(self.recipe_.read_on(codes, starts), beside=beside), beside.named
        self.n_parameters_ = int(mixture.contexts.memory.filled[1:3].sum())
        self._predict_with(inner.with_learning(self.learning_ == "online"), self.escape_probability_)

    def _take_symbols(self, alphabet: Alphabet, new: int) -> None:
        at, networks = len(self.alphabet_.base), tuple(copy(network) for network in self.networks_)
        for network in networks:
            # Networks know codes, the end among them, which moves up.
            network._take_symbols(Alphabet(range(len(network.alphabet_) + new)), new, at)
        codes = moved_up(self.recipe_.codes, at, new)
        self._use(replace(self.recipe_, codes=codes), networks, alphabet, self.escape_probability_)

    def _restore(self, arrays: dict[str, np.ndarray], fitted: dict[str, Any], escape: float | None) -> Self:
        for name in _RECORD:
            setattr(self, name, fitted[name])
        choice("learning_", self.learning_, ("online", "frozen"))
        size = len(self.alphabet_.known)
        networks: list[Network] = []
        while (name := f"network{len(networks)}") in arrays:
            network = from_bytes(arrays[name])
            if not isinstance(network, Network) or len(network.alphabet_) != size:
                raise InputError(f"member {len(networks)} is not a network over {size} symbols")
            networks.append(network)
        self._use(recipe_from(arrays, fitted, size, len(networks)), tuple(networks), self.alphabet_, escape)
        return self


class _Look:
    """Tells display and callbacks how far the reading is."""

    def __init__(self, total: int, display: Display, clock: Clock, callbacks: tuple[Callable[..., Any], ...]) -> None:
        self._total, self._display, self._clock, self._callbacks = total, display, clock, callbacks
        self._bits, self.stopped = 0.0, False

    def __call__(self, symbols: int, bits: float) -> bool:
        """After a stretch of the data."""
        self._bits += bits
        with self._clock.paused():
            text = f"{symbols:,} symbols read, {self._bits / symbols:.4f} bits per symbol"
            self._display.update(symbols / self._total, text)
            progress = ReadProgress(symbols, self._total, -self._bits * float(np.log(2.0)), 0)
            self.stopped = any([callback(progress) for callback in self._callbacks])
        return self.stopped


def _with_a_share(recipe: Recipe, networks: tuple[Network, ...]) -> tuple[Recipe, tuple[Network, ...]]:
    """Without networks that only stand next to the mixture, and have no share."""
    shares = recipe.beside.networks
    if not shares or recipe.cut < recipe.codes.size:
        return recipe, networks
    kept = tuple(network for network, share in zip(networks, shares, strict=True) if share > 0.0)
    beside = replace(recipe.beside, networks=tuple(share for share in shares if share > 0.0))
    if not kept:
        beside = replace(beside, inside=0.0)
    return replace(recipe, beside=beside), kept


def _mixture_of(predictor: MixturePredictor | Shares) -> MixturePredictor:
    return predictor.mixture if isinstance(predictor, Shares) else predictor
