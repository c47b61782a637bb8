"""The methods that estimators inherit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError

from glnn.codec import compress
from glnn.estimators import SequenceModel
from tests.codec.predictors import predictor


class Model(SequenceModel):
    """Something that can be fitted."""

    predictor_: Any

    def fit(self) -> Model:
        self.predictor_ = predictor("hmm")
        return self


def test_methods_are_the_functions(tmp_path: Path) -> None:
    model = Model().fit()
    blob = model.compress("abba")
    assert blob == compress(model.predictor_, "abba")
    assert model.decompress(blob) == "abba"
    (tmp_path / "plain").write_bytes(b"fed a bad egg\n".replace(b"gg\n", b"\n"))
    seen: list[float] = []
    model.compress_file(tmp_path / "plain", tmp_path / "packed", progress=seen.append)
    model.decompress_file(tmp_path / "packed", tmp_path / "back", progress=seen.append)
    assert (tmp_path / "back").read_bytes() == (tmp_path / "plain").read_bytes()
    assert seen.count(1.0) == 2


def test_a_model_that_is_not_fitted_says_so(tmp_path: Path) -> None:
    model = Model()
    for call in (
        lambda: model.compress("a"),
        lambda: model.decompress(b""),
        lambda: model.compress_file(tmp_path, tmp_path),
        lambda: model.decompress_file(tmp_path, tmp_path),
    ):
        with pytest.raises(NotFittedError):
            call()
