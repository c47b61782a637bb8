"""How long `glnn.compress` takes with and without its check, and `glnn.decompress`: CPU microseconds a byte, and
for the first those of a clock too, since its check has a thread of its own.

    python benchmarks/coding_times.py [--files FILE ...] [--repeats 5] [--out FILE]

The least of the repeats, one line of JSON a file, after everything is compiled. By default files of the repository's
data folder, Python's argparse and its help topics, the longest of them once.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.data_sets import SHARED
from benchmarks.records import about, append

RESULTS = Path(__file__).parent / "results" / "coding_times.jsonl"
LONG = 500_000
LIBRARY = Path(sysconfig.get_path("stdlib"))
FILES = (SHARED / "paper1.txt", LIBRARY / "argparse.py", SHARED / "jigs.abc", LIBRARY / "pydoc_data" / "topics.py")


def least(run: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time) -> tuple[float, Any]:
    """Seconds of the fastest of so many calls, and what the last gave."""
    seconds, found = [], None
    for _ in range(repeats):
        started = clock()
        found = run()
        seconds.append(clock() - started)
    return min(seconds), found


def measure(content: bytes, repeats: int) -> dict[str, float]:
    """Microseconds a byte, and the bytes of the result."""
    import glnn

    waited, _ = least(lambda: glnn.compress(content), repeats, time.perf_counter)
    verified, packed = least(lambda: glnn.compress(content), repeats)
    alone, same = least(lambda: glnn.compress(content, verify=False), repeats)
    back, again = least(lambda: glnn.decompress(packed), repeats)
    if packed != same or again != content:
        raise AssertionError("what came back is not what was given")
    times = {"clock": waited, "compress": verified, "unverified": alone, "decompress": back}
    return {name: round(1e6 * seconds / len(content), 2) for name, seconds in times.items()} | {"packed": len(packed)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="+", type=Path, default=list(FILES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    measure(b"a line to compile everything with\n" * 20, 1)
    for path in options.files:
        content = path.read_bytes()
        found = measure(content, 1 if len(content) > LONG else options.repeats)
        append(options.out, {"file": path.name, "size": len(content), **found, **about()})
        print(path.name, f"{len(content):,} bytes", found, flush=True)


if __name__ == "__main__":
    main()
