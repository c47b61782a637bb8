"""Compression with every model: the data come back, and cost what `bits` says."""

from __future__ import annotations

import pytest

from glnn.codec import WrongModel
from glnn.estimators import SequenceModel

from .conftest import CASES, TEXT, make

HEADER = 64 * 8


def test_a_text(of_text: SequenceModel) -> None:
    for data in (TEXT, "t", ""):
        blob = of_text.compress(data)
        assert of_text.decompress(blob) == data
        assert 8 * len(blob) <= 1.001 * of_text.bits(data) + HEADER


def test_several_sequences(of_cases: SequenceModel) -> None:
    blob = of_cases.compress(CASES)
    assert [list(case) for case in of_cases.decompress(blob)] == CASES
    assert 8 * len(blob) <= 1.001 * of_cases.bits(CASES) + HEADER


def test_unknown_symbols(with_escape: SequenceModel) -> None:
    data = "the Zoo, überall " * 5
    blob = with_escape.compress(data)
    assert with_escape.decompress(blob) == data
    assert 8 * len(blob) <= 1.001 * with_escape.bits(data) + HEADER


@pytest.mark.parametrize("name", ["GLNN", "LSTM"])
def test_another_model_refuses(name: str) -> None:
    first, second = make(name).fit(TEXT), make(name, random_state=1).fit(TEXT)
    with pytest.raises(WrongModel):
        second.decompress(first.compress(TEXT))
