"""Scaled forward-backward of a hidden Markov model, as compiled loops over time that skip what is zero.

Forward: c_t = Σ_i α_i b_i(x_t), f_i = α_i b_i(x_t) / c_t, then α_j ← Σ_i f_i a_ij; the likelihood is Π c_t.
Backward: β_i = Σ_j a_ij g_j, g_j = b_j(x_{t+1}) β_j^{t+1} / c_{t+1}; expected counts f_i β_i and f_i a_ij g_j.
Only states with f_i > 0 are followed, in both directions: a specialised model costs a fraction of T × edges.
The forward pass takes no liberty with the order of sums, so that every machine finds the same probabilities.
"""

from __future__ import annotations

import numpy as np

from glnn.numeric.kernel import CONTRACT, REASSOCIATE, kernel

# Masses under this are zero. Otherwise they would sink into denormal numbers, which are slow, and the backward g,
# up to the inverse of a mass, would overflow where the past excluded what the future likes.
NEGLIGIBLE = 1e-200


@kernel()
def _probability(alpha: np.ndarray, b: np.ndarray) -> float:
    """c = Σ_i α_i b_i, in four sums of fixed order."""
    N = alpha.size
    whole = N - N % 4
    c0 = c1 = c2 = c3 = 0.0
    for i in range(0, whole, 4):
        c0 += alpha[i] * b[i]
        c1 += alpha[i + 1] * b[i + 1]
        c2 += alpha[i + 2] * b[i + 2]
        c3 += alpha[i + 3] * b[i + 3]
    for i in range(whole, N):
        c0 += alpha[i] * b[i]
    return (c0 + c1) + (c2 + c3)


@kernel()
def _condition(alpha: np.ndarray, b: np.ndarray, c: float, f: np.ndarray, active: np.ndarray) -> int:
    """f = α b / c; lists the states where it is not zero and returns their number."""
    if c > 0.0:
        scale = 1.0 / c
        for i in range(f.size):
            mass = alpha[i] * b[i] * scale
            f[i] = mass if mass > NEGLIGIBLE else 0.0
    else:
        # An impossible symbol says nothing about the state: continue from what was expected.
        for i in range(f.size):
            f[i] = alpha[i]
    count = 0
    for i in range(f.size):
        active[count] = i
        count += f[i] > 0.0
    return count


@kernel()
def _move_dense(f: np.ndarray, active: np.ndarray, count: int, a: np.ndarray, alpha: np.ndarray) -> None:
    """α_j = Σ_i f_i a_ij over the active states, four at a time."""
    for j in range(alpha.size):
        alpha[j] = 0.0
    whole = count - count % 4
    for k in range(0, whole, 4):
        i0, i1, i2, i3 = active[k], active[k + 1], active[k + 2], active[k + 3]
        f0, f1, f2, f3 = f[i0], f[i1], f[i2], f[i3]
        a0, a1, a2, a3 = a[i0], a[i1], a[i2], a[i3]
        for j in range(alpha.size):
            alpha[j] += (f0 * a0[j] + f1 * a1[j]) + (f2 * a2[j] + f3 * a3[j])
    for k in range(whole, count):
        f0 = f[active[k]]
        a0 = a[active[k]]
        for j in range(alpha.size):
            alpha[j] += f0 * a0[j]


@kernel()
def forward_dense(
    x: np.ndarray,
    first: np.ndarray,
    start: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    state: np.ndarray,
    alpha: np.ndarray,
    c: np.ndarray,
) -> None:
    """Fill α[t], the states expected before x[t], and c[t]; `state` goes from before x[0] to after the last."""
    f = np.empty(state.size)
    active = np.empty(state.size, np.int64)
    for t in range(x.size):
        for i in range(state.size):
            alpha[t, i] = start[i] if first[t] else state[i]
        c[t] = _probability(alpha[t], b[x[t]])
        count = _condition(alpha[t], b[x[t]], c[t], f, active)
        _move_dense(f, active, count, a, state)


@kernel()
def forward_sparse(
    x: np.ndarray,
    first: np.ndarray,
    start: np.ndarray,
    a: np.ndarray,
    out_ptr: np.ndarray,
    targets: np.ndarray,
    b: np.ndarray,
    state: np.ndarray,
    alpha: np.ndarray,
    c: np.ndarray,
) -> None:
    """The same with compressed rows: the edge e goes to targets[e] with probability a[e]."""
    f = np.empty(state.size)
    active = np.empty(state.size, np.int64)
    for t in range(x.size):
        for i in range(state.size):
            alpha[t, i] = start[i] if first[t] else state[i]
        c[t] = _probability(alpha[t], b[x[t]])
        count = _condition(alpha[t], b[x[t]], c[t], f, active)
        for j in range(state.size):
            state[j] = 0.0
        for k in range(count):
            mass = f[active[k]]
            for e in range(out_ptr[active[k]], out_ptr[active[k] + 1]):
                state[targets[e]] += mass * a[e]


@kernel(REASSOCIATE)
def _dots(a: np.ndarray, g: np.ndarray, active: np.ndarray, count: int, beta: np.ndarray) -> None:
    """β_i = Σ_j a_ij g_j for the active states, four at a time."""
    whole = count - count % 4
    for k in range(0, whole, 4):
        i0, i1, i2, i3 = active[k], active[k + 1], active[k + 2], active[k + 3]
        a0, a1, a2, a3 = a[i0], a[i1], a[i2], a[i3]
        s0 = s1 = s2 = s3 = 0.0
        for j in range(g.size):
            s0 += a0[j] * g[j]
            s1 += a1[j] * g[j]
            s2 += a2[j] * g[j]
            s3 += a3[j] * g[j]
        beta[i0], beta[i1], beta[i2], beta[i3] = s0, s1, s2, s3
    for k in range(whole, count):
        a0 = a[active[k]]
        s0 = 0.0
        for j in range(g.size):
            s0 += a0[j] * g[j]
        beta[active[k]] = s0


@kernel()
def _add_moves(f: np.ndarray, g: np.ndarray, moves: np.ndarray) -> None:
    """moves_ij += Σ f_i g_j over four times, so that `moves` is read and written once for all."""
    f0, f1, f2, f3 = f[0], f[1], f[2], f[3]
    g0, g1, g2, g3 = g[0], g[1], g[2], g[3]
    for i in range(moves.shape[0]):
        m0, m1, m2, m3 = f0[i], f1[i], f2[i], f3[i]
        if m0 + m1 + m2 + m3 > 0.0:
            into = moves[i]
            for j in range(into.size):
                into[j] += (m0 * g0[j] + m1 * g1[j]) + (m2 * g2[j] + m3 * g3[j])


@kernel()
def _count(
    f: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
    c: float,
    is_first: bool,
    written: np.ndarray,
    begins: np.ndarray,
    g: np.ndarray,
) -> None:
    """Add the posteriors f β to the counts and make the next g from β, 0 where f excludes the state."""
    for i in range(g.size):
        following = b[i] * beta[i] / c
        g[i] = following if f[i] > 0.0 and following > NEGLIGIBLE else 0.0
        written[i] += f[i] * beta[i] if f[i] > 0.0 else 0.0
    if is_first:
        for i in range(g.size):
            begins[i] += f[i] * beta[i] if f[i] > 0.0 else 0.0


@kernel(REASSOCIATE)
def backward_dense(
    x: np.ndarray,
    first: np.ndarray,
    ends: bool,
    a: np.ndarray,
    b: np.ndarray,
    alpha: np.ndarray,
    c: np.ndarray,
    g: np.ndarray,
    moves: np.ndarray,
    writes: np.ndarray,
    begins: np.ndarray,
) -> None:
    """Add the expected counts of a stretch of time, from its end to its beginning.

    `g` carries g^{t+1} from one stretch to the one before; `ends` says that its last symbol ends a sequence.
    `moves` receives Σ_t f_i g_j (times a_ij, the expected transitions), `writes[y]` the states that wrote y.
    """
    N = g.size
    beta = np.empty(N)
    f = np.empty(N)
    active = np.empty(N, np.int64)
    kept_f, kept_g = np.zeros((4, N)), np.zeros((4, N))
    pending = 0
    for t in range(x.size - 1, -1, -1):
        count = _condition(alpha[t], b[x[t]], c[t], f, active)
        if ends:
            for i in range(N):
                beta[i] = 1.0
        else:
            _dots(a, g, active, count, beta)
            for i in range(N):
                kept_f[pending, i] = f[i]
                kept_g[pending, i] = g[i]
            pending += 1
            if pending == 4:
                _add_moves(kept_f, kept_g, moves)
                pending = 0
        _count(f, beta, b[x[t]], c[t], first[t], writes[x[t]], begins, g)
        ends = first[t]
    for k in range(pending, 4):
        for i in range(N):
            kept_f[k, i] = 0.0
    _add_moves(kept_f, kept_g, moves)


@kernel(CONTRACT)
def backward_sparse(
    x: np.ndarray,
    first: np.ndarray,
    ends: bool,
    a: np.ndarray,
    out_ptr: np.ndarray,
    targets: np.ndarray,
    b: np.ndarray,
    alpha: np.ndarray,
    c: np.ndarray,
    g: np.ndarray,
    moves: np.ndarray,
    writes: np.ndarray,
    begins: np.ndarray,
) -> None:
    """The same with compressed rows: `moves[e]` belongs to the edge e."""
    N = g.size
    beta = np.empty(N)
    f = np.empty(N)
    active = np.empty(N, np.int64)
    for t in range(x.size - 1, -1, -1):
        count = _condition(alpha[t], b[x[t]], c[t], f, active)
        if ends:
            for i in range(N):
                beta[i] = 1.0
        else:
            for k in range(count):
                i = active[k]
                mass, total = f[i], 0.0
                for e in range(out_ptr[i], out_ptr[i + 1]):
                    total += a[e] * g[targets[e]]
                    moves[e] += mass * g[targets[e]]
                beta[i] = total
        _count(f, beta, b[x[t]], c[t], first[t], writes[x[t]], begins, g)
        ends = first[t]


@kernel()
def emit(alpha: np.ndarray, emissions: np.ndarray, pi: np.ndarray) -> None:
    """π_t(y) = Σ_i α_i b_iy for every row of α, in one fixed order: a decoder must find the same bits."""
    for t in range(alpha.shape[0]):
        for y in range(emissions.shape[1]):
            pi[t, y] = 0.0
        for i in range(alpha.shape[1]):
            mass = alpha[t, i]
            if mass > 0.0:
                for y in range(emissions.shape[1]):
                    pi[t, y] += mass * emissions[i, y]
