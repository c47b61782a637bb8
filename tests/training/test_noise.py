"""Noise on the state: standard draws that depend on their number, position and unit only; its place in steps."""

from __future__ import annotations

import numpy as np
import pytest

from glnn import registry
from glnn.models.base import NO_NOISE
from glnn.numeric.scratch import Workspace
from glnn.training import corpus as corpus_module
from glnn.training import trainer as trainer_module
from glnn.training.noise import Noise
from glnn.training.settings import Settings
from glnn.training.trainer import Trainer
from tests.training.problems import problem


def test_draws_are_standard_and_independent() -> None:
    z = Noise(0.5, seed=7).rows(3, 100, 8000, 16).astype(float) / 0.5
    other = Noise(0.5, seed=7).rows(4, 100, 8000, 16).astype(float) / 0.5
    few = 4.0 / np.sqrt(z.size)
    assert abs(z.mean()) < few and abs(z.std() - 1.0) < few and 2.5 < (z**4).mean() < 3.0
    for one, two in ((z[:-1], z[1:]), (z[:, :-1], z[:, 1:]), (z, other)):
        assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < few
    between = np.corrcoef(z.T) - np.eye(16)
    assert np.abs(between).max() < 5.0 / np.sqrt(len(z)) and np.abs(z.mean(axis=0)).max() < 5.0 / np.sqrt(len(z))


def test_a_draw_is_known_by_its_numbers() -> None:
    noise = Noise(1.0, seed=1)
    whole = noise.rows(5, 0, 300, 6)
    np.testing.assert_array_equal(whole[120:170], noise.rows(5, 120, 50, 6))
    for changed in (noise.rows(6, 0, 300, 6), Noise(1.0, seed=2).rows(5, 0, 300, 6)):
        assert (whole != changed).mean() > 0.9
    assert Noise(0.0).rows(0, 0, 10, 3) is NO_NOISE


def test_streams_side_by_side_see_the_same_rows_in_another_order() -> None:
    noise = Noise(0.4, seed=3)
    one_by_one = noise.rows(2, 0, 4 * 15, 11).reshape(4, 15, 11)
    beside = noise.side_by_side(2, (15, 4), 11, Workspace()).reshape(15, 4, 11)
    np.testing.assert_array_equal(beside, one_by_one.transpose(1, 0, 2))
    assert Noise(0.0).side_by_side(0, (5, 2), 3, Workspace()) is NO_NOISE


@pytest.mark.parametrize("name", registry.networks())
@pytest.mark.parametrize("dense", [True, False])
def test_what_is_added_to_the_state(name: str, dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit's own state after a position, and nothing else: the same as a pass that is stopped there and moved."""
    case = problem(name, units=4, degree=2)
    model, params = case.model, case.params
    monkeypatch.setattr(type(model), "dense", property(lambda self: dense))
    weights, x = model.weights(params.theta), np.array([0, 2, 1, 1], np.int32)
    drawn = Noise(0.7, 1).rows(0, 0, len(x), model.units)
    first = np.array([True, False, False, False])
    state, trace = model.begin(params.V0), np.empty((len(x), model.trace_width))
    model.forward(weights, params.V0, x, first, state, trace, drawn)
    by_hand, row = model.begin(params.V0), np.empty((1, model.trace_width))
    for t in range(len(x)):
        model.forward(weights, params.V0, x[t : t + 1], first[t : t + 1], by_hand, row)
        np.testing.assert_allclose(row[0, : model.units], trace[t, : model.units], rtol=1e-12)
        if name == "lstm":
            # Noise on the cells changes what the output gate sees: only c is moved by hand, and h follows from it.
            moved = trace[t, 2 * model.units : 3 * model.units] - row[0, 2 * model.units : 3 * model.units]
            np.testing.assert_allclose(moved, drawn[t], rtol=1e-5)
            by_hand[: model.units] += drawn[t]
            by_hand[model.units :] = trace[t + 1, : model.units] if t + 1 < len(x) else state[model.units :]
        else:
            by_hand += drawn[t]
    np.testing.assert_allclose(by_hand, state, rtol=1e-12)


def steps(name: str, count: int = 3, **settings: object) -> list[np.ndarray]:
    case = problem(name, units=8, degree=3, symbols=4, lengths=(120, 3, 90), masked=True, seed=1, noise=0.1)
    trainer = Trainer(case.model, case.data, case.params, Settings(noise=0.2, **settings), random_state=3)  # type: ignore[arg-type]
    likelihoods = [trainer.step().log_likelihood for _ in range(count)]
    return [np.array(likelihoods), *vars(trainer.progress.params).values()]


@pytest.mark.parametrize("name", ["glnn", "lstm"])
def test_batch_training_with_noise_has_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "stretch_length", lambda units: 50)
    monkeypatch.setattr(corpus_module, "_ROWS", 20)
    usual = steps(name)
    for other in (steps(name, threads=2), steps(name, memory=0)):
        for one, two in zip(usual, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_step_and_its_trials_see_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("glnn", units=5, lengths=(80,))
    trainer = Trainer(case.model, case.data, case.params, Settings(noise=0.3), random_state=3)
    seen: list[int] = []
    rows = Noise.rows
    monkeypatch.setattr(Noise, "rows", lambda self, draw, *rest: (seen.append(draw), rows(self, draw, *rest))[1])
    for step in range(2 * trainer_module.DRAW_STEPS + 1):
        seen.clear()
        rejected = trainer.step().transition_rejected
        first = step % trainer_module.DRAW_STEPS == 0
        assert set(seen) == {step // trainer_module.DRAW_STEPS}
        # One pass for each trial, and one for the first step of a draw.
        assert len(seen) == 1 + rejected + first
