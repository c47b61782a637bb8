"""The sweep spans what it says, in an order that serves a sweep cut short."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from glnn.reproduction.planned import table_settings, xor_settings
from glnn.reproduction.running import seeds_of
from glnn.reproduction.settings import (
    ROWS,
    SOURCES,
    Setting,
    alphabet_size,
    budget,
    degrees,
    from_json,
    readings,
    sizes_at,
    to_json,
)

pytestmark = pytest.mark.small

COMMITTED = table_settings(0.03)
NETWORKS = [row for row in ROWS if row.kind != "baseline"]


def test_fifteen_rows_of_which_twelve_are_networks() -> None:
    assert len(ROWS) == len({row.key for row in ROWS}) == 15
    assert len(NETWORKS) == 12


@pytest.mark.parametrize("row", NETWORKS, ids=lambda row: row.title)
@pytest.mark.parametrize("source", SOURCES)
def test_every_row_spans_the_sizes_and_both_connectivities(row, source) -> None:
    runs = [setting for setting in COMMITTED if setting.row == row.key and setting.source == source]
    sizes = {setting.units for setting in runs}
    assert len(sizes) >= 6 and min(sizes) == 4 and max(sizes) == (64 if source == "anbn" else 256)
    symbols = alphabet_size(source)
    semi = symbols if row.model in ("rnn", "lstm") else math.ceil(math.sqrt(2 * symbols))
    for units in sizes:
        assert {s.degree for s in runs if s.units == units} == {min(3, units), min(semi, units)}
    assert {setting.seed for setting in runs} == {0, 1}


def test_budgets_are_the_papers_minutes_times_the_scale() -> None:
    assert [budget(source, 0.03) for source in SOURCES] == ["54s", "18s", "18s"]
    assert {setting.budget for setting in COMMITTED if setting.source == "insertions"} == {"54s", ""}


def test_no_setting_is_there_twice() -> None:
    assert len(set(COMMITTED)) == len(COMMITTED)


def test_every_row_is_early_at_its_most_promising_sizes() -> None:
    first = [setting for setting in COMMITTED if setting.metric][: len(NETWORKS) * len(SOURCES)]
    assert {(s.row, s.source) for s in first} == {(row.key, source) for row in NETWORKS for source in SOURCES}
    assert {(s.units, s.degree, s.seed) for s in first} == {(16, 3, 0)}
    assert first[0].row == ("glnn", "qdh", "rbpm")


def test_equal_connectivities_are_merged() -> None:
    assert degrees("anbn", "glnn", 16) == (3,)
    assert degrees("insertions", "rnn", 16) == (3, 16)
    assert degrees("insertions", "lstm", 128) == (3, 67)
    assert degrees("music", "gnn", 64) == (3, 6)


def test_a_larger_scale_has_the_papers_sizes() -> None:
    paper = [round(4 * math.sqrt(2) ** k) for k in range(15)]
    assert sorted(sizes_at("insertions", 1.0)) == paper
    assert sorted(sizes_at("music", 1.0)) == paper[:13]
    assert sorted(sizes_at("anbn", 1.0)) == paper[:9]


def test_a_setting_survives_json_also_from_before_sizes() -> None:
    setting = xor_settings(100, 1, 50)[0]
    assert from_json(to_json(setting)) == setting
    older = to_json(COMMITTED[0])
    assert from_json(older) == COMMITTED[0]
    for name in (
        "size",
        "apart",
        "coherence",
        "longest",
        "after_nine",
        "first_rate",
        "start",
        "graph",
        "fold",
        "length",
        "recipe",
        "silent",
    ):
        del older[name]
    # What is not said is as it was then: insertions after 9, and a first rate of 1/N.
    assert from_json(older) == replace(COMMITTED[0], after_nine=True, first_rate="")


def test_the_readings_of_the_table_are_the_same_for_all_rows() -> None:
    assert {setting.after_nine for setting in COMMITTED if setting.source == "insertions"} == {False}
    networks = [setting for setting in COMMITTED if setting.metric]
    without = ("fb", "rms", "plain")
    assert {s.first_rate for s in networks if s.metric not in without} == {""}
    for rate in ("unsaturated", "mean"):
        assert {s.row for s in networks if s.first_rate == rate} == {s.row for s in networks if s.metric in without}
    before = Setting("insertions", "rnn", "dh", "fb", 16, 3, 0, "54s")
    assert before.form == "first rate 1/N, insertions after 9" and before not in readings(before)
    rates = ["1/N unsaturated", "1/(NT)", "1/N"]
    assert [read.form for read in readings(before)] == [f"first rate {rate}" for rate in rates]
    assert all(setting in readings(setting) for setting in COMMITTED)
    gated = Setting("music", "gnn", "qdh", "ruop", 16, 3, 0, "18s")
    assert [read.start for read in readings(gated)] == ["", "even", "fading"]
    assert [read.start for read in readings(gated, "text")] == [""]
    assert replace(gated, start="quiet") not in readings(gated) and len(readings(replace(gated, metric="fb"))) == 9


def test_baselines_of_fresh_sequences_have_as_many_draws_as_a_network_has_sizes() -> None:
    draws = [setting for setting in COMMITTED if setting.source == "anbn" and setting.model == "bzip2"]
    assert len(draws) == 9 and len({seeds_of(setting) for setting in draws}) == 9


def test_fixed_sequences_and_fresh_ones() -> None:
    by_source = {source: [s for s in COMMITTED if s.source == source and s.metric] for source in SOURCES}
    assert {seeds_of(setting) for setting in by_source["insertions"]} == {(0, 1, 2)}
    # The other first rates are tried on the same sequences.
    fresh = [seeds_of(setting) for setting in by_source["anbn"] if setting == readings(setting)[0]]
    assert {seeds_of(setting) for setting in by_source["anbn"]} == set(fresh)
    assert len({seed for seeds in fresh for seed in seeds}) == 3 * len(fresh)


def test_distant_xor_has_eight_runs_of_each_metric() -> None:
    settings = xor_settings()
    assert len(settings) == 16 and {s.budget for s in settings} == {"2000 passes"}
    assert {(s.units, s.degree) for s in settings} == {(10, 10)}
    assert len({seeds_of(setting) for setting in settings}) == 16
    forms = [setting.form for setting in xor_settings(apart=True, coherence=20, longest=30, fold=10)[::16]]
    assert forms == ["constants folded every 10", "time scales to 30", "steps shortened every 20", "lines apart", ""]
    assert all(setting.silent for setting in settings) and not any(s.silent for s in xor_settings(half_count=True))
    other = xor_settings(batches=10, restart=300, length=200)
    assert other[0].form == "T = 200, steps on one of 10 stretches, begun anew if at chance after 300 passes"
    assert other[16].form == "T = 200"
    both = xor_settings(apart=True)
    assert both[16:] == settings and all(setting.apart for setting in both[:16])
    assert [seeds_of(setting) for setting in both[:16]] == [seeds_of(setting) for setting in settings]
