"""The direction of imports: who may know whom, kept true by reading every import of the package."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "glnn"

ALLOWED: dict[str, set[str]] = {
    "numeric": set(),
    "network": set(),
    "progress": set(),
    "registry": set(),
    "sequences": {"numeric"},
    "coding": {"numeric"},
    "models": {"registry", "numeric", "network", "sequences", "coding"},
    "output": {"numeric"},
    "metrics": {"registry", "numeric"},
    "training": {"sequences", "network", "models", "output", "metrics", "numeric", "progress"},
    "sources": {"sequences"},
    "baselines": {"sequences", "network", "numeric", "coding", "output", "training", "progress"},
    "contexts": {"sequences", "numeric", "coding"},
    "predictors": {"sequences", "models", "output", "training", "contexts", "baselines", "numeric", "coding"},
    "streams": {"sequences", "predictors", "storage"},
    "storage": {"sequences", "network", "models", "training"},
    "codec": {"sequences", "coding", "predictors", "storage", "contexts"},
    "report": {"sequences", "storage", "predictors"},
}
# These stand on top of everything; `__init__` imports what it offers on first use.
FREE = {"evaluation", "estimators", "reproduction", "cli", "__init__", "__main__"}


def room(parts: tuple[str, ...] | list[str]) -> str:
    """The part of the package that a module path inside it belongs to."""
    return parts[0] if parts else "__init__"


def imports_of(source: str, parts: tuple[str, ...]) -> Iterator[str]:
    """The rooms of `glnn` that a module imports, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = ["glnn", *parts[: len(parts) - node.level], *base]
            # `from glnn import sources` imports a room, `from glnn.sources import get` a name of it.
            names = [[*base, alias.name] if base == ["glnn"] else base for alias in node.names]
        else:
            continue
        yield from (room(name[1:]) for name in names if name[0] == "glnn")


def modules() -> list[tuple[str, ...]]:
    return [path.relative_to(PACKAGE).with_suffix("").parts for path in sorted(PACKAGE.rglob("*.py"))]


def test_imports_of_reads_every_way_of_importing() -> None:
    source = """
import glnn.models.rnn
import numpy, glnn.metrics as metrics
from glnn import sources
from glnn.output import softmax
from . import sibling
from ..report import page
from .. import codec
def late():
    from glnn.training.trainer import Trainer
"""
    found = list(imports_of(source, ("cli", "deep")))
    assert sorted(found) == ["cli", "codec", "metrics", "models", "output", "report", "sources", "training"]


@pytest.mark.parametrize("parts", modules(), ids="/".join)
def test_each_module_imports_only_what_it_may(parts: tuple[str, ...]) -> None:
    here = room(parts)
    assert here in ALLOWED or here in FREE, f"{here} is not in the table ALLOWED: say there what it may import"
    if here in FREE:
        return
    source = PACKAGE.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8")
    wrong = {other for other in imports_of(source, parts) if other != here} - ALLOWED[here]
    assert not wrong, f"{'/'.join(parts)}.py imports {', '.join(sorted(wrong))}; {here} may not"


def test_the_table_has_no_circle() -> None:
    reached: set[str] = set()
    waiting = dict(ALLOWED)
    while waiting:
        ready = [name for name, needs in waiting.items() if needs <= reached]
        assert ready, f"a circle among {', '.join(waiting)}"
        for name in ready:
            reached.add(name)
            del waiting[name]


def loaded_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


HEAVY = {"numba", "scipy", "sklearn", "plotly", "constriction", "safetensors", "torch", "dask"}


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = loaded_after("import glnn")
    assert "glnn" in loaded
    assert not loaded & (HEAVY | {"numpy", "typer", "rich"})


def test_reading_sequences_imports_nothing_heavy() -> None:
    assert not loaded_after("from glnn.sequences import encode") & HEAVY


def test_the_public_names_are_there() -> None:
    import glnn

    assert set(glnn.__all__) == {"__version__", *glnn._HOME}
    assert set(glnn.__all__) <= set(dir(glnn))
    for name, home in glnn._HOME.items():
        assert getattr(glnn, name) is getattr(importlib.import_module(home), name)


def test_a_name_that_is_not_there() -> None:
    import glnn

    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = glnn.nothing
