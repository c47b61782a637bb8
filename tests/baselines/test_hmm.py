"""The hidden Markov model against hmmlearn, all paths of tiny models, and the linear GNN of Section 1.2."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from glnn.baselines import hmm_model
from glnn.baselines.hmm import em_step, expected_counts, fit_hmm, initial_hmm
from glnn.baselines.hmm_model import HiddenMarkovModel
from glnn.models import GNN
from glnn.network import Graph
from glnn.output import linear
from glnn.predictors import Predictor
from glnn.sequences import Encoded, Sequences, encode
from glnn.sources import Music
from tests import naive

SPARSE, DENSE = 2.0, 0.0


@pytest.fixture(params=[SPARSE, DENSE], ids=["rows", "matrix"])
def either_kernel(request, monkeypatch):
    """Every comparison runs with compressed rows and with the dense matrix."""
    monkeypatch.setattr(hmm_model, "DENSE_FROM", request.param)


def random_text(length: int, seed: int, symbols: str = "abcd") -> str:
    weights = np.arange(1, len(symbols) + 1)
    return "".join(np.random.default_rng(seed).choice(list(symbols), length, p=weights / weights.sum()))


def several(*lengths: int) -> Encoded:
    return encode(Sequences([random_text(length, seed) for seed, length in enumerate(lengths)]), "abcd")


def with_random_start(model: HiddenMarkovModel) -> HiddenMarkovModel:
    start = np.random.default_rng(99).dirichlet(np.ones(model.states))
    return HiddenMarkovModel(model.alphabet, model.graph, start, model.transitions, model.emissions)


def all_paths(model: HiddenMarkovModel, codes: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """P(codes), and starts, moves (N, N) and writings (N, A), each path weighted by its probability."""
    n, a = model.states, model.transition_matrix
    starts, moves, writings = np.zeros(n), np.zeros((n, n)), np.zeros_like(model.emissions)
    total = 0.0
    for path in itertools.product(range(n), repeat=len(codes)):
        p = model.start[path[0]]
        for t, state in enumerate(path):
            p *= model.emissions[state, codes[t]]
            if t:
                p *= a[path[t - 1], state]
        total += p
        starts[path[0]] += p
        for t, state in enumerate(path):
            writings[state, codes[t]] += p
            if t:
                moves[path[t - 1], state] += p
    return total, starts, moves, writings


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
def test_enumeration_of_all_paths():
    data = several(5, 1, 6)
    model = with_random_start(initial_hmm(data, states=3, degree=2, random_state=4))
    counts = expected_counts(model, data)
    log_likelihood = 0.0
    starts, moves, writings = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 4))
    for codes in data:
        total, *parts = all_paths(model, codes)
        log_likelihood += np.log(total)
        for sums, part in zip((starts, moves, writings), parts, strict=True):
            sums += part / total
    assert counts.log_likelihood == pytest.approx(log_likelihood, abs=1e-12)
    np.testing.assert_allclose(counts.starts, starts, atol=1e-12)
    np.testing.assert_allclose(counts.writings, writings, atol=1e-12)
    sources = np.repeat(np.arange(3), np.diff(model.graph.out_ptr))
    np.testing.assert_allclose(counts.moves, moves[sources, model.graph.targets], atol=1e-12)
    assert moves.sum() == pytest.approx(counts.moves.sum())


@pytest.mark.usefixtures("either_kernel")
def test_hmmlearn_agrees_on_the_likelihood_and_on_one_step():
    theirs = pytest.importorskip("hmmlearn.hmm")
    data = several(700, 1, 2, 300)
    model = with_random_start(initial_hmm(data, states=6, degree=6, random_state=1))
    other = theirs.CategoricalHMM(6, n_features=4, init_params="", n_iter=1, tol=0.0)
    other.startprob_, other.transmat_ = model.start, model.transition_matrix
    other.emissionprob_ = model.emissions
    lengths = np.diff(data.starts)
    score = other.score(data.codes[:, None], lengths)
    other.fit(data.codes[:, None], lengths)
    following, log_likelihood = em_step(model, data)
    assert log_likelihood == pytest.approx(score, abs=1e-8)
    assert model.log_likelihoods(data).sum() == pytest.approx(score, abs=1e-8)
    np.testing.assert_allclose(following.start, other.startprob_, atol=1e-8)
    np.testing.assert_allclose(following.transition_matrix, other.transmat_, atol=1e-8)
    np.testing.assert_allclose(following.emissions, other.emissionprob_, atol=1e-8)


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
def test_the_linear_gnn_with_linear_output_is_the_same_model():
    data = several(25)
    model = with_random_start(initial_hmm(data, states=5, degree=3, random_state=2))
    net = naive.Network("gnn", model.graph.in_ptr, model.graph.sources, "linear")
    params = naive.hmm_as_gnn(net, model.start, model.transition_matrix, model.emissions)
    (sequence,) = naive.each_sequence(naive.Data([data.codes]))
    pi = naive.linear_probabilities(net, params, sequence)
    np.testing.assert_allclose(np.concatenate(list(model.distributions(data))), pi, atol=1e-13)


def as_linear_gnn(model: HiddenMarkovModel) -> tuple[GNN, np.ndarray, np.ndarray, np.ndarray]:
    """The engine's GNN that is this model (Section 1.2): τ_ijy = b_iy a_ij, w_iy = b_iy, V⁰ the law of the start."""
    network = GNN(model.graph, len(model.alphabet), activation="linear")
    sources, targets = model.graph.sources, model.graph.edge_targets
    tau = model.emissions.T[:, sources] * model.transition_matrix[sources, targets]
    # The constant has no part in the linear output, whatever its weights.
    w = np.concatenate([np.full((1, len(model.alphabet)), np.nan), model.emissions])
    return network, w, network.join(tau, np.zeros((len(model.alphabet), model.states))), model.start


@pytest.mark.parametrize(("states", "degree"), [(5, 3), (40, 4), (12, 12)])
@pytest.mark.usefixtures("either_kernel")
def test_the_engines_linear_gnn_gives_the_same_likelihoods(states, degree):
    """At every position, before training and after, on graphs that the engine takes as matrices and as rows."""
    data = several(400, 1, 37)
    model = with_random_start(initial_hmm(data, states=states, degree=degree, random_state=3))
    trained = fit_hmm(data, model, steps=5)
    first = np.zeros(data.codes.size, bool)
    first[data.starts[:-1]] = True
    for hidden_markov in (model, trained):
        network, w, theta, V0 = as_linear_gnn(hidden_markov)
        found = linear.log_likelihoods(network, w, theta, V0, data.codes, first)
        np.testing.assert_allclose(found, hidden_markov.log_likelihoods(data), rtol=1e-10, atol=1e-12)
        codes = data.codes[:400]
        _, activities = next(linear.scaled_activities(network, theta, V0, codes, first[:400]))
        pi = np.concatenate(list(hidden_markov.distributions(data)))[: len(activities)]
        np.testing.assert_allclose(linear.distributions(activities, w), pi, atol=1e-12)
    assert GNN(model.graph, 4).dense == (degree > 4 or states < 20)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("either_kernel")
def test_every_step_of_em_raises_the_likelihood(seed):
    data = Music().encode(Music().sample(60, seed=seed).text)
    model = initial_hmm(data, states=24, random_state=seed)
    reached = []
    for _ in range(40):
        following, log_likelihood = em_step(model, data)
        # The parameters do change, so that the likelihood cannot stand still for want of a step.
        assert not np.array_equal(following.emissions, model.emissions)
        assert np.isfinite(following.transitions).all()
        reached.append(log_likelihood)
        model = following
    assert np.diff(reached).min() > 0
    assert reached[-1] - reached[0] > 500


def test_em_with_several_sequences_is_monotone_too():
    data = several(40, 3, 1, 80, 25)
    model, reached = initial_hmm(data, states=7, degree=3, random_state=0), []
    for _ in range(60):
        model, log_likelihood = em_step(model, data)
        reached.append(log_likelihood)
    assert np.diff(reached).min() > 0


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
def test_a_state_that_is_never_visited_keeps_its_parameters():
    data = encode("abaabbab", "abc")
    sources, targets = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 2])
    graph = Graph.from_edges(3, sources, targets)
    transitions = np.array([0.3, 0.7, 0.5, 0.5, 0.25, 0.75])
    emissions = np.array([[0.6, 0.4, 0.0], [0.2, 0.8, 0.0], [0.1, 0.2, 0.7]])
    model = HiddenMarkovModel(data.alphabet, graph, np.array([0.5, 0.5, 0.0]), transitions, emissions)
    for _ in range(5):
        model, _ = em_step(model, data)
    np.testing.assert_array_equal(model.transitions[4:], transitions[4:])
    np.testing.assert_array_equal(model.emissions[2], emissions[2])
    assert model.start[2] == 0
    assert np.isfinite(model.log_likelihoods(data)).all()


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
def test_what_the_past_excludes_does_not_overflow_on_the_way_back():
    """The second state explains the end far better, by more than a float can hold, but died on the way there."""
    data = encode("a" * 400 + "b" * 600)
    graph = Graph.from_edges(2, np.array([0, 1]), np.array([0, 1]))
    rarely = 1e-3
    emissions = np.array([[1 - rarely, rarely], [rarely, 1 - rarely]])
    model = HiddenMarkovModel(data.alphabet, graph, np.array([0.5, 0.5]), np.ones(2), emissions)
    counts = expected_counts(model, data)
    assert np.isfinite(counts.writings).all()
    np.testing.assert_allclose(counts.writings.sum(), 1000)
    np.testing.assert_allclose(counts.writings[0], [400, 600])


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
@pytest.mark.parametrize("lengths", [(101,), (30, 1, 2, 50, 17)])
def test_little_memory_gives_the_same_counts(lengths):
    data = several(*lengths)
    model = with_random_start(initial_hmm(data, states=6, degree=3, random_state=3))
    whole, stretches = expected_counts(model, data), expected_counts(model, data, memory=1000)
    np.testing.assert_allclose(stretches.starts, whole.starts, rtol=1e-12)
    np.testing.assert_allclose(stretches.moves, whole.moves, rtol=1e-12)
    np.testing.assert_allclose(stretches.writings, whole.writings, rtol=1e-12)
    assert stretches.log_likelihood == whole.log_likelihood


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
def test_all_ways_to_predict_agree():
    data = several(20, 1, 12)
    model = with_random_start(initial_hmm(data, states=6, degree=3, random_state=3))
    assert isinstance(model, Predictor)
    rows = np.concatenate(list(model.distributions(data, block=7)))
    np.testing.assert_array_equal(rows, np.concatenate(list(model.distributions(data))))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    given = rows[np.arange(len(rows)), data.codes]
    np.testing.assert_allclose(model.log_likelihoods(data), np.log(given), atol=1e-12)
    walked = []
    for codes in data:
        state = model.begin()
        for code in codes:
            walked.append(state.probabilities())
            elsewhere = state.copy()
            elsewhere.advance(0)
            elsewhere.advance(3)
            state.advance(int(code))
    # Bit for bit: a decoder walks with states where the encoder may read blocks.
    np.testing.assert_array_equal(rows, np.array(walked))
    np.testing.assert_allclose(model.begin().probabilities(), model.start @ model.emissions, atol=1e-15)


@pytest.mark.small
@pytest.mark.usefixtures("either_kernel")
def test_an_impossible_symbol():
    trained_on = encode("abab", "abc")
    model = initial_hmm(trained_on, states=3, random_state=0)
    log_likelihoods = model.log_likelihoods(encode("abcab", "abc"))
    assert np.isneginf(log_likelihoods[2])
    assert np.isfinite(np.delete(log_likelihoods, 2)).all()
    with pytest.raises(ValueError, match="symbol 'c' at position 2 is impossible"):
        expected_counts(model, encode("abcab", "abc"))


def test_initialisation_is_the_papers():
    data = encode(random_text(500, 0, "abcdefghij"), "abcdefghijz")
    model = initial_hmm(data, states=400, random_state=5)
    out_degrees = np.diff(model.graph.out_ptr)
    assert (out_degrees == 11).all()
    # Dirichlet(1/2) over d edges: E a² = (1/2 · 3/2) / (d/2 · (d/2 + 1)).
    assert np.mean(model.transitions**2) == pytest.approx(0.75 / (5.5 * 6.5), rel=0.05)
    assert (model.emissions[:, -1] == 0).all()
    frequencies = np.bincount(data.codes) / 500
    spread = model.emissions[:, :10] / frequencies
    # Frequency × uniform: relative to a row's largest draw, the draws fill the interval from 0 to 1.
    relative = spread / spread.max(axis=1, keepdims=True)
    assert relative.min() < 0.01
    assert np.mean(relative) == pytest.approx(0.5 * 11 / 10, rel=0.03)
    np.testing.assert_allclose(model.start, 1 / 400)


def test_the_same_seed_gives_the_same_model():
    data = several(200)
    trained = [fit_hmm(data, initial_hmm(data, 8, random_state=seed), steps=5) for seed in (7, 7, 8)]
    for name, array in trained[0].arrays().items():
        np.testing.assert_array_equal(array, trained[1].arrays()[name])
    assert not np.array_equal(trained[0].emissions, trained[2].emissions)


def test_a_saved_model_is_the_same_model():
    data = several(200)
    model = fit_hmm(data, initial_hmm(data, 9, degree=3), steps=3)
    again = HiddenMarkovModel.from_arrays(data.alphabet, model.arrays())
    np.testing.assert_array_equal(again.log_likelihoods(data), model.log_likelihoods(data))


def test_masks_play_no_role_in_training():
    data = several(100)
    model = initial_hmm(data, 5, degree=3)
    masked = data.with_mask(np.arange(100) % 2 == 0)
    np.testing.assert_array_equal(em_step(model, masked)[0].emissions, em_step(model, data)[0].emissions)


def test_the_callback_sees_every_step_and_can_stop():
    data = several(150)
    seen = []

    def watch(info):
        seen.append(info)
        return len(seen) == 4

    first = initial_hmm(data, 5)
    last = fit_hmm(data, first, steps=100, callback=watch)
    assert [info.step for info in seen] == [0, 1, 2, 3]
    assert seen[0].model is first
    assert last is seen[-1].model
    for info in seen:
        assert info.log_likelihood == pytest.approx(info.model.log_likelihoods(data).sum())


def test_training_ends_after_the_steps_or_when_nothing_is_gained():
    data = several(150)
    steps = []
    fit_hmm(data, initial_hmm(data, 5), steps=6, callback=lambda info: steps.append(info.step))
    assert steps == list(range(7))
    gains = []
    fit_hmm(data, initial_hmm(data, 5), tolerance=1e-4, callback=lambda info: gains.append(info.log_likelihood))
    assert len(gains) < 1000
    assert np.diff(gains)[-1] < 1e-4 * abs(gains[-1]) <= np.diff(gains)[:-1].min()


def test_wrong_parameters_and_wrong_data_are_refused():
    data = several(50)
    model = initial_hmm(data, 3)
    with pytest.raises(ValueError, match=r"start has shape \(2,\).*need \(3,\)"):
        HiddenMarkovModel(data.alphabet, model.graph, np.ones(2) / 2, model.transitions, model.emissions)
    with pytest.raises(ValueError, match="emissions must be probabilities with sum 1"):
        HiddenMarkovModel(data.alphabet, model.graph, model.start, model.transitions, 2 * model.emissions)
    with pytest.raises(ValueError, match="encode with alphabet="):
        model.log_likelihoods(encode("abz"))
