"""The examples, and the code of pages that belong to no other folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glnn import sources
from tests.training.pages import run_page

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, at small lengths."""
    specification = importlib.util.spec_from_file_location("other_lengths", EXAMPLES / "other_lengths.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "LENGTHS", [3, 8, 12])
    monkeypatch.setattr(module, "TRAINED", (5, 9))
    monkeypatch.setattr(module, "ENDS_OF", (5, 8, 12))
    monkeypatch.setattr(module, "AROUND", 4)
    monkeypatch.setattr(module, "BEFORE", "aaaaaa\nbbbbbb\n")
    return module


class TrueModel:
    """The source itself, which knows: a line of b costs nothing, and ends where it must."""

    def surprise(self, text: str) -> np.ndarray:
        source = sources.AnBn(shortest=1, longest=40)
        return -np.maximum(source.log_likelihoods(text), -700.0) / np.log(2.0)


def test_what_is_drawn_is_right_for_the_true_model(script: Any) -> None:
    assert script.line_of_b(TrueModel(), 8) == 0.0
    # Not before the eighth letter, and surely after it.
    assert script.end_expected(TrueModel(), 8)[:5].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_the_script_trains_and_draws(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    small = sources.AnBn(shortest=5, longest=9)
    monkeypatch.setattr(script.sources, "get", lambda name: small)
    out = tmp_path / "curves.png"
    monkeypatch.setattr(sys, "argv", ["other_lengths.py", "--budget", "3 steps", "--out", str(out)])
    script.main()
    assert out.read_bytes().startswith(b"\x89PNG")


def test_brackets_are_a_source_that_models_learn() -> None:
    from examples.dyck import Dyck, check, regrets

    check(Dyck())
    # Both have learned something (a uniform guess has 0.9), and neither is the true model.
    assert all(0.0 < regret < 0.4 for regret in regrets(Dyck(), 500, "20 steps"))


def test_a_source_whose_likelihood_is_not_what_it_draws_is_found_out() -> None:
    from examples.dyck import Dyck, check

    class Wrong(Dyck):
        def branches(self, state: Any) -> Any:
            found = super().branches(state)
            return {symbol: (1.0 / len(found), after) for symbol, (_, after) in found.items()}

    with pytest.raises(AssertionError):
        check(Wrong())


def test_one_step_by_hand_with_the_package() -> None:
    names = run_page("one_step_by_hand.md")
    assert names["info"].log_likelihood == pytest.approx(-2.2367, abs=5e-5)


def test_the_page_on_evaluation() -> None:
    names = run_page("evaluation.md")
    source = names["source"]
    assert names["bits"](source, source.encode(source.sample(seed=1).text)) == pytest.approx(100.0)


def test_the_page_on_sources() -> None:
    names = run_page("sources.md")
    assert names["source"].bits("abcdefghijklmnopqrstuvwxyz\n") == pytest.approx(1.47, abs=0.01)
    assert names["source"].bits("abd") == np.inf and names["data"].codes.size == len(names["sample"].text)


def test_the_page_on_baselines() -> None:
    names = run_page("baselines.md")
    true = names["source"].bits(names["valid"])
    online, frozen = names["tree"].continuing(), names["tree"].with_learning("frozen")
    assert true < names["bits"](online, names["valid"]) < names["bits"](frozen, names["valid"])
    assert names["regret"](names["model"], names["source"], names["valid"], regularised=True) > 0


def test_the_page_on_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_page("streams.md")
    assert names["stream"].symbols == 1 + 5 * len("he dog sat on the mat. ")
    assert names["pushed"].expected[0].symbol == "t" and names["pushed"].bits < 1.0
