"""What a file may hold as the tree over the symbols: compiled loops are led by it."""

from __future__ import annotations

import pytest

from glnn.contexts.decomposition import balanced, check_children
from glnn.sequences import InputError


@pytest.mark.small
@pytest.mark.parametrize("kind", ["int8", "int32", "uint64", "float64"])
def test_numbers_of_another_type_than_the_loops_expect_are_refused(kind: str) -> None:
    children = balanced(3).children
    check_children(children, 3)
    with pytest.raises(InputError, match=kind):
        check_children(children.astype(kind), 3)
