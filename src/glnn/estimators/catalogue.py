"""The estimator of every registered model, by name: a class of this folder, or one made from a network."""

from __future__ import annotations

from functools import cache
from typing import Any

from glnn import registry
from glnn.estimators import architectures
from glnn.estimators.base import SequenceModel
from glnn.registry import Entry
from glnn.sequences import InputError


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
    explicit = getattr(architectures, entry.title, None)
    if explicit is not None and explicit._model is kind:
        return explicit  # type: ignore[no-any-return]
    return _made(kind, entry.title, entry.about, tuple(sorted(entry.defaults.items())))


@cache
def _made(kind: Any, title: str, about: str, defaults: tuple[tuple[str, Any], ...]) -> type[SequenceModel]:
    return architectures.estimator_of(kind, title, about, dict(defaults))
