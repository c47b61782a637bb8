"""The regularised score, the tail that is held out, and keeping the parameters that were best on it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.output.uniform import regularise
from glnn.sequences import Encoded, TrainingData, encode
from glnn.training import validation as validation_module
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from glnn.training.validation import Validation, hold_out, last_of, state_after
from tests import naive
from tests.training.problems import problem

pytestmark = pytest.mark.small


def test_the_mixture_of_the_paper() -> None:
    """π_t ← (1 − 1/(t+2)) π_t + 1/(t+2) · uniform, in plain arithmetic."""
    pi = [0.5, 0.25, 1e-12, 0.9]
    expected = [math.log((1 - 1 / (t + 2)) * p + 1 / (t + 2) / 3) for t, p in enumerate(pi)]
    np.testing.assert_allclose(regularise(np.log(pi), 3), expected, rtol=1e-13)
    later = regularise(np.log(pi), 3, np.array([5, 6, 7, 8]))
    expected = [math.log((1 - 1 / (t + 7)) * p + 1 / (t + 7) / 3) for t, p in enumerate(pi)]
    np.testing.assert_allclose(later, expected, rtol=1e-13)


def test_a_probability_of_zero_is_forgiven() -> None:
    assert regularise(np.array([-np.inf, -1e5]), 4) == pytest.approx([math.log(1 / 8), math.log(1 / 12)])


@given(st.floats(1e-6, 1.0), st.integers(0, 10_000), st.integers(2, 60))
def test_mixed_probabilities_are_probabilities(pi: float, t: int, symbols: int) -> None:
    mixed = math.exp(regularise(np.array([math.log(pi)]), symbols, np.array([t]))[0])
    assert min(pi, 1 / symbols) * (1 - 1e-12) <= mixed <= max(pi, 1 / symbols) * (1 + 1e-12)
    assert abs(mixed - pi) <= 1 / (t + 2)


@pytest.mark.parametrize("stretch", [100, 4])
@pytest.mark.parametrize("name", ["rnn", "glnn"])
def test_the_score_of_a_network(name: str, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """t counts all positions, masked or not, and runs on over sequences, each of which begins from the start state."""
    monkeypatch.setattr(validation_module, "stretch_length", lambda units: stretch)
    case = problem(name, lengths=(7, 1, 6), masked=True)
    expected, t = 0.0, 0
    for sequence in naive.each_sequence(case.oracle_data):
        pi = naive.probabilities(case.net, case.oracle_params(), sequence)
        for k, symbol in enumerate(sequence.x):
            if sequence.chi[k]:
                expected += math.log((1 - 1 / (t + 2)) * pi[k, symbol] + 1 / (t + 2) / 3)
            t += 1
    found = Validation(case.model, case.data).score(case.params)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_network_that_is_not_finite_scores_nothing() -> None:
    case = problem("glnn")
    with np.errstate(invalid="ignore"):
        assert Validation(case.model, case.data).score(case.params.replace(V0=np.full(5, np.nan))) == -np.inf


def one_sequence(length: int) -> Encoded:
    return encode(list(map(int, np.random.default_rng(3).integers(0, 3, length))), alphabet=range(3))


@pytest.mark.parametrize("name", ["rnn", "gnn", "glnn"])
def test_a_held_out_tail_continues_from_the_training_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit what scoring the whole sequence gives there."""
    data = one_sequence(60)
    train, tail, continues = hold_out(data)
    assert continues and len(train.codes) == 54 and len(tail.codes) == 6
    np.testing.assert_array_equal(np.concatenate([train.codes, tail.codes]), data.codes)
    case = problem(name)
    whole = Engine(case.model, prepare(data, 1000)).log_likelihoods(case.params)
    for length in (1000, 10):
        monkeypatch.setattr(validation_module, "stretch_length", lambda units, length=length: length)
        current = Engine(case.model, prepare(train, length)).forward(case.params)
        validation = Validation(case.model, tail, continues)
        # t begins at 0 again in the held-out tail.
        expected = regularise(whole[54:], 3).sum()
        assert validation.score(case.params, current.state) == pytest.approx(expected, rel=1e-12)
        alone = Validation(case.model, tail).score(case.params, current.state)
        assert alone == pytest.approx(
            regularise(Engine(case.model, prepare(tail, 100)).log_likelihoods(case.params), 3).sum()
        )
        assert alone != pytest.approx(expected, rel=1e-6)


def test_lately_reads_the_last_of_the_training_data_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation_module, "_BURN_IN", 20)
    case, data = problem("glnn"), one_sequence(80)
    train, tail, continues = hold_out(data)
    parts = TrainingData(train, tail, continues=continues)
    last = Engine(case.model, prepare(encode(parts.train.codes[-20:].tolist(), alphabet=range(3)), 1000))
    found = state_after(case.model, case.params, parts, lately=True)
    np.testing.assert_array_equal(found, last.forward(case.params).state)
    assert not np.array_equal(found, state_after(case.model, case.params, parts))
    # Of several sequences no more than the last one, and all of what is short.
    assert last_of(encode([[0, 1], [2, 1, 0]], alphabet=range(3))).codes.tolist() == [2, 1, 0]
    assert state_after(case.model, case.params, replace(parts, continues=False), lately=True) is None


def test_the_trainer_scores_the_tail_behind_its_own_data() -> None:
    data = one_sequence(80)
    train, tail, continues = hold_out(data)
    case = problem("glnn")
    trainer = Trainer(case.model, train, case.params, Settings(), Validation(case.model, tail, continues))
    for _ in range(4):
        info = trainer.step()
        whole = Engine(case.model, prepare(data, 1000)).log_likelihoods(trainer.progress.params)
        assert info.validation == pytest.approx(regularise(whole[72:], 3).sum(), rel=1e-12)


def test_a_few_sequences_lose_the_tail_of_the_last() -> None:
    data = encode([[0, 1, 2], [1, 0, 2, 2, 1, 0, 1]], alphabet=range(3))
    train, tail, continues = hold_out(data, 0.2)
    assert continues
    assert [list(s) for s in train] == [[0, 1, 2], [1, 0, 2, 2, 1]] and [list(s) for s in tail] == [[0, 1]]
    # Never more than half of the sequence it is cut from.
    _, tail, _ = hold_out(encode([[0, 1, 2] * 30, [1, 0, 2, 2]], alphabet=range(3)), 0.5)
    assert [list(s) for s in tail] == [[2, 2]]


def test_many_sequences_are_held_out_whole() -> None:
    sequences = [[k % 3, 1, 2] for k in range(12)]
    train, valid, continues = hold_out(encode(sequences, alphabet=range(3)), 0.25)
    assert not continues
    assert [list(s) for s in train] == sequences[:9] and [list(s) for s in valid] == sequences[9:]


@pytest.mark.parametrize(
    ("data", "fraction", "message"),
    [
        (encode([0], alphabet=range(2)), 0.1, "the data has 1 symbols, 1 of them to be predicted: too little"),
        (encode([0, 1, 0, 1], mask=[1, 1, 0, 0]), 0.3, "give validation data, or more data"),
        (encode([0, 1, 0, 1], mask=[0, 0, 0, 1]), 0.3, "too little to hold a tail out"),
        (encode([0, 1, 0, 1]), 0.0, "the fraction to hold out is 0.0: it must lie between 0 and 1"),
        (encode([0, 1, 0, 1]), 1.0, "the fraction to hold out is 1.0"),
    ],
)
def test_what_cannot_be_held_out(data: Encoded, fraction: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hold_out(data, fraction)


class Scripted(Validation):
    """Gives prepared scores, one a step."""

    def __init__(self, scores: list[float]) -> None:
        self.continues, self.scores = False, iter(scores)

    def score(self, *given: object) -> float:
        return next(self.scores)


def test_the_best_parameters_are_kept() -> None:
    case = problem("glnn")
    trainer = Trainer(case.model, case.data, case.params, Settings(), Scripted([-9.0, -5.0, -7.0, -5.0, -6.0]))
    seen = []
    trainer.run("5 steps", callbacks=(lambda info, t: seen.append(t.progress.params),))
    assert trainer.progress.best is seen[1] and trainer.progress.params is seen[4]
    assert (trainer.progress.best_score, trainer.progress.best_step) == (-5.0, 2)
    assert [info.validation for info in trainer.progress.history] == [-9.0, -5.0, -7.0, -5.0, -6.0]


def test_without_validation_the_last_are_best() -> None:
    case = problem("glnn")
    trainer = Trainer(case.model, case.data, case.params, Settings())
    progress = trainer.run("4 steps")
    assert progress.best is progress.params and progress.best_step == 4
    assert progress.history[-1].validation is None and progress.best_score == progress.history[-1].log_likelihood


def test_patience_ends_a_run() -> None:
    case = problem("glnn")
    scores = [-9.0, -5.0, -7.0, -4.0, -6.0, -4.5, -4.0, -1.0]
    trainer = Trainer(case.model, case.data, case.params, Settings(patience=3), Scripted(scores))
    progress = trainer.run("100 steps")
    # Best at step 4; steps 5, 6 and 7 are no better.
    assert (progress.reason, progress.step, progress.best_step) == ("patience", 7, 4)


def test_scores_that_are_not_finite_are_never_the_best() -> None:
    case = problem("glnn")
    trainer = Trainer(case.model, case.data, case.params, Settings(), Scripted([-np.inf, -3.0, -np.inf]))
    progress = trainer.run("3 steps")
    assert (progress.best_step, progress.best_score) == (2, -3.0)


def test_validation_is_scored_at_the_first_step_and_every_so_many() -> None:
    """The same steps, and the best of those that were scored."""
    case = problem("glnn", lengths=(40,))
    every, some = (
        Trainer(case.model, case.data, case.params, Settings(validate_every=k), Validation(case.model, case.data)).run(
            "8 steps"
        )
        for k in (1, 3)
    )
    assert [info.log_likelihood for info in some.history] == [info.log_likelihood for info in every.history]
    expected = [info.validation if info.step in (1, 4, 7) else None for info in every.history]
    assert [info.validation for info in some.history] == expected
    scores = {info.step: info.validation for info in some.history if info.validation is not None}
    assert some.best_step == max(scores, key=scores.__getitem__) and some.best_score == scores[some.best_step]
    with pytest.raises(ValueError, match="validate_every is 0"):
        Settings(validate_every=0)
