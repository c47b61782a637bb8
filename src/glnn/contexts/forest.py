"""The nodes of all context trees in one pool, the table that finds them, and the symbols that leaves point to.

Room is made as the data need it. Reading the same symbols in the same order makes the same pool, to the bit: so a
file holds the symbols and not the nodes, which are some five hundred times as large.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from glnn.contexts import tree_kernels as kernels
from glnn.contexts.hash_table import EMPTY, enter
from glnn.contexts.history import SYMBOLS
from glnn.numeric.frame import PerThread
from glnn.sequences import InputError

_LEAST_ROOM = 1 << 14


@dataclass
class Forest:
    """`used` counts the nodes, the roots first, and the symbols of the history.

    The history has one padding symbol, the code A, before each sequence. `replayable` says that reading it again
    makes these very trees; those of a file of the first version hold the nodes only.
    """

    nodes: np.ndarray
    slots: np.ndarray
    used: np.ndarray
    history: np.ndarray
    replayable: bool = True
    bound: PerThread = field(default_factory=PerThread, init=False, repr=False, compare=False)
    """Frames for calls with one symbol."""

    @classmethod
    def of_roots(cls, roots: int, max_nodes: int, beta: float) -> Forest:
        """One tree without contexts for each branching of the decomposition."""
        if max_nodes < roots:
            raise InputError(f"max_nodes is {max_nodes}: the {roots} roots alone need more")
        nodes = np.zeros(min(max_nodes, max(_LEAST_ROOM, 2 * roots)), kernels.NODE)
        nodes["key"][:roots], nodes["ratio"][:roots], nodes["text"][:roots] = EMPTY, beta, kernels.FRESH
        nodes["symbol"][:roots] = kernels.NO_CHILD
        return cls._indexed(nodes, roots, roots, np.empty(_LEAST_ROOM, np.int32), 0, True)

    @classmethod
    def of_nodes(cls, nodes: np.ndarray, roots: int, tail: np.ndarray) -> Forest:
        """Trees from a file of the first version, where every context has its node; `tail` is the last one."""
        nodes["text"], nodes["symbol"] = kernels.BRANCHED, kernels.NO_CHILD
        history = np.empty(tail.size + _LEAST_ROOM, np.int32)
        history[: tail.size] = tail[::-1]
        return cls._indexed(nodes, roots, len(nodes), history, tail.size, False)

    def read_so_far(self) -> np.ndarray:
        """The history, without the room after it."""
        return self.history[: self.used[SYMBOLS]]

    def taken(self) -> np.ndarray:
        """The nodes, without the room after them."""
        return self.nodes[: self.used[kernels.NODES]]

    def grown(self, roots: int, max_nodes: int, nodes_wanted: int, max_symbols: int | None = None) -> Forest:
        """The same trees with more room: for at least this many nodes, and for symbols."""
        nodes, history = self.nodes, self.history
        number, symbols = (int(count) for count in self.used)
        if symbols + 2 > history.size:
            history = np.empty(min(2 * history.size, max_symbols or 2 * history.size), np.int32)
            history[:symbols] = self.read_so_far()
        if number + nodes_wanted <= nodes.size or nodes.size >= max_nodes:
            return Forest(nodes, self.slots, self.used, history, self.replayable)
        nodes = np.empty(min(max_nodes, 2 * nodes.size + nodes_wanted), kernels.NODE)
        nodes[:number] = self.taken()
        return self._indexed(nodes, roots, number, history, symbols, self.replayable)

    def within(self, nodes: int, symbols: int) -> Forest:
        """The same trees, with no room beyond this many nodes and symbols."""
        if self.nodes.size <= nodes and self.history.size <= symbols:
            return self
        kept = self.nodes[:nodes].copy(), self.slots, self.used, self.history[:symbols].copy()
        return Forest(*kept, self.replayable)

    def copy(self) -> Forest:
        """Independent trees."""
        nodes, history = np.empty_like(self.nodes), np.empty_like(self.history)
        number, symbols = (int(count) for count in self.used)
        nodes[:number], history[:symbols] = self.taken(), self.read_so_far()
        return Forest(nodes, self.slots.copy(), self.used.copy(), history, self.replayable)

    @classmethod
    def _indexed(
        cls, nodes: np.ndarray, roots: int, number: int, history: np.ndarray, symbols: int, replayable: bool
    ) -> Forest:
        """A pool of which `number` nodes are taken, with its table, at most half full."""
        slots = np.full(1 << (2 * nodes.size - 1).bit_length(), EMPTY, np.int32)
        enter(roots, number, slots, nodes)
        return cls(nodes, slots, np.array([number, symbols], np.int64), history, replayable)


def check_nodes(arrays: dict[str, np.ndarray], alphabet_size: int, depth: int) -> None:
    """Refuse nodes, which files of the first version hold, that do not fit together."""
    tail, roots = arrays["tail"], alphabet_size - 1
    if tail.dtype.kind != "i":
        raise InputError(f"tail holds numbers of type {tail.dtype}, not whole ones")
    if tail.shape != (depth,) or (tail.size and not 0 <= tail.min() <= tail.max() <= alphabet_size):
        raise InputError(f"the last context does not fit a depth of {depth}")
    nodes = {len(arrays[name]) for name in kernels.STORED}
    if len(nodes) != 1 or next(iter(nodes)) < roots or any(arrays[name].ndim != 1 for name in kernels.STORED):
        raise InputError("the nodes' arrays differ in length")
    if not (arrays["key"][:roots] == EMPTY).all() or not np.isfinite(arrays["ratio"]).all():
        raise InputError("the nodes do not begin with the roots")
    if min(arrays["zeros"].min(), arrays["ones"].min()) < 0 or arrays["ratio"].min() <= 0:
        raise InputError("the nodes hold negative counts")
