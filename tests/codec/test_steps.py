"""The compiled loops: the steps of the models bit for bit, and the probabilities that the scores use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glnn.baselines import hmm_coding
from glnn.baselines.hmm import initial_hmm
from glnn.baselines.hmm_model import HiddenMarkovModel
from glnn.codec import compress, decompress, encoded_bits
from glnn.codec.state_steps import StateSteps, Steps, escape_of, steps_of
from glnn.coding import range_coder
from glnn.contexts.tree import ContextTreeSettings, fit_context_tree
from glnn.models import GLNN
from glnn.models.stepping_kernels import activities, move, outputs
from glnn.network import random_graph
from glnn.predictors import bits
from glnn.predictors.network import NetworkPredictor
from glnn.sequences import Alphabet, encode
from tests.codec.predictors import KINDS, LETTERS, predictor, random_params

CODES = np.random.default_rng(5).integers(0, len(LETTERS), 200).astype(np.int32)


def encoded(steps: Steps, codes: np.ndarray) -> bytes:
    coder, out = range_coder.encoder(), np.empty(steps.margin * (len(codes) + 2), np.uint8)
    steps.restart()
    assert steps.encode(codes, coder, out) == len(codes)
    range_coder.finish(coder, out)
    return out[: int(coder[range_coder.PLACE])].tobytes()


@pytest.mark.parametrize("kind", ["glnn", "gnn", "rnn", "rnn-logistic", "lstm"])
def test_networks_take_the_steps_of_the_models(kind: str) -> None:
    model: Any = predictor(kind)
    steps, state = steps_of(model), model.begin()
    assert steps.portable and not isinstance(steps, StateSteps)
    steps.restart()
    for code in CODES:
        steps.encode(np.array([code], np.int32), range_coder.encoder(), np.empty(64, np.uint8))
        state.advance(int(code))
        assert steps.place().tobytes() == state._state.tobytes()


@pytest.mark.parametrize("units", [1, 3, 4, 7, 9])
@pytest.mark.parametrize("activation", ["tanh", "logistic", "linear"])
@pytest.mark.parametrize("symbols", [2, 5, 8])
def test_outputs_are_the_softmax_bit_for_bit(units: int, activation: str, symbols: int) -> None:
    generator = np.random.default_rng(units)
    model = GLNN(random_graph(units, 2, generator), symbols, activation=activation)  # type: ignore[arg-type]
    params = random_params(model, generator, 3.0)
    steps: Any = model.stepper(params)
    V, a, p = steps.begin(), np.empty(units), np.empty(symbols)
    group, leak, code, in_ptr, sources, tau, bias, w = steps.given
    for x in generator.integers(0, symbols, 30):
        activities(V, code, a)
        outputs(a, w, 0.0, p)
        total = 0.0
        for y in range(symbols):
            total += p[y]
        assert (p / total).tobytes() == steps.probabilities(V).tobytes()
        after = V.copy()
        steps.advance(after, int(x))
        move(V, a, int(x), group, leak, in_ptr, sources, tau, bias)
        assert V.tobytes() == after.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_loops_agree_with_the_predictor(kind: str) -> None:
    model = predictor(kind, end=True, escape=0.1)
    inner, escape = escape_of(model)
    compiled, plain = encoded(steps_of(model), CODES), encoded(StateSteps(inner, escape), CODES)
    # Rounding moves a count now and then, so that bytes may differ late in the stream, the length not. Trees code bits.
    assert kind.startswith("tree") or compiled[:8] == plain[:8]
    assert abs(len(compiled) - len(plain)) <= 1


def test_every_model_of_glnn_is_compiled() -> None:
    for kind in KINDS:
        assert isinstance(steps_of(predictor(kind)), StateSteps) == (kind == "stepwise")


def test_dense_and_sparse_transitions_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode("".join(LETTERS[code] for code in CODES), Alphabet(LETTERS))
    model = initial_hmm(data, 9, 4, 0)
    streams = []
    for share in (0.0, 2.0):
        monkeypatch.setattr(hmm_coding, "_DENSE_FROM", share)
        steps: Any = steps_of(model)
        assert (len(steps._given[0]) > 0) == (share == 0.0)
        streams.append((encoded(steps, CODES), steps.place().tobytes()))
    assert streams[0] == streams[1]


def test_an_impossible_symbol_is_coded_and_the_rest_goes_on() -> None:
    graph = random_graph(2, 2, 0)
    model = HiddenMarkovModel(
        Alphabet("abc"), graph, np.array([0.5, 0.5]), np.full(4, 0.5), np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    )
    text = "abcabacca" * 4
    blob = compress(model, text)
    assert decompress(model, blob) == text
    # Twelve impossible symbols, each at the least count.
    assert encoded_bits(blob) == pytest.approx(12 * 32 + 24 * 1.2, abs=40)


def test_a_network_that_overflows_still_codes() -> None:
    generator = np.random.default_rng(0)
    model = GLNN(random_graph(3, 3, generator), 3, activation="linear")
    params = random_params(model, generator)
    params.theta[:] = 50.0
    wild = NetworkPredictor(model, params, Alphabet("abc"))
    text = "abc" * 200
    with np.errstate(all="ignore"):
        assert decompress(wild, compress(wild, text)) == text


@pytest.mark.parametrize("most", [50, 5000, 1_000_000])
@pytest.mark.parametrize("estimator", ["kt", "zero_redundancy"])
def test_trees_grow_and_fill_up_alike_on_both_sides(most: int, estimator: Any) -> None:
    generator = np.random.default_rng(1)
    text = "".join(generator.choice(list(LETTERS), 1500)) + "abcabcab" * 100
    data = encode(text, Alphabet(LETTERS))
    settings = ContextTreeSettings(6, estimator=estimator, max_nodes=most)
    trees = fit_context_tree(encode(text[:200], data.alphabet), settings)
    for model in (trees, trees.continuing(), trees.with_learning("frozen")):
        blob = compress(model, text)
        assert decompress(model, blob) == text
        own = bits(model, data)
        assert abs(encoded_bits(blob) - own) <= 0.001 * own + 16


def test_an_escape_without_its_predictor_is_refused() -> None:
    model: Any = predictor("hmm", escape=0.1)
    model.inner = None
    with pytest.raises(TypeError, match="no `inner` predictor"):
        steps_of(model)
