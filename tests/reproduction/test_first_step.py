"""A first step that saturates is refused, and nothing else is changed by that."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from glnn.reproduction.first_step import MOST, saturated_part
from glnn.reproduction.running import new_trainer, sequences_of
from glnn.reproduction.settings import Setting
from glnn.reproduction.starts import started
from glnn.sequences import InputError

RNN = Setting("music", "rnn", "dh", "fb", 6, 3, 0, "3 steps", 40)
CALM = Setting("music", "lstm", "plain", "plain", 6, 3, 0, "3 steps", 40)


def trained(setting: Setting, steps: int):
    trainer = new_trainer(setting, sequences_of(setting), validated=False)
    before = saturated_part(trainer, trainer.engine.forward(trainer.progress.params))
    infos = [trainer.step() for _ in range(steps)]
    after = saturated_part(trainer, trainer.engine.forward(trainer.progress.params))
    return trainer, infos, before, after


def test_the_first_step_at_one_over_n_saturates_an_rnn_and_can_be_refused() -> None:
    _, (accepted,), before, after = trained(RNN, 1)
    assert accepted.transition_rejected == 0 and after > before + 0.5
    trainer, (careful,), before, after = trained(replace(RNN, first_rate="unsaturated"), 1)
    assert after <= before + MOST and careful.transition_rejected == trainer.accept.refused > 3
    assert careful.transition_rate == accepted.transition_rate * 0.5**careful.transition_rejected > 0


def test_later_steps_are_accepted_as_in_the_paper() -> None:
    trainer, infos, _, _ = trained(replace(RNN, first_rate="unsaturated"), 3)
    refused = trainer.accept.refused
    assert infos[0].transition_rejected == refused
    for before, after in pairwise(infos):
        expected = before.transition_rate * 1.1 * 0.5**after.transition_rejected
        assert after.transition_rate == pytest.approx(expected) and after.log_likelihood > before.log_likelihood


def test_where_nothing_is_refused_the_bits_are_the_same() -> None:
    plain, careful = (trained(setting, 2)[0] for setting in (CALM, replace(CALM, first_rate="unsaturated")))
    assert careful.accept.refused == 0
    for one, other in zip(vars(plain.progress.params).values(), vars(careful.progress.params).values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_rate_of_a_mean() -> None:
    sequences = sequences_of(RNN)
    trainer = new_trainer(replace(RNN, first_rate="mean"), sequences, validated=False)
    length = len(sequences.train.text)
    assert trainer.progress.transition_rate == pytest.approx(1 / (6 * length))
    assert trainer.progress.writing_rate == pytest.approx(1 / 6)


@pytest.mark.parametrize("start", ["quiet", "even"])
@pytest.mark.parametrize("model", ["gnn", "rnn"])
def test_reactions_fall_with_the_time_scale(model: str, start: str) -> None:
    setting = Setting("music", model, "qdh", "rbpm", 6, 3, 0, "1 steps", 40)
    usual, other = (
        new_trainer(found, sequences_of(found), validated=False) for found in (setting, replace(setting, start=start))
    )
    (_, loud), (tau, soft) = (trainer.model.split(trainer.progress.params.theta) for trainer in (usual, other))
    mu = 1 / np.arange(2.0, 8.0)
    np.testing.assert_allclose(soft, loud * (mu / 2 if start == "quiet" else 2 * np.sqrt(mu)), atol=1e-15)
    np.testing.assert_allclose(tau[:, other.model.loops], np.tile(1 - mu, (len(tau), 1)))
    with pytest.raises(InputError, match="no start is called 'loud': there are quiet, even, soft"):
        started("loud", other.model, other.progress.params)


def test_the_time_scales_of_a_gnn_that_is_started_can_go_further() -> None:
    setting = Setting("music", "gnn", "qdh", "rbpm", 6, 3, 0, "1 steps", 40, longest=64)
    found = replace(setting, start="even")
    trainer = new_trainer(found, sequences_of(found), validated=False)
    tau, _ = trainer.model.split(trainer.progress.params.theta)
    np.testing.assert_allclose(1 / (1 - tau[0, trainer.model.loops]), np.geomspace(2.0, 64.0, 6))
    with pytest.raises(InputError, match="longest is 64 for a GNN without a start"):
        new_trainer(setting, sequences_of(setting), validated=False)


@pytest.mark.parametrize("graph", ["", "into"])
def test_the_graph_has_its_edges_from_or_into_each_unit(graph: str) -> None:
    setting = Setting("music", "gnn", "qdh", "rbpm", 12, 3, 0, "1 steps", 40, graph=graph)
    found = new_trainer(setting, sequences_of(setting), validated=False).model.graph
    into, out = set(found.in_degrees), set(np.diff(found.out_ptr))
    assert (into if graph else out) == {3}
    assert len(out if graph else into) > 1
    assert np.count_nonzero(found.sources == found.edge_targets) == 12
