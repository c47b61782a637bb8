"""Several chunks in one call: the bits of chunks one by one, and few enough calls that members do not wait for each
other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn.models import Params
from glnn.numeric.blas import addresses, product, product_turned
from glnn.training import unbroken as module
from glnn.training.budget import Budget
from glnn.training.chunk_steps import OneByOne
from glnn.training.records import Progress
from glnn.training.settings import Settings
from glnn.training.stochastic import StochasticTrainer
from glnn.training.unbroken import AT_ONCE, UnbrokenSteps
from tests.training.problems import problem
from tests.training.test_stochastic import assert_same

pytestmark = pytest.mark.skipif(addresses().size == 0, reason="numpy's library is none that kernels can call")
SETTINGS: dict[str, Any] = {"training": "stochastic", "metric": "adam", "noise": 0.1}


def trainer(name: str = "glnn", changes: Any = None, ruined: bool = False, **options: Any) -> StochasticTrainer:
    given = problem(name, **{"units": 6, "degree": 3, "symbols": 4, "lengths": (3000, 3, 900), **options})
    params = given.params
    if ruined:
        params = params.replace(w=np.where(np.arange(params.w.shape[1]) == 1, 1e300, params.w))
    return StochasticTrainer(given.model, given.data, params, Settings(**{**SETTINGS, **(changes or {})}), None, 5)


def both(monkeypatch: pytest.MonkeyPatch, steps: int = 3, **options: Any) -> tuple[Progress, Progress]:
    """The same training with several chunks in a call, and one by one."""
    whole = trainer(**options)
    assert isinstance(whole._steps, UnbrokenSteps)
    found = whole.run(Budget(steps=steps))
    monkeypatch.setattr(module, "addresses", lambda: np.empty(0, np.intp))
    single = trainer(**options)
    assert isinstance(single._steps, OneByOne)
    return found, single.run(Budget(steps=steps))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"name": "gnn"},
        {"units": 19, "degree": 2, "activation": "logistic"},
        {"units": 17, "degree": 17},
        {"symbols": 2, "activation": "linear"},
        # The output of 800 positions is worked on in blocks of 799, and of 546.
        {"symbols": 41},
        {"symbols": 60},
        {"changes": {"noise": 0.0}},
        {"changes": {"averaging": 0.0}},
        {"lengths": (5, 9)},
    ],
    ids=str,
)
def test_the_bits_are_those_of_chunks_one_by_one(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same(*both(monkeypatch, **options))


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_what_is_not_finite_is_told_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, single = both(monkeypatch, ruined=True)
    assert [info.notes for info in whole.history] == [info.notes for info in single.history]
    assert "not finite" in whole.history[0].notes[0]


def test_a_call_takes_several_chunks_and_changes_no_array_that_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    usual = module.walk

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return usual(*arguments)

    monkeypatch.setattr(module, "walk", counted)
    made = trainer(lengths=(9000,))
    first = made.progress.params
    before = Params(*(part.copy() for part in vars(first).values()))
    made.run(Budget(steps=2))
    assert len(calls) == 2 * -(-made._rounds // AT_ONCE) and made._rounds > AT_ONCE
    for part in ("w", "theta", "V0"):
        np.testing.assert_array_equal(getattr(first, part), getattr(before, part))


@pytest.mark.parametrize(
    "options",
    [
        {"masked": True},
        {"name": "rnn"},
        {"changes": {"metric": "rbpm"}},
        {"changes": {"sequence_weights": "equal"}},
        {"units": 1, "degree": 1},
    ],
    ids=str,
)
def test_other_models_methods_and_data_go_one_by_one(options: dict[str, Any]) -> None:
    assert isinstance(trainer(**options)._steps, OneByOne)


def test_products_in_kernels_have_the_bits_of_numpy() -> None:
    generator = np.random.default_rng(0)
    for rows in (1, 2, 3, 50, 799, 800):
        for units, symbols in ((2, 2), (5, 3), (32, 14), (33, 67)):
            a = generator.standard_normal((rows, units), np.float32)
            w = generator.standard_normal((units, symbols), np.float32)
            E, back = np.empty((rows, symbols), np.float32), np.empty((rows, units), np.float32)
            turned, w_turned = np.empty((symbols, units), np.float32), np.ascontiguousarray(w.T)
            product(addresses(), a, w, E)
            product(addresses(), E, w_turned, back)
            product_turned(addresses(), E, a, turned)
            np.testing.assert_array_equal(E, np.dot(a, w))
            np.testing.assert_array_equal(back, np.dot(E, w_turned))
            np.testing.assert_array_equal(turned, E.T @ a)


def test_a_gated_network_that_misreads_takes_chunks_one_by_one() -> None:
    given = problem("glnn", units=6, degree=3, symbols=4, lengths=(3000,))
    given.model.misreads = True
    misreading = StochasticTrainer(given.model, given.data, given.params, Settings(**SETTINGS), None, 5)
    assert isinstance(misreading._steps, OneByOne) and isinstance(trainer()._steps, UnbrokenSteps)
