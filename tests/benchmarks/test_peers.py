"""The PyTorch peers: what they read and predict is what ours do, and their scores are those of `glnn.predictors`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.records import read
from glnn.predictors import regularise

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def given() -> peers.Texts:
    return peers.texts("music", 12)


@pytest.fixture(params=peers.KINDS)
def network(request: pytest.FixtureRequest, given: peers.Texts) -> Any:
    torch.manual_seed(0)
    return peers.recurrent(peers.Peer(request.param, 8, 1e-2, 0.5, 2, 10), len(given.source.alphabet))


def test_streams_are_the_sequence_side_by_side() -> None:
    before, after = peers.streams(np.arange(7, dtype=np.int32), 2, 9)
    assert before.T.tolist() == [[9, 0, 1], [2, 3, 4]]
    assert after.T.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_log_likelihoods_are_those_of_one_symbol_after_the_other(network: Any, given: peers.Texts) -> None:
    """Blocks carry the state on, and dropout is off."""
    letters, data = len(given.source.alphabet), given.encoded[1]
    found = peers.log_likelihoods(network, data, letters, block=7)
    network.eval()
    state, code, expected = None, letters, []
    with torch.no_grad():
        for following in data.codes:
            logits, state = network(torch.tensor([[int(code)]]), state)
            expected.append(torch.log_softmax(logits[0, 0].double(), 0)[int(following)].item())
            code = following
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.shape == data.codes.shape


def test_the_score_is_the_regularised_one(network: Any, given: peers.Texts) -> None:
    letters, data = len(given.source.alphabet), given.encoded[1]
    plain = peers.log_likelihoods(network, data, letters)
    bits = peers.regularised_bits(network, data, letters)
    assert bits == pytest.approx(-regularise(plain, letters).sum() / np.log(2.0))
    assert bits != pytest.approx(-plain.sum() / np.log(2.0), abs=0.1)


def test_runs_are_written_once_and_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: peers.Texts) -> None:
    monkeypatch.setattr(peers, "SECONDS", {"music": 0.5})
    monkeypatch.setattr(peers, "GRID", ((8, 1e-2, 0.0),))
    path = tmp_path / "peers.jsonl"
    peers.run(["music"], 1.0, path, 12)
    lines = read(path)
    assert [line["model"] for line in lines] == ["GLNN", "LSTM", "GRU"]
    for line in lines:
        seconds, regrets = zip(*line["curve"], strict=True)
        assert list(seconds) == sorted(seconds) and list(regrets) == sorted(regrets, reverse=True)
        assert line["valid_regret"] == pytest.approx(regrets[-1], abs=0.02)
        assert line["true_bits"] == [round(value, 2) for value in given.bits]
        assert regrets[-1] < regrets[0]
    peers.run(["music"], 1.0, path, 12)
    assert read(path) == lines
    assert peers.best_of_grid(lines, "music", "LSTM") is lines[1]
    assert "| music | GLNN |" in peers.table(lines)
