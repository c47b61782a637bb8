"""Who spoke for what came: how much each context, match and member moved the prediction towards the symbol.

For a source i and a symbol whose path takes the bits y: Σ over the decisions of ± Σ_s v_s Σ w_s x, over the inputs x
of that source, in nats of log-odds; + where y is 1.
"""

from __future__ import annotations

import numpy as np

from glnn.contexts.mixing_history import restart
from glnn.contexts.mixing_memory import NODES, PER_CONTEXT, PER_MATCH, Cursor, Memory, Work, new_cursor, new_work
from glnn.contexts.mixing_plan import Plan
from glnn.contexts.mixing_predicting import predict
from glnn.contexts.mixing_reading import NOTHING, conclude, prepare
from glnn.numeric.kernel import kernel


def votes(
    codes: np.ndarray, first: np.ndarray, outside: np.ndarray | None, plan: Plan, memory: Memory, cursor: Cursor | None
) -> np.ndarray:
    """One row for each symbol, one column for each context, match and member; nothing is learned."""
    outside = np.empty((codes.size, 0, 0)) if outside is None else outside
    out = np.zeros((codes.size, plan.kinds.size + plan.match_lengths.size + plan.outside))
    cursor = new_cursor(plan) if cursor is None else cursor
    _votes(np.ascontiguousarray(codes, np.int64), first, outside, plan, memory, cursor, new_work(plan), out)
    return out


@kernel(_nrt=False)
def _votes(
    codes: np.ndarray,
    first: np.ndarray,
    outside: np.ndarray,
    plan: Plan,
    memory: Memory,
    cursor: Cursor,
    work: Work,
    out: np.ndarray,
) -> None:
    contexts, matches = plan.kinds.size, plan.match_lengths.size
    sources = contexts + matches + plan.outside
    for t in range(codes.size):
        if first[t]:
            restart(plan, cursor)
        prepare(outside[t], NOTHING, plan, memory, cursor, work)
        symbol = codes[t]
        for depth in range(plan.lengths[symbol]):
            node = plan.branchings[symbol, depth]
            predict(node, plan, memory, cursor, work)
            sign = 1.0 if plan.bits[symbol, depth] else -1.0
            for s in range(work.base.size - 1):
                w = memory.weights[work.row[depth, s]]
                scale = sign * memory.final_weights[min(node, NODES - 1), s]
                place = 0
                for i in range(sources):
                    width = PER_CONTEXT if i < contexts else PER_MATCH if i < contexts + matches else 1
                    for k in range(place, place + width):
                        out[t, i] += scale * w[k] * work.x[depth, k]
                    place += width
        conclude(symbol, NOTHING, plan, memory, cursor, work)
