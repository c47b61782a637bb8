"""The first training on a machine compiles: while a long file is read, and with a guess at how long it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glnn.training.compiling import Ahead

# A shorter file is read in a moment.
_LONG = 1_000_000
# About how many kernels each needs.
_NETWORK, _CONTEXTS = 32, 70


def kernels_of(model: Any) -> int:
    """About how many kernels a training compiles the first time; 0 where they are few."""
    from glnn.estimators.mixture import Mixture
    from glnn.estimators.network import Network

    if isinstance(model, Mixture):
        return _CONTEXTS + (0 if model.networks == 0 else _NETWORK)
    return _NETWORK if isinstance(model, Network) else 0


def compiled_ahead(model: Any, file: Path) -> Ahead | None:
    """Begin to compile what the model needs before a long file is read; None where that is of no use."""
    from glnn.training.compiling import Ahead, nothing_compiled

    try:
        long = file.stat().st_size > _LONG
    except OSError:
        return None  # standard input, or a file that is not there: reading it will tell
    if not long or not nothing_compiled():
        return None
    parameters = model.get_params(deep=False) | {"verbose": 0}
    if "budget" in parameters:
        parameters["budget"] = "1 steps"
    return Ahead(lambda: type(model)(**parameters).fit("abba" * 150))
