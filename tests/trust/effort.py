"""How many examples a property test tries: few in the suite, GLNN_THOROUGH times as many when that is set."""

from __future__ import annotations

import os

from hypothesis import settings

TIMES = int(os.environ.get("GLNN_THOROUGH", "1"))


def examples(few: int) -> settings:
    """Settings with so many examples, or as many times more as asked for; the same ones in every run."""
    return settings(max_examples=few * TIMES, deadline=None, derandomize=True)
