"""Every model and metric by name, said once, where it is defined; command line, files, comparisons and tests read it.

    @registry.network("leaky", "a gated network whose leak is learned")    a network, in a file of models/
    @registry.model("hmm", "a hidden Markov model, trained by EM")         any other estimator, in a file of estimators/

Names are found by reading these two folders, not by importing them, so that `glnn --help` stays quick. Installed
packages add theirs through an entry point of the group "glnn.models" that names the module; a class decorated
elsewhere, in a notebook or a test, is known from then on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

_FOLDERS = ("models", "estimators")
_ENTRY_POINTS = "glnn.models"
_FIRST = ("mixture", "glnn", "gnn", "rnn", "lstm")

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Entry:
    """What is known of a model before it is imported."""

    name: str
    """As `--model` takes it."""
    title: str
    """The name of its class, which is also that of its estimator."""
    about: str
    """One line."""
    group: str
    """What it is in a comparison: a "network", or a "baseline"."""
    module: str
    network: bool
    """Whether the class is a network of `glnn.models`, or an estimator itself."""
    defaults: dict[str, Any] = field(default_factory=dict, compare=False)
    """Parameters of the estimator that begin with other values than those of all networks."""
    kind: Any = field(default=None, repr=False, compare=False)
    """The class, where it was decorated outside the package."""

    def load(self) -> Any:
        """The decorated class."""
        return self.kind if self.kind is not None else getattr(import_module(self.module), self.title)


_added: dict[str, Entry] = {}


def network(name: str, about: str, **defaults: Any) -> Callable[[Kind], Kind]:
    """Register a network (`glnn.models.Model`); its estimator is made from it, with such defaults."""
    return _register(name, about, "network", True, defaults)


def model(name: str, about: str, group: str = "baseline") -> Callable[[Kind], Kind]:
    """Register an estimator of another kind than the networks."""
    return _register(name, about, group, False, {})


def models() -> dict[str, Entry]:
    """Every registered model by its name: the mixture, the paper's networks, then the others."""
    found = {entry.name: entry for entry in (*_scanned(), *_installed())} | _added
    first = {name: found[name] for name in _FIRST if name in found}
    return first | found


def networks() -> dict[str, Entry]:
    """Every registered network by its name."""
    return {name: entry for name, entry in models().items() if entry.network}


class Metric(NamedTuple):
    """What is known of a metric before it is imported."""

    module: str
    about: str
    """One line; empty where none is given."""


@cache
def metrics() -> dict[str, Metric]:
    """Every metric of the transitions by its name, with the module of metrics/ that makes it.

    A metric is a `TransitionMethod` with a name of its own: a file in metrics/ that makes one is all there is to do.
    """
    found: dict[str, Metric] = {}
    for path in sorted((Path(__file__).parent / "metrics").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "TransitionMethod(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "TransitionMethod":
                name = node.args[0] if node.args else None
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    lines = [*node.args[4:], *(word.value for word in node.keywords if word.arg == "about")]
                    about = ast.literal_eval(lines[0]) if lines else ""
                    found[name.value] = Metric(f"glnn.metrics.{path.stem}", about)
    return found


class Parameter(NamedTuple):
    """What is known of a parameter of the estimators before they are imported."""

    type: str
    """As it is annotated."""
    about: str
    """What it is, in a line."""


@cache
def parameters() -> dict[str, Parameter]:
    """Every parameter that an estimator declares, by its name; what several declare is told as the first one has it."""
    found: dict[str, Parameter] = {}
    for path in sorted((Path(__file__).parent / "estimators").glob("*.py"), key=lambda path: path.name != "network.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "= parameter(" in text else ():
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.value, ast.Call):
                continue
            call, name = node.value, node.target
            if isinstance(call.func, ast.Name) and call.func.id == "parameter" and isinstance(name, ast.Name):
                declared = Parameter(ast.unparse(node.annotation), ast.literal_eval(call.args[2]))
                found.setdefault(name.id, declared)
    return found


def titled(title: str) -> Entry | None:
    """The model whose class has that name, as model files give it."""
    return next((entry for entry in models().values() if entry.title == title), None)


def _register(name: str, about: str, group: str, network: bool, defaults: dict[str, Any]) -> Callable[[Any], Any]:
    def register(kind: Any) -> Any:
        if not kind.__module__.startswith(tuple(f"glnn.{folder}." for folder in _FOLDERS)):
            _added[name] = Entry(name, kind.__name__, about, group, kind.__module__, network, defaults, kind)
        return kind

    return register


@cache
def _scanned() -> tuple[Entry, ...]:
    """The declarations in the package's own files."""
    package = Path(__file__).parent
    found: list[Entry] = []
    for folder in _FOLDERS:
        for path in sorted((package / folder).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "@registry." in text:
                found.extend(_declared(ast.parse(text), f"glnn.{folder}.{path.stem}"))
    return tuple(found)


def _declared(tree: ast.Module, module: str) -> Iterator[Entry]:
    for node in tree.body:
        for call in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            if not isinstance(call.func.value, ast.Name) or call.func.value.id != "registry":
                continue
            assert isinstance(node, ast.ClassDef)
            name, about, *rest = (ast.literal_eval(value) for value in call.args)
            named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
            if call.func.attr == "network":
                yield Entry(name, node.name, about, "network", module, True, named)
            else:
                group = rest[0] if rest else named.get("group", "baseline")
                yield Entry(name, node.name, about, group, module, False)


@cache
def _installed() -> tuple[Entry, ...]:
    """What other installed packages register; importing their modules adds it to `_added`."""
    from importlib.metadata import entry_points

    for point in entry_points(group=_ENTRY_POINTS):
        point.load()
    return ()
