"""What stochastic training remembers between two steps comes from a file, perhaps of a stranger: it is checked first.

Names, shapes and kinds must be those of the training that takes it up, and all numbers must be numbers.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from glnn.metrics import Statistics
from glnn.output import softmax
from glnn.sequences import InputError

# A metric that runs along remembers these as well, once it has begun.
_RUNNING = {
    *(f"update.transition.{field.name}" for field in fields(Statistics)),
    *(f"update.writing.{name}" for name in softmax.WritingStatistics._fields),
}


def check_remembered(memory: dict[str, np.ndarray], fresh: dict[str, np.ndarray]) -> None:
    """Refuse what was not remembered by a training like this one; a metric that runs along remembers more."""
    for name, part in fresh.items():
        found = memory.get(name)
        if found is None or found.shape != part.shape or found.dtype.kind != part.dtype.kind:
            raise InputError(f"what training remembers does not fit its network: {name} is missing or of another size")
    for name, found in memory.items():
        if name not in fresh and name not in _RUNNING:
            raise InputError(f"what training remembers does not fit its network: {name!r} is not part of it")
        # The lowest loss is infinite until there is one.
        if found.dtype.kind not in "fi" or np.isnan(found).any() or (name != "numbers" and np.isinf(found).any()):
            raise InputError(f"what training remembers is damaged: {name} holds something that is not a number")
    if not 0.0 <= memory["numbers"][0] < 2.0**53 or not np.isfinite(memory["numbers"][2:]).all():
        raise InputError("what training remembers is damaged: its counts are not counts")


def under(prefix: str, memory: dict[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """The arrays whose names begin so, under the rest of their names; None where there are none."""
    found = {name[len(prefix) :]: part for name, part in memory.items() if name.startswith(prefix)}
    return found or None
