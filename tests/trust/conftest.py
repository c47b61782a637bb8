"""What the tests of trust share: commands in this process, small files, trained runs, as tests/cli has them."""

from __future__ import annotations

from tests.cli.conftest import files, glnn, trained

__all__ = ["files", "glnn", "trained"]
