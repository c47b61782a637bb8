"""Which networks a mixture trains, and which of them stay.

A GLNN comes first: where something is counted, or remembered over long gaps, it is ahead of contexts within a fifth of
the budget. Where it is behind them by then, as on texts, tunes and proteins, an LSTM has the rest of it: beside
contexts it is worth more there (`experiments/mixture/odds.md`). The end of the data decides who stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from glnn.estimators.architectures import GLNN, LSTM
from glnn.estimators.network import Network
from glnn.predictors import Predictor
from glnn.predictors.frozen_trial import FrozenTrial
from glnn.predictors.mixture_budget import lasts_for_networks
from glnn.predictors.mixture_recipe import for_network
from glnn.predictors.mixture_trial import BEHIND, FAR_BEHIND, Promising, Trial
from glnn.sequences import Encoded
from glnn.training.budget import Budget, Clock

AUTOMATIC: tuple[tuple[type[Network], float], ...] = ((GLNN, BEHIND), (LSTM, FAR_BEHIND))
"""Kinds in the order in which they are tried, and how many times the bits of contexts make each give way."""


@dataclass
class Networks:
    """The networks of one mixture while they are tried."""

    data: Encoded
    trial: Trial | FrozenTrial
    clock: Clock
    say: Callable[[str], None]
    seed: int
    n_jobs: int | None
    trials: list[dict[str, Any]] = field(default_factory=list)
    """What the end of the data takes without networks, and with each that was trained to its end."""
    interrupted: bool = False
    """Whether Ctrl-C ended the last one, which may be none of those that stay."""

    def that_help(self, most: int | str, budget: Budget) -> tuple[Network, ...]:
        """So many GLNNs, all of which stay; with "auto" one of the likeliest kind, if it helps."""
        with self.clock.paused():
            best = self.trial.bits(())
        self.trials.append({"networks": 0, "bits": best})
        kept: tuple[Network, ...] = ()
        try:
            if most == "auto":
                network = self._likeliest(budget, best)
                bits = self._tried((network,), best)
                stays = self.trial.worth(bits, best, network.that_held_out().predictor_, inside(network))
                return (network,) if stays else ()
            share = _share(budget, int(most))
            while len(kept) < int(most) and not self.interrupted:
                self.say(f"trying network {len(kept) + 1}: {share}")
                kept = (*kept, self._trained(GLNN, share, len(kept)))
                best = self._tried(kept, best)
        except KeyboardInterrupt:
            # Before its first step: what there is without it is the best so far.
            self.interrupted = True
        return kept

    def _likeliest(self, budget: Budget, bits: float) -> Network:
        """The first kind that does not give way, or the last one; each has what those before it left."""
        left, kinds = budget, AUTOMATIC
        if budget.seconds is None or not lasts_for_networks(Budget(seconds=0.8 * budget.seconds)):
            # There is nothing to divide.
            kinds = ((GLNN, FAR_BEHIND),)
        for kind, times in kinds:
            self.say(f"trying one of kind {kind.__name__}: {left}")
            promising = None if left.seconds is None else Promising(left.seconds, bits, times)
            network = self._trained(kind, left, 0, promising)
            if promising is None or not promising.given_up or self.interrupted:
                break
            assert left.seconds is not None
            left = Budget(seconds=left.seconds - network.total_seconds_)
            if not lasts_for_networks(left):
                break
        return network

    def _trained(self, kind: type[Network], budget: Budget, which: int, promising: Promising | None = None) -> Network:
        own: dict[str, Any] = {"n_jobs": self.n_jobs, "random_state": self.seed + which}
        network = kind(budget=budget, end=False, unknown="error", verbose=0, **own)
        # Compiling is not charged, training is.
        with self.clock.paused():
            network.fit(for_network(self.data), callbacks=() if promising is None else (promising,))
        self.clock.set(self.clock.seconds + network.total_seconds_)
        self.interrupted = network.stopped_ == "interrupted"
        return network

    def _tried(self, members: tuple[Network, ...], before: float) -> float:
        """The bits of the end with these; the end tells what the last one is worth, before it learned from that."""
        with self.clock.paused():
            judged = tuple(member.that_held_out().predictor_ for member in members)
            bits, alone = self.trial.bits(judged), self.trial.alone(judged[-1])
        kind = type(members[-1]).__name__
        self.trials.append({"networks": len(members), "kind": kind, "bits": bits, "alone": alone})
        self.say(f"the end of the data takes {before:,.0f} bits without it and {bits:,.0f} with it")
        return bits


def inside(network: Network) -> dict[int, Predictor]:
    """Members by the first of the sequences that they held out inside the data."""
    return {first: members.predictor_ for first, members in network.that_held_out_inside().items()}


def _share(budget: Budget, networks: int) -> Budget:
    """What each network gets: as many equal parts as there are networks; steps and passes are those of each."""
    return budget if budget.seconds is None else Budget(seconds=budget.seconds / networks)
