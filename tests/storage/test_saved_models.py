"""Whole models in files: all of them come back as they were, and files that do not fit together are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from glnn.estimators import GLNN, GNN, HMM, LSTM, RNN, ContextTree, NGram, SequenceModel, load
from glnn.predictors.calibration import EntropyWeights
from glnn.sequences import Alphabet, InputError
from glnn.storage.model_file import ModelFileError, signed
from glnn.training.budget import Budget

TEXT = "the cat sat on the mat and the dog sat on the log. " * 8
CASES = [list("abab"), list("ab"), list("ababab"), list("abba")] * 5
NETWORK = {"units": 4, "degree": 2, "budget": "3 steps", "random_state": 0, "verbose": 0}
MODELS: list[SequenceModel] = [
    GLNN(**NETWORK, time_scales=[0.5, 0.25, 0.125, 0.1], unknown="escape"),
    GNN(**NETWORK, restarts=2),
    RNN(**{**NETWORK, "budget": Budget(steps=2)}),
    LSTM(**NETWORK, validation_fraction=0, activation="logistic"),
    HMM(**NETWORK),
    ContextTree(depth=3, verbose=0),
    NGram(verbose=0),
]


def plain(value: Any) -> Any:
    """A fitted attribute in a form that is compared array by array."""
    return vars(value) if isinstance(value, EntropyWeights) else value


@pytest.mark.parametrize("data", [TEXT, CASES], ids=["text", "cases"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_come_back(model: SequenceModel, data: Any, tmp_path: Path) -> None:
    model.fit(data)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    assert repr(again.get_params()) == repr(
        {key: np.array(value) if key == "time_scales" and value is not None else value
         for key, value in model.get_params().items()}
    )  # fmt: skip
    assert again.bits(data) == model.bits(data)
    assert again.alphabet_ == model.alphabet_
    for t in range(4):
        np.testing.assert_array_equal(again.predict_proba(data[0][:t]), model.predict_proba(data[0][:t]))
    for name, value in vars(model).items():
        if name.endswith("_") and name not in ("predictor_", "networks_", "params_", "graph_", "alphabet_"):
            np.testing.assert_equal(plain(getattr(again, name)), plain(value), name)
    assert vars(again).keys() == vars(model).keys()
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_loaded_model_can_be_fitted_again(tmp_path: Path) -> None:
    model = GLNN(**NETWORK).fit(TEXT)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").fit(TEXT).bits(TEXT) == model.bits(TEXT)


def test_parameters_of_every_kind(tmp_path: Path) -> None:
    alphabet = Alphabet("abcdefghijklmnopqrstuvwxyz. ")
    model = GLNN(**{**NETWORK, "units": np.int64(4), "random_state": np.random.default_rng(0)}, alphabet=alphabet)
    model.fit(TEXT).save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.units == 4 and again.random_state is None and again.alphabet == alphabet
    assert again.seed_ == model.seed_
    model.damping = object()
    with pytest.raises(InputError, match="damping is of type object"):
        model.save(tmp_path / "model")


def test_only_models_of_glnn_are_written(tmp_path: Path) -> None:
    class Mine(GLNN):
        pass

    with pytest.raises(InputError, match="Mine"):
        Mine(**NETWORK).fit(TEXT).save(tmp_path / "model")


def test_tokens_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    model = ContextTree(verbose=0).fit([frozenset("a"), frozenset("b")] * 20)
    with pytest.raises(InputError, match="frozenset"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def forged(path: Path, change: Callable[[dict[str, np.ndarray], dict[str, Any]], None]) -> None:
    """Change arrays and header, and sign the result as a forger would."""
    from safetensors import safe_open

    arrays = {name: array.copy() for name, array in load_file(path).items()}
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["glnn"])
    header.pop("sha256")
    change(arrays, header)
    save_file(arrays, path, metadata={"glnn": signed(arrays, header)})


def set_array(name: str, value: Callable[[np.ndarray], np.ndarray]) -> Callable[[dict[str, np.ndarray], Any], None]:
    return lambda arrays, header: arrays.__setitem__(name, value(arrays[name]))


def set_header(name: str, value: Any) -> Callable[[Any, dict[str, Any]], None]:
    return lambda arrays, header: header.__setitem__(name, value)


def replaced(array: np.ndarray, value: float) -> np.ndarray:
    array.reshape(-1)[-1] = value
    return array


FORGERIES = {
    "no w": ("GLNN", lambda arrays, header: arrays.pop("w")),
    "narrow w": ("GLNN", set_array("w", lambda w: np.ascontiguousarray(w[:, :-1]))),
    "few units": ("GLNN", set_array("w", lambda w: np.ascontiguousarray(w[:-1]))),
    "long theta": ("GLNN", set_array("theta", lambda theta: np.append(theta, 0.0))),
    "not finite": ("GLNN", set_array("theta", lambda theta: replaced(theta, np.nan))),
    "edge outside": ("GLNN", set_array("edge_sources", lambda ends: replaced(ends, 99))),
    "negative edge": ("GLNN", set_array("edge_targets", lambda ends: replaced(ends, -1))),
    "real edges": ("GLNN", set_array("edge_targets", lambda ends: ends.astype(float))),
    "flat w": ("GLNN", set_array("w", np.ravel)),
    "class": ("GLNN", set_header("class", "os.system")),
    "no class": ("GLNN", lambda arrays, header: header.pop("class")),
    "no parameters": ("GLNN", set_header("parameters", None)),
    "no record": ("GLNN", set_header("fitted", {})),
    "alphabet": ("GLNN", set_header("alphabet", {"kind": "characters", "symbols": ["a", "b"], "special": []})),
    "escape": ("GLNN", set_header("escape_probability", {"float": "0x1p+1"})),
    "n-grams": ("NGram", set_array("history", lambda history: replaced(history, 255))),
    "hmm edge": ("HMM", set_array("edge_targets", lambda ends: replaced(ends, 99))),
    "hmm sums": ("HMM", set_array("transitions", lambda transitions: replaced(transitions, 7.0))),
    "hmm emissions": ("HMM", set_array("emissions", lambda b: np.ascontiguousarray(b[:, 1:]))),
    "tree": ("ContextTree", set_array("children", lambda children: replaced(children, 10**6))),
    "tree twice": ("ContextTree", set_array("children", lambda children: np.vstack([children, children]))),
    "tree reals": ("ContextTree", set_array("children", lambda children: children.astype(float))),
    "tree symbols": ("ContextTree", set_array("history", lambda history: replaced(history, 255))),
    "tree start": ("ContextTree", set_array("history", lambda history: history[1:].copy())),
    "tree gap": ("ContextTree", set_array("history", lambda history: np.append(history[0], history))),
    "tree codes": ("ContextTree", set_array("history", lambda history: history.astype(np.int64))),
    "tree columns": ("ContextTree", set_array("history", lambda history: history[:, None].copy())),
    "no symbols": ("ContextTree", set_array("history", lambda history: history[:0].copy())),
    "neither": ("ContextTree", lambda arrays, header: arrays.pop("history")),
}


@pytest.mark.parametrize("which", FORGERIES)
def test_files_that_do_not_fit_together_are_refused(which: str, tmp_path: Path) -> None:
    name, change = FORGERIES[which]
    model = next(model for model in MODELS if type(model).__name__ == name)
    model.fit(TEXT)
    path = tmp_path / "model"
    model.save(path)
    forged(path, lambda arrays, header: None)
    assert load(path).bits(TEXT) == model.bits(TEXT)
    forged(path, change)
    with pytest.raises(ModelFileError):
        load(path)


def test_a_whole_model_of_version_1_opens(tmp_path: Path) -> None:
    model = GLNN(**NETWORK, unknown="error").fit(TEXT)
    path = tmp_path / "model"
    model.save(path)

    def back_to_version_1(arrays: dict[str, np.ndarray], header: dict[str, Any]) -> None:
        header["format"] = 1
        del header["alphabet"]["special"], header["escape_probability"]

    forged(path, back_to_version_1)
    assert load(path).bits(TEXT) == model.bits(TEXT)


# Written by glnn 0.1.0 from this text, with the bits it had there and the length of what it compressed.
FIRST_TEXT = "abracadabra " * 5
FIRST_MODELS = {
    "ContextTree": (19.51522926951436, 35),
    "GLNN": (88.04356251074064, 36),
    "HMM": (136.9213062046734, 37),
    "LSTM": (129.64049991781343, 36),
}
FIRST_FILES = Path(__file__).parent / "written_by_0.1"


@pytest.mark.parametrize("name", FIRST_MODELS)
def test_files_of_the_first_glnn_open(name: str, tmp_path: Path) -> None:
    model = load(FIRST_FILES / f"{name}.glnn")
    bits, length = FIRST_MODELS[name]
    assert type(model).__name__ == name
    assert getattr(model, "recipe", "paper") == "paper"
    assert model.bits(FIRST_TEXT) == pytest.approx(bits, rel=1e-12)
    assert len(model.compress("cadabra")) == length
    model.save(tmp_path / "again")
    assert load(tmp_path / "again").bits(FIRST_TEXT) == model.bits(FIRST_TEXT)


FIRST_TREES = {
    "tail": set_array("tail", lambda tail: replaced(tail, 10**6)),
    "long tail": set_array("tail", lambda tail: np.append(tail, 0)),
    "counts": set_array("zeros", lambda counts: replaced(counts, -5)),
    "lengths": set_array("ones", lambda counts: counts[:-1].copy()),
    "roots": set_array("key", lambda key: np.where(key < 0, 3, key)),
    "weights": set_array("ratio", lambda ratio: replaced(ratio, np.nan)),
    "no nodes": lambda arrays, header: arrays.pop("key"),
}


@pytest.mark.parametrize("which", FIRST_TREES)
def test_nodes_that_do_not_fit_together_are_refused(which: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes((FIRST_FILES / "ContextTree.glnn").read_bytes())
    forged(path, FIRST_TREES[which])
    with pytest.raises(ModelFileError):
        load(path)
