"""Fitting networks and baselines: validation, budgets, callbacks, Ctrl-C, restarts, what is known afterwards."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glnn.estimators import GLNN, HMM, ContextTree
from glnn.progress import Display
from glnn.sequences import InputError, TrainingData, encode
from glnn.training.compiling import compiling
from glnn.training.records import StepInfo
from glnn.training.trainer import Trainer
from glnn.training.validation import split

from .conftest import CASES, MODELS, NETWORKS, TEXT, make

OTHER = "the dog sat on the mat and the cat sat on the log. " * 3
LEARNERS = [*NETWORKS, "HMM"]


@pytest.mark.parametrize("name", LEARNERS)
def test_fitted_attributes(name: str) -> None:
    model: Any = make(name).fit(TEXT)
    assert model.units_ == 5 and model.degree_ == 3
    assert model.steps_ == 6 == model.history_[-1]["step"]
    assert 0 <= model.best_step_ <= 6 and model.stopped_ == "budget"
    assert 0 < model.seconds_ <= model.total_seconds_ + 1e-9
    assert model.seed_ == 0 and [run["seed"] for run in model.restarts_] == [0]
    assert model.held_out_ == round(0.1 * len(TEXT))
    best = max(row["validation"] for row in model.history_)
    assert model.validation_bits_ == pytest.approx(-best / math.log(2.0))
    assert model.history_[model.best_step_ - (name != "HMM")]["validation"] == best


@pytest.mark.parametrize("name", NETWORKS)
def test_the_size_of_the_parameters(name: str) -> None:
    model: Any = make(name).fit(TEXT)
    A, N, edges = len(set(TEXT)), 5, model.graph_.edges
    transitions = {
        "GLNN": A * (N + edges),
        "GNN": A * (N + edges),
        "RNN": N + edges + A * N,
        "LSTM": 4 * (N + edges + A * N) + 3 * N,
    }
    starts = 2 * N if name == "LSTM" else N
    assert edges == 15
    assert model.n_parameters_ == (N + 1) * A + transitions[name] + starts
    assert model.params_.w.shape == (N + 1, A)


def test_the_tail_is_held_out_and_continues_the_rest() -> None:
    model = make("GLNN", smoothing=0.0).fit(TEXT)
    train, tail = TEXT[: -model.held_out_], TEXT[-model.held_out_ :]
    # The tail's surprise behind the training text, regularised as a sequence of its own.
    p = 2.0 ** -np.asarray(model.surprise(TEXT))[len(train) :]
    share = 1.0 / (np.arange(len(tail)) + 2.0)
    expected = -np.log2((1 - share) * p + share / len(model.alphabet_)).sum()
    assert model.validation_bits_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_given_validation_data_are_used(name: str) -> None:
    model: Any = make(name, budget="12 steps").fit(TEXT, OTHER)
    assert model.held_out_ == 0
    if name == "HMM":
        # Smoothing comes after training.
        model.set_params(smoothing=0.0).fit(TEXT, OTHER)
    assert model.validation_bits_ == pytest.approx(model.bits(OTHER, regularised=True), rel=1e-9)


def test_validation_masks() -> None:
    mask = np.arange(len(OTHER)) % 3 == 0
    model = make("GLNN").fit(TEXT, OTHER, validation_mask=mask)
    assert model.validation_bits_ == pytest.approx(model.bits(OTHER, mask, regularised=True), rel=1e-9)


def test_context_trees_only_score_validation_data() -> None:
    with_validation, without = make("ContextTree").fit(TEXT, OTHER), make("ContextTree").fit(TEXT)
    assert with_validation.bits(OTHER) == without.bits(OTHER)
    assert with_validation.validation_bits_ == without.bits(OTHER, regularised=True)
    assert without.validation_bits_ is None


def test_nothing_is_held_out_on_demand_or_when_there_is_too_little() -> None:
    model = make("GLNN", validation_fraction=0).fit(TEXT)
    assert model.held_out_ == 0 and model.validation_bits_ is None
    assert model.history_[-1]["validation"] is None and model.best_step_ == model.steps_
    assert make("GLNN").fit("abab", mask=[0, 0, 0, 1]).held_out_ == 0


@pytest.mark.small
def test_whole_sequences_are_held_out_of_many() -> None:
    data = encode(CASES)
    parts = split(TrainingData(data), 0.1)
    assert len(parts.train) == 22 and parts.validation is not None and len(parts.validation) == 2
    assert parts.held_out == sum(len(case) for case in CASES[-2:]) and not parts.continues


def test_training_masks_say_what_is_learned() -> None:
    # Predict only what follows 'b': it alternates, all else is noise.
    generator = np.random.default_rng(0)
    text = "".join(("b0" if k % 2 else "b1") + "".join(generator.choice(list("xy"), 3)) for k in range(120))
    mask = np.array([k > 0 and text[k - 1] == "b" for k in range(len(text))])
    model = GLNN(
        recipe="paper",
        units=6,
        degree=6,
        budget="40 steps",
        random_state=0,
        verbose=0,
        validation_fraction=0,
        smoothing=0.0,
    )
    model.fit(text, mask=mask)
    history = [row["log_likelihood"] for row in model.history_]
    assert model.bits(text, mask) == pytest.approx(-max(history) / math.log(2.0), rel=1e-9)
    assert model.bits(text, mask) < 0.9 * mask.sum()


def test_ends_are_learned() -> None:
    cases = [list("ab" * k) for k in (1, 2, 3)] * 8
    model = GLNN(recipe="paper", units=6, budget="60 steps", random_state=0, verbose=0).fit(cases)
    assert model.predict_proba(list("aba"))[2] < 0.02 < model.predict_proba(list("abab"))[2]
    lengths = {len(sample) for sample in model.sample(count=40, random_state=0)}
    assert lengths <= {2, 4, 6, 8} and len(lengths) > 1


def test_callbacks_see_every_step_and_stop() -> None:
    seen: list[tuple[int, bool]] = []

    def stop_at_three(info: StepInfo, trainer: Trainer) -> bool:
        seen.append((info.step, trainer.progress.step == info.step))
        return info.step == 3

    model = make("GLNN", budget="50 steps").fit(TEXT, callbacks=[stop_at_three])
    assert seen == [(1, True), (2, True), (3, True)]
    assert model.stopped_ == "callback" and model.steps_ == 3


def test_callbacks_of_the_baselines_stop_too() -> None:
    hmm = make("HMM", budget="50 steps").fit(TEXT, callbacks=[lambda step: step.step == 2])
    assert hmm.stopped_ == "callback" and hmm.steps_ == 2
    tree = make("ContextTree").fit(TEXT, callbacks=[lambda progress: True])
    assert tree.stopped_ == "callback"


@pytest.mark.parametrize("name", LEARNERS)
def test_interruption_keeps_the_best_model(name: str) -> None:
    def interrupt(info: Any, trainer: Any = None) -> None:
        if info.step == 4:
            raise KeyboardInterrupt

    model: Any = make(name, budget="50 steps").fit(TEXT, callbacks=[interrupt])
    assert model.stopped_ == "interrupted" and model.steps_ == 4
    stopped: Any = make(name, budget="4 steps").fit(TEXT)
    assert model.bits(OTHER) == stopped.bits(OTHER)


def test_an_interruption_while_compiling_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Trainer, clock: Any = None) -> StepInfo:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make("GLNN").fit(TEXT)


def test_processes_compile_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    lock = tmp_path / "compiling.lock"
    with compiling(Display(0)), lock.open("a") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with lock.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # Where nothing can be written, it goes on all the same.
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(lock))
    with compiling(Display(0)):
        pass


def test_interruption_stops_all_restarts() -> None:
    def interrupt(info: StepInfo, trainer: Trainer) -> None:
        if info.step == 2 and trainer.progress.params is not None:
            raise KeyboardInterrupt

    model = make("GLNN", restarts=3, budget="60 steps").fit(TEXT, callbacks=[interrupt])
    assert model.stopped_ == "interrupted"
    assert [run["steps"] for run in model.restarts_] == [2]


@pytest.mark.parametrize("name", LEARNERS)
def test_restarts_share_the_budget_and_the_best_one_can_be_repeated(name: str) -> None:
    model: Any = make(name, restarts=3, budget="24 steps").fit(TEXT)
    steps = [run["steps"] for run in model.restarts_]
    assert len(steps) == 3 and min(steps) > 0 and sum(steps) <= 24
    assert len({run["seed"] for run in model.restarts_}) == 3
    scores = [run["score"] for run in model.restarts_]
    assert model.seed_ == model.restarts_[int(np.argmax(scores))]["seed"]
    again: Any = make(name, budget=f"{model.steps_} steps", random_state=model.seed_).fit(TEXT)
    assert again.bits(OTHER) == model.bits(OTHER)


def test_a_budget_in_seconds_can_be_repeated_in_steps() -> None:
    first = make("GLNN", budget=0.05).fit(TEXT)
    again = make("GLNN", budget=f"{first.steps_} steps").fit(TEXT)
    assert first.seconds_ >= 0.05
    assert again.bits(OTHER) == first.bits(OTHER)


def test_threads_change_nothing() -> None:
    assert make("GLNN", n_jobs=3).fit(TEXT).bits(OTHER) == make("GLNN").fit(TEXT).bits(OTHER)


def test_seeds_make_the_network() -> None:
    assert make("GLNN", random_state=1).fit(TEXT).bits(OTHER) != make("GLNN").fit(TEXT).bits(OTHER)
    first = make("GLNN", random_state=np.random.default_rng(5)).fit(TEXT)
    again = make("GLNN", random_state=first.seed_).fit(TEXT)
    assert first.bits(OTHER) == again.bits(OTHER)


def test_more_symbols_than_are_seen() -> None:
    model = make("GLNN", alphabet="abcdefghijklmnopqrstuvwxyz .").fit(TEXT)
    assert len(model.alphabet_) == 28 and math.isfinite(model.bits("xyz"))
    with pytest.raises(InputError, match="symbol 'z'"):
        make("GLNN").fit(TEXT, "zzz")


def test_unknown_symbols_in_validation_and_training_data() -> None:
    model = make("GLNN", unknown="escape").fit(TEXT, "Zthe cat")
    assert model.alphabet_.symbols[-1].value == "escape"
    partly = make("GLNN", unknown="escape", alphabet=sorted(set(TEXT) - {"."})).fit(TEXT)
    assert "." not in partly.alphabet_
    assert partly.escape_probability_ == pytest.approx((TEXT.count(".") + 0.5) / (len(TEXT) + 1))
    with pytest.raises(InputError, match="validation holds nothing"):
        make("GLNN", unknown="escape").fit(TEXT, "ZZZ")


def test_time_scales_and_alpha_reach_the_network() -> None:
    scales = np.array([0.3, 0.2, 0.1])
    model = GLNN(recipe="paper", time_scales=scales, alpha=0.4, budget="1 steps", random_state=0, verbose=0).fit(TEXT)
    network = model._without_escape().model
    assert model.units_ == 3 and network.alpha == 0.4
    np.testing.assert_array_equal(network.time_scales, scales)


@pytest.mark.parametrize("name", [*NETWORKS, "HMM"])
def test_traces(name: str) -> None:
    trace = make(name).fit(CASES).trace(CASES[:2])
    assert trace.symbols[:4] == list("abab") and str(trace.symbols[4]) == "Special.END"
    assert trace.activities.shape == (8, 5) and trace.starts.tolist() == [0, 5, 8]
    np.testing.assert_array_equal(trace.activities[0], trace.activities[5])
    assert not np.array_equal(trace.activities[0], trace.activities[1])
    if name == "HMM":
        np.testing.assert_allclose(trace.activities.sum(axis=1), 1.0)


@pytest.mark.parametrize("memory", [0, 1, 2])
def test_the_trace_of_a_context_tree_weighs_the_lengths_of_contexts(memory: int) -> None:
    generator = np.random.default_rng(memory)
    bits = generator.integers(0, 2, 3000).tolist()
    for t in range(memory, len(bits)):
        # Without memory a coin that is not fair; else the symbol so many steps ago, nine times of ten.
        before = bits[t - memory] if memory else 1
        bits[t] = before if generator.random() < 0.9 else 1 - before
    model = ContextTree(depth=3, verbose=0).fit(bits)
    trace = model.trace(bits)
    assert trace.activities.shape == (3000, 4) and trace.symbols == bits
    np.testing.assert_allclose(trace.activities.sum(axis=1), 1.0, rtol=1e-12)
    assert trace.activities.mean(axis=0).argmax() == memory and trace.activities[:, memory].mean() > 0.8
    # By hand: what every length says by itself (KT), each with its weight, is what the model predicts.
    said = []
    for length in range(4):
        context = bits[len(bits) - length :]
        after = [bits[t] for t in range(3, len(bits)) if bits[t - length : t] == context]
        said.append((sum(after) + 0.5) / (len(after) + 1.0))
    (last,) = model.trace([*bits, 0]).activities[-1:]
    assert model.predict_proba(bits)[1] == pytest.approx(last @ said, abs=2e-3)


def test_a_trace_explains_the_bits() -> None:
    model = make("GLNN", smoothing=0.0).fit(TEXT)
    trace = model.trace(TEXT[:30])
    logits = trace.activities @ model.params_.w[1:] + model.params_.w[0]
    own = logits[np.arange(30), model.alphabet_.encode(TEXT[:30])]
    expected = (np.log(np.exp(logits).sum(axis=1)) - own) / math.log(2.0)
    np.testing.assert_allclose(trace.bits, expected, rtol=1e-9)
    with pytest.raises(InputError, match="nothing to trace"):
        model.trace("")
    with pytest.raises(InputError, match=r"symbol 'X' at position 2 is not one that the model knows.*--begin"):
        make("GLNN", unknown="escape").fit(TEXT).trace(f"{TEXT[:2]}X{TEXT[:2]}")


def test_an_impossible_symbol_has_a_price_in_the_hidden_markov_model() -> None:
    model = HMM(units=3, budget="5 steps", random_state=0, unknown="error", verbose=0, alphabet="abz").fit("ab" * 60)
    T = 120 - model.held_out_
    assert model.smoothing_ == 1.0 / (T + 2)
    assert np.asarray(model.surprise("z"))[0] == pytest.approx(math.log2(3 * (T + 2)))
    model.set_params(smoothing=0.0)
    assert model.fit("ab" * 60).bits("z") == math.inf


def test_context_trees_learn_online_from_one_sequence_only() -> None:
    assert ContextTree(verbose=0).fit(TEXT).learning_ == "online"
    assert ContextTree(verbose=0).fit(CASES).learning_ == "frozen"
    frozen = ContextTree(verbose=0, learning="frozen").fit(TEXT)
    new = "a log and a cat " * 20
    assert ContextTree(verbose=0).fit(TEXT).bits(new) < frozen.bits(new)


@pytest.mark.parametrize("name", MODELS)
def test_kinds_of_data(name: str) -> None:
    for data in (b"abab" * 20, np.array([4, 9] * 40), [("a", 1), ("b", 2)] * 40, ["yes", "no"] * 40):
        model = make(name).fit(data)
        assert 0 <= model.bits(data) < len(data) * 2
