"""Context trees against the sum over all trees and all ways to switch, against plain code, and the paper's figures."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from naive import context_tree

from glnn.contexts import forest, tree, tree_kernels
from glnn.contexts.decomposition import balanced, huffman
from glnn.contexts.tree import ContextTreeSettings, ContextTreeWeighting, fit_context_tree
from glnn.predictors import Predictor, bits
from glnn.sequences import Sequences, encode
from glnn.sources import AnBn, Insertions, Music

ESTIMATORS = ("kt", "zero_redundancy")


def random_text(length: int, seed: int, symbols: str = "abc") -> str:
    """Symbols that depend on the one before, so that contexts are worth something."""
    generator = np.random.default_rng(seed)
    text = symbols[0]
    while len(text) < length:
        shifted = symbols[(symbols.index(text[-1]) + 1) % len(symbols)]
        text += shifted if generator.random() < 0.6 else str(generator.choice(list(symbols)))
    return text


def kt_block(zeros: int, ones: int) -> float:
    """log Γ(a + ½) Γ(b + ½) / (π Γ(a + b + 1)), the probability of a bits 0 and b bits 1 in any order."""
    return math.lgamma(zeros + 0.5) + math.lgamma(ones + 0.5) - math.log(math.pi) - math.lgamma(zeros + ones + 1)


def block(zeros: int, ones: int, estimator: str) -> float:
    """log P_e of a bits 0 and b bits 1."""
    if estimator == "kt":
        return kt_block(zeros, ones)
    always = 0.25 * (zeros == 0) + 0.25 * (ones == 0)
    mixed = math.log(0.5) + kt_block(zeros, ones)
    return float(np.logaddexp(mixed, math.log(always))) if always else mixed


def binary_decisions(sequences: list[np.ndarray], size: int, decomposition, depth: int):
    """For every branching, the (context, bit) of each time it was passed; the padding is the symbol `size`."""
    branchings, code_bits, lengths = decomposition.codes
    decisions: list[list[tuple[tuple[int, ...], int]]] = [[] for _ in range(size - 1)]
    for codes in sequences:
        past = [size] * depth
        for y in codes:
            context = tuple(past[-1 : -depth - 1 : -1])
            for k in range(lengths[y]):
                decisions[branchings[y, k]].append((context, int(code_bits[y, k])))
            past.append(int(y))
    return decisions


def all_trees(suffix: tuple[int, ...], depth: int, symbols: int):
    """Every tree of contexts below a node: its prior weight and its leaves. Each choice leaf/split is fair."""
    if len(suffix) == depth:
        yield 1.0, [suffix]
        return
    yield 0.5, [suffix]
    below = [list(all_trees((*suffix, symbol), depth, symbols)) for symbol in range(symbols)]
    for choice in itertools.product(*below):
        yield (
            0.5 * math.prod(weight for weight, _ in choice),
            [leaf for _, leaves in choice for leaf in leaves],
        )


@pytest.mark.small
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("symbols", "depth"), [("ab", 0), ("ab", 1), ("ab", 3), ("abcd", 2)])
def test_the_mixture_over_all_trees(symbols, depth, estimator):
    texts = [random_text(length, seed, symbols) for seed, length in enumerate((25, 1, 12))]
    data = encode(Sequences(texts), symbols)
    decomposition = balanced(len(symbols))
    trees = list(all_trees((), depth, len(symbols) + 1))
    assert sum(weight for weight, _ in trees) == pytest.approx(1.0)
    expected = 0.0
    for decisions in binary_decisions(list(data), len(symbols), decomposition, depth):
        total = 0.0
        for weight, leaves in trees:
            log_probability = 0.0
            for leaf in leaves:
                here = Counter(bit for context, bit in decisions if context[: len(leaf)] == leaf)
                log_probability += block(here[0], here[1], estimator)
            total += weight * math.exp(log_probability)
        expected += math.log(total)
    settings = ContextTreeSettings.paper(depth=depth, decomposition="balanced", estimator=estimator)
    progress = []
    fit_context_tree(data, settings, progress.append)
    assert progress[-1].log_likelihood == pytest.approx(expected, abs=1e-11)


def plain_log_domain(texts: list[np.ndarray], size: int, decomposition, settings: ContextTreeSettings):
    """log π_t(x_t) with a dictionary of nodes [zeros, ones, log β], no bound on memory and logarithms throughout."""
    nodes: dict[tuple, list[float]] = {}
    costs = []
    branchings, code_bits, lengths = decomposition.codes
    for codes in texts:
        past = [size] * settings.depth
        for y in codes:
            context = tuple(past[-1 : -settings.depth - 1 : -1])
            cost = 0.0
            for k in range(lengths[y]):
                bit = int(code_bits[y, k])
                below, values = 0.0, []
                for d in range(settings.depth, -1, -1):
                    node = nodes.setdefault((int(branchings[y, k]), context[:d]), [0, 0, 0.0])
                    after = [node[0] + (bit == 0), node[1] + (bit == 1)]
                    estimate = block(*after, settings.estimator) - block(node[0], node[1], settings.estimator)
                    if d == settings.depth:
                        weighted = estimate
                    else:
                        weighted = np.logaddexp(node[2] + estimate, below) - np.logaddexp(node[2], 0.0)
                        node[2] += estimate - below
                        limit = settings.weight_limit * math.log(2)
                        node[2] = min(max(node[2], -limit), limit)
                    if max(after) > settings.count_limit:
                        after = [(count + 1) // 2 for count in after]
                    values.append((node, after))
                    below = weighted
                for node, after in values:
                    node[:2] = after
                cost += below
            costs.append(cost)
            past.append(int(y))
    return np.array(costs)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("limits", [{}, {"weight_limit": 3.0}, {"count_limit": 20}])
def test_plain_log_domain_code_agrees(estimator, limits):
    texts = ["abc" * 100 + random_text(300, 1), random_text(200, 2), "ab" * 100]
    data = encode(Sequences(texts), "abc")
    settings = ContextTreeSettings.paper(depth=4, estimator=estimator, **limits)
    trained = fit_context_tree(encode("ab", "abc"), settings)
    expected = plain_log_domain([encode("ab", "abc").codes, *data], 3, trained.decomposition, settings)
    np.testing.assert_allclose(trained.log_likelihoods(data), expected[2:], rtol=1e-8, atol=1e-10)


@pytest.mark.small
@pytest.mark.parametrize("first_ratio", [1.0, 0.3])
@pytest.mark.parametrize(("symbols", "depth"), [("abc", 4), ("ab", 0), ("abcd", 9)])
def test_switching_agrees_with_a_dictionary_of_contexts(symbols, depth, first_ratio):
    texts = [random_text(length, length, symbols) for length in (150, 1, 3, 40, 70)]
    data = encode(Sequences([*texts, texts[0][:60], symbols[0] * 30]), symbols)
    settings = ContextTreeSettings(depth=depth, switching=0.2, first_ratio=first_ratio)
    trained = fit_context_tree(encode("ab", symbols), settings)
    expected = context_tree.log_likelihoods([[0, 1], *data], len(symbols), trained.decomposition, settings)
    np.testing.assert_allclose(trained.log_likelihoods(data), expected[2:], rtol=1e-10)


@pytest.mark.small
def test_switching_is_the_sum_over_all_ways_to_switch():
    data = encode(Sequences(["abbabab", "ba"]), "ab")
    settings = ContextTreeSettings(depth=2, switching=0.4, prior=0.2, first_ratio=1.0, decomposition="balanced")
    (decisions,) = binary_decisions(list(data), 2, balanced(2), 2)
    contexts, seen_bits = zip(*decisions, strict=True)
    expected = context_tree.switching_probability(seen_bits, contexts, 2, 0.2, 0.4)
    progress = []
    fit_context_tree(data, settings, progress.append)
    assert progress[-1].log_likelihood == pytest.approx(math.log(expected), abs=1e-12)


def test_weights_go_where_no_float_follows_and_come_back():
    """A long regular text leaves β at 2^-1900 in the root; noise then brings it up again by hundreds of bits."""
    settings = ContextTreeSettings.paper(depth=1)
    regular, noise = "abc" * 600, "".join(np.random.default_rng(0).choice(list("abc"), 2000))
    trained = fit_context_tree(encode(regular, "abc"), settings).continuing()
    codes = encode(regular + noise, "abc").codes
    expected = plain_log_domain([codes], 3, trained.decomposition, settings)
    given = trained.log_likelihoods(encode(noise, "abc"))
    np.testing.assert_allclose(given, expected[len(regular) :], rtol=1e-8)
    lowest = trained.forest.nodes["exponent"].min()
    after = fit_context_tree(encode(regular + noise, "abc"), settings).forest.nodes["exponent"].min()
    assert lowest < after < 0


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 1022, 1023, 1024, 4000])
def test_the_probability_of_a_run_goes_on_beyond_its_table(n):
    following = tree_kernels._run(n) * (n + 0.5) / (n + 1)
    assert tree_kernels._run(n + 1) == pytest.approx(following, rel=5e-15, abs=0)


@pytest.mark.small
@pytest.mark.parametrize("exponent", [1, 2])
def test_weights_beyond_all_floats_leave_the_estimate_alone(exponent):
    text = encode(random_text(60, 0, "ab"), "ab")
    model, flat = (fit_context_tree(text, ContextTreeSettings.paper(depth=d)).with_learning("frozen") for d in (2, 0))
    model.forest.nodes["exponent"][0], model.forest.nodes["ratio"][0] = exponent, 2.0 ** (-60)
    np.testing.assert_allclose(model.log_likelihoods(text), flat.log_likelihoods(text), rtol=1e-12)


@pytest.mark.parametrize("text", ["a" * 2500, "a" * 2500 + "b", "b" + "a" * 1500], ids=len)
def test_long_runs_under_zero_redundancy(text):
    progress = []
    settings = ContextTreeSettings.paper(depth=0, decomposition="balanced", estimator="zero_redundancy")
    fit_context_tree(encode(text, "ab"), settings, progress.append)
    expected = block(text.count("a"), text.count("b"), "zero_redundancy")
    assert progress[-1].log_likelihood == pytest.approx(expected, abs=1e-10)


@pytest.mark.small
def test_the_pool_grows_without_a_trace(monkeypatch):
    texts = [random_text(150, 5, "abcdef")]
    data, settings = encode(texts[0], "abcdef"), ContextTreeSettings.paper(depth=5)
    roomy = fit_context_tree(data, settings)
    monkeypatch.setattr(forest, "_LEAST_ROOM", 4)
    grown = fit_context_tree(data, settings)
    assert grown.forest.nodes.size < roomy.forest.nodes.size
    assert grown.forest.history.size < roomy.forest.history.size
    assert grown.nodes > 200
    np.testing.assert_array_equal(grown.log_likelihoods(data), roomy.log_likelihoods(data))


@pytest.mark.small
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_full_pool_stays_within_its_bound_and_a_distribution(estimator):
    data = encode(random_text(300, 3, "abcd"), "abcd")
    settings = ContextTreeSettings.paper(depth=4, max_nodes=60, estimator=estimator)
    model = fit_context_tree(data, settings)
    assert model.full
    assert model.nodes <= model.forest.nodes.size <= 60
    for mode in ("online", "frozen"):
        rows = np.concatenate(list(model.with_learning(mode).distributions(data)))
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
        assert rows.min() > 0
    # What it could keep is worth having: better than no context at all, worse than all the room it wants.
    costs = [
        bits(fit_context_tree(data, ContextTreeSettings.paper(depth=d, max_nodes=n, estimator=estimator)), data)
        for d, n in ((0, 60), (4, 60), (4, 10**6))
    ]
    assert costs[0] > costs[1] > costs[2]


@pytest.mark.small
def test_a_pool_of_roots_only_is_a_tree_of_depth_0():
    data = encode(random_text(60, 3, "abcd"), "abcd")
    full = fit_context_tree(data, ContextTreeSettings.paper(depth=4, max_nodes=3))
    flat = fit_context_tree(data, ContextTreeSettings.paper(depth=0))
    np.testing.assert_allclose(full.log_likelihoods(data), flat.log_likelihoods(data), rtol=1e-12)


@pytest.mark.small
@pytest.mark.parametrize("learning", ["online", "frozen"])
@pytest.mark.parametrize("decomposition", ["huffman", "balanced"])
def test_all_ways_to_predict_agree(learning, decomposition):
    settings = ContextTreeSettings.paper(depth=3, decomposition=decomposition)
    model = fit_context_tree(encode(random_text(80, 0, "abcde"), "abcde"), settings).with_learning(learning)
    assert isinstance(model, Predictor)
    data = encode(random_text(40, 1, "abcde"), "abcde")
    rows = np.concatenate(list(model.distributions(data, block=7)))
    np.testing.assert_array_equal(rows, np.concatenate(list(model.distributions(data))))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    given = rows[np.arange(len(rows)), data.codes]
    np.testing.assert_allclose(model.log_likelihoods(data), np.log(given), atol=1e-12)
    state, walked, left_behind = model.begin(), [], []
    for code in data.codes:
        walked.append(state.probabilities())
        elsewhere = state.copy()
        state.advance(int(code))
        elsewhere.advance(0)
        elsewhere.advance(4)
        left_behind.append(elsewhere)
    np.testing.assert_array_equal(rows, np.array(walked))
    for t in (0, 5, 39):
        changed = encode([*data.alphabet.decode(data.codes[:t]), "a", "e", "a"], "abcde")
        expected = np.concatenate(list(model.distributions(changed)))[-1]
        np.testing.assert_array_equal(left_behind[t].probabilities(), expected)


@pytest.mark.small
@pytest.mark.parametrize("learning", ["online", "frozen"])
def test_scoring_and_walking_leave_the_model_as_it_was(learning):
    data = encode(random_text(80, 0), "abc")
    model = fit_context_tree(data, ContextTreeSettings.paper(depth=3)).with_learning(learning).continuing()
    before = {name: array.copy() for name, array in model.arrays().items()}
    first = model.log_likelihoods(data)
    list(model.distributions(data))
    state = model.begin()
    for code in (0, 1, 2, 2, 1):
        state.advance(code)
    for name, array in model.arrays().items():
        np.testing.assert_array_equal(array, before[name])
    np.testing.assert_array_equal(model.log_likelihoods(data), first)


@pytest.mark.small
def test_a_state_that_moved_learns_as_the_one_that_walked():
    model = fit_context_tree(encode(random_text(60, 0), "abc"), ContextTreeSettings(depth=4))
    walked, moved = model.begin(), model.begin()
    for code in (0, 1, 1):
        walked.advance(code)
    moved.move(walked.place())
    # Both learn from here on: an old text again, after the same context.
    later = encode(random_text(40, 7), "abc").codes
    fresh = model.begin()
    fresh.move(walked.place())
    for code in later:
        np.testing.assert_array_equal(moved.probabilities(), fresh.probabilities())
        moved.advance(int(code))
        fresh = fresh.copy()
        fresh.advance(int(code))
    assert moved._reader.forest.read_so_far()[-4 - later.size : -later.size].tolist() == [3, 0, 1, 1]


@pytest.mark.small
def test_online_learns_from_what_it_scores_and_frozen_does_not():
    model = fit_context_tree(encode(random_text(100, 0), "abc"), ContextTreeSettings.paper(depth=3))
    news = encode("acb" * 40, "abc")
    online, frozen = model.log_likelihoods(news), model.with_learning("frozen").log_likelihoods(news)
    assert online[:1] == frozen[:1]
    assert online[60:].sum() > frozen[60:].sum() + 20
    # A frozen model says the same of the same context, the third period like the twentieth.
    np.testing.assert_array_equal(frozen[9:12], frozen[60:63])


@pytest.mark.small
def test_the_papers_measure_is_the_cost_of_the_concatenation_less_that_of_training():
    train, valid = random_text(200, 0), random_text(150, 1)
    settings, costs = ContextTreeSettings.paper(depth=4, decomposition="balanced"), []
    for text in (train, train + valid):
        progress = []
        model = fit_context_tree(encode(text, "abc"), settings, progress.append)
        costs.append(progress[-1].log_likelihood)
    model = fit_context_tree(encode(train, "abc"), settings)
    score = model.continuing().log_likelihoods(encode(valid, "abc")).sum()
    assert score == pytest.approx(costs[1] - costs[0], abs=1e-9)
    assert model.log_likelihoods(encode(valid, "abc")).sum() != pytest.approx(score, abs=1e-3)


@pytest.mark.small
def test_every_sequence_begins_behind_padding():
    model = fit_context_tree(encode(Sequences(["abb", "acc", "abc", "acb"]), "abc"), ContextTreeSettings.paper(depth=2))
    frozen = model.with_learning("frozen")
    np.testing.assert_array_equal(
        frozen.log_likelihoods(encode(Sequences(["ab", "ca", "ab"]), "abc"))[[0, 1, 4, 5]],
        np.tile(frozen.log_likelihoods(encode("ab", "abc")), 2),
    )
    # Of all letters, a third are an a; of those that begin a sequence, all.
    assert model.begin().probabilities()[0] > 0.6


def nodes_of_every_context(model: ContextTreeWeighting, data) -> dict[str, np.ndarray]:
    """The arrays of a file of the first version: a node for every context, none left to a leaf."""
    size, depth = len(data.alphabet), model.settings.depth
    found: dict[tuple, list] = {(branching, ()): [-1, 0, 0] for branching in range(size - 1)}
    numbers = {key: number for number, key in enumerate(found)}
    for branching, decisions in enumerate(binary_decisions(list(data), size, model.decomposition, depth)):
        for context, bit in decisions:
            for d in range(depth + 1):
                key = (branching, context[:d])
                if key not in found:
                    parent = numbers[branching, context[: d - 1]]
                    found[key] = [parent * (size + 1) + context[d - 1], 0, 0]
                    numbers[key] = len(numbers)
                found[key][1 + bit] += 1
    keys, zeros, ones = (np.array(column) for column in zip(*found.values(), strict=True))
    # The weights are those of the leaf, 1, or of the node itself.
    ratio, exponent = np.ones(len(found)), np.zeros(len(found), np.int32)
    taken = model.forest.taken()
    ours = {(branching, ()): branching for branching in range(size - 1)}
    by_key = {int(key): number for number, key in enumerate(taken["key"]) if key >= 0}
    for (branching, context), number in numbers.items():
        if context:
            parent = ours.get((branching, context[:-1]), -1)
            node = by_key.get(parent * (size + 1) + context[-1], -1) if parent >= 0 else -1
            if node >= 0:
                ours[branching, context] = node
        if (branching, context) in ours:
            node = taken[ours[branching, context]]
            ratio[number], exponent[number] = node["ratio"], node["exponent"]
    fields = {"key": keys, "ratio": ratio, "zeros": zeros, "ones": ones, "exponent": exponent}
    return {**fields, "children": model.decomposition.children, "tail": model.tail}


@pytest.mark.small
@pytest.mark.parametrize("first_version", [False, True])
def test_a_saved_model_is_the_same_model(first_version):
    data = encode(Sequences(["abc" * 150 + random_text(100, 0), "b", random_text(50, 1)]), "abc")
    settings = ContextTreeSettings.paper(depth=2)
    model = fit_context_tree(data, settings)
    assert model.forest.nodes["exponent"].any()
    arrays = nodes_of_every_context(model, data) if first_version else model.arrays()
    again = ContextTreeWeighting.from_arrays(data.alphabet, settings, arrays)
    assert set(again.arrays()) == set(arrays)
    third = ContextTreeWeighting.from_arrays(data.alphabet, settings, again.arrays())
    for learning in ("online", "frozen"):
        for opening in (lambda m: m, lambda m: m.continuing()):
            scores = [opening(m.with_learning(learning)).log_likelihoods(data) for m in (model, again, third)]
            np.testing.assert_array_equal(scores[0], scores[1])
            np.testing.assert_array_equal(scores[0], scores[2])


def test_the_arrays_of_a_file_are_no_larger_than_the_text():
    data = encode(random_text(3000, 0), "abc")
    model = fit_context_tree(data)
    assert sum(array.nbytes for array in model.arrays().values()) < data.codes.size + 100
    assert model.nodes > data.codes.size


def test_the_callback_can_stop(monkeypatch):
    monkeypatch.setattr(tree, "CHUNK", 50)
    data = encode(random_text(200, 0), "abc")
    seen = []

    def watch(progress):
        seen.append(progress)
        return progress.symbols >= 100

    model = fit_context_tree(data, ContextTreeSettings.paper(depth=2, decomposition="balanced"), watch)
    assert [progress.symbols for progress in seen] == [50, 100]
    assert seen[0].total == 200
    assert seen[1].nodes == model.nodes
    shorter = encode(random_text(200, 0)[:100], "abc")
    same = fit_context_tree(shorter, ContextTreeSettings.paper(depth=2, decomposition="balanced"))
    np.testing.assert_array_equal(model.log_likelihoods(data), same.log_likelihoods(data))


@pytest.mark.small
def test_the_balanced_decomposition_is_the_binary_number():
    branchings, code_bits, lengths = balanced(5).codes
    assert ["".join(map(str, row[:n])) for row, n in zip(code_bits, lengths, strict=True)] == [
        "000",
        "001",
        "010",
        "011",
        "1",
    ]
    assert branchings[0, 0] == branchings[4, 0] == 0
    _, code_bits, lengths = balanced(256).codes
    assert (lengths == 8).all()
    np.testing.assert_array_equal(code_bits, (np.arange(256)[:, None] >> np.arange(7, -1, -1)) & 1)


@pytest.mark.small
def test_huffmans_decomposition_is_optimal_and_reaches_every_symbol():
    counts = np.array([8, 1, 4, 2, 1])
    decomposition = huffman(counts)
    _, _, lengths = decomposition.codes
    np.testing.assert_array_equal(lengths, [1, 4, 2, 3, 4])
    children = decomposition.children
    assert sorted(-1 - children[children < 0]) == [0, 1, 2, 3, 4]
    assert all(child > branching for branching, pair in enumerate(children) for child in pair if child >= 0)
    # Symbols that did not occur make a balanced tree among themselves.
    assert huffman(np.array([5, 7] + 64 * [0])).codes[2].max() == 8


@pytest.mark.parametrize(
    ("source", "paper", "depth", "pairs"),
    [
        (Insertions(after_last_digit=False), 18272.1, 3, 1),
        (Music(), 3611.0, 12, 2),
        (AnBn(), 143.5, 3, 4),
    ],
    ids=["insertions", "music", "anbn"],
)
def test_regret_is_within_a_tenth_of_the_papers(source, paper, depth, pairs):
    regrets = []
    for pair in range(pairs):
        train, valid = source.sample(seed=2 * pair), source.sample(seed=2 * pair + 1)
        model = fit_context_tree(source.encode(train.text), ContextTreeSettings.paper(depth=depth)).continuing()
        regrets.append(bits(model, source.encode(valid.text)) - valid.bits)
    assert np.mean(regrets) == pytest.approx(paper, rel=0.1)


@pytest.mark.small
def test_wrong_settings_and_wrong_data_are_refused():
    with pytest.raises(ValueError, match="depth is -1: it must be at least 0"):
        ContextTreeSettings(depth=-1)
    with pytest.raises(ValueError, match="decomposition is 'hufman': it must be one of huffman, balanced"):
        ContextTreeSettings(decomposition="hufman")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"switching is 0\.7: it must be above 0 and at most 0\.5"):
        ContextTreeSettings(switching=0.7)
    with pytest.raises(ValueError, match="max_nodes is 1: the 2 roots alone need more"):
        fit_context_tree(encode("abc"), ContextTreeSettings(max_nodes=1))
    with pytest.raises(ValueError, match="encode with alphabet="):
        fit_context_tree(encode("abc")).log_likelihoods(encode("abz"))
