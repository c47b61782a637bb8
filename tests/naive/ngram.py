"""Interpolated modified Kneser-Ney as the formula says it: all n-grams in dictionaries, counted anew each time."""

from __future__ import annotations

from collections import defaultdict

LEAST = 0.05


def counts_of(texts, size: int, order: int):
    """counts[k][context][w]: occurrences for the longest contexts, numbers of older symbols for shorter ones."""
    longest: dict[tuple, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for text in texts:
        padded = [size] * (order - 1) + list(text)
        for t in range(order - 1, len(padded)):
            longest[tuple(padded[t - order + 1 : t])][padded[t]] += 1
    counts = [longest]
    for _ in range(order - 1):
        shorter: dict[tuple, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for context, following in counts[0].items():
            for w in following:
                shorter[context[1:]][w] += 1
        counts.insert(0, shorter)
    return counts


def discounts(level) -> list[float]:
    """D for the counts 0, 1, 2, and 3 or more."""
    values = [n for following in level.values() for n in following.values()]
    n1, n2, n3, n4 = (values.count(i) for i in (1, 2, 3, 4))
    Y = n1 / (n1 + 2 * n2) if n1 + n2 else 0.0
    D = [1 - 2 * Y * n2 / n1, 2 - 3 * Y * n3 / n2, 3 - 4 * Y * n4 / n3] if min(n1, n2, n3, n4) else [Y] * 3
    return [0.0, *(min(max(d, LEAST), i + 1 - LEAST) for i, d in enumerate(D))]


def distribution(texts, prefix, size: int, order: int) -> list[float]:
    """P of each symbol after the prefix, given texts (of which the prefix may be one)."""
    counts = counts_of(texts, size, order)
    context = tuple(([size] * order + list(prefix))[len(prefix) + 1 :])
    p = [1 / size] * size
    for k in range(order):
        following = counts[k].get(context[order - 1 - k :])
        if following:
            D, total = discounts(counts[k]), sum(following.values())
            left = sum(D[min(n, 3)] for n in following.values())
            here = [following.get(w, 0) for w in range(size)]
            p = [(n - D[min(n, 3)] + left * p[w]) / total for w, n in enumerate(here)]
    return p
