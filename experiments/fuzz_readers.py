"""Fuzz every reader: damaged and forged files of each kind, in child processes with little memory.

A child may use 400 MB more than it has when everything is loaded, and 20 CPU seconds for a file; what would be run
(another program, a pickle, a connection) and what would be written outside its own folder is told by an audit hook. Its
parent notes what killed it. Findings are printed with the number that makes the same file again.

    python experiments/fuzz_readers.py --files 2000                         so many of each kind
    python experiments/fuzz_readers.py --kinds "XES" --files 1 --seed 17    one kind; numbers begin at 17 * 10^9
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from in_a_child import Child

ROOT = Path(__file__).parents[1]
RESULTS = Path(os.environ.get("GLNN_RESULTS", ROOT / "experiments" / "results")) / "fuzz_readers.jsonl"
ROOM = 400 << 20
SECONDS_FOR_A_FILE = 20
FILES_FOR_A_CHILD = 1000
DANGEROUS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "pickle.find_class",
    "socket.connect",
)


def child(name: str, first: int, files: int, out: Any) -> None:
    """Try files from the number `first` on; tells each finding, and how many were tried."""
    from glnn.numeric.kernel import cache_folder
    from tests.trust.damage import damaged
    from tests.trust.kinds import readers

    kind = readers()[name]
    with tempfile.TemporaryDirectory() as place:
        kind.read(kind.whole, Path(place))
    # Kernels that this file is the first to need are kept where all are.
    allowed = tuple(map(os.path.realpath, (tempfile.gettempdir(), os.environ.get("NUMBA_CACHE_DIR") or cache_folder())))
    seen: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        # Numba keeps the types of compiled kernels as pickles, in its own cache.
        if event == "pickle.find_class" and str(arguments[0]).split(".")[0] in ("numba", "copyreg", "builtins"):
            return
        if event in DANGEROUS:
            seen.append(f"{event} {str(arguments)[:200]}")
        elif event == "open" and isinstance(arguments[0], str) and isinstance(arguments[1], str):
            inside = os.path.realpath(arguments[0]).startswith(allowed)
            if set(arguments[1]) & set("wax+") and not inside:
                seen.append(f"writes {arguments[0]}")

    def late(number: int, frame: object) -> None:
        raise TimeoutError("this file took too long")

    sys.addaudithook(hook)
    signal.signal(signal.SIGPROF, late)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM,) * 2)
    tried = refused = signed = 0
    for number in range(first, first + files):
        out.send(("trying", number))
        try:
            content, forged = damaged(kind, random.Random(number))
        except MemoryError:
            continue  # too long to be made here, let alone read
        signed += forged
        signal.setitimer(signal.ITIMER_PROF, SECONDS_FOR_A_FILE)
        with tempfile.TemporaryDirectory() as place:
            try:
                kind.read(content, Path(place))
            except TimeoutError:
                out.send(("found", number, "takes too long"))
            except (ValueError, OSError):
                refused += 1
            except BaseException as fault:
                where = traceback.extract_tb(fault.__traceback__)[-1]
                out.send(
                    ("found", number, f"{type(fault).__name__} in {Path(where.filename).name}: {str(fault)[:200]}")
                )
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        for event in seen:
            out.send(("found", number, event))
        seen.clear()
        tried += 1
    out.send(("done", tried, refused, signed, round(time.process_time())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", help="all kinds if left out")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    from tests.trust.kinds import readers

    # Made before the children are begun, which take it over.
    names = [name for name in readers() if not options.kinds or name in options.kinds]
    counts: dict[str, collections.Counter[str]] = {name: collections.Counter() for name in names}
    findings: dict[str, dict[str, Any]] = {}
    for name in names:
        for begin in range(0, options.files, FILES_FOR_A_CHILD):
            first = options.seed * 10**9 + begin
            _watch(name, first, min(FILES_FOR_A_CHILD, options.files - begin), counts[name], findings)
        print(f"{name}: {dict(counts[name])}, found so far: {findings}", file=sys.stderr, flush=True)
    result = {
        "seed": options.seed,
        **{what: sum(own[what] for own in counts.values()) for what in ("tried", "forged", "refused", "cpu_seconds")},
        "by_kind": {name: dict(own) for name, own in counts.items()},
        "findings": findings,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        file.write(json.dumps(result) + "\n")
    print(json.dumps(result, indent=1))


def _watch(name: str, first: int, files: int, counts: collections.Counter[str], findings: dict[str, Any]) -> None:
    """One child, whatever becomes of it."""
    running, finished = Child(child, name, first, files), False
    for message in running.messages():
        if message[0] == "done":
            counts.update(dict(zip(("tried", "refused", "forged", "cpu_seconds"), message[1:], strict=True)))
            finished = True
        else:
            findings.setdefault(f"{name}: {message[2]}", {"file": message[1], "times": 0})["times"] += 1
    last = first if running.last is None else running.last
    if not finished:
        findings.setdefault(f"{name}: the interpreter ended ({running.exitcode})", {"file": last, "times": 1})
        counts["tried"] += last - first + 1
        if last + 1 < first + files:
            _watch(name, last + 1, first + files - last - 1, counts, findings)


if __name__ == "__main__":
    main()
