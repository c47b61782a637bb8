"""A pass over a chunk: its gradient against differences of its likelihood, and side by side against one by one."""

from __future__ import annotations

import numpy as np
import pytest

from glnn import registry
from glnn.metrics import TRANSITION_METHODS
from glnn.models import Params
from glnn.training.corpus import Chunk, Streams
from glnn.training.misreading import misread
from glnn.training.noise import Noise
from glnn.training.passes import BesidePass, GeneralPass, pass_for
from glnn.training.settings import ADAM
from tests.training.problems import Problem, problem

# As plain Python, numbers of 32 bits that wrap around are told of; here they are meant to.
pytestmark = [pytest.mark.small, pytest.mark.filterwarnings("ignore:overflow encountered")]
NAMES = list(registry.networks())
NOISE = Noise(0.3, 5)


def case(name: str, **options: object) -> Problem:
    given = {"units": 5, "degree": 3, "symbols": 4, "lengths": (60, 3, 45, 20), "masked": True, "seed": 2, **options}
    return problem(name, **given)  # type: ignore[arg-type]


def streams(given: Problem) -> Streams:
    return Streams(given.data, "equal", streams=4, length=15)


def next_of(places: Streams, draw: int) -> Chunk:
    """The next chunk, with symbols that are misread."""
    chunk = misread(places.next(), 0.3, 1, draw)
    assert (chunk.read != chunk.x).any()
    return chunk


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_that_of_the_likelihood(name: str) -> None:
    given = case(name)

    def run(params: Params) -> tuple[float, Params]:
        found = GeneralPass(given.model, ADAM, 4, given.params)(params, next_of(streams(given), 9), NOISE, 9)
        assert found.failure is None
        sums = found.transition
        return found.log_likelihood, Params(found.writing.gradient, sums.gradient, sums.start_gradient)

    gradient = run(given.params)[1]
    generator = np.random.default_rng(0)
    for part in ("w", "theta", "V0"):
        direction = generator.standard_normal(getattr(given.params, part).shape)
        there, back = (
            run(given.params.replace(**{part: getattr(given.params, part) + h * direction}))[0] for h in (1e-5, -1e-5)
        )
        expected = (there - back) / 2e-5
        np.testing.assert_allclose((getattr(gradient, part) * direction).sum(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("activation", "units", "degree"), [("tanh", 5, 3), ("logistic", 5, 3), ("tanh", 19, 2), ("logistic", 11, 2)]
)
def test_side_by_side_is_the_same_pass(name: str, activation: str, units: int, degree: int) -> None:
    """Few edges and many, whole vectors of units and not."""
    given = case(name, activation=activation, units=units, degree=degree)
    one = pass_for(given.model, ADAM, 4, given.params)
    other = GeneralPass(given.model, ADAM, 4, given.params)
    assert isinstance(one, BesidePass)
    places, same = streams(given), streams(given)
    for draw in range(3):
        fast = one(given.params, next_of(places, draw), NOISE, draw)
        slow = other(given.params, next_of(same, draw), NOISE, draw)
        np.testing.assert_allclose(fast.log_likelihood, slow.log_likelihood, rtol=1e-5)
        assert fast.predicted == pytest.approx(slow.predicted, rel=1e-14)
        for left, right in (
            (fast.transition.gradient, slow.transition.gradient),
            (fast.transition.start_gradient, slow.transition.start_gradient),
            (fast.writing.gradient, slow.writing.gradient),
        ):
            np.testing.assert_allclose(left, right, atol=2e-5 * max(np.abs(right).max(), 1.0))
        np.testing.assert_allclose(one.state, other.state, atol=1e-5)


@pytest.mark.parametrize("name", ["glnn", "gnn"])
def test_output_in_single_precision_is_the_same_pass(name: str) -> None:
    given = case(name)
    passes = (GeneralPass(given.model, ADAM, 4, given.params, precision) for precision in (np.float32, np.float64))
    single, double = (one(given.params, streams(given).next(), NOISE, 1) for one in passes)
    assert single.log_likelihood != double.log_likelihood
    np.testing.assert_allclose(single.log_likelihood, double.log_likelihood, rtol=1e-5)
    np.testing.assert_allclose(single.transition.gradient, double.transition.gradient, atol=2e-5)
    np.testing.assert_allclose(single.writing.gradient, double.writing.gradient, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_takes_the_general_pass_and_the_same_gradient(name: str) -> None:
    given = case(name)
    plain = GeneralPass(given.model, ADAM, 4, given.params)(given.params, streams(given).next(), NOISE, 1)
    for metric in ("rbpm", "qdruop", "rms"):
        chosen = pass_for(given.model, TRANSITION_METHODS[metric], 4, given.params)
        assert isinstance(chosen, GeneralPass)
        found = chosen(given.params, streams(given).next(), NOISE, 1)
        np.testing.assert_allclose(found.transition.gradient, plain.transition.gradient, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.writing.gradient, plain.writing.gradient, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.log_likelihood, plain.log_likelihood, rtol=1e-12)


def test_a_network_that_computes_something_else_is_not_taken_for_its_ancestor() -> None:
    kind = type(case("lstm").model)

    class Other(kind):  # type: ignore[misc, valid-type]
        def forward(self, *arguments: object) -> None:
            super().forward(*arguments)

    assert kind.side_by_side is not Other.side_by_side
    assert Other(case("lstm").model.graph, 3).side_by_side() is None  # type: ignore[attr-defined]
