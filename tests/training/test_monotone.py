"""Every accepted step raises the likelihood, on problems as small and as lopsided as they come."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from glnn.models import MODELS
from glnn.network import random_graph
from glnn.sequences import Encoded, encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests import naive
from tests.training.problems import oracle_params

STEPS = 6


@st.composite
def small_data(draw: st.DrawFn) -> Encoded:
    """Up to three sequences over two or three symbols: constant stretches, lengths 1 and 2, a single prediction."""
    symbols = draw(st.integers(2, 3))
    constant = st.builds(lambda y, n: [y] * n, st.integers(0, symbols - 1), st.integers(1, 12))
    mixed = st.lists(st.integers(0, symbols - 1), min_size=1, max_size=12)
    runs = st.lists(st.one_of(constant, mixed), min_size=1, max_size=2).map(lambda parts: [*chain(*parts)])
    sequences = draw(st.lists(runs, min_size=1, max_size=3))
    total = sum(map(len, sequences))
    kind = draw(st.sampled_from(["all", "one", "some"]))
    mask = np.ones(total, bool)
    if kind == "one":
        mask[:] = False
        mask[draw(st.integers(0, total - 1))] = True
    elif kind == "some":
        mask = np.array(draw(st.lists(st.booleans(), min_size=total, max_size=total)))
        mask[draw(st.integers(0, total - 1))] = True
    return encode(sequences, alphabet=range(symbols), mask=mask)


@given(
    small_data(),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from(list(TRANSITION_METHODS)),
    st.sampled_from(list(WRITING_METHODS)),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from(["length", "equal"]),
    st.sampled_from([1.0, 1e-6, 0.0]),
    st.integers(0, 10_000),
)
@example(encode([[0]], alphabet=range(2)), "glnn", "rbpm", "qdh", 1, 1, "length", 1.0, 0)
@example(encode([[0, 0]], alphabet=range(2)), "rnn", "ruop", "qdh", 1, 1, "length", 1.0, 0)
@example(encode([[0] * 30], alphabet=range(2)), "gnn", "rbpm", "qdh", 3, 1, "length", 0.0, 0)
@settings(max_examples=100)
def test_every_step_raises_the_likelihood(
    data: Encoded,
    name: str,
    metric: str,
    output_metric: str,
    units: int,
    degree: int,
    weights: str,
    damping: float,
    seed: int,
) -> None:
    generator = np.random.default_rng(seed)
    model = MODELS[name](random_graph(units, degree, generator), len(data.alphabet))
    corpus = prepare(data, 1000, weights)
    params = model.initial(corpus.predicted_counts, corpus.counts, generator)
    settings_ = Settings(metric, output_metric, damping=damping, sequence_weights=weights)
    trainer = Trainer(model, data, params, settings_)
    fresh = Engine(model, corpus)
    previous = fresh.forward(params).log_likelihood
    assert np.isfinite(previous)
    for _ in range(STEPS):
        info = trainer.step()
        assert info.log_likelihood >= previous
        # The recorded likelihood is that of the parameters, not of something left over from a trial.
        assert info.log_likelihood == fresh.forward(trainer.progress.params).log_likelihood
        assert all(np.isfinite(part).all() for part in vars(trainer.progress.params).values())
        moved = info.writing_size + info.transition_size
        assert np.isfinite(moved) and (moved > 0 or info.log_likelihood == previous)
        previous = info.log_likelihood


@pytest.mark.small
@pytest.mark.parametrize("metric", TRANSITION_METHODS)
def test_the_likelihood_is_that_of_the_paper(metric: str) -> None:
    data = encode([[0, 1, 1, 0], [1], [0, 0, 0, 1, 2]], alphabet=range(3), mask=[[1, 0, 1, 1], [1], [0, 1, 1, 1, 1]])
    generator = np.random.default_rng(0)
    graph = random_graph(3, 2, generator)
    model = MODELS["glnn"](graph, 3)
    corpus = prepare(data, 1000)
    trainer = Trainer(model, data, model.initial(corpus.predicted_counts, corpus.counts, generator), Settings(metric))
    net = naive.Network("glnn", graph.in_ptr, graph.sources, "tanh")
    masks = [data.mask[a:b] for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]
    previous = -np.inf
    for _ in range(10):
        info = trainer.step()
        expected = naive.log_likelihood(
            net, oracle_params(model, trainer.progress.params), naive.Data(list(data), masks)
        )
        assert info.log_likelihood == pytest.approx(expected, rel=1e-10)
        assert expected > previous
        previous = expected


def test_writing_and_transition_each_raise_it() -> None:
    """Within a step too: the w trial is accepted on its own, then the transitions."""
    data = encode("abacabadabacabaeabacabadabacaba" * 4)
    generator = np.random.default_rng(1)
    model = MODELS["glnn"](random_graph(8, 3, generator), len(data.alphabet))
    corpus = prepare(data, 1000)
    trainer = Trainer(model, data, model.initial(corpus.predicted_counts, corpus.counts, generator), Settings())
    engine = Engine(model, corpus)
    for _ in range(15):
        before = trainer.progress.params
        info = trainer.step()
        after = trainer.progress.params
        only_w = engine.forward(before.replace(w=after.w)).log_likelihood
        assert engine.forward(before).log_likelihood < only_w < info.log_likelihood
        assert info.passes == 2 * info.step
