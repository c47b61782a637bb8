"""A source of your own: lines of brackets that are opened and closed again, `([])[]`. A whole file to copy.

A new bracket opens with probability p, each kind alike; otherwise the last one is closed, or, when none is open, the
line ends. So the state is the brackets still to be closed, and whoever predicts well must remember all of them.

python examples/dyck.py      checks the source, then sees whether a context tree and a network learn it
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import glnn
from glnn.sources.automaton import Branches
from glnn.sources.base import Draws, Source, binary_entropy


@dataclass(frozen=True)
class Dyck(Source):
    """Lines of brackets that match; one opens with probability `opening`, which must be below ½ for lines to end."""

    opening: float = 0.4
    kinds: str = "()[]"

    name: ClassVar[str] = "dyck"
    unit: ClassVar[str] = "lines"
    default_size: ClassVar[int] = 3000

    @property
    def symbols(self) -> str:
        """All that can occur."""
        return self.kinds + "\n"

    @property
    def start(self) -> Hashable:
        """Nothing is open."""
        return ""

    def branches(self, state: Hashable) -> Branches:
        """The symbols that may follow: probability and next state of each."""
        to_close = str(state)
        each = self.opening / (len(self.kinds) // 2)
        opened = {self.kinds[k]: (each, self.kinds[k + 1] + to_close) for k in range(0, len(self.kinds), 2)}
        last, rest = (to_close[0], to_close[1:]) if to_close else ("\n", "")
        return opened | {last: (1.0 - self.opening, rest)}

    def _write(self, size: int, draws: Draws) -> str:
        """A text of this many lines."""
        text, to_close = [], []
        while size:
            if draws.happens(self.opening):
                kind = 2 * draws.below(len(self.kinds) // 2)
                text.append(self.kinds[kind])
                to_close.append(self.kinds[kind + 1])
            elif to_close:
                text.append(to_close.pop())
            else:
                text.append("\n")
                size -= 1
        return "".join(text)

    def _total_entropy(self, size: int) -> float:
        """Each symbol is a decision; a line has 1 / (1 − 2p) of them on average."""
        decision = binary_entropy(self.opening) + self.opening * math.log2(len(self.kinds) // 2)
        return size * decision / (1.0 - 2.0 * self.opening)


def check(source: Source) -> None:
    """What must hold of every source; `tests/sources` asks more of those in the package."""
    sample = source.sample(100, seed=0)
    # The bits found by parsing are the bits that were drawn.
    assert math.isclose(source.bits(sample.text), sample.bits)
    # All texts of one length have probability 1 together.
    assert math.isclose(sum(2.0 ** -source.bits("".join(text)) for text in product(source.symbols, repeat=4)), 1.0)
    # The mean over samples comes to the closed form.
    mean = sum(source.sample(400, seed=seed).bits for seed in range(20)) / 20
    assert abs(mean / source.entropy_bits(400) - 1) < 0.05


def regrets(source: Source, size: int, budget: str) -> tuple[float, float]:
    """Bits per symbol above the true model: of a context tree and of a network."""
    train, test = source.sample(size, seed=0), source.sample(size, seed=1)
    tree = glnn.ContextTree(verbose=0).fit(train.text)
    network = glnn.GLNN(budget=budget, random_state=0, verbose=0).fit(train.text)
    above = [(model.bits(test.text) - test.bits) / len(test.text) for model in (tree, network)]
    return above[0], above[1]


if __name__ == "__main__":
    check(Dyck())
    print(
        "bits per symbol above the true model: context tree {:.2f}, network {:.2f}".format(
            *regrets(Dyck(), 3000, "60s")
        )
    )
