"""Every number of one whole step of a GLNN of two units on six symbols, for docs/one_step_by_hand.md.

Computed twice, by the plain loops of tests/naive and by the engine, which a test compares. To write the page's tables
anew:  python -m tests.docs.one_step
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from glnn.metrics import TRANSITION_METHODS, WRITING_METHODS, Scales, hessian_damping
from glnn.models import GLNN, Params
from glnn.network import random_graph
from glnn.output import softmax
from glnn.sequences import encode
from glnn.training.corpus import prepare
from glnn.training.engine import Engine
from tests import naive

PAGE = Path(__file__).resolve().parents[2] / "docs" / "one_step_by_hand.md"
TEXT, SYMBOLS = "abbabb", "ab"
# τ_{ijy}: for each symbol y, the constant and the units 1 and 2 into unit 1, then into unit 2.
TAU = np.array([[1.0, -0.5, 0.0, 0.5, 0.0, -0.2], [-0.5, 0.0, -0.3, -0.3, 0.4, -0.5]])
W = np.array([[np.log(1 / 3), np.log(2 / 3)], [0.0, 0.0], [0.0, 0.0]])
START = np.zeros(2)
RATE, DAMPING = 0.5, 1.0
Numbers = dict[str, np.ndarray]


def by_the_oracle() -> Numbers:
    """With the plain loops of tests/naive, one paper equation after the other."""
    graph = random_graph(2, 2)
    net = naive.Network("glnn", graph.in_ptr, graph.sources, "tanh")
    params = {"w": W, "tau": TAU, "V0": START}
    data = naive.Data([[SYMBOLS.index(symbol) for symbol in TEXT]])
    (sequence,) = naive.each_sequence(data)
    numbers: Numbers = {}
    numbers["V"], numbers["a"] = naive.forward(net, params, sequence)
    numbers["pi"] = naive.probabilities(net, params, sequence)
    numbers["L"] = np.array(naive.log_likelihood(net, params, data))
    numbers["W"] = naive.gradient_w(net, params, data)
    numbers["h_ii"], numbers["h_0i"] = naive.hessian(net, params, data)
    numbers["dw"] = naive.writing_direction(net, params, data, "qdh")["w"]
    numbers["w"] = W + RATE * numbers["dw"]
    params = params | {"w": numbers["w"]}
    numbers["pi_w"] = naive.probabilities(net, params, sequence)
    numbers["L_w"] = np.array(naive.log_likelihood(net, params, data))
    numbers["error"] = numbers["w"][1:, sequence.x].T - numbers["pi_w"] @ numbers["w"][1:].T
    spreads = [[naive.output_variance(numbers["w"], list(pi), 1 + i) for i in range(2)] for pi in numbers["pi_w"]]
    numbers["variance"] = np.array(spreads)
    numbers["B"] = naive.backward(net, params, sequence)
    numbers["m"] = naive.modulus_rbpm(net, params, sequence)
    numbers["G"] = naive.gradient_transition(net, params, data)
    numbers["M"] = np.array(naive.metric_blocks(net, params, data, "rbpm"))
    direction = naive.transition_direction(net, params, data, "rbpm", DAMPING)
    numbers["dtau"], numbers["dV0"] = direction["tau"], direction["V0"]
    numbers["tau"], numbers["V0"] = TAU + RATE * numbers["dtau"], START + RATE * numbers["dV0"]
    params = params | {"tau": numbers["tau"], "V0": numbers["V0"]}
    numbers["L_tau"] = np.array(naive.log_likelihood(net, params, data))
    numbers["pi_tau"] = naive.probabilities(net, params, sequence)
    return numbers


def by_the_engine() -> Numbers:
    """With the compiled kernels that train every network."""
    model = GLNN(random_graph(2, 2), 2)
    corpus = prepare(encode(TEXT, alphabet=SYMBOLS), 64, "length")
    engine, method = Engine(model, corpus), TRANSITION_METHODS["rbpm"]
    (stretch,) = corpus.stretches
    params = Params(W, TAU.ravel(), START)
    current = engine.forward(params)
    (trace,) = current.traces
    assert trace is not None
    numbers: Numbers = {"a": np.column_stack([np.ones(7), np.vstack([trace, np.tanh(current.state)])])}
    numbers["V"] = np.vstack([np.arctanh(trace), current.state])
    numbers["pi"], numbers["L"] = softmax.distributions(trace, W), np.array(current.log_likelihood)
    statistics = engine.writing_statistics(current)
    epsilon = hessian_damping(corpus.counts)
    numbers["W"], numbers["h_0i"] = statistics.gradient, statistics.cross
    numbers["h_ii"] = statistics.diagonal + epsilon
    numbers["dw"] = WRITING_METHODS["qdh"](*statistics, epsilon)
    numbers["w"] = W + RATE * numbers["dw"]
    numbers["L_w"] = np.array(engine.rewrite(current, numbers["w"], method).log_likelihood)
    numbers["pi_w"] = softmax.distributions(trace, numbers["w"])
    current = engine.forward(params.replace(w=numbers["w"]))
    numbers["error"], numbers["variance"] = np.empty((6, 2)), np.empty((6, 2))
    terms = (numbers["error"], numbers["variance"])
    softmax.source_terms(trace, stretch.y, stretch.weight, numbers["w"], *terms)
    numbers["B"], numbers["m"] = np.zeros((7, 2)), np.zeros((7, 2))
    for t in range(6):
        # B^t and m̃^t are the start values' own, of what is left of the text, begun at V^t.
        rest = Engine(model, prepare(encode(TEXT[t:], alphabet=SYMBOLS), 64, "length"))
        later = rest.forward(Params(numbers["w"], TAU.ravel(), numbers["V"][t]))
        found = rest.derivatives(later, method)
        numbers["B"][t], numbers["m"][t] = found.start_gradient, found.start_modulus
    derivatives = engine.derivatives(current, method)
    numbers["G"] = derivatives.statistics.gradient.reshape(2, 6)
    assert derivatives.statistics.matrices is not None
    # The engine's order is symbol, then unit.
    numbers["M"] = derivatives.statistics.matrices.reshape(2, 2, 3, 3).transpose(1, 0, 2, 3)
    step = method.direction(derivatives.statistics, engine.layout, Scales(DAMPING, corpus.frequencies, corpus.length))
    numbers["dtau"] = step.step.reshape(2, 6)
    numbers["dV0"] = step.start
    numbers["tau"], numbers["V0"] = TAU + RATE * numbers["dtau"], START + RATE * numbers["dV0"]
    after = engine.forward(Params(numbers["w"], numbers["tau"].ravel(), numbers["V0"]))
    numbers["L_tau"] = np.array(after.log_likelihood)
    assert after.traces[0] is not None
    numbers["pi_tau"] = softmax.distributions(after.traces[0], numbers["w"])
    return numbers


def tables(n: Numbers) -> dict[str, str]:
    """The tables of the page, by name: of blocks that are alike, the first."""
    times = [str(t) for t in range(7)]
    read = [*TEXT, ""]
    chosen = [SYMBOLS.index(symbol) for symbol in TEXT]
    made = {}
    columns = [n["V"][:, 0], n["V"][:, 1], n["a"][:, 1], n["a"][:, 2]]
    head = ["t", "x_t", "V₁", "V₂", "a₁", "a₂", "log π_t(x_t)"]
    own = [np.log(n["pi"][t, chosen[t]]) for t in range(6)]
    made["forward"] = _rows(head, times, read, *columns, own)
    made["likelihood"] = f"L = Σ log π_t(x_t) = {_number(n['L'])}"
    names = ["constant", "unit 1", "unit 2"]
    cross = [None, *n["h_0i"][1:, 0]]
    of_a = (n["W"][:, 0], n["h_ii"][:, 0], cross, n["dw"][:, 0], n["w"][:, 0])
    made["writing"] = _rows(["i", "W", "h_ii", "h_0i", "δw", "new w"], names, *of_a)
    made["likelihood after w"] = f"L = {_number(n['L_w'])} ≥ {_number(n['L'])}: accepted, η_w becomes 1.1 · 0.5 = 0.55"
    first = [_number(value) for value in (n["pi_w"][0, 0], n["error"][0, 0], n["variance"][0, 0])]
    made["output"] = "At t = 0, for instance, π(a) has become {}, error₁ is {} and variance₁ {}.".format(*first)
    made["backward"] = _rows(["t", "x_t", "B₁", "B₂", "m̃₁", "m̃₂"], times, read, *n["B"].T, *n["m"].T)
    parts = [n["G"][0, :3], *(n["M"][0, 0] + DAMPING * np.eye(3)).T, n["dtau"][0, :3], n["tau"][0, :3]]
    made["transitions"] = _rows(["i", "G", "M̃ + ε, constant", "unit 1", "unit 2", "δτ", "new τ"], names, *parts)
    made["start"] = _rows(
        ["j", "B⁰", "m̃⁰ + ε", "δV⁰", "new V⁰"], ["1", "2"], n["B"][0], n["m"][0] + 1, n["dV0"], n["V0"]
    )
    made["likelihood after tau"] = (
        f"L = {_number(n['L_tau'])} ≥ {_number(n['L_w'])}: accepted, η_τ becomes 1.1 · 0.5 = 0.55"
    )
    return made


def written(text: str, made: dict[str, str]) -> str:
    """The page with every table between `<!-- NAME -->` and `<!-- end -->` replaced."""
    for name, table in made.items():
        pattern = rf"(<!-- {re.escape(name)} -->\n\n).*?(\n\n<!-- end -->)"
        text, count = re.subn(pattern, lambda found, table=table: found[1] + table + found[2], text, flags=re.DOTALL)
        assert count == 1, f"the page has no place for {name!r}"
    return text


def _rows(head: list[str], *columns: object) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    length = len(columns[0])  # type: ignore[arg-type]
    for k in range(length):
        lines.append([_cell(column[k]) if k < len(column) else "" for column in columns])  # type: ignore[index, arg-type]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _number(value)


def _number(value: object) -> str:
    rounded = f"{float(value):.4f}".replace("-", "−")  # type: ignore[arg-type]
    return "0.0000" if rounded == "−0.0000" else rounded


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), tables(by_the_oracle())), encoding="utf-8")
