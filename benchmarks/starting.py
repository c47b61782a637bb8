"""How long it takes to start: importing, the help, first use with an empty cache of kernels, later use, read-only.

    python benchmarks/starting.py [--repeats 5]

Every measurement is a fresh process of a copy of the package, in a temporary folder with its own home. CPU seconds
(user and system, all threads) and wall seconds; the best of the repeats, except for the first use.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import glnn
from benchmarks.records import RESULTS, Record, about, markdown, write

LIMITS = {"import glnn": 0.3, "glnn --help": 0.4, "first use": 30.0, "later use": 2.0}
_GLNN = "from glnn.cli import main; main()"
_TEXT = "the cat sat on the mat and the dog sat on the log. " * 40
# Compiling is told after a second.
SAID = "compiling kernels, once"


@dataclass(frozen=True)
class Installation:
    """A copy of the package with a home of its own: `site` holds the package, `home` the cache."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Installation:
        """Copy the package that runs this, without anything compiled."""
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(glnn.__file__).parent, folder / "site" / "glnn", ignore=ignored)
        (folder / "home").mkdir()
        (folder / "text.txt").write_text(_TEXT)
        return cls(folder)

    def environment(self) -> dict[str, str]:
        """As a user has it: bytecode is written, kernels go below the home."""
        dropped = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONDONTWRITEBYTECODE", "NUMBA_DISABLE_JIT")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        bytecode = {"PYTHONPYCACHEPREFIX": str(self.folder / "bytecode")}
        return kept | bytecode | {"HOME": str(self.folder / "home"), "PYTHONPATH": str(self.folder / "site")}

    def run(self, code: str, *arguments: str, before: Sequence[str] = ()) -> Record:
        """One process of Python: its CPU and wall seconds, and what it said on standard error."""
        errors = self.folder / "errors.txt"
        begun = time.perf_counter()
        with errors.open("wb") as file:
            command = [*before, sys.executable, "-c", code, *arguments]
            child = subprocess.Popen(
                command, cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL, stderr=file
            )
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return {
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
            "wall_seconds": round(time.perf_counter() - begun, 3),
            "returned": child.returncode,
            "said": errors.read_text().replace(str(self.folder), "…"),
        }

    def train(self, before: Sequence[str] = ()) -> Record:
        """A small training from its start to its end."""
        run = tempfile.mkdtemp(dir=self.folder)
        size = ("--units", "8", "--degree", "3", "--restarts", "1", "--budget", "2 steps")
        return self.run(_GLNN, "train", "text.txt", *size, "--run", f"{run}/run", before=before)

    def lock(self) -> None:
        """Take the right to write away from package and home."""
        for path in [*(self.folder / "site").rglob("*"), self.folder / "site", self.folder / "home"]:
            path.chmod(0o555 if path.is_dir() else 0o444)


def without_privileges() -> list[str]:
    """What makes permissions count for the superuser too; nothing for others."""
    return ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []


def best(tries: Sequence[Record]) -> Record:
    """The quickest of several tries, by CPU seconds; all must have gone well."""
    failed = next((one for one in tries if one["returned"]), None)
    if failed is not None:
        raise RuntimeError(f"a process left with {failed['returned']}: {failed['said'][-500:]}")
    return min(tries, key=lambda one: one["cpu_seconds"])


def measure(repeats: int) -> Record:
    """All of it, in an order in which each step leaves what the next one needs."""
    found: Record = {}
    with tempfile.TemporaryDirectory() as folder:
        installed = Installation.made(Path(folder))
        for name, code, arguments in (
            ("python", "pass", ()),
            ("import glnn", "import glnn", ()),
            ("glnn --help", _GLNN, ("--help",)),
            ("numpy, numba", "import numpy, numba", ()),
            ("numpy, numba, sklearn.base", "import numpy, numba, sklearn.base", ()),
            ("glnn.GLNN", "import glnn; glnn.GLNN", ()),
        ):
            tries = [installed.run(code, *arguments) for _ in range(repeats + 1)]
            found[name] = best(tries[1:])  # the first one writes bytecode
        found["first use"] = best([installed.train()])
        found["first use"]["told"] = SAID in found["first use"]["said"]
        found["later use"] = best([installed.train() for _ in range(repeats)])
    with tempfile.TemporaryDirectory() as folder:
        installed = Installation.made(Path(folder))
        installed.lock()
        found["read-only"] = installed.train(before=without_privileges())
        for path in [Path(folder) / "site", *(Path(folder) / "site").rglob("*"), Path(folder) / "home"]:
            path.chmod(0o755)
    for line in found.values():
        said = line.pop("said").strip().splitlines()
        if line["returned"]:
            line["error"] = said[-1] if said else ""
    return found


def table(found: Record) -> str:
    """Seconds beside the limits."""
    rows = []
    for name, line in found.items():
        limit = f"{LIMITS[name]:g}" if name in LIMITS else ""
        note = "says that it compiles" if line.get("told") else line.get("error", "")
        note = "works" if name == "read-only" and not line["returned"] else note
        rows.append([name, f"{line['cpu_seconds']:.2f}", f"{line['wall_seconds']:.2f}", limit, note])
    return markdown(("", "CPU s", "wall s", "goal, s", ""), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "starting.json")
    options = parser.parse_args()
    found = measure(options.repeats)
    write(options.out, {**about(), "repeats": options.repeats, "limits": LIMITS, "found": found})
    print(table(found))


if __name__ == "__main__":
    main()
