"""Small fitted models that many tests look at; none of them is changed by a test."""

from __future__ import annotations

from typing import Any

import pytest

from glnn import registry
from glnn.estimators import SequenceModel, estimators

TEXT = "the cat sat on the mat and the dog sat on the log. " * 12
CASES = [list("abab"), list("ab"), list("ababab"), list("abba")] * 6

MODELS: dict[str, type[SequenceModel]] = estimators()
NETWORKS = {entry.title: MODELS[entry.title] for entry in registry.networks().values()}


def make(name: str, **parameters: Any) -> SequenceModel:
    """An unfitted model of little cost, over the symbols of the data alone."""
    little = {"depth": 4, "units": 5, "degree": 3, "budget": "6 steps", "random_state": 0, "validation_fraction": 0.1}
    little |= {"recipe": "paper", "unknown": "error"}
    known = MODELS[name].default_params()
    return MODELS[name](verbose=0, **{key: value for key, value in little.items() if key in known} | parameters)


@pytest.fixture(scope="session", params=list(MODELS))
def of_text(request: pytest.FixtureRequest) -> SequenceModel:
    return make(request.param).fit(TEXT)


@pytest.fixture(scope="session", params=list(MODELS))
def of_cases(request: pytest.FixtureRequest) -> SequenceModel:
    return make(request.param).fit(CASES)


@pytest.fixture(scope="session", params=list(MODELS))
def with_escape(request: pytest.FixtureRequest) -> SequenceModel:
    return make(request.param, unknown="escape").fit(TEXT)
