"""What is left out when there is too much to show, and that the file stays small."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from glnn.report import (
    Comparison,
    ComparisonRow,
    Inside,
    Learning,
    PageData,
    Surprise,
    TimeScales,
    Weights,
    render,
)
from glnn.report.payload import evenly, learning, payload, places, surprise, weights


def history(steps: int) -> list[dict[str, Any]]:
    return [
        {
            "step": k + 1,
            "seconds": 0.1 * (k + 1),
            "log_likelihood": -1000.0 / (k + 1),
            "validation": -1200.0 / (k + 1),
            "writing_rate": 0.1,
            "transition_rate": 0.0 if k == 0 else 0.01,
            "writing_rejected": k % 3,
            "transition_rejected": 1,
        }
        for k in range(steps)
    ]


def test_long_records_are_thinned_and_lose_no_rejection() -> None:
    steps = 5003
    shown = learning(Learning(history(steps), best_step=2502, train_symbols=100, validation_symbols=50))
    assert len(shown["steps"]) <= 1001 and shown["steps"][0] == 1 and shown["steps"][-1] == steps
    assert shown["steps"][shown["best"]] == 2502
    assert sum(shown["transitionRejected"]) == steps
    assert sum(shown["writingRejected"]) == sum(k % 3 for k in range(steps))
    assert all(len(shown[name]) == len(shown["steps"]) for name in ("seconds", "train", "validation", "writingRate"))


def test_curves_are_bits_a_symbol_when_the_symbols_are_known() -> None:
    record = history(4)
    known = learning(Learning(record, train_symbols=100, validation_symbols=50))
    unknown = learning(Learning(record, train_symbols=100))
    assert known["perSymbol"] and not unknown["perSymbol"]
    assert known["train"][0] == pytest.approx(1000.0 / np.log(2.0) / 100.0, rel=1e-5)
    assert known["validation"][0] == pytest.approx(1200.0 / np.log(2.0) / 50.0, rel=1e-5)
    assert unknown["train"][0] == pytest.approx(1000.0 / np.log(2.0), rel=1e-5)


def test_a_group_that_rested_has_no_rate_on_a_logarithmic_axis() -> None:
    assert learning(Learning(history(3)))["transitionRate"] == [None, 0.01, 0.01]


def test_a_record_without_validation_and_rates() -> None:
    record = [{"step": 1, "seconds": 0.1, "log_likelihood": -5.0}]
    shown = learning(Learning(record, train_symbols=10))
    assert shown["validation"] is None and shown["rates"] is False and shown["perSymbol"]


@pytest.mark.parametrize(("length", "most"), [(0, 5), (3, 5), (5, 5), (1000, 7)])
def test_evenly_spaced_indices_hold_both_ends(length: int, most: int) -> None:
    chosen = evenly(length, most)
    assert chosen.size == min(length, most)
    if length:
        assert chosen[0] == 0 and chosen[-1] == length - 1


def noise(length: int, sequences: int = 1) -> Surprise:
    generator = np.random.default_rng(0)
    starts = np.linspace(0, length, sequences + 1).astype(np.int64)
    return Surprise(generator.integers(0, 5, length), generator.random(length), starts, np.ones(length, bool))


def test_beyond_what_fits_the_whole_is_there_in_bins() -> None:
    given = noise(250_000)
    given.bits[240_000] = 19.0
    shown = surprise(given)
    assert shown["full"] < shown["length"] == 250_000
    edges = shown["bins"]["edges"]
    assert edges[0] == 0 and edges[-1] == 250_000 and shown["places"][0]["position"] == 240_000


def test_the_most_surprising_places_stand_apart_and_stay_in_their_sequence() -> None:
    given = noise(400, sequences=4)
    given.bits[[5, 6, 99, 100, 250]] = [9.0, 8.5, 8.0, 7.0, np.inf]
    found = places(given)
    assert [place["position"] for place in found][:3] == [250, 5, 99]
    for place in found:
        begin, end = place["begin"], place["begin"] + len(place["codes"])
        assert given.starts[place["sequence"]] <= begin <= place["position"] < end
        assert end <= given.starts[place["sequence"] + 1]
    assert found[0]["bits"][250 - found[0]["begin"]] is None


def test_nothing_surprising_is_no_place() -> None:
    given = noise(10)
    given.bits[:] = 0.0
    assert places(given) == []


def network(units: int, alphabet: int, degree: int, length: int) -> Inside:
    generator = np.random.default_rng(1)
    sources = np.repeat(np.arange(units), degree)
    targets = generator.integers(0, units, units * degree)
    given = Weights(
        sources,
        targets,
        generator.normal(size=(1, alphabet, sources.size)),
        generator.normal(size=(1, alphabet, units)),
        generator.normal(size=(units + 1, alphabet)),
    )
    activities = np.tanh(generator.normal(size=(length, units)))
    codes = np.arange(length) // 40 % 4
    scales = TimeScales(np.full(units, np.inf), np.full(units, 3.0))
    return Inside(activities, codes, np.array([0, length]), np.cumsum(activities, 0), "V", given, scales)


def test_many_symbols_keep_the_weights_of_the_most_frequent() -> None:
    given = network(20, 300, 30, 1000).weights
    assert given is not None
    codes = np.concatenate([np.full(50, 299), np.full(40, 7), np.arange(300)])
    shown = weights(given, codes)
    assert {7, 299} <= set(shown["symbols"]) and len(shown["symbols"]) < 300
    assert shown["edges"]["shape"] == [1, len(shown["symbols"]), 600]
    assert shown["writing"]["shape"] == [21, len(shown["written"])] and {7, 299} <= set(shown["written"])


def test_the_page_of_a_large_network_on_long_data_stays_below_6_megabytes() -> None:
    length = 400_000
    page = PageData(
        title="large",
        symbols=[f"symbol {k}" for k in range(256)],
        comparison=Comparison([ComparisonRow("m", 10.0, curve=[(float(k), 5.0 + k) for k in range(9000)])] * 12),
        learning=Learning(history(5_000), best_step=77),
        surprise=noise(length, sequences=8_000),
        inside=network(256, 256, 16, 8_000),
    )
    assert page.inside is not None and payload(page)["inside"]["folds"]
    assert len(render(page).encode()) < 6.1e6


def test_everything_is_json(counter: Any, counting_text: str) -> None:
    from glnn.report import from_model

    shown = payload(from_model(counter, counting_text, samples=False))
    assert set(shown) == {"symbols", "learning", "surprise", "drift", "inside"}
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["inside"]["folds"] and set(shown["inside"]["shown"]) == {"activity", "held"}
