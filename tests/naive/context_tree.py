"""Context trees as dictionaries of contexts, with logarithms nowhere and every context kept: the slow definition."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np


def estimate(same: int, other: int, prior: float) -> float:
    """The probability of a bit that was seen `same` times."""
    return (same + prior) / (same + other + 2 * prior)


class Context:
    """Counts, the weight β of its own estimate, and the longest contexts it was met in."""

    def __init__(self, beta: float) -> None:
        self.counts = [0, 0]
        self.beta = beta
        self.longest: set[tuple[int, ...]] = set()


def log_likelihoods(texts, size: int, decomposition, settings) -> np.ndarray:
    """log π_t(x_t) along several texts, learning on.

    Weights count from the moment on when a context was met after two different longer ones; before, its own estimate
    speaks for all longer ones.
    """
    contexts: dict[tuple, Context] = defaultdict(lambda: Context(settings.first_ratio))
    branchings, code_bits, lengths = decomposition.codes
    costs = []
    for codes in texts:
        past = [size] * settings.depth
        for y in codes:
            whole = tuple(past[-1 : -settings.depth - 1 : -1])
            cost = 0.0
            for k in range(lengths[y]):
                bit, branching = int(code_bits[y, k]), int(branchings[y, k])
                every = [contexts[branching, whole[:d]] for d in range(settings.depth + 1)]
                for context in every:
                    context.longest.add(whole)
                chain = [every[0]]
                while len(chain) <= settings.depth and len(chain[-1].longest) > 1:
                    chain.append(every[len(chain)])
                own = [estimate(c.counts[bit], c.counts[1 - bit], settings.prior) for c in chain]
                weighted = own[-1]
                for context, p in reversed(list(zip(chain[:-1], own[:-1], strict=True))):
                    below, a = weighted, settings.switching / (sum(context.counts) + 2)
                    weighted = (context.beta * p + below) / (context.beta + 1)
                    here, there = context.beta * p, below
                    context.beta = ((1 - a) * here + a * there) / (a * here + (1 - a) * there)
                cost += math.log(weighted)
                for context in every:
                    context.counts[bit] += 1
            costs.append(cost)
            past.append(int(y))
    return np.array(costs)


def switching_probability(bits, contexts, depth: int, prior: float, rate: float) -> float:
    """The probability of bits, each with its context, summed over all ways to switch at every node: 2^visits each.

    At a node the visits either use its own estimate or ask the child; it starts fairly and changes sides after the
    visit n with probability rate / (n + 1).
    """

    def along(node: tuple[int, ...], upto: int) -> float:
        """P of the first `upto` bits that come to a node."""
        visits = [t for t in range(upto) if contexts[t][: len(node)] == node]
        own, seen = [], [0, 0]
        for t in visits:
            own.append(estimate(seen[bits[t]], seen[1 - bits[t]], prior))
            seen[bits[t]] += 1
        if len(node) == depth:
            return math.prod(own)
        asked = [along(contexts[t][: len(node) + 1], t + 1) / along(contexts[t][: len(node) + 1], t) for t in visits]
        total = 0.0
        for choices in itertools.product((0, 1), repeat=len(visits)):
            weight = 0.5 if choices else 1.0
            for n, (choice, following) in enumerate(itertools.pairwise(choices)):
                a = rate / (n + 2)
                weight *= a if choice != following else 1 - a
            total += weight * math.prod((own[n], asked[n])[choice] for n, choice in enumerate(choices))
        return total

    return along((), len(bits))
