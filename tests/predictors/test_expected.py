"""What was expected: the likeliest symbol at a position, as one step after the other gives it."""

from __future__ import annotations

import numpy as np
import pytest

import glnn
from glnn.predictors.expected import expected_at
from glnn.sequences import Reader
from glnn.sequences.special import ESCAPE

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
