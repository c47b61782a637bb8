"""Real data sets are cut as their page says, and a line of results says what was measured."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import network_tables, real_data
from benchmarks.data_sets import DataSet, csv_log, sequences, text, xes_log

LOG = b"""case,what,when
b,start,2020-01-02
a,start,2020-01-01
a,stop,2020-01-04
a,work,2020-01-03
c,start,2020-01-05
d,start,2020-01-06
e,stop,2020-01-07
"""
CASES = [["start", "work", "stop"], ["start"], ["start"], ["start"]]


def test_a_text_is_cut_after_four_fifths() -> None:
    data = text("t", b"abcdefghij")
    assert (data.fit, data.score, data.several) == ("abcdefgh", "ij", False)
    assert data.alphabet == list("abcdefghij") and data.scored_symbols == 2


def test_cases_are_taken_by_the_time_of_their_first_event() -> None:
    data = csv_log("log", LOG, ("case", "what", "when"))
    assert (data.fit, data.score) == (CASES, [["stop"]])
    assert data.scored_symbols == 2  # its end counts


def test_xes_reads_the_same_cases() -> None:
    def event(what: str, when: int) -> str:
        return f'<event><string key="concept:name" value="{what}"/><date key="time:timestamp" value="{when}"/></event>'

    traces = [[event("start", 2)], [event("start", 1), event("work", 3), event("stop", 4)]]
    traces += [[event("start", 5)], [event("start", 6)], [event("stop", 7)]]
    body = "".join(f"<trace>{''.join(events)}</trace>" for events in traces)
    data = xes_log("log", gzip.compress(f'<log xmlns="http://www.xes-standard.org/">{body}</log>'.encode()))
    assert (data.fit, data.score) == (CASES, [["stop"]])


def test_every_fifth_sequence_is_scored_and_no_header_is_a_sequence() -> None:
    content = "".join(f">name {k}\nAC\ngt\n" for k in range(6)).encode()
    data = sequences("dna", content, "DNA")
    assert data.fit == ["ACGT"] * 5 and data.score == ["ACGT"]


def test_ppmd_pays_less_for_what_it_has_read() -> None:
    pytest.importorskip("pyppmd")
    known = DataSet("k", "text", "abracadabra" * 30, "abracadabra" * 3, False)
    news = DataSet("n", "text", "abracadabra" * 30, "rbdcaabracd" * 3, False)
    cheap, dear = real_data.ppmd(known, 0.0, 0), real_data.ppmd(news, 0.0, 0)
    assert 0 <= cheap["bits"] < dear["bits"]
    assert cheap["order"] in real_data.ORDERS


def test_runs_are_written_once_and_the_best_is_bold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fake(bits: float):
        return lambda data, seconds, seed: calls.append(bits) or {"bits": bits, "cpu_seconds": 0.0}

    monkeypatch.setattr(real_data, "MODELS", {"good": fake(2.0), "bad": fake(8.0)})
    monkeypatch.setattr(real_data, "ALL", {"tiny": lambda: text("tiny", b"abcabcabcabcabcabcab")})
    monkeypatch.setattr(real_data, "KINDS", {"tiny": "text"})
    path = tmp_path / "out.jsonl"
    for _ in range(2):
        real_data.run(["tiny"], ["good", "bad"], 1.0, 0, path)
    assert calls == [2.0, 8.0]
    assert [json.loads(line)["each"] for line in path.read_text().splitlines()] == [0.5, 2.0]
    assert "| tiny | text | **0.500** | 2.000 |" in real_data.table(path, budget=1.0)
    apart = real_data.table(path, budget=1.0, groups=[["good"], ["bad"]])
    assert "| tiny | text | **0.500** | **2.000** |" in apart
    assert "tiny" not in real_data.table(path, kinds=["log"], budget=1.0)
    assert "tiny" not in real_data.table(path)


def test_networks_beside_their_peers() -> None:
    def line(model: str, budget: float, each: float, **more: Any) -> dict[str, Any]:
        return {"set": "progc", "model": model, "budget": budget, "each": each, **more}

    curve = [[4.0, 3.0], [20.0, 2.5], [50.0, 2.2]]
    lines = [line("GLNN", 15.0, 2.4), line("GLNN", 30.0, 2.1), line("LSTM", 60.0, 2.3)]
    lines.append(line("PyTorch LSTM", 60.0, 2.2, curve=curve))
    assert "| progc | **2.100** (30 s) | 2.300 |  |  | 2.200 |  |" in network_tables.networks(lines)
    table = network_tables.times(lines)
    assert "| progc | PyTorch LSTM | 2.500 | 20 | 15 | 60 |" in table
    assert "| progc | PyTorch LSTM | 2.200 | 50 | 30 | over 60 |" in table


def test_every_set_has_a_kind_and_every_column_a_model() -> None:
    assert set(real_data.KINDS) == set(real_data.ALL)
    shown = {model for models in real_data.ON_THE_PAGE.values() for model in models}
    assert {*real_data.LEARNING, *real_data.FROZEN} | shown <= set(real_data.MODELS)
