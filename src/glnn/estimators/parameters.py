"""Parameters of estimators: declared once, looked at when fitting, as scikit-learn wants it.

    damping: float = parameter(1.0, partial(number, low=0.0), "what is added to the diagonal of the metric")

in a dataclass is all that `__init__`, `get_params`, the checks of `fit`, the help and the model file need. What is
wrong is told with what is allowed.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from glnn.sequences import InputError
from glnn.sequences.errors import one_line

Kind = TypeVar("Kind")


def parameter(default: Any, check: Callable[[str, Any], Any] | None, about: str) -> Any:
    """A parameter: its default, a function of (name, value) that gives the value back checked, and what it is."""
    return field(default=default, metadata={"check": check, "about": about})


def again(kind: type, name: str, default: Any) -> Any:
    """A parameter of another class with another default."""
    found = next(one for one in fields(kind) if one.name == name)
    return field(default=default, metadata=dict(found.metadata))


def checked(model: Any, kind: type | None = None) -> dict[str, Any]:
    """Every declared parameter of a model, looked at; only those that `kind` declares, where it is given."""
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


def integer(name: str, value: Any, low: int, none: bool = False, word: str | None = None) -> Any:
    """A whole number of at least `low`; `none` and `word` ("auto") say what else is allowed."""
    if (none and value is None) or (word is not None and isinstance(value, str) and value == word):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= low:
        return int(value)
    raise InputError(f"{name} is {one_line(value)}: it must be a whole number, {low} or more{_also(none, word)}")


def degree_within(name: str, value: Any, units: Any) -> Any:
    """Edges from each unit: no more than there are units to reach, where their number is given."""
    found = integer(name, value, 1, word="auto")
    if isinstance(found, int) and isinstance(units, Integral) and found > int(units) >= 1:
        raise InputError(f"{name} is {found}, but there are {units} units to reach: give at most {units}, or 'auto'")
    return found


def number(name: str, value: Any, low: float, high: float = math.inf, open_low: bool = False) -> float:
    """A finite number from `low` (or above it) and below `high`."""
    fine = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if fine and (value > low if open_low else value >= low) and value < high:
        return float(value)
    above = f"above {low:g}" if open_low else f"{low:g} or more"
    below = "" if high == math.inf else f" and below {high:g}"
    raise InputError(f"{name} is {one_line(value)}: it must be a number, {above}{below}")


def number_or(word: str, name: str, value: Any, low: float, high: float) -> float | str:
    """A finite number from `low` and below `high`, or a word."""
    if isinstance(value, str) and value == word:
        return word
    try:
        return number(name, value, low, high)
    except InputError as error:
        raise InputError(f"{error}, or {word!r}") from None


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{name} is {one_line(value)}: it must be True or False")


def flag_or_auto(name: str, value: Any) -> bool | str:
    """True, False or "auto"."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value == "auto":
        return value
    raise InputError(f"{name} is {one_line(value)}: it must be True, False or 'auto'")


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
