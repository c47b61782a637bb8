"""Whether networks speak to the mixer or stand apart from it, with odds between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from glnn.predictors.mixture_trial import Trial
from glnn.predictors.protocol import StepwisePredictor
from glnn.sequences import Encoded, TrainingData, encode
from glnn.training.validation import split

RANDOM = "".join(np.random.default_rng(0).choice(list("01"), 3000).tolist())
HALF = "".join(f"{'abcd'[k % 4]}{bit}" for k, bit in enumerate(RANDOM[:1500]))


class Knows(StepwisePredictor):
    """Where one of `symbols` will come, gives one of them 0.9, nine times of ten the right one; else knows nothing."""

    def __init__(self, data: Encoded, symbols: str) -> None:
        self.alphabet, self._codes = data.alphabet, data.codes
        self._known = {data.alphabet.codes[symbol] for symbol in symbols}
        wrong = np.random.default_rng(1).random(data.codes.size) < 0.1
        first, second = sorted(self._known)
        self._says = np.where(wrong, first + second - data.codes, data.codes)

    def begin(self) -> Any:
        return KnowsState(self)


class KnowsState:
    def __init__(self, model: Knows) -> None:
        self._model, self._at = model, 0

    def probabilities(self) -> np.ndarray:
        size, code = len(self._model.alphabet), int(self._model._codes[self._at])
        row = np.full(size, 1.0 / size)
        if code in self._model._known:
            row[:] = 1e-9
            row[sorted(self._model._known)] = 0.1
            row[self._model._says[self._at]] = 0.9
        return row

    def advance(self, code: int) -> None:
        self._at += 1

    def copy(self) -> KnowsState:
        found = KnowsState(self._model)
        found._at = self._at
        return found


def apart(text: str, symbols: str) -> tuple[Trial, bool, Knows]:
    data = encode(text)
    trial = Trial(data, split(TrainingData(data), 0.2), online=True, most=1)
    member = Knows(data, symbols)
    return trial, trial.stand_apart((member,)), member


def test_who_knows_all_that_can_be_known_stands_apart() -> None:
    trial, alone, member = apart(RANDOM, "01")
    assert alone
    recipe = trial.recipe((member,), apart=True)
    assert recipe.cut == len(RANDOM) and recipe.beside.networks[0] > 0.9 and not recipe.choose


def test_who_knows_what_contexts_do_not_speaks_to_the_mixer() -> None:
    trial, alone, member = apart(HALF, "01")
    assert not alone
    assert trial.recipe((member,)).cut == trial.cut
