"""Nothing that is read is ever run: no pickle, eval or exec in the package, and names from files stay in a list.

Objects may be pickled by others (joblib, Dask); the package itself reads and writes none.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "src" / "glnn").rglob("*.py"))
FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "marshal",
    "shelve",
    "yaml",
    "runpy",
    "code",
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "execfile", "breakpoint"}
FORBIDDEN_METHODS = {
    ("os", "system"), ("os", "popen"), ("joblib", "load"), ("np", "load"), ("numpy", "load"), ("np", "fromstring"),
    ("torch", "load"), ("zipfile", "ZipFile"), ("tarfile", "open"), ("shutil", "unpack_archive"),
}  # fmt: skip
# Who may start another process: the record of which version of the package made a result asks git; kernels are compiled
# by a module of the package itself.
MAY_START_PROCESSES = {"reproduction/running.py", "training/compiling.py"}
# Who may import by name: each from a fixed table of its own, the package's own files, or a fixed name.
MAY_IMPORT_BY_NAME = {"__init__.py", "registry.py", "metrics/__init__.py"}


def found(name: str, text: str) -> list[str]:
    """What of the forbidden things a file of the package does."""
    problems = []
    for node in ast.walk(ast.parse(text)):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        for module in modules:
            top = module.split(".")[0]
            if top in FORBIDDEN_MODULES or (top == "subprocess" and name not in MAY_START_PROCESSES):
                problems.append(f"{name}:{node.lineno} imports {module}")
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in FORBIDDEN_CALLS:
            problems.append(f"{name}:{node.lineno} calls {called.id}")
        owner = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
        if (owner, getattr(called, "attr", "")) in FORBIDDEN_METHODS:
            problems.append(f"{name}:{node.lineno} calls {owner}.{called.attr}")  # type: ignore[attr-defined]
        if getattr(called, "id", getattr(called, "attr", "")) == "import_module" and name not in MAY_IMPORT_BY_NAME:
            problems.append(f"{name}:{node.lineno} imports by name")
        for keyword in node.keywords:
            if keyword.arg in ("allow_pickle", "shell") and getattr(keyword.value, "value", True) is not False:
                problems.append(f"{name}:{node.lineno} passes {keyword.arg}")
    return problems


def test_the_package_runs_nothing_it_reads() -> None:
    assert len(FILES) > 100
    names = [str(path.relative_to(ROOT / "src" / "glnn")) for path in FILES]
    problems = [found(name, path.read_text()) for name, path in zip(names, FILES, strict=True)]
    assert [problem for of in problems for problem in of] == []
    for may, word in ((MAY_START_PROCESSES, "subprocess"), (MAY_IMPORT_BY_NAME, "import_module")):
        # Nobody stays on a list who does not need to be there.
        assert {name for name, path in zip(names, FILES, strict=True) if word in path.read_text()} == may


@pytest.mark.parametrize(
    "planted",
    [
        "import pickle", "from pickle import loads", "eval('1')", "exec(text)", "import os\nos.system('ls')",
        "import numpy as np\nnp.load(path)", "f(x, allow_pickle=True)", "import subprocess", "run(x, shell=True)",
        "import importlib\nimportlib.import_module(name)", "def f():\n    import dill",
    ],
)  # fmt: skip
def test_it_would_be_seen(planted: str) -> None:
    assert len(found("planted.py", planted)) == 1


def test_every_dependency_has_a_range() -> None:
    """A lower bound, and an upper one that the next incompatible version falls outside of."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    loose = [
        f"{group}: {requirement}"
        for group, requirements in groups.items()
        for requirement in requirements
        if not re.search(r"==|>=.*<", requirement)
    ]
    assert loose == []
