"""Data for networks that read vectors: what is to be predicted, and beside it the signal that is read.

At time t the network predicts the symbol x_t as always, then reads the vector `inputs[t]` in its place (Section 1.2.2,
"a continuous vector-valued signal").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glnn.sequences import Encoded


@dataclass(frozen=True, eq=False)
class WithInputs(Encoded):
    """Encoded targets with the vectors that are read, (T, K), all sequences one behind the other."""

    inputs: np.ndarray

    def __post_init__(self) -> None:
        inputs = np.ascontiguousarray(self.inputs, float)
        if inputs.ndim != 2 or len(inputs) != len(self.codes) or not inputs.shape[1]:
            raise ValueError(
                f"inputs have shape {inputs.shape}: one row of at least one component for each of the "
                f"{len(self.codes)} targets is needed"
            )
        if not np.isfinite(inputs).all():
            time, component = np.argwhere(~np.isfinite(inputs))[0]
            raise ValueError(f"component {component} of the input at time {time} is not finite: give a number there")
        object.__setattr__(self, "inputs", inputs)

    def select(self, indices: Iterable[int]) -> WithInputs:
        """Some of the sequences, in the given order."""
        chosen = [int(which) for which in indices]
        targets = Encoded(self.codes, self.starts, self.mask, self.alphabet).select(chosen)
        rows = [self.inputs[self.starts[which] : self.starts[which + 1]] for which in chosen]
        return with_inputs(targets, np.concatenate(rows))


def with_inputs(targets: Encoded, inputs: np.ndarray) -> WithInputs:
    """The targets together with the vectors that are read."""
    return WithInputs(targets.codes, targets.starts, targets.mask, targets.alphabet, inputs)


def positions(data: Encoded, part: slice, starts: np.ndarray) -> Encoded:
    """The positions `part` of the data, as sequences that begin at `starts`."""
    changes: dict[str, Any] = {"codes": data.codes[part], "mask": data.mask[part], "starts": starts}
    if isinstance(data, WithInputs):
        changes["inputs"] = data.inputs[part]
    return replace(data, **changes)
