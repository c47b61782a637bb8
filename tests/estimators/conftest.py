"""Small fitted models that many tests look at; none of them is changed by a test."""

from __future__ import annotations

from typing import Any

import pytest

from glnn.estimators import GLNN, GNN, HMM, LSTM, RNN, ContextTree, SequenceModel

TEXT = "the cat sat on the mat and the dog sat on the log. " * 12
CASES = [list("abab"), list("ab"), list("ababab"), list("abba")] * 6

NETWORKS = {"GLNN": GLNN, "GNN": GNN, "RNN": RNN, "LSTM": LSTM}
MODELS: dict[str, type[SequenceModel]] = {**NETWORKS, "HMM": HMM, "ContextTree": ContextTree}


def make(name: str, **parameters: Any) -> SequenceModel:
    """An unfitted model of little cost."""
    if name == "ContextTree":
        parameters = {"depth": 4, **parameters}
    else:
        parameters = {"units": 5, "degree": 3, "budget": "6 steps", "random_state": 0, **parameters}
        parameters = {"validation_fraction": 0.1, **parameters}
    return MODELS[name](verbose=0, **parameters)


@pytest.fixture(scope="session", params=list(MODELS))
def of_text(request: pytest.FixtureRequest) -> SequenceModel:
    return make(request.param).fit(TEXT)


@pytest.fixture(scope="session", params=list(MODELS))
def of_cases(request: pytest.FixtureRequest) -> SequenceModel:
    return make(request.param).fit(CASES)


@pytest.fixture(scope="session", params=list(MODELS))
def with_escape(request: pytest.FixtureRequest) -> SequenceModel:
    return make(request.param, unknown="escape").fit(TEXT)
