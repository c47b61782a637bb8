"""Data as other libraries hold them, and lists that could be taken for something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pytest

import glnn
from glnn.sequences import InputError, Sequences, encode
from glnn.sequences.tokens import parts_of

pytestmark = pytest.mark.small

CASES = [["open", "pay"], ["open", "close", "open"]]
EVENTS = {
    "case": ["b", "a", "b", "a", "a"],
    "activity": ["open", "open", "pay", "open", "close"],
    "time": ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-09", "2024-01-05"],
}


def found(data: Any) -> tuple[list[list[Any]], bool, tuple[str, ...] | None]:
    parts = parts_of(data)
    return [part.as_list() for part in parts.tokens], parts.several, parts.names


def object_array() -> np.ndarray:
    array = np.empty(2, object)
    array[:] = CASES
    return array


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (pandas.Series(CASES), None),
        (pandas.Series(CASES, index=["b", "a"]), ("b", "a")),
        (pandas.Series([tuple(case) for case in CASES]), None),
        (pandas.DataFrame(EVENTS), ("b", "a")),
        (pandas.DataFrame(EVENTS).assign(time=lambda frame: pandas.to_datetime(frame["time"])), ("b", "a")),
        (pandas.DataFrame(EVENTS).sort_values("time").groupby("case", sort=False)["activity"].agg(list), ("b", "a")),
        (pandas.DataFrame(EVENTS).sort_values("time").groupby("case", sort=False)["activity"], ("b", "a")),
        (pandas.DataFrame({"case": ["b", "a"], "steps": CASES}), ("b", "a")),
        (polars.Series(CASES), None),
        (polars.DataFrame(EVENTS), ("b", "a")),
        (object_array(), None),
        ((case for case in CASES), None),
        (tuple(tuple(case) for case in CASES), None),
        ([pandas.Series(case) for case in CASES], None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_several_sequences(data: Any, names: tuple[str, ...] | None) -> None:
    assert found(data) == (CASES, True, names)


@pytest.mark.parametrize(
    "data",
    [pandas.Series([3, 1, 2]), polars.Series([3, 1, 2]), iter([3, 1, 2]), np.array([3, 1, 2], object), range(3, 0, -1)],
    ids=lambda value: type(value).__name__,
)
def test_one_sequence(data: Any) -> None:
    (tokens,), several, names = found(data)
    assert sorted(tokens) == [1, 2, 3] and not several and names is None


def test_a_categorical_series_is_one_sequence_of_its_categories() -> None:
    assert found(pandas.Series(["x", "y", "x"], dtype="category"))[0] == [["x", "y", "x"]]


def test_tuples_in_a_list_stay_tokens() -> None:
    assert found([("C", 4), ("E", 8)]) == ([[("C", 4), ("E", 8)]], False, None)


def test_what_is_missing_is_told() -> None:
    with pytest.raises(InputError, match="nothing at position 1"):
        encode(pandas.Series(["a", None, "b"]))
    # These hold pandas' NA, which cannot be compared.
    for series in (pandas.Series(["a", None, "b"], dtype="string"), pandas.Series([1, None, 2], dtype="Int64")):
        with pytest.raises(InputError, match="nothing at position 1"):
            encode(series)
    frame = pandas.DataFrame(EVENTS)
    frame.loc[3, "activity"] = None
    with pytest.raises(InputError, match="row 3 of the frame has nothing in column 'activity'"):
        encode(frame)
    with pytest.raises(InputError, match="row 3 of the frame has nothing in column 'activity'"):
        encode(frame.astype({"activity": "string"}))
    with pytest.raises(InputError, match="collect"):
        encode(polars.DataFrame(EVENTS).lazy())
    with pytest.raises(InputError, match=r"grouped\['activity'\]"):
        encode(pandas.DataFrame(EVENTS).groupby("case"))


def test_long_texts_in_a_plain_list_are_refused_with_what_to_write() -> None:
    genes = [f"ACGTACGTACGTACGTACGT{k:b}" for k in range(30)]
    with pytest.raises(InputError, match=r"list of 30 texts, 30 of them different.*glnn\.Sequences\(\[\.\.\.\]\)"):
        glnn.ContextTree(verbose=0).fit(genes)
    model = glnn.ContextTree(depth=2, verbose=0).fit(Sequences(genes))
    assert len(model.alphabet_) == 8
    with pytest.raises(InputError, match=r"glnn\.Sequences"):
        glnn.ContextTree(depth=2, verbose=0, unknown="escape").fit(Sequences(genes)).bits(genes)
    # Long names that come back are symbols; so are short ones, and words.
    assert len(encode(["confirmation of receipt", "check confirmation of receipt"] * 9).alphabet) == 2
    assert len(encode(["to", "be", "or", "not"]).alphabet) == 4


def test_scikit_learn_takes_parts_of_them() -> None:
    from sklearn.model_selection import cross_val_score

    texts = Sequences(["abab" * 3, "ab" * 4, "abba" * 2, "ba" * 5])
    model = glnn.ContextTree(depth=2, verbose=0)
    assert np.isfinite(cross_val_score(model, texts, cv=2)).all()
    assert np.isfinite(cross_val_score(model, np.array([list(text) for text in texts], object), cv=2)).all()
    assert np.isfinite(cross_val_score(model, pandas.Series([list(text) for text in texts]), cv=2)).all()
    assert texts[np.array([True, False, True, False])].items == (texts[0], texts[2])


def test_a_prefix_of_unknown_symbols_is_never_dropped_in_silence() -> None:
    model = glnn.ContextTree(depth=2, verbose=0, unknown="escape").fit([["Confirm receipt", "Send"]] * 5)
    with pytest.warns(glnn.UnknownSymbolWarning, match=r"'confirm receipt'.* nearest it knows is 'Confirm receipt'"):
        model.predict_proba(["confirm receipt"])
    strict = glnn.ContextTree(depth=2, verbose=0, unknown="error").fit([["Confirm receipt", "Send"]] * 5)
    with pytest.raises(InputError, match=r"'Sent' at position 0.*nearest are 'Send'"):
        strict.predict_proba(["Sent"])


def test_folds_may_hold_symbols_that_were_not_learned() -> None:
    from sklearn.model_selection import GridSearchCV, cross_val_score

    cases = Sequences([["open", "pay"] * 3, ["open", "close"], ["open", "pay"], ["open", "lend"], ["open"], ["open"]])
    model = glnn.ContextTree(verbose=0, unknown="escape")
    assert np.isfinite(cross_val_score(model, cases, cv=3, error_score="raise")).all()
    found = GridSearchCV(model, {"depth": [1, 2]}, cv=3, error_score="raise").fit(cases)
    assert found.best_params_["depth"] in (1, 2)
    assert np.isfinite(found.score(cases))
