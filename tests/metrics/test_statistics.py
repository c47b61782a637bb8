"""The sums over time against their formulas, on stretches longer than any chunk the kernels work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from glnn.metrics import Layout, Statistics, Sums
from glnn.metrics.statistics import Terms
from glnn.network import random_graph
from glnn.training.parallel import Workers

UNITS, SYMBOLS = 5, 3
TERMS: tuple[Terms, ...] = ("gradient", "diagonal", "quasi", "full")


class Stretch(NamedTuple):
    x: np.ndarray
    signals: np.ndarray
    B: np.ndarray
    m: np.ndarray


def stretch(length: int, seed: int) -> Stretch:
    """Symbol 0 is most of the time, symbol 2 never comes."""
    generator = np.random.default_rng(seed)
    x = (generator.random(length) < 0.2).astype(np.int32)
    normal = generator.standard_normal
    return Stretch(x, normal((length, UNITS)), normal((length, UNITS)), normal((length, UNITS)) ** 2)


def layout(kind: str) -> Layout:
    """Units with unequal numbers of signals, odd and even."""
    graph = random_graph(UNITS, 3, 4)
    assert len({size % 2 for size in graph.in_degrees}) == 2
    ptr = graph.in_ptr + np.arange(UNITS + 1)
    rows = np.zeros(ptr[-1], np.int64)
    rows[np.arange(graph.edges) + graph.edge_targets + 1] = graph.sources + 1
    return Layout(ptr, rows, SYMBOLS, kind == "gate")


def accumulate(shape: Layout, terms: Terms, parts: list[Stretch], threads: int = 1) -> Statistics:
    accumulator = Sums(terms).accumulator(shape)
    run = Workers(threads).run
    for x, signals, B, m in parts:
        order = np.argsort(x, kind="stable").astype(np.int32)
        groups = np.concatenate([[0], np.cumsum(np.bincount(x, minlength=SYMBOLS))])
        run(accumulator.jobs(signals, B, None if terms == "gradient" else m, order, groups))
    return accumulator.result()


def incoming(shape: Layout, part: Stretch, j: int, kind: str) -> list[np.ndarray]:
    """For each block of unit j: its signals over time, (S, parameters), index 0 the constant."""
    with_constant = np.concatenate([np.ones((len(part.x), 1)), part.signals], axis=1)
    r = with_constant[:, shape.rows[shape.ptr[j] : shape.ptr[j + 1]]]
    if kind == "gate":
        return [r * (part.x == y)[:, None] for y in range(SYMBOLS)]
    return [np.concatenate([r, part.x[:, None] == np.arange(SYMBOLS)], axis=1)]


def expected(shape: Layout, parts: list[Stretch], kind: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Gradients and matrices of all blocks in flat order."""
    blocks = SYMBOLS if kind == "gate" else 1
    order = [(b, j) for b in range(blocks) for j in range(UNITS)]
    G, M = [], []
    for b, j in order:
        r = [incoming(shape, part, j, kind)[b] for part in parts]
        G.append(sum(s.T @ part.B[:, j] for s, part in zip(r, parts, strict=True)))
        M.append(sum((s * part.m[:, j, None]).T @ s for s, part in zip(r, parts, strict=True)))
    return G, M


@pytest.mark.parametrize("lengths", [(1500,), (1, 2, 3), (700, 300, 5)])
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kind", ["gate", "input"])
def test_against_the_formulas(kind: str, terms: Terms, lengths: tuple[int, ...]) -> None:
    shape = layout(kind)
    parts = [stretch(n, seed) for seed, n in enumerate(lengths)]
    found = accumulate(shape, terms, parts)
    G, M = expected(shape, parts, kind)
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(found.gradient, np.concatenate(G), **close)
    if terms == "full":
        np.testing.assert_allclose(found.matrices, np.concatenate([block.ravel() for block in M]), **close)
    else:
        assert found.matrices is None
    if terms in ("diagonal", "quasi"):
        np.testing.assert_allclose(found.diagonal, np.concatenate([np.diag(block) for block in M]), **close)
    else:
        assert found.diagonal is None
    if terms == "quasi":
        # In each block of the reduction, the entries with its first parameter.
        flat = np.zeros((len(found.gradient),) * 2)
        for begin, block in zip(shape.block_ptr[:-1], M, strict=True):
            flat[begin : begin + len(block), begin : begin + len(block)] = block
        constant = np.repeat(shape.block_ptr[:-1], np.diff(shape.block_ptr))
        np.testing.assert_allclose(found.cross, flat[np.arange(len(flat)), constant], **close)
    else:
        assert found.cross is None


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kind", ["gate", "input"])
def test_threads_do_not_change_a_bit(kind: str, terms: Terms) -> None:
    shape = layout(kind)
    parts = [stretch(n, n) for n in (900, 40)]
    one, two = (vars(accumulate(shape, terms, parts, threads)) for threads in (1, 2))
    for name, value in one.items():
        assert (value is None) == (two[name] is None)
        if value is not None:
            np.testing.assert_array_equal(value, two[name])


def test_statistics_are_added() -> None:
    one, other = Statistics(np.ones(3), np.arange(3.0)), Statistics(np.full(3, 2.0), np.ones(3))
    total = one + other
    assert total.gradient.tolist() == [3.0, 3.0, 3.0] and total.diagonal.tolist() == [1.0, 2.0, 3.0]
    assert total.cross is None and total.matrices is None


@pytest.mark.small
@pytest.mark.parametrize("kind", ["gate", "input"])
def test_each_parameter_is_tied_to_at_most_one_symbol(kind: str) -> None:
    shape = layout(kind)
    size, tied = int(shape.block_ptr[-1]), shape.tied
    assert len(tied) == shape.symbols and len(set(tied.ravel())) == tied.size
    assert tied.size == (size - shape.ptr[-1] if kind == "input" else size)
