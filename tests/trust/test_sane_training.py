"""Training stays sane on whatever it is given: random small settings on random data, through the public classes.

Nothing crashes, no number is NaN, the likelihood of the training data never falls, and what is held out keeps a finite
score. The data are what breaks things: one symbol only, long constant stretches, symbols that occur once, sequences of
one or two symbols, masks with a single position, more units than data.
"""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

import glnn
from glnn import registry
from glnn.estimators import estimator
from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS
from tests.trust.effort import examples

NETWORKS: dict[str, Any] = {name: estimator(name) for name in registry.networks()}
STEPS = 5
# A sum of logarithms in another order, as the validation and the scores take it, differs in its last digits.
CLOSE = 1e-9


class Data(NamedTuple):
    sequences: list[list[int]]
    mask: list[list[bool]] | None
    alphabet: range


@st.composite
def data(draw: st.DrawFn) -> Data:
    """Up to four sequences made of constant stretches, noise, and symbols that occur nowhere else."""
    symbols = draw(st.integers(2, 4))
    code = st.integers(0, symbols - 1)
    parts = st.one_of(
        st.builds(lambda y, n: [y] * n, code, st.integers(1, 12)),
        st.builds(lambda y, n: [y] * n, code, st.sampled_from([200, 700])),
        st.lists(code, min_size=1, max_size=15),
        st.builds(lambda y: [y], code),
        st.builds(lambda: [symbols]),
    )
    sequence = st.lists(parts, min_size=1, max_size=3).map(lambda pieces: [*chain(*pieces)])
    short = st.lists(code, min_size=1, max_size=2)
    sequences = draw(st.lists(st.one_of(sequence, short), min_size=1, max_size=4))
    kind = draw(st.sampled_from(["everything", "everything", "one position", "some"]))
    mask = None
    if kind != "everything":
        places = [(k, t) for k, own in enumerate(sequences) for t in range(len(own))]
        chosen = {draw(st.sampled_from(places))}
        if kind == "some":
            chosen |= set(draw(st.lists(st.sampled_from(places), max_size=30)))
        mask = [[(k, t) in chosen for t in range(len(own))] for k, own in enumerate(sequences)]
    return Data(sequences, mask, range(symbols + 1))


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    units = draw(st.sampled_from([1, 2, 3, 6, 17]))
    name = draw(st.sampled_from(sorted(NETWORKS)))
    return {
        "units": units,
        "degree": draw(st.integers(1, min(units, 3))),
        "metric": draw(st.sampled_from(list(TRANSITION_METHODS))),
        "output_metric": draw(st.sampled_from(["qdh", *WRITING_METHODS])),
        "damping": draw(st.sampled_from([1.0, 1.0, 1e-9, 0.0])),
        "sequence_weights": draw(st.sampled_from(["length", "equal"])),
        "end": draw(st.booleans()),
        "unknown": draw(st.sampled_from(["error", "escape"])),
        "validation_fraction": draw(st.sampled_from(["auto", 0.0, 0.5])),
        "random_state": draw(st.integers(0, 1000)),
        "name": name,
    }


def everyday(**changes: Any) -> dict[str, Any]:
    return {
        "name": "glnn",
        "units": 3,
        "degree": 1,
        "metric": "rbpm",
        "output_metric": "qdh",
        "damping": 1.0,
        "sequence_weights": "length",
        "end": True,
        "unknown": "error",
        "validation_fraction": 0.0,
        "random_state": 0,
        **changes,
    }


LONG_RUN = Data([[0] * 20_000 + [1] + [0] * 3], None, range(2))
ONE_POSITION = Data([[0, 1] * 20], [[t == 39 for t in range(40)]], range(2))


@given(data(), parameters())
@example(Data([[0]], None, range(2)), everyday())
@example(Data([[0, 0]], None, range(2)), everyday(name="lstm", metric="ruop"))
@example(Data([[0], [1, 1]], None, range(2)), everyday(name="rnn", metric="qdruop", units=1))
@example(ONE_POSITION, everyday(units=17, name="gnn"))
@example(ONE_POSITION, everyday(units=17, validation_fraction=0.5, metric="ruop"))
@example(LONG_RUN, everyday(metric="ruop", units=2))
@example(LONG_RUN, everyday(name="rnn", units=2, validation_fraction="auto"))
@example(LONG_RUN, everyday(name="gnn", units=2, damping=0.0))
@examples(35)
def test_training_stays_sane(given_data: Data, given_parameters: dict[str, Any]) -> None:
    options = {**given_parameters, "recipe": "paper", "budget": f"{STEPS} steps", "restarts": 1, "verbose": 0}
    kind = NETWORKS[options.pop("name")]
    model = kind(**options, alphabet=given_data.alphabet).fit(given_data.sequences, mask=given_data.mask)
    event(f"stopped: {model.stopped_}")
    for part in vars(model.params_).values():
        assert np.isfinite(part).all()
    likelihoods = [row["log_likelihood"] for row in model.history_]
    assert np.isfinite(likelihoods).all()
    assert all(before <= after for before, after in pairwise(likelihoods))
    for row in model.history_:
        assert row["validation"] is None or np.isfinite(row["validation"])
        assert np.isfinite(
            [row["writing_rate"], row["transition_rate"], row["writing_size"], row["transition_size"]]
        ).all()
        assert row["conditioning"] >= 1.0
    assert model.stopped_ in ("budget", "converged")
    check_use(model, given_data)


@given(data(), parameters(), st.sampled_from(["auto", 0.0, 0.3, 5.0]), st.booleans())
@example(Data([[0]], None, range(2)), everyday(), "auto", True)
@example(Data([[0], [1, 1]], None, range(2)), everyday(name="lstm", units=1), 5.0, True)
@example(ONE_POSITION, everyday(units=17, name="gnn", validation_fraction=0.5), "auto", True)
@example(LONG_RUN, everyday(name="rnn", units=2, validation_fraction="auto"), "auto", True)
@example(LONG_RUN, everyday(name="gnn", units=2, damping=0.0), 5.0, False)
@examples(25)
def test_stochastic_training_stays_sane(
    given_data: Data, given_parameters: dict[str, Any], noise: Any, adam: bool
) -> None:
    """No divergence and no NaN, with any metric and with noise that drowns everything."""
    options = {**given_parameters, "noise": noise, "budget": "12 steps", "training": "stochastic", "verbose": 0}
    kind = NETWORKS[options.pop("name")]
    if adam:
        options["metric"] = "adam"
    model = kind(**options, alphabet=given_data.alphabet).fit(given_data.sequences, mask=given_data.mask)
    event(f"stopped: {model.stopped_}")
    assert all(np.isfinite(part).all() for part in vars(model.params_).values())
    likelihoods = [row["log_likelihood"] for row in model.history_]
    assert np.isfinite(likelihoods).all()
    # With noise larger than every signal nothing can be learned; a jump is made good within a round.
    masks = given_data.mask or [[True] * len(own) for own in given_data.sequences]
    worst = 3.0 * np.log(len(given_data.alphabet) + 2) * (sum(map(sum, masks)) + len(masks)) + 50.0
    assert -likelihoods[-1] < worst
    assert not any(min(-one, -two) > worst for one, two in pairwise(likelihoods))
    for row in model.history_:
        assert row["validation"] is None or np.isfinite(row["validation"])
    check_use(model, given_data)


def check_use(model: Any, given_data: Data) -> None:
    """A fitted model does what models do, with finite numbers."""
    bits = model.bits(given_data.sequences, given_data.mask)
    assert np.isfinite(bits) and bits >= 0.0
    own = model.surprise(given_data.sequences, given_data.mask)
    assert np.isclose(sum(part.sum() for part in own), bits, rtol=CLOSE)
    pi = model.predict_proba(given_data.sequences[0][:5])
    assert np.isfinite(pi).all() and pi.min() >= 0.0 and np.isclose(pi.sum(), 1.0)
    assert len(model.sample(4, random_state=0)) <= 4
    few = [own[:30] for own in given_data.sequences]
    assert [list(part) for part in model.decompress(model.compress(few))] == few


@given(data(), st.sampled_from(["hmm", "contexttree"]), st.integers(1, 9), st.booleans(), st.integers(0, 100))
@examples(15)
def test_the_baselines_stay_sane(given_data: Data, name: str, size: int, end: bool, seed: int) -> None:
    common = {"alphabet": given_data.alphabet, "end": end, "verbose": 0}
    model: Any
    if name == "hmm":
        model = glnn.HMM(units=size, degree=1, restarts=1, budget=f"{STEPS} steps", random_state=seed, **common)
    else:
        model = glnn.ContextTree(depth=size, **common)
    check_use(model.fit(given_data.sequences, mask=given_data.mask), given_data)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("metric", ["rbpm", "ruop", "qdrbpm", "qdruop"])
def test_many_steps_on_next_to_nothing(name: str, metric: str) -> None:
    """Far more steps than there is to learn: the likelihood reaches its limit, and weights must not run away."""
    text = "ab" * 6 + "c"
    model = NETWORKS[name](
        units=8,
        degree=2,
        metric=metric,
        recipe="paper",
        budget="150 steps",
        restarts=1,
        random_state=1,
        validation_fraction=0,
        verbose=0,
    ).fit(text)
    likelihoods = np.array([row["log_likelihood"] for row in model.history_])
    assert np.isfinite(likelihoods).all() and (np.diff(likelihoods) >= 0).all() and (likelihoods <= 0).all()
    assert np.isfinite(model.bits(text)) and np.isfinite(model.bits("cccc"))
