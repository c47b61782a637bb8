"""A model that predicts has been fitted."""

from __future__ import annotations

from typing import Any


def check_fitted(model: Any) -> None:
    """Refuse, as scikit-learn does and by its error, a model without the `predictor_` that `fit` sets."""
    if hasattr(model, "predictor_"):
        return
    # Here and not above: it takes longer to import than all the rest together.
    from sklearn.exceptions import NotFittedError

    name = type(model).__name__
    raise NotFittedError(f"this {name} is not fitted yet: call fit(data) first, or read a fitted one with glnn.load")
