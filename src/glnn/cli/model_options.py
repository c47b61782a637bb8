"""Options that are parameters of the models, read from where these are declared; and the model that they ask for.

    units: int | str = parameter("auto", partial(integer, low=1, word="auto"), "size of the network")

in an estimator also makes `--units`, with its check and its help. Nothing is imported for it, so that help stays quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glnn import registry
from glnn.cli.options import Command, as_one

if TYPE_CHECKING:
    from glnn.estimators import SequenceModel

# Set by other options, or not a single word.
_NO_OPTIONS = {"budget", "random_state", "n_jobs", "unknown", "end", "alphabet", "verbose", "trainer", "time_scales"}
# Parameters with another name on the command line.
_OTHER_NAMES = {"n_jobs": "--threads", "random_state": "--seed"}


def option_of(name: str) -> Any:
    """The type of an option, as typer reads it, for a parameter of the models."""
    declared, option = registry.parameters()[name], _name_of(name)
    about = f"{declared.about[0].upper()}{declared.about[1:]}".replace('"', "").replace("`", "")
    if name == "metric":
        metrics = (f"{metric}: {found.about}" for metric, found in registry.metrics().items())
        about = f"{'; '.join(metrics)}; adam: chunk by chunk"
    if "bool" in declared.type:
        return Annotated[bool | None, typer.Option(f"{option}/--no-{option[2:]}", help=f"{about}.")]
    metavar = {"int": "N", "float": "N", "str": "NAME"}.get(declared.type.split()[0], "VALUE")
    return Annotated[str | None, typer.Option(option, metavar=metavar, help=f"{about}.")]


def with_model_options(*only: str) -> Callable[[Command], Command]:
    """Give a command an option for every parameter of the models, or for some of them.

    The command gets those that were given as `parameters`; help lists them in its place.
    """
    names = only or tuple(name for name in registry.parameters() if name not in _NO_OPTIONS)

    def given(chosen: dict[str, Any]) -> dict[str, Any]:
        return {name: value_of(value) for name, value in chosen.items() if value is not None}

    return as_one("parameters", {name: (option_of(name), None) for name in names}, given)


def value_of(text: Any) -> Any:
    """A number where the text is one; None for "none"; else the text, or the flag, as it is."""
    if not isinstance(text, str) or text == "none":
        return None if text == "none" else text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def estimator(name: str, given: dict[str, Any], common: dict[str, Any]) -> SequenceModel:
    """The model of that name with the options that were given, checked, and those of `common` that it has."""
    from glnn import estimators
    from glnn.sequences import InputError

    try:
        kind = estimators.estimator(name)
    except InputError as error:
        raise InputError(f"--model {name}: {error}") from None
    known = kind.default_params()
    for parameter, value in given.items():
        if parameter not in known:
            raise InputError(f"{_name_of(parameter)} is not for the model {name.lower()}: leave it out")
        declared = getattr(kind, "__dataclass_fields__", {}).get(parameter)
        if declared is not None and declared.metadata.get("check") is not None:
            declared.metadata["check"](_name_of(parameter), value)
    return kind(**{key: value for key, value in common.items() if key in known} | given)


def default_model(given: dict[str, Any]) -> str:
    """The default model: a mixture, or a GLNN if an option is for networks."""
    from glnn import estimators

    known = estimators.estimator("mixture").default_params()
    return "mixture" if all(parameter in known for parameter in given) else "glnn"


def _name_of(parameter: str) -> str:
    return _OTHER_NAMES.get(parameter, f"--{parameter.replace('_', '-')}")
