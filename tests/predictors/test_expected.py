"""What was expected: the likeliest symbol at a position, as one step after the other gives it."""

from __future__ import annotations

import numpy as np
import pytest

import glnn
from glnn.predictors.escape import WithEscape
from glnn.predictors.expected import expected_at
from glnn.sequences import Reader
from glnn.sequences.alphabet import ESCAPE

pytestmark = pytest.mark.small


def test_expected_is_what_stepping_gives() -> None:
    data = [list("abcab"), list("ac"), list("abzab")]
    model = glnn.ContextTree(depth=2, verbose=0, unknown="escape").fit([list("abcabc"), list("abca")] * 3)
    encoded = Reader(model.alphabet_).read(data).encoded
    found = expected_at(model.predictor_, encoded, [0, 7, 11, 14])
    assert sorted(found) == [0, 7, 11, 14]
    for position, there in found.items():
        which = int(np.searchsorted(encoded.starts, position, side="right")) - 1
        state = model.predictor_.begin()
        for code in encoded.codes[encoded.starts[which] : position]:
            state.advance(int(code))
        pi = state.probabilities()
        assert there.given == pytest.approx(pi[encoded.codes[position]], rel=1e-12)
        pi[model.alphabet_.symbols.index(ESCAPE)] = 0.0
        assert there.code == int(np.argmax(pi)) and there.probability == pytest.approx(pi.max(), rel=1e-12)
    assert expected_at(model.predictor_, encoded, []) == {}


def test_an_escape_is_never_expected_and_later_blocks_are_found() -> None:
    model = glnn.ContextTree(depth=1, verbose=0, learning="frozen", unknown="escape").fit("abcb" * 30)
    likely = WithEscape(model.predictor_.inner, model.alphabet_, 0.9)
    encoded = Reader(model.alphabet_).read("abcb" * 1100).encoded
    places = [1, 4095, 4096, 4301]
    found = expected_at(likely, encoded, places)
    assert [model.alphabet_.symbols[found[place].code] == "b" for place in places] == [True, True, False, True]
    assert all(there.probability < 0.1 for there in found.values())
    assert found[1].given == pytest.approx(found[4301].given, rel=1e-12)
