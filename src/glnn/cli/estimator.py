"""The estimator that options ask for: names of models, and which options each of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel

# Where the command line calls a parameter by another name.
_OPTIONS = {"n_jobs": "--threads", "random_state": "--seed"}


def estimator(name: str, given: dict[str, Any], common: dict[str, Any]) -> SequenceModel:
    """The model of a name, with the options that were given, and of `common` those that it has."""
    from glnn import estimators
    from glnn.sequences import InputError

    try:
        kind = estimators.estimator(name)
    except InputError as error:
        raise InputError(f"--model {name}: {error}") from None
    known = kind.default_params()
    for parameter in given:
        if parameter not in known:
            option = _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")
            raise InputError(f"{option} is not for the model {name.lower()}: leave it out")
    return kind(**{key: value for key, value in common.items() if key in known} | given)


def default_model(given: dict[str, Any]) -> str:
    """The model where none is named: a mixture, or a GLNN where an option is for networks."""
    from glnn import estimators

    known = estimators.estimator("mixture").default_params()
    return "mixture" if all(parameter in known for parameter in given) else "glnn"


def number_or_auto(option: str, text: str | None, least: int | None = None) -> int | str | None:
    """A whole number, of at least `least` where the model does not see to that, or "auto" as it is."""
    from glnn.sequences import InputError

    if text is None or text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"{option} {text}: give a whole number, or auto") from None
    if least is not None and number < least:
        raise InputError(f"{option} {text}: give {least} or more, or auto")
    return number
