"""glnn.Mixture: contexts alone, with networks, online and frozen, in files and streams."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import glnn
from glnn.codec import encoded_bits
from glnn.codec.errors import WrongModel
from glnn.codec.state_steps import steps_of
from glnn.coding.range_coder import PENDING, PLACE, encoder
from glnn.estimators import mixture, mixture_networks
from glnn.predictors import Predictor
from glnn.predictors.experts import Beside, best_shares
from glnn.predictors.frozen_trial import FrozenTrial
from glnn.predictors.mixture_recipe import Recipe, for_network
from glnn.predictors.mixture_trial import Promising, Trial
from glnn.predictors.odds import RunningOdds, with_uniform
from glnn.predictors.protocol import StepwisePredictor
from glnn.sequences import Alphabet, Encoded, TrainingData, encode
from glnn.storage.model_file import ModelFileError, read_model_file, write_model_file
from glnn.training.validation import split

TEXT = "the cat sat on the mat; the dog lay on the rug. a cat and a dog are not on a mat or a rug, are they? " * 4


def cases(count: int = 40, seed: int = 0) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [["open"] + ["work"] * int(generator.integers(1, 5)) + ["check", "close"] for _ in range(count)]


@pytest.fixture(scope="module")
def of_text() -> glnn.Mixture:
    return glnn.Mixture(networks=0, verbose=0).fit(TEXT)


@pytest.fixture(scope="module")
def with_network() -> glnn.Mixture:
    options = {"budget": "2 steps", "random_state": 3, "unknown": "error", "verbose": 0}
    return glnn.Mixture(networks=2, learning="online", **options).fit(cases(150))


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
    # An escape costs what its probability says, and what is known is left the rest.
    escape = model.escape_probability_
    assert escape is not None
    inner = model.predictor_.inner
    opening = inner.begin().probabilities()[inner.alphabet.encode(["open"])[0]]
    assert model.surprise(data)[0][0] == pytest.approx(-np.log2((1.0 - escape) * opening), rel=1e-9)
    steps = [steps_of(one) for one in (model.predictor_, inner)]
    taken = []
    for one in steps:
        coder, out = encoder(), np.zeros(1 << 16, np.uint8)
        one.restart()
        one.encode(np.tile(inner.alphabet.encode(["open", "work"]), 500), coder, out)
        taken.append(8.0 * (coder[PLACE] + coder[PENDING]))
    assert taken[0] - taken[1] == pytest.approx(-1000 * np.log2(1.0 - escape), abs=24)
    coder, out = encoder(), np.zeros(1 << 16, np.uint8)
    for _ in range(400):
        steps[0].encode_escape(coder, out)
    assert 8.0 * (coder[PLACE] + coder[PENDING]) == pytest.approx(-400 * np.log2(escape), abs=64)
    assert model.predict_proba(["open"]).sum() == pytest.approx(1.0)
    assert all(sample[0] == "open" for sample in model.sample(count=4, random_state=0))
    # The mask is for the scores.
    only_first = [[True] + [False] * (len(case) - 1) + [False] for case in cases(3)]
    assert model.bits(cases(3), [mask[:-1] for mask in only_first]) < model.bits(cases(3))


@pytest.mark.parametrize("learning", ["frozen", "online"])
def test_ends_are_learned_by_reading_on(learning: str) -> None:
    model = glnn.Mixture(networks=0, learning=learning, verbose=0).fit(cases())
    before = model.surprise([["open"]])[0]
    model.partial_fit([["open"]] * 30)
    # The second number is that of the end.
    assert model.surprise([["open"]])[0][1] < before[1] - 2.0


def recipe_for(data: Encoded, online: bool) -> Recipe:
    parts = split(TrainingData(data), 0.2)
    return Trial(data, parts, True, 0).recipe(()) if online else FrozenTrial(data, parts).recipe(())


def test_order_and_weighting_of_frozen_data_are_chosen_on_the_last_fifth() -> None:
    generator = np.random.default_rng(0)
    # The world changes in the middle: what comes late counts.
    early, late = [list("abcd")] * 150, [list("dcba")] * 50
    data = encode(early + late)
    assert np.array_equal(recipe_for(data, online=False).codes, data.codes)
    online = recipe_for(data, online=True)
    assert np.array_equal(online.codes, data.codes) and online.choose and not online.stationary
    # It only seems to change: the end of the fitted part is no picture of what comes.
    regular = [[*list("ab" if generator.random() < 0.5 else "ba"), "c"] for _ in range(100)]
    assert recipe_for(encode([*regular, *[list("bac")] * 60, *regular[:40]]), online=False).stationary


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
    model = glnn.Mixture(networks=0, learning=learning, unknown="error", verbose=0).fit(visits(60, seed=0))
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
    said = [np.exp(part.log_likelihoods(data)) for part in (shares.mixture, *shares.beside, *shares.networks)]
    given = with_uniform(said, rows.shape[1])
    weights = RunningOdds(shares.odds, learns=learning == "online").along(given)
    np.testing.assert_allclose(weights.sum(1), 1.0)
    assert np.ptp(weights[:, 0]) > 0.0 if learning == "online" else np.ptp(weights[:, 0]) == 0.0
    mean = (weights * given).sum(1)
    np.testing.assert_allclose(mean, chances)
    # What the coder is given is the very same row, in the midst of the third sequence.
    steps, coder, out = shares.coding_steps(None), encoder(), np.empty(1 << 12, np.uint8)
    last = int(data.starts[2]) + 4
    for begin, end in ((0, data.starts[1]), (data.starts[1], data.starts[2]), (data.starts[2], last)):
        steps.restart()
        steps.encode(data.codes[begin:end], coder, out)
    np.testing.assert_array_equal(steps.place(), rows[last])
    # Frozen, every sequence is scored alike, in each of the parts; online it is learned.
    twice = model.surprise([new[0], new[0]])
    assert np.array_equal(twice[0], twice[1]) == (learning == "frozen")
    for part in (shares.mixture, *shares.beside):
        first, second = np.split(part.log_likelihoods(model._read([new[0], new[0]]).encoded), 2)
        assert np.array_equal(first, second) == (learning == "frozen")
    blob = model.compress(new)
    assert encoded_bits(blob) == pytest.approx(model.bits(new), abs=24)
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.shares_ == model.shares_ and np.array_equal(again.predictor_.log_likelihoods(data), np.log(mean))
    assert again.decompress(blob) == new


def test_beside_one_text_stand_those_that_help_and_their_odds_go_on_learning(tmp_path: Path) -> None:
    """Long runs, and the second of a pair as long as the first: where trees are sure of themselves sooner."""
    generator = np.random.default_rng(0)
    blocks = ["a" * int(n) + "b" * int(n) for n in generator.geometric(0.02, 60)]
    text, new = "".join(blocks[:50]), "".join(blocks[50:])
    model = glnn.Mixture(networks=0, unknown="error", verbose=0).fit(text)
    shares = model.predictor_
    assert model.shares_["tree"] > 0.02 or model.shares_["ngram"] > 0.02
    data = model._read(new).encoded
    alone = [-part.log_likelihoods(data).sum() / np.log(2.0) for part in (shares.mixture, *shares.beside)]
    assert model.bits(new) < min(alone) + np.log2(5 * len(alone))
    assert glnn.Mixture(networks=0, verbose=0).fit(TEXT).shares_["mixture"] == 1.0
    # Reading on, the odds learn, and a file remembers them.
    before = dict(model.shares_)
    model.partial_fit(new)
    assert model.shares_ != before
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.shares_ == model.shares_ and again.bits(text[:200]) == model.bits(text[:200])
    assert again.decompress(model.compress(new)) == new
    # Forged odds are refused.
    for name, forged in (("odds/rows", np.zeros((1, 2))), ("odds/trust", np.ones(5))):
        arrays, header = read_model_file(tmp_path / "model")
        header.pop("format")
        write_model_file(tmp_path / "forged", {**arrays, name: forged}, header)
        with pytest.raises(ModelFileError, match="odds"):
            glnn.load(tmp_path / "forged")


def test_a_share_goes_to_whom_it_serves() -> None:
    generator = np.random.default_rng(0)
    right = np.where(generator.random(500) < 0.5, 0.9, 0.1)
    beside, bits = best_shares([right, 1.0 - right, np.full(500, 1e-6)], order=3, alphabet_size=10)
    assert beside.own == pytest.approx(0.5, abs=0.1) and beside.ngrams == 0.0 and beside.order == 3
    assert bits.sum() < -np.log2(right).sum() / 1.5
    # What is good everywhere has it all, but for what bounds surprises; that costs next to nothing.
    alone, bits = best_shares([np.full(500, 0.9), np.full(500, 0.5), np.full(500, 0.5)], 3, 10)
    assert (alone.tree, alone.ngrams) == (0.0, 0.0) and 1e-3 < alone.uniform < 6e-3
    assert bits.sum() < -500 * np.log2(0.9) + 3.5
    # A network that knows better gets its share.
    known = np.full(500, 0.4)
    assert best_shares([known, known, known, np.full(500, 0.9)], 3, 10)[0].networks[0] > 0.9


def test_a_thing_never_seen_is_bounded_where_everything_was_alike() -> None:
    always = [list("abcabcabd")] * 300
    model = glnn.Mixture(networks=0, verbose=0).fit(always)
    cut_short = [list("abcab")]
    # A share of ends pays for what is cut short, a smaller one of the uniform distribution for the rest.
    assert model.bits(cut_short) < 1.0 - np.log2(model.shares_["ends"] / 2)
    assert model.surprise([list("abcd")])[0][3] < 0.1 - np.log2(model.shares_["uniform"] / 5)
    assert 1e-5 < model.shares_["uniform"] < model.shares_["ends"] < 1e-2


def test_weights_of_what_is_frozen_are_a_mean_and_learning_goes_on_from_it(tmp_path: Path) -> None:
    model = glnn.Mixture(networks=0, learning="frozen", verbose=0).fit(visits(60, seed=0))
    assert model.recipe_.averaged
    plain = replace(model.recipe_, averaged=False).read(model.predictor_.alphabet, (), False)[0]
    new = model._read(visits(8, seed=1)).encoded
    assert not np.array_equal(plain.log_likelihoods(new), model.predictor_.log_likelihoods(new))
    model.partial_fit(visits(20, seed=2))
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model").predictor_.log_likelihoods(new)
    np.testing.assert_array_equal(again, model.predictor_.log_likelihoods(new))


def test_networks_are_mixed_in_and_kept_in_the_file(with_network: glnn.Mixture, tmp_path: Path) -> None:
    model = with_network
    assert [trial["networks"] for trial in model.trials_] == [0, 1, 2]
    assert len(model.networks_) == 2
    test = cases(5, seed=1)
    bits = model.bits(test)
    assert bits < 5 * 6
    rows = model.predict_proba([["open"], ["open", "work"]])
    np.testing.assert_allclose(rows.sum(1), 1.0)
    first = model.surprise(test[:1])[0]
    assert first[1] == pytest.approx(-np.log2(rows[0][list(model.alphabet_.symbols).index(test[0][1])]))
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.bits(test) == bits
    assert again.decompress(model.compress(test)) == test
    steps = model.predictor_.coding_steps(None)
    assert steps is not None and steps.portable
    assert model.trace(test).activities.shape[1] == again.trace(test).activities.shape[1] > 2


def test_members_that_know_the_end_take_the_places_of_those_it_was_read_with(tmp_path: Path) -> None:
    model = glnn.Mixture(networks=0, learning="online", unknown="error", verbose=0).fit(cases(150))
    data = model._given(cases(150), None, None, None, None).train
    options = {"members": 3, "restarts": 3, "refit": False, "random_state": 0}
    network = glnn.GLNN(4, 2, budget=4, end=False, unknown="error", verbose=0, **options).fit(for_network(data))
    judged = network.that_held_out()
    assert [len(one.networks_) for one in (network, judged)] == [3, 1]
    cut = data.codes.size - network.held_out_
    recipe = Recipe(data.codes, data.starts, cut, False, beside=Beside(0.5, 0.2, 0.2, 0.1, (0.5,), 2), choose=True)
    model._use(recipe, (network,), model.alphabet_, None)
    # All was learned from what those said that held out the end; then the others speak.
    for member, same in ((judged, True), (network, False)):
        read, beside = recipe.read(data.alphabet, (member.predictor_,), True)
        assert (beside.named == model.shares_) == same
        learned = model.predictor_.mixture.contexts.memory.weights
        assert np.array_equal(read.mixture.contexts.memory.weights, learned) == same
    assert model.predictor_.mixture.members == model.predictor_.networks == (network.predictor_,)
    # Whoever has read on finds the same in a file; what came later was heard from all.
    model.partial_fit(cases(5, seed=2))
    model.save(tmp_path / "model")
    again, new = glnn.load(tmp_path / "model"), cases(6, seed=1)
    assert again.bits(new) == model.bits(new) and again.shares_ == model.shares_
    assert again.decompress(model.compress(new)) == new


def test_networks_beside_have_a_share_in_scores_codes_and_files(with_network: glnn.Mixture, tmp_path: Path) -> None:
    model = copy(with_network)
    model.learning_ = "frozen"
    recipe = replace(
        model.recipe_, cut=model.recipe_.codes.size, averaged=True, beside=Beside(0.4, 0.2, 0.0, 0.01, (0.3, 0.09))
    )
    model._use(recipe, model.networks_, model.alphabet_, None)
    shares, new = model.predictor_, cases(6, seed=1)
    assert not shares.mixture.members and len(shares.networks) == 2
    data = model._read(new).encoded
    own = replace(data, alphabet=shares.networks[0].alphabet)
    parts = (shares.mixture.log_likelihoods(data), shares.beside[0].log_likelihoods(data))
    parts += tuple(network.log_likelihoods(own) for network in shares.networks)
    weights = shares.odds.weights[:-1]
    mean = sum(w * np.exp(part) for w, part in zip(weights, parts, strict=True)) + 0.01 / len(shares.alphabet)
    np.testing.assert_allclose(np.exp(shares.log_likelihoods(data)), mean)
    rows = np.concatenate(list(shares.distributions(data, block=5)))
    np.testing.assert_allclose(rows[np.arange(data.codes.size), data.codes], mean)
    steps = shares.coding_steps(None)
    assert steps is not None and steps.portable
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.shares_ == {
        "mixture": 0.4,
        "tree": 0.2,
        "ngram": 0.0,
        "uniform": 0.01,
        "network0": 0.3,
        "network1": 0.09,
    }
    assert again.decompress(model.compress(new)) == new
    assert encoded_bits(model.compress(new)) == pytest.approx(model.bits(new), abs=24)
    # Going on, the networks and the shares stay as they are.
    model.partial_fit(cases(5, seed=2))
    assert model.shares_ == again.shares_ and model.bits(new) != again.bits(new)


def test_shares_that_follow_a_sequence_are_the_same_in_scores_codes_files_and_streams(
    with_network: glnn.Mixture, tmp_path: Path
) -> None:
    model, stays, slower = (copy(with_network) for _ in range(3))
    beside = Beside(0.4, 0.2, 0.0, 0.01, (0.3, 0.05), ends=0.04, inside=0.3)
    for one, rate in ((model, 0.3), (stays, 0.0), (slower, 0.2)):
        one.learning_ = "frozen"
        recipe = replace(one.recipe_, cut=one.recipe_.codes.size, averaged=True, beside=replace(beside, inside=rate))
        one._use(recipe, one.networks_, one.alphabet_, None)
    new = cases(6, seed=1)
    assert abs(model.bits(new) - stays.bits(new)) > 0.1
    # Every sequence is scored alike, wherever it stands, and its first symbol as by shares that stay.
    each = model.surprise(new)
    assert model.bits(new) == pytest.approx(sum(model.bits([case]) for case in new), abs=1e-9)
    assert [case[0] for case in each] == [case[0] for case in stays.surprise(new)]
    rows = np.concatenate(list(model.predictor_.distributions(model._read(new).encoded, block=5)))
    codes = model._read(new).encoded.codes
    np.testing.assert_allclose(-np.log2(rows[np.arange(codes.size), codes]), np.concatenate(each), rtol=1e-9)
    model.save(tmp_path / "model")
    again = glnn.load(tmp_path / "model")
    assert again.recipe_.beside.inside == 0.3 and again.bits(new) == model.bits(new)
    assert again.decompress(model.compress(new)) == new
    assert encoded_bits(model.compress(new)) == pytest.approx(model.bits(new), abs=24)
    for other_rate in (stays, slower):
        with pytest.raises(WrongModel):
            other_rate.decompress(model.compress(new))
    # Streams that take turns are packed in between, and states that are copied go their own ways.
    streams = [model.stream(learning="frozen") for _ in new]
    for place in range(3):
        for stream, case, bits in zip(streams, new, each, strict=True):
            assert stream.push(case[place]).bits == pytest.approx(bits[place], rel=1e-9)
    learner = model.predictor_.learner()
    for _ in range(2):
        state = learner.begin()
        assert [state.push(code) for code in codes[:3].tolist()] == pytest.approx(2.0 ** -each[0][:3], rel=1e-9)
    states = [model.predictor_.begin() for _ in range(2)]
    states[0].advance(0)
    other, kept = states[0].copy(), states[0].place()
    other.advance(1)
    states[1].move(kept)
    assert (states[1].probabilities() == states[0].probabilities()).all()
    # Going on, each sequence begins with the same shares.
    model.partial_fit(cases(5, seed=2))
    assert model.shares_ == again.shares_ and model.recipe_.beside == again.recipe_.beside
    assert model.bits(new) == pytest.approx(sum(model.bits([case]) for case in new), abs=1e-9)
    model.save(tmp_path / "model")
    assert glnn.load(tmp_path / "model").bits(new) == model.bits(new)
    # A forged rate is refused.
    for forged in ({"float": "0x1.8p+0"}, {"float": "-0x1.0p-3"}, "much", None):
        arrays, header = read_model_file(tmp_path / "model")
        header.pop("format")
        header["fitted"]["inside"] = forged
        write_model_file(tmp_path / "forged", arrays, header)
        with pytest.raises(ModelFileError, match="rate"):
            glnn.load(tmp_path / "forged")


def test_where_no_network_has_a_share_shares_stay() -> None:
    codes, network = np.array([0, 1, 2]), SimpleNamespace()
    for shares, inside in (((0.5, 0.0), 0.3), ((0.0, 0.0), 0.0)):
        recipe = Recipe(codes, np.array([0, 3]), 3, False, beside=Beside(0.5, networks=shares, inside=0.3))
        given, kept = mixture._with_a_share(recipe, (network, network))  # type: ignore[arg-type]
        assert given.beside.inside == inside and len(kept) == sum(share > 0.0 for share in shares)


class Clock(StepwisePredictor):
    """Knows at each place of a sequence what comes, with 98 %: what contexts cannot know."""

    def __init__(self, alphabet: Alphabet, codes: np.ndarray, place: int = 0) -> None:
        self.alphabet, self._codes, self._place = alphabet, codes, place

    def begin(self) -> Clock:
        return Clock(self.alphabet, self._codes)

    def probabilities(self) -> np.ndarray:
        rest = 0.02 / (len(self.alphabet) - 1)
        return np.where(np.arange(len(self.alphabet)) == self._codes[self._place], 1.0 - 0.02, rest)

    def advance(self, code: int) -> None:
        self._place += 1

    def copy(self) -> Clock:
        return Clock(self.alphabet, self._codes, self._place)


def test_with_a_member_that_knows_all_it_is_as_good_as_that_member() -> None:
    generator = np.random.default_rng(0)
    shown = generator.integers(0, 5, 4000)
    known = np.where(generator.random(4000) < 0.98, shown, generator.integers(0, 5, 4000))
    data = encode(known.tolist(), alphabet=list(range(5)))
    clock = Clock(data.alphabet, shown)
    trial = Trial(data, split(TrainingData(data), 0.2), True, 1)
    assert trial.alone(clock) < 0.2 * trial.bits(()) and trial.bits((clock,)) < 1.5 * trial.alone(clock)
    predictor, beside = trial.recipe((clock,)).read(data.alphabet, (clock,), True)
    assert beside.networks[0] > 0.02 and beside.own + beside.networks[0] + beside.uniform == pytest.approx(1.0)
    assert -predictor.log_likelihoods(data).sum() < -1.03 * clock.log_likelihoods(data).sum()


def test_networks_that_do_not_help_do_not_stay() -> None:
    model = glnn.Mixture(budget="1 steps", random_state=0, unknown="error", verbose=0).fit(TEXT * 2)
    assert len(model.trials_) == 2 and model.networks_ == ()
    assert model.predictor_.coding_steps(None) is not None


def test_a_network_far_behind_is_given_up_after_a_fifth_of_the_budget() -> None:
    def step(seconds: float, score: float, progress: SimpleNamespace) -> bool:
        progress.best_score = score
        return bool(stop(SimpleNamespace(seconds=seconds), SimpleNamespace(progress=progress)))

    # Contexts need 1,000 bits, 693 nats; two and a half times as many and 100 are 1,802. Two starts share the time.
    stop, one, other = Promising(10.0, 1000.0), SimpleNamespace(), SimpleNamespace()
    assert not step(1.9, -1900.0, one)
    assert step(0.2, -2000.0, other)
    assert not step(5.0, -1790.0, one) and not step(5.0, -2000.0, other)


@pytest.mark.parametrize("behind", [True, False])
def test_an_lstm_follows_where_contexts_are_ahead(
    behind: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_way = -1e9 if behind else 1e9
    monkeypatch.setattr(mixture_networks, "AUTOMATIC", ((glnn.GLNN, given_way), (glnn.LSTM, 1e9)))
    monkeypatch.setattr("glnn.predictors.mixture_budget._SHORTEST_BUDGET", 0.1)
    # The network stays, however little it has learned in so short a time.
    monkeypatch.setattr(Trial, "worth", lambda *given: True)
    monkeypatch.setattr("glnn.estimators.mixture._with_a_share", lambda *given: given)
    model = glnn.Mixture(budget=0.8, random_state=0, verbose=0).fit(TEXT * 2)
    (network,) = model.networks_
    kind = glnn.LSTM if behind else glnn.GLNN
    assert type(network) is kind and [trial.get("kind") for trial in model.trials_] == [None, kind.__name__]
    # What the first one took is missing in the budget of the other, and charged.
    assert (network.budget.seconds < 0.75) == behind and model.seconds_ > 0.5
    new = TEXT[50:250]
    model.save(tmp_path / "model")
    again, blob = glnn.load(tmp_path / "model"), model.compress(new)
    assert again.bits(new) == model.bits(new) and again.decompress(blob) == new
    streams = [one.stream() for one in (again, model)]
    assert len({sum(stream.push(symbol).bits for symbol in new) for stream in streams}) == 1
    again.unknown = "grow"
    again.partial_fit(TEXT[:60] + "Z")
    assert again.bits("Z") < 30 and again.decompress(again.compress("mat Z")) == "mat Z"


@pytest.mark.parametrize("early", [True, False])
def test_an_interrupted_network_that_does_not_stay_is_told(early: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = glnn.GLNN.fit

    def interrupted(self: glnn.GLNN, *data: object, **more: object) -> glnn.GLNN:
        if early:
            raise KeyboardInterrupt
        fit(self, *data, **more)
        self.stopped_ = "interrupted"
        return self

    with monkeypatch.context() as patched:
        patched.setattr(glnn.GLNN, "fit", interrupted)
        model = glnn.Mixture(budget="2 steps", random_state=0, verbose=0).fit(TEXT * 6)
    assert (model.networks_, model.stopped_) == ((), "interrupted")
    assert model.bits(TEXT) < 100


def test_a_budget_too_short_for_a_network_tries_none() -> None:
    assert glnn.Mixture(budget="1s", verbose=0).fit(TEXT * 2).trials_ == []


def test_a_budget_too_short_to_read_all_reads_what_it_lasts_for(capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXT * (60_000 // len(TEXT) + 1)
    model = glnn.Mixture(budget=0.02, verbose=1).fit(text)
    assert model.stopped_ == "budget" and 0 < model.recipe_.codes.size < len(text)
    assert f"{model.recipe_.codes.size:,} of {len(text):,} symbols are read" in capsys.readouterr().err
    assert glnn.Mixture(budget="3 steps", networks=0, verbose=0).fit(text[:50_001]).stopped_ == "read"


def test_words_of_a_large_alphabet_and_integers() -> None:
    generator = np.random.default_rng(0)
    numbers = np.minimum(generator.geometric(0.002, 800), 3000)
    model = glnn.Mixture(networks=0, alphabet=np.arange(4000), unknown="error", verbose=0).fit(numbers)
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
        (lambda arrays, fitted: arrays["codes"].__setitem__(0, 200), "not codes"),
        (lambda arrays, fitted: arrays["starts"].__setitem__(1, 7), "do not fit"),
        (lambda arrays, fitted: fitted.__setitem__("cut", 10**9), "begin at"),
        (lambda arrays, fitted: fitted.__setitem__("learning_", "often"), "learning_"),
        (lambda arrays, fitted: arrays.update(shares=np.array([0.5, 0.0, 0.1])), "sum to 1"),
        (lambda arrays, fitted: arrays.update(shares=np.array([0.5, 0.0, 0.0, 0.1, 0.4])), "one for each part"),
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
