"""Small models to look at, trained once for all tests of the page."""

from __future__ import annotations

from typing import Any

import pytest

from glnn.estimators import GLNN
from glnn.sequences import Sequences
from glnn.sources import AnBn

HOSTILE = "<script>alert(1)</script>"
IMAGE = '<img src=x onerror="alert(2)">'


@pytest.fixture(scope="session")
def counting_text() -> str:
    """Short lines of aⁿ and bⁿ."""
    return AnBn(shortest=12, longest=30).sample(12, 0).text


@pytest.fixture(scope="session")
def counter(counting_text: str) -> Any:
    """A GLNN on aⁿbⁿ."""
    return GLNN(recipe="paper", units=6, degree=3, budget="25 steps", random_state=0, verbose=0).fit(counting_text)


@pytest.fixture(scope="session")
def event_log() -> Sequences:
    """Cases of named events, among them names that are HTML."""
    cases = [["register", "check ticket", "decide", "pay"], ["register", HOSTILE, "decide", "reject"]] * 12
    names = [f"case {k}" for k in range(len(cases))]
    names[1] = IMAGE
    return Sequences(cases, names)


@pytest.fixture(scope="session")
def clerk(event_log: Sequences) -> Any:
    """A GLNN on the event log."""
    return GLNN(recipe="paper", units=5, degree=2, budget="25 steps", random_state=0, verbose=0).fit(event_log)
