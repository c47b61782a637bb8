"""The package works with its own dependencies alone; what only tests, pages and benchmarks use stays out of it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "glnn"
# Importing one of these fails where the statements below run.
WITHOUT = (
    "import sys\n"
    "sys.modules.update(dict.fromkeys(('scipy', 'joblib', 'constriction', 'plotly', 'matplotlib')))\n"
    "import glnn\n"
)
# Its base class alone would make every command a second slower: where it is installed, nothing looks for it.
NOT_LOADED = (
    "print(sorted(name for name in sys.modules if name.startswith('sklearn')))\n"
    "sys.modules['sklearn'] = None\n"
    "print(model._repr_html_())"  # a notebook asks for it
)


def run(statements: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", WITHOUT + statements], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_fitting_saving_coding_and_the_page(tmp_path: Path) -> None:
    said = run(
        "try:\n    glnn.GLNN().bits('a')\n"
        "except ValueError as error:\n    print(type(error).__name__, isinstance(error, AttributeError))\n"
        "from glnn.report import from_model, write_page\n"
        "for name, params in {'GLNN': {'units': 3, 'budget': '2 steps'}, 'ContextTree': {'depth': 2}}.items():\n"
        "    model = getattr(glnn, name)(verbose=0, **params).fit('abcabd' * 9)\n"
        "    assert model.decompress(model.compress('abd')) == 'abd'\n"
        f"    model.save({str(tmp_path / 'model')!r})\n"
        f"write_page(from_model(glnn.load({str(tmp_path / 'model')!r}), 'abcabd'), {str(tmp_path / 'page.html')!r})\n"
        + NOT_LOADED
    )
    assert said == ["NotFittedError True", "[]", "None"]
    assert (tmp_path / "page.html").stat().st_size > 10**6


def kernels(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(call) for call in node.decorator_list):
            yield node


def needs_scipy(function: ast.FunctionDef) -> bool:
    """Numba takes BLAS and LAPACK for products of matrices and for `np.linalg` from SciPy, when it compiles."""
    nodes = list(ast.walk(function))
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return bool(names & {"linalg", "dot", "vdot"}) or any(isinstance(node, ast.MatMult) for node in nodes)


def test_no_kernel_needs_scipy() -> None:
    found = {path: list(kernels(ast.parse(path.read_text()))) for path in PACKAGE.rglob("*.py")}
    assert sum(map(len, found.values())) > 30
    assert [(path.name, one.name) for path, those in found.items() for one in those if needs_scipy(one)] == []


@pytest.mark.parametrize("line", ["a @ b", "np.dot(a, b)", "a.dot(b)", "np.linalg.solve(a, b)"])
def test_what_would_need_scipy_is_seen(line: str) -> None:
    (function,) = kernels(ast.parse(f"@kernel()\ndef f(a, b):\n    return {line}\n"))
    assert needs_scipy(function)


def test_the_version_to_cite_is_the_version() -> None:
    import glnn

    assert f"\nversion: {glnn.__version__}\n" in (PACKAGE.parents[1] / "CITATION.cff").read_text()
