"""Wrong arguments to every public function and method: an error of one line that names what was given.

Values of all kinds are tried in each place. A call may succeed when the value happens to make sense; otherwise it
fails with InputError (a ValueError), or with what the operating system says of a path. Anything else is a fault.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import glnn
from glnn import predictors, registry, sources
from glnn.codec import compress_file, decompress_file
from glnn.report import from_model
from tests.trust.effort import examples

TEXT = "abracadabra " * 8
WHOLE = st.sampled_from([-(2**70), -1, 0, 1, 2, 7, 2**31, 2**63, 2**70])
NUMBERS = st.sampled_from([math.nan, math.inf, -math.inf, -1.0, -0.0, 0.5, 1.5, 1e300, 1j, True, False])
TEXTS = st.sampled_from(["", "auto", "a", "nonsense", "\ud800", "ä" * 50, "\0", "<script>", "60s", "rbpm"])
ARRAYS = st.sampled_from(
    [
        np.array([]),
        np.array([1, 2, 1]),
        np.array([1.5, math.nan]),
        np.zeros((2, 2)),
        np.zeros((0, 3)),
        np.array(["a", "b"]),
        np.array([None, "a"], object),
        np.array(3),
        np.array(["2020-01-01"], "datetime64[D]"),
    ]
)
CONTAINERS = st.sampled_from(
    [
        [], (), {}, set(), [[]], [[], []], [[1], ["a"]], [None], [math.nan, math.nan], ["a", 1], [[1, [2]]], {"a": 1},
        {1, 2}, b"", b"ab", bytearray(b"ab"), memoryview(b"ab"), iter("ab"), range(3), ["ab", "c"], [["a"], "b"],
        [[["a"]]], [{}], ["a", []], glnn.Sequences(["ab", "b"]), glnn.Alphabet("ab"), object, object(), len, ..., None,
        Path("nowhere"), Path(), np.random.default_rng(0), np.float64(2.0), np.int8(3),
    ]
)  # fmt: skip
ANYTHING = st.one_of(WHOLE, NUMBERS, TEXTS, ARRAYS, CONTAINERS)

PARAMETERS: dict[str, dict[str, Any]] = {
    entry.title: getattr(glnn, entry.title)().get_params() for entry in registry.models().values()
}
SMALL: dict[str, Any] = {
    "units": 3, "degree": 2, "depth": 2, "restarts": 1, "networks": 0, "budget": "1 steps", "random_state": 0,
    "verbose": 0,
}  # fmt: skip
SIZES = ("units", "degree", "restarts", "n_jobs", "depth", "order", "members", "networks", "max_nodes")
# Sizes that are allowed and would take long: what happens then is a matter of memory, not of the argument.
LARGE = 10**6


def refused(call: Callable[[], Any]) -> bool:
    """Whether the call was refused, and then in the right way."""
    try:
        call()
    except (ValueError, OSError) as error:
        message = str(error)
        assert message.strip() and "\n" not in message.strip(), f"{type(error).__name__}: {message!r}"
        assert len(message) < 2000
        return True
    return False


@cache
def model(kind: str = "GLNN") -> Any:
    options: dict[str, Any] = {"budget": "2 steps", "random_state": 0, "verbose": 0}
    if kind == "ContextTree":
        return glnn.ContextTree(depth=3, verbose=0).fit(TEXT)
    return getattr(glnn, kind)(units=3, degree=2, restarts=1, **options).fit(TEXT)


@given(st.sampled_from([(kind, name) for kind, names in PARAMETERS.items() for name in names]), ANYTHING)
@example(("GLNN", "units"), 0)
@example(("HMM", "degree"), 9)
@example(("GLNN", "metric"), "rpbm")
@example(("GLNN", "time_scales"), [0.1, math.nan, 0.1])
@examples(45)
def test_parameters(place: tuple[str, str], value: Any) -> None:
    kind, name = place
    options = {small: SMALL[small] for small in SMALL if small in PARAMETERS[kind]}
    options[name] = value
    if _is_whole(value) and value >= LARGE and name in SIZES:
        return
    if name == "budget" and (value == "60s" if isinstance(value, str) else isinstance(value, int | float)):
        return
    before = {key: options[key] for key in options}
    estimator = getattr(glnn, kind)(**options)
    assert all(getattr(estimator, key) is given_value for key, given_value in before.items())
    if refused(lambda: estimator.fit(TEXT)):
        assert not hasattr(estimator, "predictor_")


DATA_CALLS: dict[str, Callable[[Any], Any]] = {
    "fit": lambda value: glnn.ContextTree(depth=2, verbose=0).fit(value),
    "fit a network": lambda value: glnn.GLNN(2, 1, budget="1 steps", restarts=1, verbose=0).fit(value),
    "fit mask": lambda value: glnn.ContextTree(depth=2, verbose=0).fit(TEXT, mask=value),
    "fit validation": lambda value: glnn.GLNN(2, 1, budget="1 steps", restarts=1, verbose=0).fit(TEXT, value),
    "fit validation mask": lambda value: glnn.HMM(2, 1, budget="1 steps", verbose=0).fit(TEXT, TEXT, None, value),
    "bits": lambda value: model().bits(value),
    "bits mask": lambda value: model().bits(TEXT, value),
    "score": lambda value: model("HMM").score(value),
    "surprise": lambda value: model("ContextTree").surprise(value),
    "trace": lambda value: model("LSTM").trace(value),
    "trace hmm": lambda value: model("HMM").trace(value),
    "predict_proba": lambda value: model("RNN").predict_proba(value),
    "sample prefix": lambda value: model().sample(3, prefix=value),
    "sample temperature": lambda value: model().sample(3, temperature=value),
    "sample random_state": lambda value: model().sample(3, random_state=value),
    "compress": lambda value: model().compress(value),
    "decompress": lambda value: model().decompress(value),
    "report": lambda value: from_model(model(), value),
    "encode": glnn.encode,
    "encode alphabet": lambda value: glnn.encode("ab", alphabet=value),
    "encode mask": lambda value: glnn.encode("ab", mask=value),
    "alphabet": glnn.Alphabet,
    "alphabet kind": lambda value: glnn.Alphabet("ab", value),
    "alphabet encode": lambda value: glnn.Alphabet("ab").encode(value),
    "alphabet decode": lambda value: glnn.Alphabet("ab").decode(value),
    "sequences": glnn.Sequences,
    "sequences names": lambda value: glnn.Sequences(["ab", "b"], value),
    "mask_after": lambda value: glnn.mask_after(value, "a"),
    "mask_after symbol": lambda value: glnn.mask_after("aba", value),
    "scores": lambda value: predictors.bits(model().predictor_, value),
    "source name": sources.get,
    "source constant": lambda value: sources.get("anbn", shortest=value),
    "source xor": lambda value: sources.get("xor", stretch=value, length=4),
    "source music": lambda value: sources.get("music").bits(value),
    "source seed": lambda value: sources.get("anbn").sample(1, value),
}  # fmt: skip


@given(st.sampled_from(sorted(DATA_CALLS)), ANYTHING)
@example("bits", "")
@example("fit", "")
@example("fit", [math.nan, 1.0])
@example("decompress", b"\x97GLN")
@examples(100)
def test_data(name: str, value: Any) -> None:
    refused(lambda: DATA_CALLS[name](value))


SIZE_CALLS: dict[str, Callable[[Any], Any]] = {
    "sample length": lambda value: model().sample(value),
    "sample count": lambda value: model().sample(2, count=value),
    "source size": lambda value: sources.get("anbn").sample(value),
}


@given(st.sampled_from(sorted(SIZE_CALLS)), ANYTHING)
@examples(40)
def test_sizes(name: str, value: Any) -> None:
    if not (_is_whole(value) and value >= LARGE):
        refused(lambda: SIZE_CALLS[name](value))


PATH_CALLS: dict[str, Callable[[Any, Path], Any]] = {
    "load": lambda value, folder: glnn.load(value),
    "read_file": lambda value, folder: glnn.read_file(value),
    "read_file tokens": lambda value, folder: glnn.read_file(folder / "text", value),
    "read_mask": lambda value, folder: glnn.read_mask(value),
    "read_event_log": lambda value, folder: glnn.read_event_log(value, "a", "b"),
    "read_event_log column": lambda value, folder: glnn.read_event_log(folder / "log", value, "b"),
    "read_event_log delimiter": lambda value, folder: glnn.read_event_log(folder / "log", "a", "b", delimiter=value),
    "read_event_log format": lambda value, folder: glnn.read_event_log(folder / "log", "a", "b", "b", value),
    "save": lambda value, folder: model().save(value),
    "compress_file": lambda value, folder: compress_file(model(), value, folder / "new"),
    "compress_file target": lambda value, folder: compress_file(model(), folder / "text", value),
    "decompress_file": lambda value, folder: decompress_file(model(), value, folder / "new"),
}


PATHS = (
    "load", "read_file", "read_mask", "read_event_log", "save", "compress_file", "compress_file target",
    "decompress_file",
)  # fmt: skip


@given(st.sampled_from(sorted(PATH_CALLS)), ANYTHING)
@examples(60)
def test_paths(tmp_path_factory: pytest.TempPathFactory, name: str, value: Any) -> None:
    folder = tmp_path_factory.mktemp("paths")
    (folder / "text").write_text(TEXT)
    (folder / "log").write_text("a,b\n1,x\n")
    # Whole numbers and text would be names of files, or descriptors of open ones: no test writes there.
    if name in ("save", "compress_file target") and isinstance(value, str | bytes | int | Path):
        value = folder / "nowhere" / str(value).replace("\0", "0").replace("/", "_")
    if isinstance(value, int) and not isinstance(value, bool):
        return
    try:
        failed = refused(lambda: PATH_CALLS[name](value, folder))
    except TypeError as error:
        # What is no path at all: in Python's own words.
        assert "os.PathLike" in str(error) and name in PATHS
        failed = True
    if failed:
        assert not (folder / "new").exists() and not list(folder.glob(".*"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: glnn.GLNN(units=0).fit(TEXT), "units is 0: it must be a whole number, 1 or more"),
        (lambda: glnn.GLNN(units=4, degree=5).fit(TEXT), "give at most 4"),
        (lambda: glnn.HMM(units=4, degree=5).fit(TEXT), "give at most 4"),
        (lambda: glnn.GLNN(metric="rbmp").fit(TEXT), "did you mean 'rbpm'?"),
        (lambda: glnn.GLNN(output_metric="qdhh").fit(TEXT), "did you mean 'qdh'?"),
        (lambda: glnn.GLNN(activation="tanhh").fit(TEXT), "did you mean 'tanh'?"),
        (lambda: glnn.GLNN(damping=math.nan).fit(TEXT), "damping is nan"),
        (lambda: glnn.GLNN(budget="5 parsecs").fit(TEXT), "for example '60s'"),
        (lambda: glnn.GLNN(budget=math.nan).fit(TEXT), "positive and finite"),
        (lambda: glnn.GLNN().bits(TEXT), "fit"),
        (
            lambda: glnn.NGram(unknown="error", verbose=0).fit(TEXT).bits("xyz"),
            "train with alphabet= naming every symbol",
        ),
        (lambda: model().load, None),
        (lambda: model().sample(-1), "0 or more"),
        (lambda: model().sample(3, temperature=math.nan), "temperature is nan"),
        (lambda: glnn.read_file("."), None),
        (lambda: sources.get("musik"), "did you mean 'music'?"),
    ],
)
def test_messages_say_what_to_do(call: Callable[[], Any], message: str | None) -> None:
    expected = (ValueError, OSError) if message is not None else (OSError, AttributeError)
    with pytest.raises(expected) as raised:
        call()
    assert message is None or message in str(raised.value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
