"""What goes in comes out: every predictor, any data over the alphabet, several sequences, escapes; and at what cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glnn.codec import compress, decompress, encoded_bits, message, streams, symbols
from glnn.predictors import bits
from glnn.sequences import Alphabet, Encoded, InputError, Sequences, encode
from glnn.sequences.special import escaped_bits
from tests.codec.predictors import KINDS, LETTERS, Markov, predictor

TEXT = "a bad cab faced a decade\n" * 8


def random_text(length: int, seed: int = 0) -> str:
    return "".join(np.random.default_rng(seed).choice(list(LETTERS), length))


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
def test_short_texts_come_back(kind: str) -> None:
    model = predictor(kind, end=True, escape=0.05)
    texts = ["a bad", "", "cabbage Z\nface"]
    assert list(decompress(model, compress(model, Sequences(texts)))) == texts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("escape", [None, 0.05])
def test_texts_come_back(kind: str, escape: float | None) -> None:
    model = predictor(kind, escape=escape)
    for text in ("", "a", "\n", TEXT, random_text(300)):
        assert decompress(model, compress(model, text)) == text


@pytest.mark.parametrize("kind", KINDS)
def test_several_sequences_come_back(kind: str) -> None:
    for end in (False, True):
        model = predictor(kind, end=end, escape=0.02)
        for given_ in ([TEXT, "", "g", "Zebra é", ""], [""], []):
            found = decompress(model, compress(model, Sequences(given_)))
            assert list(found) == given_


@pytest.mark.parametrize("kind", KINDS)
def test_cost_is_that_of_the_model(kind: str) -> None:
    model = predictor(kind)
    for text in (TEXT, random_text(3000)):
        own = bits(model, encode(text, model.alphabet))
        assert abs(encoded_bits(compress(model, text)) - own) <= 0.001 * own + 16


@pytest.mark.parametrize("kind", KINDS)
def test_cost_of_ends_and_escapes_is_that_of_the_model(kind: str) -> None:
    model = predictor(kind, end=True, escape=0.03)
    texts = [random_text(200, 1), random_text(50, 2)]
    end, escape = len(LETTERS), len(LETTERS) + 1
    codes = [[*encode(text, Alphabet(LETTERS)).codes, end] for text in texts]
    codes[0][20:20] = [escape, escape]
    texts[0] = texts[0][:20] + "ÄZ" + texts[0][20:]
    starts = np.array([0, len(codes[0]), len(codes[0]) + len(codes[1])], np.int64)
    flat = np.array([*codes[0], *codes[1]], np.int32)
    own = bits(model, Encoded(flat, starts, np.ones(flat.size, bool), model.alphabet))
    own += escaped_bits("Ä", model.alphabet) + escaped_bits("Z", model.alphabet)
    blob = compress(model, Sequences(texts))
    assert abs(encoded_bits(blob) - own) <= 0.001 * own + 16
    assert list(decompress(model, blob)) == texts


def test_predictable_symbols_cost_next_to_nothing() -> None:
    model: Any = predictor("glnn", np.arange(256))
    model.params.w[:] = 0.0
    model.params.w[0, 0] = 40.0
    data = np.zeros(400_000, np.int64)
    # With 24 bits the floors of 255 other symbols would take 9 bits; here they take 0.03.
    assert encoded_bits(compress(model, data)) == 8


@pytest.mark.parametrize(
    ("symbols_", "data"),
    [
        (bytes(range(0, 200)), bytes([199, 0, 5, 5, 255, 201, 7])),
        (bytes(range(256)), bytes([255, 0, 128])),
        (["x", "yy", "zzz"], ["x", "zzz", "unseen word", "é\ud800", "", "x"]),
        ([(1, "a"), (2, "b")], [(1, "a"), (3, None), (2, "b"), ((), b"\xff", 0.1)]),
        ([True, False], [True, False, True]),
        ([0.5, 1.5], [0.5, 1e300, float("inf"), 1.5]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, bytes) else repr(value)[:12],
)
def test_tokens_of_any_type_come_back(symbols_: Any, data: Any) -> None:
    model = predictor("hmm", symbols_, escape=0.1)
    found = decompress(model, compress(model, data))
    assert found == data
    assert type(found) is type(data)


def test_integers_come_back() -> None:
    model = predictor("hmm", np.array([-5, 3, 10**15]), escape=0.1)
    for data in (np.array([3, -5, 10**15, 3]), np.array([], np.int64), np.array([4, 3, -(2**63)])):
        found = decompress(model, compress(model, data))
        assert found.dtype == np.int64 and found.tolist() == data.tolist()
    beyond = [3, 2**70, -5]
    assert decompress(model, compress(model, beyond)) == beyond


@given(st.text(st.sampled_from(LETTERS + "Zé\U0010ffff\ud800\x00"), max_size=60))
def test_any_text_with_unknown_characters(text: str) -> None:
    model = predictor("hmm", escape=0.2)
    assert decompress(model, compress(model, text)) == text


@given(st.lists(st.lists(st.sampled_from(["go", "stop", "new", "\n", "0"]), max_size=6), max_size=6), st.booleans())
@settings(max_examples=40)
def test_any_lists_of_words(sequences: list[list[str]], end: bool) -> None:
    model = predictor("hmm", ["go", "stop", "wait"], end=end, escape=0.2)
    given_ = Sequences(sequences)
    assert decompress(model, compress(model, given_)) == sequences


def test_encoded_data_are_taken_as_they_are() -> None:
    model = predictor("hmm", end=True)
    end = len(LETTERS)
    codes = np.array([0, 1, end, 2, end, end, 3], np.int32)
    data = Encoded(codes, np.array([0, 4, 7]), np.ones(7, bool), model.alphabet)
    assert list(decompress(model, compress(model, data))) == ["abc", "d"]
    own = encode(TEXT)
    assert decompress(model, compress(model, own)) == TEXT


def test_codes_that_do_not_say_their_symbols_are_refused() -> None:
    model = predictor("hmm", escape=0.1)
    codes = np.array([0, len(LETTERS)], np.int32)
    with pytest.raises(InputError, match="escapes, which do not say"):
        compress(model, Encoded(codes, np.array([0, 2]), np.ones(2, bool), model.alphabet))
    other = predictor("hmm", "ab", end=True)
    ended = Encoded(np.array([0, 2], np.int32), np.array([0, 2]), np.ones(2, bool), other.alphabet)
    with pytest.raises(InputError, match="special symbols of another model"):
        compress(model, ended)


@pytest.mark.parametrize("kind", ["glnn", "lstm", "hmm", "tree", "stepwise"])
def test_block_sizes_and_threads_change_no_bit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = predictor(kind, escape=0.05)
    data = random_text(400) + "Z" + TEXT
    whole = compress(model, data)
    for block in (1, 7, 64):
        monkeypatch.setattr(streams, "BLOCK", block)
        monkeypatch.setattr(symbols, "_BLOCK", block)
        assert compress(model, data) == whole
        assert decompress(model, whole) == data
    if kind in ("glnn", "lstm"):
        model.inner.threads = 3
        assert compress(model, data) == whole


def test_unknown_symbols_are_named() -> None:
    model = predictor("hmm")
    with pytest.raises(InputError, match=r"'Z' at position 2 is not in the alphabet.*unknown='escape'"):
        compress(model, "abZ")
    with pytest.raises(InputError, match=r"'Z' at position 0 of sequence 1 "):
        compress(model, Sequences(["ab", "Z"]))
    with pytest.raises(InputError, match="'Z' at position 1 "):
        compress(model, encode("aZ"))
    with pytest.raises(InputError, match="not one character"):
        compress(predictor("hmm", escape=0.1), ["a", "bc"])


def test_what_cannot_predict_is_refused() -> None:
    for wrong in (None, "model", Markov):
        with pytest.raises(InputError, match="cannot predict"):
            compress(wrong, "a")


def test_a_result_is_only_given_when_it_decodes() -> None:
    generator = np.random.default_rng(0)

    class Unsteady(Markov):
        """Each state predicts something else than the one before it."""

        def begin(self) -> Any:
            self.rows = generator.dirichlet(np.ones(3), 3)
            return super().begin()

    model = Unsteady(Alphabet("abc"), np.ones((3, 3)))
    with pytest.raises(message.StreamError, match="could not be decoded again"):
        compress(model, "abcabcabbacabcbcabca")
    assert compress(model, "abcabcabbacabcbcabca", verify=False)
