"""A model that predicts has been fitted."""

from __future__ import annotations

import sys
from typing import Any


class NotFittedError(ValueError, AttributeError):
    """What scikit-learn raises for a model that is not fitted, where scikit-learn is not in use."""


def check_fitted(model: Any) -> None:
    """Refuse a model without the `predictor_` that `fit` sets."""
    if hasattr(model, "predictor_"):
        return
    # Whoever catches scikit-learn's error has imported it; nobody else should need it.
    error = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", NotFittedError)
    name = type(model).__name__
    raise error(f"this {name} is not fitted yet: call fit(data) first, or read a fitted one with glnn.load")
