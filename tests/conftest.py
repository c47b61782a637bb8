"""What every test shares: reproducible property tests that do not depend on how fast the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("glnn", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("glnn")
