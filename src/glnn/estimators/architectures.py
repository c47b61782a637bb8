"""The networks as estimators: GLNN, GNN, RNN, LSTM, and any other that is registered.

They differ in the recurrence, in the default metric, and in that a GLNN takes time scales. `estimator`
finds the class of any registered model by its name: a class of this folder, or one made from a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from inspect import signature
from typing import Any

from glnn import models, registry
from glnn.estimators.base import SequenceModel
from glnn.estimators.network import Network
from glnn.estimators.parameters import again, choice, described, number, parameter
from glnn.registry import Entry
from glnn.sequences import InputError

# What every network takes.
_GIVEN = ("graph", "alphabet_size", "activation")


@described
@dataclass(eq=False, repr=False, kw_only=True)
class GLNN(Network):
    """The gated leaky neural network, V_j^{t+1} = V_j^t + Σ_i τ_{ij x_t} a_i^t: a unit keeps its value."""

    alpha: float = parameter(
        0.5, partial(number, low=0.0, open_low=True), "strength of the feedback of each unit at the start"
    )
    time_scales: Any = parameter(
        None,
        None,
        "how fast each unit forgets at the start (μ_j, one for each unit, at most alpha; 1/μ_j is about how many "
        "symbols it remembers); None for the paper's 1/(j+1)",
    )

    _model = models.GLNN
    _own = ("alpha", "time_scales")
    _for_each_unit = ("time_scales",)


@described
@dataclass(eq=False, repr=False, kw_only=True)
class GNN(Network):
    """The gated neural network, V_j^{t+1} = Σ_i τ_{ij x_t} a_i^t."""

    _model = models.GNN


@described
@dataclass(eq=False, repr=False, kw_only=True)
class RNN(Network):
    """The recurrent neural network, V_j^{t+1} = ρ_{j x_t} + Σ_i τ_ij a_i^t.

    Its default metric is quasi-diagonal, as in the paper: the full one has a block for each unit that grows with the
    alphabet.
    """

    _model = models.RNN
    _metric = "qdrbpm"
    _gated = False
    # As many parameters between units as an LSTM of 64 has.
    _full = 128


@described
@dataclass(eq=False, repr=False, kw_only=True)
class LSTM(Network):
    """The LSTM with peepholes; `units` are its cells, and its default metric is quasi-diagonal, like the RNN's.

    The activation "logistic" writes hidden activities in (0, 1) instead of (−1, 1): the same network.
    """

    activation: str = parameter("tanh", partial(choice, allowed=("tanh", "logistic")), '"tanh" or "logistic"')

    _model = models.LSTM
    _metric = "qdrbpm"
    _gated = False
    _full_of_long = 256
    _cost = 2.5


def _estimator_from(model: Any, name: str, about: str, defaults: dict[str, Any]) -> type[Network]:
    """The estimator of a network that has no class of its own here.

    What the network's `__init__` takes after graph, alphabet size and activation becomes a parameter; `defaults` are
    for those that all networks have.
    """
    taken = [one for one in signature(model).parameters.values() if one.name not in _GIVEN]
    own = {one.name: parameter(one.default, None, "as the network takes it") for one in taken}
    changed = {key: again(Network, key, value) for key, value in defaults.items()}
    namespace: dict[str, Any] = {
        "__annotations__": dict.fromkeys([*own, *changed], Any),
        "__doc__": f"{about[0].upper()}{about[1:]}.",
        "__module__": __name__,
        "_model": model,
        "_own": tuple(own),
        **own,
        **changed,
    }
    made: Any = type(name, (Network,), namespace)
    return described(dataclass(eq=False, repr=False, kw_only=True)(made))  # type: ignore[no-any-return]


def estimator(name: str) -> type[SequenceModel]:
    """The class of a name, such as "glnn"."""
    known = registry.models()
    if name.lower() not in known:
        from difflib import get_close_matches

        close = get_close_matches(name.lower(), known, n=1, cutoff=0.4)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise InputError(f"there is no model {name!r}: there are {', '.join(known)}{meant}")
    return estimator_of(known[name.lower()])


def estimators() -> dict[str, type[SequenceModel]]:
    """Every class by its title, such as "GLNN"."""
    return {entry.title: estimator_of(entry) for entry in registry.models().values()}


def estimator_of(entry: Entry) -> type[SequenceModel]:
    """The class of an entry of the registry."""
    kind = entry.load()
    if not entry.network:
        return kind  # type: ignore[no-any-return]
    explicit = globals().get(entry.title)
    if explicit is not None and getattr(explicit, "_model", None) is kind:
        return explicit  # type: ignore[no-any-return]
    return _made(kind, entry.title, entry.about, tuple(sorted(entry.defaults.items())))


@cache
def _made(kind: Any, title: str, about: str, defaults: tuple[tuple[str, Any], ...]) -> type[SequenceModel]:
    return _estimator_from(kind, title, about, dict(defaults))
