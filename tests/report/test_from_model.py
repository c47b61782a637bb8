"""Pages from models of every kind on data of every kind, by the models' public names."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest

from glnn.estimators import GLNN, GNN, HMM, LSTM, RNN, ContextTree
from glnn.report import PageData, from_model, render
from glnn.sequences import InputError, Sequences, encode

SETTINGS = {"recipe": "paper", "units": 4, "degree": 2, "budget": "4 steps", "random_state": 0, "verbose": 0}


def silent(model: Any, data: Any, **options: Any) -> PageData:
    """A page without samples, which take longest."""
    return from_model(model, data, samples=False, **options)


def fitted(kind: Any, data: Any, **changes: Any) -> Any:
    settings = {"verbose": 0} if kind is ContextTree else SETTINGS
    settings = {name: value for name, value in settings.items() if name in kind.default_params()}
    return kind(**{**settings, **changes}).fit(data)


def test_a_page_shows_what_the_model_says(counter: Any, counting_text: str) -> None:
    page = from_model(counter, counting_text, name="aⁿbⁿ", when=datetime(2026, 3, 2, 9, 30))
    assert page.title == "GLNN on aⁿbⁿ"
    facts = {fact.name: (fact.value, fact.detail) for fact in page.facts}
    bits = counter.bits(counting_text)
    assert facts["bits per symbol"][0] == f"{bits / len(counting_text):.4g}"
    assert facts["made"][0] == "2 Mar 2026" and facts["units"][0] == "6"
    assert facts["alphabet"] == ("3 symbols", "⏎ a b")
    surprise = page.surprise
    assert surprise is not None and surprise.bits.sum() == pytest.approx(bits)
    assert "".join(page.symbols[code] for code in surprise.codes) == counting_text.replace("\n", "⏎")
    assert page.learning is not None and page.learning.history == counter.history_
    assert page.samples[0].heading == "As the model is"
    assert set(page.samples[0].symbols) <= {"⏎", "a", "b"}


def test_activities_are_the_trace_and_v_is_behind_them(counter: Any, counting_text: str) -> None:
    inside = silent(counter, counting_text).inside
    assert inside is not None and inside.held is not None
    np.testing.assert_array_equal(inside.activities, counter.trace(counting_text).activities)
    np.testing.assert_allclose(np.tanh(inside.held), inside.activities, atol=1e-9)
    np.testing.assert_allclose(inside.held[0], counter.params_.V0)


@pytest.mark.parametrize("kind", [GNN, RNN])
def test_networks_without_leak_hold_nothing_more_than_their_activity(kind: Any, counting_text: str) -> None:
    inside = silent(fitted(kind, counting_text), counting_text).inside
    assert inside is not None and inside.held is None
    assert inside.time_scales is not None and inside.time_scales.own is not None
    assert inside.time_scales.initial is None


def test_the_cells_of_an_lstm(counting_text: str) -> None:
    model = fitted(LSTM, counting_text)
    inside = silent(model, counting_text).inside
    assert inside is not None and inside.held is not None and inside.held_name == "c"
    # h = o tanh c with 0 < o < 1.
    part = inside.activities[1:] / np.tanh(inside.held[1:])
    assert np.all((part > 0.0) & (part < 1.0))
    assert inside.weights is not None and len(inside.weights.groups) == 4
    assert inside.weights.edges.shape == (4, 1, model.graph_.edges)
    assert inside.weights.biases.shape == (4, 3, 4)


@pytest.mark.parametrize("kind", [GLNN, RNN])
def test_weights_are_those_that_move_the_units(kind: Any, counting_text: str) -> None:
    model = fitted(kind, counting_text)
    inside = silent(model, counting_text).inside
    assert inside is not None and inside.weights is not None
    weights, leak = inside.weights, 1.0 if kind is GLNN else 0.0
    V = np.arctanh(np.clip(inside.activities, -1.0 + 1e-15, 1.0 - 1e-15))
    for t in (0, 2, 5):
        code = int(inside.codes[t])
        for unit in range(4):
            moved = leak * V[t, unit] + weights.biases[0, code, unit]
            for edge in np.flatnonzero(weights.targets == unit):
                tau = weights.edges[0, code if kind is GLNN else 0, edge]
                moved += tau * inside.activities[t, weights.sources[edge]]
            assert moved == pytest.approx(V[t + 1, unit], rel=1e-6)


def test_a_hidden_markov_model_has_units_but_no_rates_and_no_weights(counting_text: str) -> None:
    page = silent(fitted(HMM, counting_text), counting_text)
    assert page.inside is not None and page.inside.weights is None
    np.testing.assert_allclose(page.inside.activities.sum(axis=1), 1.0)
    assert page.learning is not None


def test_a_context_tree_has_nothing_inside(counting_text: str) -> None:
    page = silent(fitted(ContextTree, counting_text), counting_text)
    assert page.inside is None and page.learning is None and page.surprise is not None


def test_several_sequences_have_ends_and_names(clerk: Any, event_log: Sequences) -> None:
    page = from_model(clerk, event_log)
    surprise, inside = page.surprise, page.inside
    assert surprise is not None and inside is not None
    np.testing.assert_array_equal(np.diff(surprise.starts), 5)
    assert {page.symbols[code] for code in surprise.codes[surprise.starts[1:] - 1]} == {"⟨end⟩"}
    assert surprise.names == event_log.names
    np.testing.assert_array_equal(inside.activities, clerk.trace(event_log).activities)
    np.testing.assert_allclose(np.tanh(inside.held), inside.activities, atol=1e-9)
    shown = list(page.samples[0].symbols).count("⟨end⟩")
    assert page.samples[0].heading == f"As the model is (8 drawn, {shown} different)" and shown > 1


@pytest.mark.parametrize(
    ("data", "symbols"),
    [
        (b"\x00\x01abc" * 12, {"\\x00", "\\x01", "a", "b", "c"}),
        (np.tile([3, 1, 4, 1, 5], 12), {"1", "3", "4", "5"}),
        (["the", "cat"] * 30, {"the", "cat"}),
        (encode("abab" * 15), {"a", "b"}),
    ],
    ids=["bytes", "integers", "tokens", "encoded"],
)
def test_data_of_any_kind(data: Any, symbols: set[str]) -> None:
    page = from_model(fitted(GLNN, data), data)
    assert set(page.symbols) == symbols and page.inside is not None
    assert set(page.samples[0].symbols) <= symbols


def test_symbols_first_met_later_are_shown_and_the_trace_stops_before_them() -> None:
    model = fitted(GLNN, "abcabc" * 12, unknown="escape")
    page = silent(model, "abcabc?abc!abc?")
    assert page.surprise is not None and page.inside is not None
    assert "".join(page.symbols[code] for code in page.surprise.codes) == "abcabc?abc!abc?"
    assert len(page.inside.codes) == 6
    assert silent(model, "?abc").inside is None


def test_no_more_unknown_symbols_are_named_than_a_person_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glnn.report.positions._MOST_UNKNOWN", 2)
    page = silent(fitted(GLNN, "abcabc" * 12, unknown="escape"), "ab?!#?$!c")
    assert page.surprise is not None
    assert [page.symbols[code] for code in page.surprise.codes] == [*"ab?!", "⟨other⟩", "?", "⟨other⟩", "!", "c"]


def test_the_memory_of_a_unit_alone_is_that_of_its_loop(counter: Any, counting_text: str) -> None:
    inside = silent(counter, counting_text).inside
    assert inside is not None and inside.time_scales is not None and inside.time_scales.own is not None
    network = counter.predictor_.model
    tau, _ = network.split(counter.params_.theta)
    for unit in range(6):
        (loop,) = np.flatnonzero((network.graph.sources == unit) & (network.graph.edge_targets == unit))
        a = inside.activities[:, unit]
        rate = np.mean(np.log(np.abs(1.0 + tau[inside.codes, loop] * (1.0 - a * a))))
        expected = -1.0 / rate if rate < 0.0 else np.inf
        assert inside.time_scales.own[unit] == pytest.approx(expected)
    assert inside.time_scales.initial == pytest.approx(np.arange(2.0, 8.0))


def test_only_what_the_mask_predicts_counts(counter: Any, counting_text: str) -> None:
    mask = np.array([symbol == "\n" for symbol in counting_text])
    page = silent(counter, counting_text, mask=mask)
    assert page.surprise is not None and page.surprise.mask.sum() == mask.sum()
    assert page.facts[0].value == f"{counter.bits(counting_text, mask) / mask.sum():.4g}"


def test_empty_data_have_no_page(counter: Any) -> None:
    with pytest.raises(InputError, match="nothing in the data is to be predicted"):
        from_model(counter, "")


def test_a_mask_over_the_symbols_leaves_the_ends_out(clerk: Any, event_log: Sequences) -> None:
    mask = [np.array([True, False, False, False]) for _ in event_log]
    surprise = silent(clerk, event_log, mask=mask).surprise
    assert surprise is not None
    np.testing.assert_array_equal(np.flatnonzero(surprise.mask), surprise.starts[:-1])


def test_time_of_all_starts_is_told(counting_text: str) -> None:
    model = fitted(GLNN, counting_text, restarts=2)
    (training,) = (fact for fact in silent(model, counting_text).facts if fact.name == "training")
    assert training.detail.endswith(f"; {model.total_seconds_:,.1f} s for all 2 starts")
    assert model.total_seconds_ > model.seconds_


def test_a_sequence_that_is_drawn_again_is_shown_once() -> None:
    cases = Sequences([["open", "close"]] * 30)
    page = from_model(fitted(GLNN, cases, budget="60 steps"), cases)
    for sample in page.samples:
        lines = " ".join(sample.symbols).split("⟨end⟩")[:-1]
        assert len(set(lines)) == len(lines) < 8
        assert sample.heading.endswith(f"(8 drawn, {len(lines)} different)")


def test_members_and_their_weights_are_shown(counting_text: str) -> None:
    model = fitted(GLNN, counting_text, members=2, restarts=1, budget="8 steps", calibration=True, start="typical")
    page = silent(model, counting_text)
    shown = page.together
    assert shown is not None and [row.seed for row in shown.members] == [one["seed"] for one in model.members_]
    np.testing.assert_array_equal(shown.weights, model.weights_.weights)
    assert shown.weighed == model.combined_bits_[-1]
    # What is inside is the first member's, from where it begins.
    inside = page.inside
    assert inside is not None and inside.held is not None
    np.testing.assert_allclose(np.tanh(inside.held), inside.activities, atol=1e-9)
    text = render(page)
    assert ">Members<" in text and f"{model.weights_.weights[0, 1]:.3f}" in text
    assert silent(fitted(GLNN, counting_text), counting_text).together is None


def test_the_page_says_what_was_expected_and_tells_equal_sequences_once() -> None:
    from glnn.report.payload import places
    from glnn.report.tables import sequence_table

    model = ContextTree(depth=2, verbose=0, unknown="escape").fit([["open", "pay", "close"]] * 20)
    cases = [["open", "pay", "close"], ["open", "close"], ["open", "close"], ["open", "new", "close"]]
    page = from_model(model, Sequences(cases, ["a", "b", "c", "d"]), samples=False)
    assert page.surprise is not None
    table = sequence_table(page.surprise)
    assert "</button> and 1 like it" in table and "expected pay 0.9" in table and "new" in table
    first = places(page.surprise)[0]
    code, likely, given = first["expected"]
    assert page.symbols[code] == "pay" and likely > 0.9 > 0.1 > given and first["name"] in ("b", "c", "d")
