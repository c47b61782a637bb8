"""Mini-batches of sequences: accepted on their own batch, repeatable; and the weights of sequences."""

from __future__ import annotations

import numpy as np
import pytest

from glnn.sequences import encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.records import Progress
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation
from tests import naive
from tests.training.problems import Problem, problem

pytestmark = pytest.mark.small

LENGTHS = (9, 4, 12, 1, 7, 5, 8)


def case() -> Problem:
    return problem("glnn", lengths=LENGTHS, masked=True, seed=6)


def trained(random_state: int, steps: int = 6, **settings: object) -> Trainer:
    p = case()
    trainer = Trainer(p.model, p.data, p.params, Settings(batch_size=3, **settings), random_state=random_state)
    for _ in range(steps):
        trainer.step()
    return trainer


def test_the_same_seed_gives_the_same_bits_and_another_other_batches() -> None:
    first, again, other = trained(1), trained(1), trained(2)
    np.testing.assert_array_equal(first.progress.params.theta, again.progress.params.theta)
    assert [i.log_likelihood for i in first.progress.history] == [i.log_likelihood for i in again.progress.history]
    assert [i.log_likelihood for i in first.progress.history] != [i.log_likelihood for i in other.progress.history]


def test_a_step_is_accepted_on_the_batch_it_was_made_on() -> None:
    p = case()
    trainer = Trainer(p.model, p.data, p.params, Settings(batch_size=3), random_state=0)
    whole = Engine(p.model, prepare(p.data, 1000))
    batches, totals = set(), []
    for _ in range(25):
        before = trainer.progress.params
        info = trainer.step()
        batch = trainer._engine
        lengths = tuple(np.diff(np.flatnonzero(np.append(batch.corpus.stretches[0].first, True))))
        assert len(lengths) == 3
        batches.add(lengths)
        assert info.log_likelihood == batch.forward(trainer.progress.params).log_likelihood
        assert info.log_likelihood > batch.forward(before).log_likelihood
        totals.append(whole.forward(trainer.progress.params).log_likelihood)
    assert len(batches) > 5
    # Over all sequences it rises in the long run only: monotone is for full batches.
    assert totals[-1] > totals[0] and np.diff(totals).min() < 0


def test_a_batch_is_trained_as_the_oracle_trains_those_sequences() -> None:
    p = case()
    chosen = np.sort(np.random.default_rng(5).permutation(len(LENGTHS))[:3])
    trainer = Trainer(p.model, p.data, p.params, Settings(batch_size=3), random_state=5)
    info = trainer.step()
    part = naive.Data([p.oracle_data.sequences[k] for k in chosen], [p.oracle_data.masks[k] for k in chosen])
    _, (record,) = naive.train(p.net, p.oracle_params(), part, 1, "qdh", "rbpm")
    assert info.log_likelihood == pytest.approx(record.log_likelihood_tau, rel=1e-10)


def test_batches_as_large_as_the_data_are_the_data() -> None:
    p = case()
    whole = Trainer(p.model, p.data, p.params, Settings(batch_size=len(LENGTHS)))
    plain = Trainer(p.model, p.data, p.params, Settings())
    assert [whole.step().log_likelihood for _ in range(3)] == [plain.step().log_likelihood for _ in range(3)]


def test_a_run_with_batches_does_not_stop_because_one_batch_had_nothing_to_gain() -> None:
    """One sequence of two is learned by heart: on it nothing moves, and yet the other is still to be learned."""
    data = encode([[0, 0, 0, 0], [0, 1, 1, 0, 1, 0, 0, 1]], alphabet=range(2))
    p = problem("glnn", symbols=2)
    trainer = Trainer(p.model, data, p.params, Settings(batch_size=1))
    assert trainer.run("30 steps").reason == "budget"


def test_without_validation_the_last_parameters_are_kept() -> None:
    """Batches of different sequences have likelihoods that cannot be compared: a short one is not a good one."""
    trainer = trained(0, steps=8)
    assert trainer.progress.best is trainer.progress.params and trainer.progress.best_step == 8
    scores = [info.log_likelihood for info in trainer.progress.history]
    assert max(scores) != scores[-1]


def test_a_tail_continues_behind_all_sequences_whatever_the_batch() -> None:
    p = case()
    tail = encode([0, 1, 2, 1, 0, 1], alphabet=range(3))
    validation = Validation(p.model, tail, continues=True)
    trainer = Trainer(p.model, p.data, p.params, Settings(batch_size=1), validation, random_state=3)
    for _ in range(4):
        info = trainer.step()
        state = Engine(p.model, prepare(p.data, 1000)).forward(trainer.progress.params).state
        assert info.validation == validation.score(trainer.progress.params, state)


def test_equal_weights() -> None:
    p = case()
    corpus = prepare(p.data, 1000, "equal")
    (stretch,) = corpus.stretches
    owner = np.repeat(np.arange(len(LENGTHS)), LENGTHS)[p.data.mask]
    totals = np.bincount(owner, stretch.weight)
    np.testing.assert_allclose(totals, p.data.mask.sum() / len(LENGTHS), rtol=1e-12)
    by_length = prepare(p.data, 1000, "length").stretches[0]
    assert np.all(by_length.weight == 1.0) and by_length.sequence_weight is None


def test_a_sequence_with_nothing_to_predict_has_no_share() -> None:
    data = encode([[0, 1, 0], [1, 1], [0, 0, 1, 1]], alphabet=range(2), mask=[[1, 1, 0], [0, 0], [0, 0, 0, 1]])
    (stretch,) = prepare(data, 100, "equal").stretches
    np.testing.assert_allclose(stretch.weight, [0.75, 0.75, 1.5])


def test_the_likelihood_is_weighted() -> None:
    p = case()
    singles = [Engine(p.model, prepare(p.data.select([k]), 100)).forward(p.params).log_likelihood for k in range(7)]
    counts = np.add.reduceat(p.data.mask.astype(float), p.data.starts[:-1])
    expected = counts.sum() / 7 * np.sum(np.array(singles) / counts)
    found = Engine(p.model, prepare(p.data, 100, "equal")).forward(p.params).log_likelihood
    assert found == pytest.approx(expected, rel=1e-12)
    assert Engine(p.model, prepare(p.data, 100)).forward(p.params).log_likelihood == pytest.approx(sum(singles))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0: at least one sequence"),
        ({"metric": "adam"}, "metric is 'adam': it must be one of rbpm, ruop"),
        ({"output_metric": "adam"}, "output_metric is 'adam': it must be one of qdh, dh, plain"),
        ({"damping": -1.0}, "damping is -1.0: it must be 0 or more"),
        ({"damping": float("nan")}, "damping is nan"),
        ({"patience": 0}, "patience is 0: at least 1 step"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**settings)


def test_sequence_weights_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="sequence weights are 'square': choose 'length' or 'equal'"):
        prepare(case().data, 100, "square")


def test_rates_of_a_given_progress_are_used() -> None:
    p = case()
    progress = Progress(p.params, 0.01, 0.02, best=p.params)
    info = Trainer(p.model, p.data, p.params, Settings(), progress=progress).step()
    assert (info.writing_rate, info.transition_rate) == (0.01, 0.02)
    fresh = Trainer(p.model, p.data, p.params, Settings())
    assert fresh.progress.writing_rate == fresh.progress.transition_rate == 1 / 5
