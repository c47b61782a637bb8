"""Compiles what a mixture's networks call, from the first step to what they say of the end of the data.

`glnn train` starts it in a process of its own the first time of all.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from glnn.contexts.mixing import CHUNK
from glnn.estimators.mixture_networks import AUTOMATIC
from glnn.predictors.mixture import pieces
from glnn.predictors.mixture_recipe import for_network
from glnn.sequences import encode
from glnn.training import fitting


def main() -> None:
    """A short training of two networks of each kind on a short text."""
    # The process that started this one compiles too, and would have to be waited for.
    fitting.compiling = lambda display: nullcontext()  # type: ignore[assignment,return-value]
    data = for_network(encode("abracadabra, " * 80))
    small: dict[str, Any] = {"units": 32, "degree": 3, "members": 2, "training": "stochastic", "budget": "0.2s"}
    for kind, _ in AUTOMATIC:
        network = kind(**small, end=False, unknown="error", random_state=0, n_jobs=1, verbose=0).fit(data)
        for _ in pieces((network.predictor_,), data, CHUNK, data.codes.size - 20):
            pass


if __name__ == "__main__":
    main()
