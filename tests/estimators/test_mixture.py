"""glnn.Mixture: contexts alone, with networks, online and frozen, in files and streams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import glnn
from glnn.codec import encoded_bits
from glnn.estimators.mixture_experts import ALONE, best_shares
from glnn.estimators.mixture_fit import recipe_for
from glnn.predictors import Predictor
from glnn.sequences import encode
from glnn.storage.model_file import ModelFileError, read_model_file, write_model_file

TEXT = "the cat sat on the mat; the dog lay on the rug. a cat and a dog are not on a mat or a rug, are they? " * 4


def cases(count: int = 40, seed: int = 0) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [["open"] + ["work"] * int(generator.integers(1, 5)) + ["check", "close"] for _ in range(count)]


@pytest.fixture(scope="module")
def of_text() -> glnn.Mixture:
    return glnn.Mixture(networks=0, verbose=0).fit(TEXT)


@pytest.fixture(scope="module")
def with_network() -> glnn.Mixture:
    return glnn.Mixture(networks=2, budget="2 steps", random_state=3, verbose=0).fit(cases(150))


def test_what_it_learned_from(of_text: glnn.Mixture) -> None:
    assert of_text.learning_ == "online"
    assert of_text.networks_ == () and of_text.trials_ == []
    assert of_text.bits(TEXT[:100]) < 20 < of_text.bits(TEXT[:100][::-1])
    assert isinstance(of_text.predictor_, Predictor)
    assert of_text.n_parameters_ > 500


def test_bits_are_what_compression_takes(of_text: glnn.Mixture) -> None:
    new = "the dog sat on a rug and the cat lay on the mat, are they not? "
    blob = of_text.compress(new)
    assert of_text.decompress(blob) == new
    assert encoded_bits(blob) == pytest.approx(of_text.bits(new), abs=16)
    assert of_text.surprise(new).sum() == pytest.approx(of_text.bits(new))


def test_a_file_gives_the_same_bits(of_text: glnn.Mixture, tmp_path: Path) -> None:
    of_text.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    new = "a cat and a rug. "
    assert np.array_equal(again.surprise(new), of_text.surprise(new))
    assert again.decompress(of_text.compress(new)) == new
    assert (tmp_path / "model").stat().st_size < 10 * len(TEXT)


def test_online_learns_and_frozen_scores_alike() -> None:
    new = "zebra, zebu! "
    symbols = sorted(set(TEXT + new))
    for learning, ratio in (("online", 0.5), ("frozen", 0.95)):
        model = glnn.Mixture(networks=0, learning=learning, alphabet=symbols, verbose=0).fit(TEXT)
        parts = model.surprise([list(new)] * 2) if learning == "frozen" else np.split(model.surprise(new * 2), 2)
        assert (parts[1].sum() < ratio * parts[0].sum()) == (learning == "online")
        assert model.bits(new) == model.bits(new)
        if learning == "frozen":
            assert np.array_equal(parts[0], parts[1])


def test_several_sequences_with_ends_masks_and_escapes() -> None:
    model = glnn.Mixture(networks=0, unknown="escape", verbose=0).fit(cases())
    assert model.learning_ == "frozen"
    assert model.bits([["open", "work", "check", "close"]]) < 4
    data = [["open", "fly"], [], ["open", "work"]]
    assert model.decompress(model.compress(data)) == data
    assert model.predict_proba(["open"]).sum() == pytest.approx(1.0)
    assert all(sample[0] == "open" for sample in model.sample(count=4, random_state=0))
    # The mask is for the scores.
    only_first = [[True] + [False] * (len(case) - 1) + [False] for case in cases(3)]
    assert model.bits(cases(3), [mask[:-1] for mask in only_first]) < model.bits(cases(3))


def test_order_and_weighting_of_frozen_data_are_chosen_on_the_last_fifth() -> None:
    generator = np.random.default_rng(0)
    # The world changes in the middle: what comes late counts.
    early, late = [list("abcd")] * 150, [list("dcba")] * 50
    data = encode(early + late)
    assert np.array_equal(recipe_for(data, 0, learns_on=False).codes, data.codes)
    online = recipe_for(data, 0, learns_on=True)
    assert np.array_equal(online.codes, data.codes) and online.choose and not online.stationary
    # It only seems to change: the end of the fitted part is no picture of what comes.
    regular = [[*list("ab" if generator.random() < 0.5 else "ba"), "c"] for _ in range(100)]
    assert recipe_for(encode([*regular, *[list("bac")] * 60, *regular[:40]]), 0, learns_on=False).stationary


def visits(count: int, seed: int) -> list[list[str]]:
    """Each activity depends on the last two, not surely: a tree and n-grams find that out as well."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        case = ["in", "wait"]
        while len(case) < 12:
            often = {"wait": "see", "see": "pay", "pay": "wait"}[case[-1]] if case[-2] != case[-1] else "pay"
            case.append(often if generator.random() < 0.7 else str(generator.choice(["wait", "see", "pay"])))
        found.append(case)
    return found


@pytest.mark.parametrize("learning", ["frozen", "online"])
def test_shares_of_tree_and_n_grams(learning: str, tmp_path: Path) -> None:
    model = glnn.Mixture(networks=0, learning=learning, verbose=0).fit(visits(60, seed=0))
    assert sum(model.shares_.values()) == pytest.approx(1.0) and model.shares_["mixture"] < 0.98
    shares, new = model.predictor_, visits(8, seed=1)
    data = model._read(new).encoded
    # One run, blocks and single steps say the same; what is learned online stays from sequence to sequence.
    rows = np.concatenate(list(shares.distributions(data, block=7)))
    np.testing.assert_array_equal(rows, np.concatenate(list(shares.distributions(data))))
    np.testing.assert_allclose(rows.sum(1), 1.0)
    chances = rows[np.arange(data.codes.size), data.codes]
    np.testing.assert_allclose(np.log(chances), shares.log_likelihoods(data), rtol=0, atol=1e-12)
    state = shares.begin()
    for row, code in zip(rows[: data.starts[1]], data.codes[: data.starts[1]].tolist(), strict=True):
        np.testing.assert_array_equal(state.probabilities(), row)
        state.advance(code)
    mean = sum(
        weight * np.exp(part.log_likelihoods(data))
        for weight, part in zip(shares.weights, (shares.mixture, *shares.beside), strict=True)
    )
    np.testing.assert_allclose(mean, chances)
    blob = model.compress(new)
    assert encoded_bits(blob) == pytest.approx(model.bits(new), abs=24)
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.shares_ == model.shares_ and np.array_equal(again.predictor_.log_likelihoods(data), np.log(mean))
    assert again.decompress(blob) == new


def test_a_share_goes_to_whom_it_serves() -> None:
    generator = np.random.default_rng(0)
    right = np.where(generator.random(500) < 0.5, 0.9, 0.1)
    beside, bits = best_shares([right, 1.0 - right, np.full(500, 1e-6)], order=3)
    assert beside.weights[0] == pytest.approx(0.5, abs=0.1) and beside.weights[2] == 0.0 and beside.order == 3
    assert bits < -np.log2(right).sum() / 1.5
    assert best_shares([np.full(500, 0.9), np.full(500, 0.5), np.full(500, 0.5)], 3)[0] == ALONE


def test_networks_are_mixed_in_and_kept_in_the_file(with_network: glnn.Mixture, tmp_path: Path) -> None:
    model = with_network
    assert [trial["networks"] for trial in model.trials_] == [0, 1, 2]
    assert len(model.networks_) == 2
    test = cases(5, seed=1)
    bits = model.bits(test)
    assert bits < 5 * 6
    rows = model.predict_proba([["open"], ["open", "work"]])
    np.testing.assert_allclose(rows.sum(1), 1.0)
    first = model.surprise(test)[0]
    assert first[1] == pytest.approx(-np.log2(rows[0][list(model.alphabet_.symbols).index(test[0][1])]))
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.bits(test) == bits
    assert again.decompress(model.compress(test)) == test
    assert model.trace(test).activities.shape[1] == again.trace(test).activities.shape[1] > 2


def test_networks_that_do_not_help_do_not_stay() -> None:
    model = glnn.Mixture(budget="1 steps", random_state=0, verbose=0).fit(TEXT * 2)
    assert len(model.trials_) == 2 and model.networks_ == ()
    assert model.predictor_.coding_steps(None) is not None


def test_words_of_a_large_alphabet_and_integers() -> None:
    generator = np.random.default_rng(0)
    numbers = np.minimum(generator.geometric(0.002, 800), 3000)
    model = glnn.Mixture(networks=0, alphabet=np.arange(4000), verbose=0).fit(numbers)
    assert np.array_equal(model.decompress(model.compress(numbers[:50])), numbers[:50])
    assert model.predict_proba(numbers[:3]).shape == (4000,)
    words = [f"word{number % 300}" for number in numbers]
    assert glnn.Mixture(networks=0, verbose=0).fit(words).bits(words[:100]) < 900


def test_trace_says_who_spoke_for_a_symbol(of_text: glnn.Mixture) -> None:
    trace = of_text.trace(TEXT[:60])
    assert trace.activities.shape[0] == 60 == trace.bits.size
    # What was foreseen was foreseen by someone.
    sure = trace.bits[10:] < 0.01
    assert sure.any() and (trace.activities[10:][sure].max(1) > 0.5).all()


def test_states_are_independent(of_text: glnn.Mixture) -> None:
    state = of_text.predictor_.begin()
    for code in of_text.alphabet_.encode("the c"):
        state.advance(int(code))
    other = state.copy()
    before = state.probabilities()
    for code in of_text.alphabet_.encode("xyz".replace("x", "t").replace("y", "e").replace("z", "a")):
        other.advance(int(code))
    assert np.array_equal(state.probabilities(), before)
    place = state.place()
    fresh = of_text.predictor_.begin()
    fresh.move(place)
    assert np.argmax(fresh.probabilities()) == np.argmax(before)
    with pytest.raises(glnn.InputError, match="place"):
        fresh.move({**place, "cursor/recent": place["cursor/recent"] + 1000})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, fitted: arrays["codes"].__setitem__(0, 200), "no codes"),
        (lambda arrays, fitted: arrays["starts"].__setitem__(1, 7), "do not fit"),
        (lambda arrays, fitted: fitted.__setitem__("cut", 10**9), "begin at"),
        (lambda arrays, fitted: fitted.__setitem__("learning_", "often"), "learning_"),
        (lambda arrays, fitted: arrays.update(shares=np.array([0.5, 0.0, 0.1])), "sum to 1"),
        (
            lambda arrays, fitted: (arrays.update(shares=np.array([0.5, 0.0, 0.5])), fitted.update(order=99)),
            "order of the n-grams",
        ),
    ],
)
def test_forged_files_are_refused(of_text: glnn.Mixture, tmp_path: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    of_text.save(tmp_path / "model")
    arrays, header = read_model_file(tmp_path / "model")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays, header["fitted"])
    header.pop("format")
    write_model_file(tmp_path / "forged", arrays, header)
    with pytest.raises((ModelFileError, glnn.InputError), match=message):
        glnn.load(tmp_path / "forged")


def test_wrong_parameters() -> None:
    with pytest.raises(glnn.InputError, match="networks"):
        glnn.Mixture(networks=-1).fit(TEXT)
    with pytest.raises(glnn.InputError, match="learning"):
        glnn.Mixture(learning="sometimes").fit(TEXT)
