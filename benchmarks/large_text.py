"""A megabyte of text: size, time and memory of contexts, the tree, networks and stand-alone compression beside PPMd.

    python benchmarks/large_text.py [--kind mixed|code|books] [--size 1000000] [--out FILE]

"mixed" and "code" are what comes with Python: the help topics, then sources of the standard library, in alphabetical
order, so that what is scored is of another kind than most of what is fitted; and sources alone, in an order drawn at
random, which is always the same. "books": verse, lectures, a tale and a play, which come with the tests of brotli, in
pieces of 8,000 characters, in an order drawn at random. Every measurement is a process of its own, so that its memory
is its own, and a line of JSON at once.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import data_sets
from benchmarks.records import about, append, markdown, read

RESULTS = Path(__file__).parent / "results" / "large_text.jsonl"
MINUTES = 5
KINDS = ("mixed", "code", "books")
PIECE = 8000


def text_of(size: int, kind: str = "mixed") -> str:
    """So many characters."""
    if kind == "books":
        return books(size)
    library = Path(sysconfig.get_path("stdlib"))
    sources = sorted(library.glob("*.py"))
    if kind == "mixed":
        parts = [library / "pydoc_data" / "topics.py", *sources]
    else:
        parts = random.Random(0).sample(sources, len(sources))
    found = ""
    for path in parts:
        found += path.read_text(errors="replace")
        if len(found) >= size:
            return found[:size]
    raise ValueError(f"the standard library has {len(found):,} characters: ask for fewer than {size:,}")


def books(size: int) -> str:
    """Pieces of four books, so that what is scored is of the kinds that are fitted."""
    texts = [data_sets.book(name).decode(errors="replace") for name in data_sets.BOOKS]
    pieces = [text[begin : begin + PIECE] for text in texts for begin in range(0, len(text), PIECE)]
    random.Random(0).shuffle(pieces)
    found = "".join(pieces)
    if len(found) < size:
        raise ValueError(f"the books have {len(found):,} characters: ask for fewer than {size:,}")
    return found[:size]


def ppmd(text: str) -> dict[str, Any]:
    """Order 16, 64 MB."""
    import pyppmd

    content, started = text.encode(), time.process_time()
    encoder = pyppmd.Ppmd7Encoder(16, 1 << 26)
    size = len(encoder.encode(content) + encoder.flush())
    seconds = time.process_time() - started
    cut = content[: len(content) * 4 // 5]
    encoder = pyppmd.Ppmd7Encoder(16, 1 << 26)
    added = size - len(encoder.encode(cut) + encoder.flush())
    return {"bytes": size, "bits": 8.0 * added / (len(content) - len(cut)), "compress": seconds / len(content)}


def alone(text: str) -> dict[str, Any]:
    """`glnn.compress`, which decodes it all once to be sure, and `glnn.decompress`."""
    import glnn

    glnn.decompress(glnn.compress(text[:2000]))
    started = time.process_time()
    blob = glnn.compress(text)
    between = time.process_time()
    assert glnn.decompress(blob) == text
    ended = time.process_time()
    size = len(text)
    return {"bytes": len(blob), "compress": (between - started) / size, "decompress": (ended - between) / size}


def of_model(name: str, **parameters: Any) -> Callable[[str], dict[str, Any]]:
    """A model of the first four fifths: bits of the rest, its file, and compressing with it."""

    def run(text: str) -> dict[str, Any]:
        import glnn

        cut = len(text) * 4 // 5
        kind = getattr(glnn, name)
        given = {"alphabet": sorted(set(text)), "verbose": 0, **parameters}
        small = kind(**given).fit(text[:2000])
        small.decompress(small.compress(text[:500]))
        started = time.process_time()
        model = kind(**given).fit(text[:cut])
        fitted = time.process_time()
        bits = model.bits(text[cut:])
        scored = time.process_time()
        blob = model.compress(text[cut:])
        compressed = time.process_time()
        assert model.decompress(blob) == text[cut:]
        restored = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model")
            file = (Path(folder) / "model").stat().st_size
        rest = len(text) - cut
        return {
            "bits": float(bits) / rest,
            "fit": (fitted - started) / cut,
            "score": (scored - fitted) / rest,
            "compress": (compressed - scored) / rest,
            "decompress": (restored - compressed) / rest,
            "file": file,
        }

    return run


def of_network(name: str) -> Callable[[str], dict[str, Any]]:
    """A network, or PyTorch's, with five CPU minutes for the first four fifths: bits of the rest."""

    def run(text: str) -> dict[str, Any]:
        from benchmarks import real_data

        data = data_sets.text("large text", text.encode())
        found = real_data.MODELS[name](data, MINUTES * 60.0, 0)
        return {"bits": found["bits"] / data.scored_symbols, "fit": found["cpu_seconds"] / len(data.fit)}

    return run


MODELS: dict[str, Callable[[str], dict[str, Any]]] = {
    "PPMd, order 16": ppmd,
    "glnn.compress": alone,
    "Mixture, contexts": of_model("Mixture", networks=0),
    "ContextTree": of_model("ContextTree"),
    **{f"{name}, {MINUTES} minutes": of_network(name) for name in ("LSTM", "GLNN", "PyTorch LSTM", "PyTorch GRU")},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--kind", choices=KINDS, default=KINDS[0])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", choices=list(MODELS), help="measure in this process and print it")
    options = parser.parse_args()
    if options.only:
        found = MODELS[options.only](text_of(options.size, options.kind))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        about_text = {"model": options.only, "kind": options.kind, "size": options.size}
        print(json.dumps({**about_text, **found, "memory": peak}))
        return
    for model in options.models:
        command = [sys.executable, __file__, "--kind", options.kind, "--size", str(options.size), "--only", model]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        append(options.out, {**json.loads(told.splitlines()[-1]), **about()})
    print(table(options.out, options.kind))


def table(path: Path = RESULTS, kind: str = KINDS[0]) -> str:
    """The last run of each model on one kind of text; lines from before there were two have no kind."""
    rows = []
    lines = [line for line in read(path) if line.get("kind", KINDS[0]) == kind]
    for line in {(line["model"], line["size"]): line for line in lines}.values():
        whole = f"{line['bytes']:,}" if "bytes" in line else ""
        last = f"{line['bits']:.3f}" if "bits" in line else ""
        times = [f"{1e6 * line[name]:.1f}" if name in line else "" for name in ("fit", "compress", "decompress")]
        file = f"{line['file'] / 1e6:.2f}" if "file" in line else ""
        rows.append([line["model"], whole, last, *times, file, f"{line['memory'] / 1e6:.0f}"])
    head = ["", "bytes of all", "bits of the last fifth", "fit, µs", "compress, µs", "decompress, µs", "file, MB", "MB"]
    return markdown(head, rows)


if __name__ == "__main__":
    main()
