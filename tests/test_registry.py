"""Models by name: what is declared is found without importing it, and what is added is a model like any other."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glnn
from glnn import registry
from glnn.estimators import estimator, estimators, load
from glnn.metrics import TRANSITION_METHODS
from glnn.models import GNN

TEXT = "abcabdabc" * 12


@pytest.fixture
def fading() -> Iterator[Any]:
    """A network added as docs/add_a_model.md says, with a parameter of its own."""

    @registry.network("fading", "a gated network that forgets", metric="qdrbpm")
    class Fading(GNN):
        def __init__(self, graph: Any, alphabet_size: int, activation: Any = "tanh", leak: float = 0.9) -> None:
            super().__init__(graph, alphabet_size, activation)
            self.leak = leak

    yield Fading
    del registry._added["fading"]


def test_every_model_of_the_package_is_there() -> None:
    known = registry.models()
    assert list(known)[:5] == ["mixture", "glnn", "gnn", "rnn", "lstm"] and {"hmm", "contexttree"} <= set(known)
    own = [name for name, entry in registry.networks().items() if entry.module.startswith("glnn.")]
    assert own == ["glnn", "gnn", "rnn", "lstm"]
    for name, entry in known.items():
        kind = estimator(name)
        assert entry.name == name and kind.__name__ == entry.title and getattr(glnn, entry.title) is kind
        assert entry.about and not entry.about.endswith(".") and "\n" not in entry.about
        assert len(entry.about) < 90
    assert estimators() == {entry.title: estimator(name) for name, entry in known.items()}


def test_every_metric_is_there_in_the_order_of_the_table() -> None:
    assert list(registry.metrics()) == ["rbpm", "ruop", "qdrbpm", "qdruop", "fb", "rms", "plain"]
    assert set(registry.metrics()) <= set(TRANSITION_METHODS)
    for name, metric in registry.metrics().items():
        assert metric.about == TRANSITION_METHODS[name].about != ""


def test_a_metric_can_be_passed_as_an_object(tmp_path: Path) -> None:
    options: dict[str, Any] = {"units": 4, "degree": 2, "budget": "4 steps", "random_state": 0, "verbose": 0}
    named = glnn.GLNN(metric="qdrbpm", **options).fit(TEXT)
    model = glnn.GLNN(metric=replace(TRANSITION_METHODS["qdrbpm"], name="mine"), **options).fit(TEXT)
    np.testing.assert_array_equal(model.params_.theta, named.params_.theta)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").get_params()["metric"] == "mine"


def test_names_are_found_without_importing_anything_heavy() -> None:
    code = "from glnn import registry; import sys; print(*registry.models()); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, heavy = done.stdout.splitlines()
    assert "glnn" in names.split() and heavy == "False"


def test_declarations_are_read_with_all_they_say() -> None:
    source = """
@registry.network("leaky", "learns its leak", metric="rms")
class Leaky: ...
@registry.model("mix", "everything at once", group="network")
class Mix: ...
@other.network("none", "of ours")
class Other: ...
class Undecorated: ...
"""
    leaky, mix = registry._declared(ast.parse(source), "glnn.models.leaky")
    assert (leaky.name, leaky.title, leaky.about, leaky.defaults) == (
        "leaky",
        "Leaky",
        "learns its leak",
        {"metric": "rms"},
    )
    assert leaky.network and leaky.module == "glnn.models.leaky"
    assert mix.group == "network" and not mix.network


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(glnn.InputError, match="did you mean glnn"):
        estimator("glmn")


def test_an_added_network_is_a_model_like_any_other(fading: Any, tmp_path: Path) -> None:
    kind: Any = glnn.Fading
    assert kind is estimator("fading") and kind().metric == "qdrbpm" and kind().leak == 0.9
    assert "a gated network that forgets" in kind.__doc__.lower() and "leak:" in kind.__doc__
    model = kind(recipe="paper", units=4, degree=2, leak=0.5, budget="4 steps", random_state=0, verbose=0).fit(TEXT)
    assert model.predictor_.model.leak == 0.5
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is kind and again.bits(TEXT) == model.bits(TEXT)
    assert model.decompress(model.compress(TEXT)) == TEXT and len(model.sample(9, random_state=0)) == 9
    plain: Any = glnn.GNN(units=4, degree=2, metric="qdrbpm", budget="4 steps", random_state=0, verbose=0).fit(TEXT)
    still = kind(units=4, degree=2, leak=0.0, budget="4 steps", random_state=0, verbose=0).fit(TEXT)
    np.testing.assert_array_equal(still.params_.theta, plain.params_.theta)


def test_the_command_line_knows_an_added_network(fading: Any, tmp_path: Path) -> None:
    from glnn.cli import main
    from glnn.cli.fit_every_model import title

    (tmp_path / "text").write_text(TEXT)
    words = f"train {tmp_path}/text --model fading --units 3 --budget 2steps --run {tmp_path}/run --json"
    with pytest.raises(SystemExit) as left:
        main(words.split())
    assert left.value.code == 0
    assert type(load(tmp_path / "run" / "model.safetensors")) is glnn.Fading
    assert title("fading") == "Fading"


def test_a_class_that_is_not_registered_cannot_be_saved(tmp_path: Path) -> None:
    class Own(glnn.GNN):
        pass

    model = Own(units=3, degree=2, budget="1 steps", verbose=0).fit(TEXT)
    with pytest.raises(glnn.InputError, match="Own is not registered"):
        model.save(tmp_path / "model")


def test_another_package_adds_a_model_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strange_models.py").write_text(
        "from glnn import registry\nfrom glnn.models import GNN\n"
        "@registry.network('strange', 'from elsewhere')\nclass Strange(GNN):\n    pass\n"
    )
    about = tmp_path / "strange-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[glnn.models]\nstrange = strange_models\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry._installed.cache_clear()
    try:
        assert registry.models()["strange"].title == "Strange"
        assert estimator("strange").__name__ == "Strange"
    finally:
        registry._installed.cache_clear()
        registry._added.pop("strange", None)
