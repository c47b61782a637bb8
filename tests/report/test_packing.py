"""Numbers that travel in a page arrive as they were, and texts never leave their script element."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from glnn.report.packing import pack_columns, pack_floats, pack_integers, plain, script_json

pytestmark = pytest.mark.small


def unpack(packed: dict[str, Any]) -> np.ndarray:
    """What the page's script does."""
    content = base64.b64decode(packed["data"])
    if packed["type"] == "columns":
        steps = np.frombuffer(content, "<u2").reshape(packed["shape"][::-1]).T
        return np.array(packed["low"]) + np.array(packed["step"]) * steps
    return np.frombuffer(content, f"<{packed['type']}").reshape(packed["shape"]).astype(float)


@given(arrays(float, (7,), elements=st.floats(-6e4, 6e4)))
def test_floats_keep_three_digits(values: np.ndarray) -> None:
    np.testing.assert_allclose(unpack(pack_floats(values)), values, rtol=1e-3, atol=6e-8)


def test_what_is_finite_stays_finite_and_what_is_not_stays_so() -> None:
    got = unpack(pack_floats(np.array([1e9, -1e9, np.inf, np.nan])))
    assert np.isfinite(got[:2]).all() and got[0] > 6e4 and got[2] == np.inf and np.isnan(got[3])


@pytest.mark.parametrize(("largest", "kind"), [(0, "u1"), (255, "u1"), (256, "u2"), (65535, "u2"), (65536, "u4")])
def test_integers_take_the_smallest_type(largest: int, kind: str) -> None:
    values = np.array([[0, largest]])
    packed = pack_integers(values)
    assert packed["type"] == kind
    np.testing.assert_array_equal(unpack(packed), values)


def test_negative_integers_are_refused() -> None:
    with pytest.raises(ValueError, match="-3 is among the integers"):
        pack_integers(np.array([1, -3]))


def test_a_small_ramp_far_from_0_keeps_its_shape() -> None:
    ramp = 0.9 + 1e-6 * np.arange(100.0)
    got = unpack(pack_columns(np.stack([ramp, np.full(100, 2.5), 1000.0 * ramp], axis=1)))
    np.testing.assert_allclose(np.diff(got[:, 0]), 1e-6, rtol=0.02)
    np.testing.assert_array_equal(got[:, 1], 2.5)
    np.testing.assert_allclose(got[:, 2], 1000.0 * ramp, rtol=1e-6)


def test_plain_numbers_are_json() -> None:
    assert json.dumps(plain(np.array([1.23456789, np.nan, np.inf, 0.0]), 3)) == "[1.23, null, null, 0.0]"


@given(st.recursive(st.text(st.characters(codec=None)), lambda inner: st.lists(inner, max_size=3), max_leaves=6))
def test_any_text_survives_and_none_ends_the_script(value: Any) -> None:
    written = script_json(value)
    assert json.loads(written) == value
    assert not set(written) & set("<>&\u2028\u2029") and written.isascii()


def test_the_texts_that_would_end_a_script() -> None:
    for text in ("</script>", "<!--", "<script>", "]]>", "&lt;"):
        assert json.loads(script_json(text)) == text and "<" not in script_json(text)
