"""What a mixture of contexts looks at: the tree of decisions, the contexts, and the lengths of matches.

A symbol is a path of binary decisions down Huffman's tree of the counts. Which contexts are worth their time follows
from the data: longer orders where a symbol carries few bits, words where there are letters, and for several sequences
how each of them began.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glnn.contexts.decomposition import huffman
from glnn.contexts.mixing_script import Script
from glnn.contexts.mixing_states import NEXT_STATE

# Kinds of contexts; each has a number of symbols, and SKIP leaves out that many first.
ORDER, SKIP, WORD, TWO_WORDS, BAG, SET, RUN, PLACE = range(8)
LAST_WORD, ABOVE, LINE, AFTER_ONE, AFTER_TWO = range(8, 13)
ANY_CASE, TWO_OF_ANY_CASE, LEAP, GAP, INDENTED, UNDER = range(13, 19)
# The farthest symbol that a context or the check of a match looks back at.
REACH = 48
# Plans as they were made once, for files of those times, and as they are made now: with contexts of lines, and with
# more contexts of words.
FIRST, WITH_LINES, NOW = VERSIONS = 1, 2, 3
# Few symbols, as in DNA: one says little, and contexts must be long.
_FEW = 8
_MATCH_BITS = (18.0, 32.0)

Context = tuple[int, int, int]


class Plan(NamedTuple):
    """What never changes while reading; arrays and numbers only, for the kernels."""

    children: np.ndarray
    branchings: np.ndarray
    bits: np.ndarray
    lengths: np.ndarray
    depth: np.ndarray
    """The depth of each branching."""
    rank: np.ndarray
    """0 for the most frequent symbol; the last entry is for what stands before a sequence."""
    letter: np.ndarray
    """Whether words are made of the symbol."""
    kinds: np.ndarray
    counts: np.ndarray
    skips: np.ndarray
    orders: int
    """How many of the contexts, the first, are of kind ORDER."""
    match_lengths: np.ndarray
    outside: int
    """How many predictors from outside are mixed in."""
    stationary: bool
    """Whether old and new sights count alike: for what will be scored without learning on."""
    next_state: np.ndarray
    newline: int
    """The symbol that ends a line, or −1."""
    pairs: bool
    """Whether a weight set is chosen by the last two symbols."""
    final_rate: float
    """How fast the second layer begins to learn."""
    folded: np.ndarray
    """The symbol in lower case, for contexts of words; empty where there are only those of before."""


def make_plan(
    frequencies: np.ndarray,
    script: Script | None = None,
    several: bool = False,
    outside: int = 0,
    stationary: bool = False,
    version: int = NOW,
) -> Plan:
    """The plan for symbols of these frequencies; `script` tells what they are in a text.

    One text has more to look at now than in earlier versions; several sequences are read as in the first.
    """
    if several or frequencies.size <= _FEW:
        version = FIRST
    letter, folded, newline = script or Script()
    newline = -1 if version == FIRST else newline
    size = frequencies.size
    letter = letter if letter.size else np.zeros(size, np.bool_)
    tree = huffman(frequencies + 1)
    branchings, bits, lengths = tree.codes
    depth = np.zeros(len(tree.children), np.int64)
    for symbol in range(size):
        depth[branchings[symbol, : lengths[symbol]]] = np.arange(lengths[symbol])
    rank = np.zeros(size + 1, np.int64)
    rank[np.argsort(-frequencies, kind="stable")] = np.arange(size)
    contexts = contexts_for(size, bool(letter.any()), several, newline >= 0, version)
    kinds, counts, skips = np.array(contexts, np.int64).T.copy()
    return Plan(
        tree.children,
        branchings,
        bits,
        lengths,
        depth,
        rank,
        letter,
        kinds,
        counts,
        skips,
        sum(kind == ORDER for kind, _, _ in contexts),
        match_lengths_for(frequencies),
        outside,
        stationary,
        NEXT_STATE,
        newline,
        version != FIRST,
        0.02 if version == FIRST else 0.005,
        folded if version >= NOW else folded[:0],
    )


def contexts_for(size: int, words: bool, several: bool, lines: bool = False, version: int = FIRST) -> list[Context]:
    """The contexts (kind, symbols, symbols left out before them), the orders first."""
    orders: tuple[int, ...] = (0, 1, 2, 3, 4, 6, 8, 12)
    if size <= _FEW:
        orders = (0, 1, 2, 3, 4, 6, 8, 11, 14, 18, 24)
    contexts = [(ORDER, order, 0) for order in orders]
    if words:
        contexts += [(kind, 0, 0) for kind in ((WORD, TWO_WORDS) if version < NOW else (ANY_CASE, TWO_OF_ANY_CASE))]
    contexts += [(SKIP, 1, 1), (SKIP, 2, 1)]
    if several:
        contexts += [(BAG, 1, 0), (SET, 1, 0), (RUN, 0, 0), (PLACE, 1, 0)]
    elif size > _FEW:
        contexts += [(SKIP, 2, 2)]
    if version != FIRST:
        contexts += [(AFTER_ONE, 1, 0), (AFTER_TWO, 1, 0)]
        contexts += [(ABOVE, 1, 0), (LINE, 1, 0)] if lines else []
        contexts += [(LAST_WORD, 0, 0)] if words else []
    if words and version >= NOW:
        contexts += [(LEAP, 0, 0), (GAP, 0, 0)]
        contexts += [(kind, 0, 0) for kind in (INDENTED, UNDER) if lines]
    return contexts


def match_lengths_for(frequencies: np.ndarray) -> np.ndarray:
    """How many symbols must agree before a match is believed: those that carry 18 bits, and 32."""
    share = frequencies[frequencies > 0] / max(frequencies.sum(), 1)
    entropy = max(float(-(share * np.log2(share)).sum()), 0.5) if share.size else 8.0
    lengths = {min(max(2, int(np.ceil(bits / entropy))), REACH - 8) for bits in _MATCH_BITS}
    return np.array(sorted(lengths), np.int64)


def names_of(plan: Plan) -> tuple[str, ...]:
    """What the contexts, matches and predictors from outside are called, in their order."""
    named = {
        ORDER: "last {count}",
        SKIP: "last {count} before {skip}",
        WORD: "word",
        TWO_WORDS: "two words",
        BAG: "last {count} and what was counted so far",
        SET: "last {count} and what came so far",
        RUN: "run",
        PLACE: "place in the sequence",
        LAST_WORD: "word before",
        ABOVE: "last {count} and the symbol above",
        LINE: "last {count} and how the line began",
        AFTER_ONE: "last {count} and what followed it before",
        AFTER_TWO: "last {count} and what followed the last two before",
        ANY_CASE: "word of any case",
        TWO_OF_ANY_CASE: "two words of any case",
        LEAP: "word and the one before the last",
        GAP: "word and what stands before it",
        INDENTED: "word and how far the line is indented",
        UNDER: "word and the first one of the line",
    }
    contexts = [
        named[kind].format(count=count, skip=skip)
        for kind, count, skip in zip(plan.kinds.tolist(), plan.counts.tolist(), plan.skips.tolist(), strict=True)
    ]
    matches = [f"match of {length}" for length in plan.match_lengths.tolist()]
    return (*contexts, *matches, *(f"network {which + 1}" for which in range(plan.outside)))
