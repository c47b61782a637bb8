"""Fuzz every reader for a while: damaged and forged files of each kind, in child processes with little memory.

A child may use a gigabyte more than it has when everything is loaded, and 20 seconds for a file; what would be run
(another program, a pickle, a connection) and what would be written outside its own folder is told by an audit hook. Its
parent notes what killed it. Findings are printed with the number that makes the same file again.

    python experiments/fuzz_readers.py --minutes 10
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
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

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results" / "fuzz_readers.jsonl"
ROOM = 1 << 30
SECONDS_FOR_A_FILE = 20
FILES_FOR_A_CHILD = 400
DANGEROUS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "pickle.find_class",
    "socket.connect",
)


def child(name: str, first: int, until: float, out: Any) -> None:
    """Try files from the number `first` on; tells each finding, and how many were tried."""
    from tests.trust.corruption import damaged, readers

    kind = readers()[name]
    with tempfile.TemporaryDirectory() as place:
        kind.read(kind.whole, Path(place))
    allowed = os.path.realpath(tempfile.gettempdir())
    seen: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        # Numba keeps the types of compiled kernels as pickles, in its own cache.
        if event == "pickle.find_class" and str(arguments[0]).split(".")[0] in ("numba", "copyreg", "builtins"):
            return
        if event in DANGEROUS:
            seen.append(f"{event} {str(arguments)[:200]}")
        elif event == "open" and isinstance(arguments[0], str) and isinstance(arguments[1], str):
            inside = os.path.realpath(arguments[0]).startswith((allowed, os.environ.get("NUMBA_CACHE_DIR", allowed)))
            if set(arguments[1]) & set("wax+") and not inside and not arguments[0].endswith("compiling.lock"):
                seen.append(f"writes {arguments[0]}")

    def late(number: int, frame: object) -> None:
        raise TimeoutError("this file took too long")

    sys.addaudithook(hook)
    signal.signal(signal.SIGALRM, late)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM,) * 2)
    tried = refused = 0
    for number in range(first, first + FILES_FOR_A_CHILD):
        if time.monotonic() > until:
            break
        out.send(("trying", number))
        content = damaged(kind, random.Random(number))
        signal.alarm(SECONDS_FOR_A_FILE)
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
                signal.alarm(0)
        for event in seen:
            out.send(("found", number, event))
        seen.clear()
        tried += 1
    out.send(("done", tried, refused))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    from tests.trust.corruption import readers

    # Made before the children are begun, which take it over.
    names = list(readers())
    begin = time.monotonic()
    until = begin + 60.0 * options.minutes
    tried: collections.Counter[str] = collections.Counter()
    refused: collections.Counter[str] = collections.Counter()
    findings: dict[str, dict[str, Any]] = {}
    context = multiprocessing.get_context("fork")
    turn = 0
    while time.monotonic() < until:
        name = names[turn % len(names)]
        first = options.seed * 10**9 + (turn // len(names)) * FILES_FOR_A_CHILD
        turn += 1
        here, there = context.Pipe(duplex=False)
        share = time.monotonic() + max(5.0, 60.0 * options.minutes / len(names) / 2)
        process = context.Process(target=child, args=(name, first, min(until, share), there))
        process.start()
        there.close()
        last, finished = first, False
        while True:
            try:
                message = here.recv()
            except EOFError:
                break
            if message[0] == "trying":
                last = message[1]
            elif message[0] == "done":
                tried[name] += message[1]
                refused[name] += message[2]
                finished = True
            else:
                findings.setdefault(f"{name}: {message[2]}", {"file": message[1], "times": 0})["times"] += 1
        process.join()
        if not finished:
            findings.setdefault(f"{name}: the interpreter ended ({process.exitcode})", {"file": last, "times": 0})
            tried[name] += last - first + 1
        print(f"{sum(tried.values()):,} files, {len(findings)} findings", file=sys.stderr, flush=True)
    result = {
        "minutes": round((time.monotonic() - begin) / 60.0, 1),
        "seed": options.seed,
        "tried": sum(tried.values()),
        "refused": sum(refused.values()),
        "by_kind": {name: {"tried": tried[name], "refused": refused[name]} for name in names},
        "findings": findings,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        file.write(json.dumps(result) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
