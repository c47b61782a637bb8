"""Parameters of estimators: declared once, checked when fitting, as scikit-learn wants it.

    damping: float = parameter(1.0, partial(number, low=0.0), "what is added to the diagonal of the metric")

in a dataclass is all that `__init__`, `get_params`, the checks of `fit`, the help and the model file need. An error
says what is wrong and what is allowed.

What scikit-learn expects of a model is here too (`Conventions`), without importing it: its base class takes a second to
import. Its tools (clone, searches, cross-validation, pipelines) ask for these methods and not for the class, and only
scikit-learn calls those that need something of it.
"""

from __future__ import annotations

import difflib
import inspect
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from glnn.metrics import TRANSITION_METHODS, TransitionMethod
from glnn.sequences import InputError
from glnn.sequences.errors import one_line

if TYPE_CHECKING:
    from glnn.predictors import Predictor
    from glnn.sequences import Alphabet
    from glnn.streams.desk import Desk

Kind = TypeVar("Kind")


def parameter(default: Any, check: Callable[[str, Any], Any] | None, about: str) -> Any:
    """A parameter: its default, a function of (name, value) that checks the value and returns it, and what it is."""
    return field(default=default, metadata={"check": check, "about": about})


def again(kind: type, name: str, default: Any) -> Any:
    """A parameter of another class with another default."""
    found = next(one for one in fields(kind) if one.name == name)
    return field(default=default, metadata=dict(found.metadata))


def checked(model: Any, kind: type | None = None) -> dict[str, Any]:
    """Every declared parameter of a model, checked; only those that `kind` declares, if it is given."""
    return {
        one.name: one.metadata["check"](one.name, getattr(model, one.name))
        for one in fields(type(model) if kind is None else kind)
        if one.metadata.get("check") is not None
    }


def described(kind: Kind) -> Kind:
    """Complete the documentation of a class with its parameters."""
    lines = [f"    {one.name}: {one.metadata['about']}" for one in fields(kind) if "about" in one.metadata]  # type: ignore[arg-type]
    kind.__doc__ = f"{(kind.__doc__ or '').rstrip()}\n\n    Parameters:\n\n" + "\n".join(lines) + "\n"
    return kind


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """One of the allowed names."""
    allowed = list(allowed)
    if isinstance(value, str) and value in allowed:
        return value
    near = difflib.get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InputError(f"{name} is {one_line(value)}: it must be one of {', '.join(map(repr, allowed))}{hint}")


def integer(
    name: str, value: Any, low: int, none: bool = False, word: str | None = None, high: int | None = None
) -> Any:
    """A whole number of at least `low` and at most `high`; `none` and `word` ("auto") say what else is allowed."""
    if (none and value is None) or (word is not None and isinstance(value, str) and value == word):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= low:
        if high is None or int(value) <= high:
            return int(value)
        raise InputError(f"{name} is {value}: give at most {high:,}{_also(none, word)}")
    raise InputError(f"{name} is {one_line(value)}: it must be a whole number, {low} or more{_also(none, word)}")


def degree_within(name: str, value: Any, units: Any) -> Any:
    """Edges from each unit: no more than there are units to reach, if their number is given."""
    found = integer(name, value, 1, word="auto")
    if isinstance(found, int) and isinstance(units, Integral) and found > int(units) >= 1:
        raise InputError(f"{name} is {found}, but there are {units} units to reach: give at most {units}, or 'auto'")
    return found


def number(
    name: str, value: Any, low: float, high: float = math.inf, open_low: bool = False, word: str | None = None
) -> Any:
    """A finite number from `low` (or above it) and below `high`; `word` ("auto") says what else is allowed."""
    if word is not None and isinstance(value, str) and value == word:
        return word
    fine = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if fine and (value > low if open_low else value >= low) and value < high:
        return float(value)
    above = f"above {low:g}" if open_low else f"{low:g} or more"
    below = "" if high == math.inf else f" and below {high:g}"
    raise InputError(f"{name} is {one_line(value)}: it must be a number, {above}{below}{_also(False, word)}")


def metric_of(name: str, value: Any) -> Any:
    """A method, or the name of one that exists now: others may have been added since this module was read."""
    if isinstance(value, TransitionMethod):
        return value
    return choice(name, value, ("auto", *TRANSITION_METHODS, "adam"))


def patience_of(name: str, value: Any) -> Any:
    """Whole steps, a part of the budget below 1, None or "auto"."""
    if value is None or value == "auto":
        return value
    if isinstance(value, float) and not isinstance(value, bool) and 0.0 < value < 1.0:
        return value
    try:
        return integer(name, value, 1)
    except InputError:
        raise InputError(
            f"{name} is {one_line(value)}: give a whole number of steps, a part of the budget between 0 and 1, "
            "None for no patience limit, or 'auto'"
        ) from None


def flag(name: str, value: Any, word: str | None = None) -> Any:
    """True or False; `word` ("auto") says what else is allowed."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if word is not None and isinstance(value, str) and value == word:
        return word
    allowed = "True or False" if word is None else f"True, False or {word!r}"
    raise InputError(f"{name} is {one_line(value)}: it must be {allowed}")


def callable_or_none(name: str, value: Any) -> Any:
    """Something to call, or None."""
    if value is None or callable(value):
        return value
    raise InputError(f"{name} is {one_line(value)}: it must be a class or function to call, or None")


def seed(name: str, value: Any) -> int:
    """A seed out of what scikit-learn takes: None (a fresh one), a number, or a generator, which is drawn from."""
    if value is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**32))
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    return int(integer(name, value, 0))


def _also(none: bool, word: str | None) -> str:
    also = [repr(word)] * (word is not None) + ["None"] * none
    return f", or {' or '.join(also)}" if also else ""


class NotFittedError(ValueError, AttributeError):
    """What scikit-learn raises for a model that is not fitted, if scikit-learn is not in use."""


def check_fitted(model: Any) -> None:
    """Refuse a model without the `predictor_` that `fit` sets."""
    if hasattr(model, "predictor_"):
        return
    # Code that catches scikit-learn's error has imported it; nobody else should need it.
    error = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", NotFittedError)
    name = type(model).__name__
    raise error(f"this {name} is not fitted yet: call fit(data) first, or read a fitted one with glnn.load")


class Conventions:
    """Parameters are the arguments of `__init__`, which stores them under their names."""

    predictor_: Predictor
    alphabet_: Alphabet
    escape_probability_: float | None
    # A predictor, and where all of its frozen streams are read; made with the first of them.
    _desk: tuple[Predictor, Desk | None] | None = None

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """Every parameter with its default, sorted by name."""
        arguments = inspect.signature(cls).parameters
        return {name: arguments[name].default for name in sorted(arguments)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; they are never nested, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in self.default_params()}

    def set_params(self, **params: Any) -> Self:
        """Set some of the parameters; `fit` checks their values."""
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
        """Sequences of symbols, not rows of numbers, and no target."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
            non_deterministic=True,
        )
