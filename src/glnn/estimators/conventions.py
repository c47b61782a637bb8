"""What scikit-learn expects of a model, without importing it: its base class takes a second to import.

Its tools (clone, searches, cross-validation, pipelines) ask for these methods and not for the class, and those that
need something of scikit-learn are only called by it.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any, Self

from glnn.sequences.errors import one_line


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


class Conventions:
    """Parameters are the arguments of `__init__`, which stores them under their names."""

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """Every parameter with its default, sorted by name."""
        arguments = inspect.signature(cls).parameters
        return {name: arguments[name].default for name in sorted(arguments)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; there are none inside others, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in self.default_params()}

    def set_params(self, **params: Any) -> Self:
        """Set some of the parameters; `fit` looks at their values."""
        known = self.default_params()
        for name in params:
            if name not in known:
                names = ", ".join(known)
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}: its parameters are {names}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The call that makes it, with the parameters that differ from their defaults."""
        defaults = self.default_params()
        changed = ((name, value) for name, value in self.get_params().items() if repr(value) != repr(defaults[name]))
        return f"{type(self).__name__}({', '.join(f'{name}={one_line(value)}' for name, value in changed)})"

    def _repr_html_(self) -> str | None:
        """For notebooks: scikit-learn's picture of a model, or without scikit-learn the text of `repr`."""
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        """Sequences of symbols, not rows of numbers, and no target beside them."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
            non_deterministic=True,
        )
