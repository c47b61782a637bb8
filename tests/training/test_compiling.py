"""Compiling is announced where something is compiled, and only there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import pytest

from glnn.training.compiling import said_if_compiling


class Spy:
    def __init__(self) -> None:
        self.said: list[str] = []

    @contextmanager
    def said_if_slow(self, text: str) -> Iterator[None]:
        self.said.append(text)
        yield


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_only_what_is_compiled_is_said() -> None:
    spy = Spy()
    twice = numba.njit(lambda x: 2 * x)
    with said_if_compiling(spy):  # type: ignore[arg-type]
        pass
    assert spy.said == []
    with said_if_compiling(spy):  # type: ignore[arg-type]
        assert twice(2) == 4 and twice(2.0) == 4.0
    assert spy.said == ["compiling kernels, once"]
    with said_if_compiling(spy):  # type: ignore[arg-type]
        assert twice(3) == 6
    assert len(spy.said) == 1
