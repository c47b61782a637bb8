"""A mixture as arrays: the symbols in the order they were read, the shares, and the files of its networks.

What comes from a file is looked at before the compiled loops are led by it.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glnn.contexts.mixing_plan import FIRST, NOW
from glnn.contexts.ngram import LONGEST_ORDER
from glnn.estimators.network import Network
from glnn.estimators.persistence import load
from glnn.predictors.experts import Beside
from glnn.predictors.mixture_recipe import Recipe
from glnn.predictors.odds import Odds
from glnn.storage.model_file import ModelFileError


def arrays_of(recipe: Recipe, networks: tuple[Network, ...], size: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """All that a mixture of `size` symbols is made from again, as arrays and as numbers."""
    arrays = {"codes": recipe.codes.astype(np.min_scalar_type(size)), "starts": recipe.starts}
    for which, network in enumerate(networks):
        arrays[f"network{which}"] = np.frombuffer(_file_of(network), np.uint8)
    arrays["shares"] = np.array(recipe.beside.weights)
    if recipe.beside.odds is not None:
        arrays |= {f"odds/{name}": part for name, part in recipe.beside.odds._asdict().items()}
    numbers = {"cut": recipe.cut, "stationary": recipe.stationary, "averaged": recipe.averaged}
    return arrays, {**numbers, "planned": recipe.planned, "order": recipe.beside.order, "version": recipe.version}


def recipe_from(arrays: dict[str, np.ndarray], fitted: dict[str, Any], size: int, networks: int) -> Recipe:
    """How it was read."""
    codes, beside = _codes(arrays["codes"], size), _beside(arrays["shares"], fitted["order"], networks)
    if "odds/rows" in arrays:
        beside = replace(beside, odds=_odds(arrays, len(beside.places)))
    recipe = Recipe(
        codes,
        arrays["starts"],
        fitted["cut"],
        bool(fitted["stationary"]),
        bool(fitted.get("averaged", False)),
        fitted.get("planned"),
        beside,
        version=fitted.get("version", FIRST),
    )
    _check(recipe)
    return recipe


def networks_from(arrays: dict[str, np.ndarray], size: int) -> tuple[Network, ...]:
    """The networks inside a file."""
    networks: list[Network] = []
    while f"network{len(networks)}" in arrays:
        networks.append(_network_of(arrays[f"network{len(networks)}"], size))
    return tuple(networks)


def _file_of(network: Network) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network"
        network.save(path)
        return path.read_bytes()


def _network_of(content: np.ndarray, size: int) -> Network:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network"
        path.write_bytes(content.astype(np.uint8).tobytes())
        network = load(path)
    if not isinstance(network, Network) or len(network.alphabet_) != size:
        raise ModelFileError(f"a member is no network over {size} symbols")
    return network


def _codes(codes: np.ndarray, size: int) -> np.ndarray:
    if codes.dtype.kind != "u" or codes.ndim != 1 or not codes.size or int(codes.max()) >= size:
        raise ModelFileError(f"the symbols read are no codes of an alphabet of {size}")
    return codes.astype(np.int64)


def _beside(shares: np.ndarray, order: Any, networks: int) -> Beside:
    # Files of the first version have three shares, and networks that speak to the mixer.
    fine = shares.dtype == np.float64 and shares.ndim == 1 and shares.size in (3, 4, 4 + networks)
    if not fine or not (shares >= 0.0).all() or shares[0] <= 0.0 or abs(shares.sum() - 1.0) > 1e-6:
        raise ModelFileError(f"the shares are {shares.tolist()!r}: expected numbers that sum to 1, one for each part")
    own, tree, ngrams, *others = shares.tolist()
    if type(order) is not int or not (ngrams == 0.0 or 1 <= order <= LONGEST_ORDER):
        raise ModelFileError(f"the order of the n-grams is {order!r}: expected 1 to {LONGEST_ORDER}")
    return Beside(own, tree, ngrams, others[0] if others else 0.0, tuple(others[1:]), order)


def _odds(arrays: dict[str, np.ndarray], parts: int) -> Odds:
    odds = Odds(arrays.get("odds/trust", np.empty(0)), arrays["odds/rows"])
    if not odds.fine or odds.rows.shape[1] != parts:
        raise ModelFileError(f"the odds do not fit {parts} parts")
    return odds


def _check(recipe: Recipe) -> None:
    starts = recipe.starts
    fine = starts.dtype.kind == "i" and starts.ndim == 1 and starts.size >= 2 and starts[0] == 0
    if not fine or starts[-1] != recipe.codes.size or (np.diff(starts) <= 0).any():
        raise ModelFileError("the sequences read do not fit the symbols read")
    if recipe.planned is not None and (type(recipe.planned) is not int or not 0 < recipe.planned <= recipe.codes.size):
        raise ModelFileError(f"the plan is made from {recipe.planned!r} of {recipe.codes.size} symbols")
    if recipe.version not in (FIRST, NOW):
        raise ModelFileError(f"the plan is of version {recipe.version!r}: this glnn knows {FIRST} to {NOW}")
    if type(recipe.cut) is not int or not 0 <= recipe.cut <= recipe.codes.size:
        raise ModelFileError(f"the members begin at {recipe.cut!r} of {recipe.codes.size} symbols")
