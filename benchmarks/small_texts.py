"""`glnn.compress` beside PPMd of order 16 on texts of 30 kB to 1 MB: bytes, one line of JSON a file.

    python benchmarks/small_texts.py [--every 8] [--folders DIR ...] [--out FILE]
    python benchmarks/small_texts.py --under /usr/share /usr/include --each 3 --out FILE

The texts are sources of Python's standard library, every so many of them, and the files of the folders that are named
(by default Debian's licences). With `--under`, a few files of each kind anywhere below folders instead, chosen by the
hash of their names: headers, pages, tables, data, changes. PPMd's bytes are those of its stream alone, ours those of
the whole file.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import sys
import sysconfig
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.records import about, append, read

RESULTS = Path(__file__).parent / "results" / "small_texts.jsonl"
SMALLEST, LARGEST = 30_000, 1_000_000
ORDER, MEMORY = 16, 1 << 26
KINDS = (
    *("abc", "c", "css", "csv", "fa", "fasta", "faa", "h", "html", "js", "json", "log", "md", "pl", "pm", "po", "py"),
    *("rst", "sql", "svg", "tex", "txt", "xml", "xes"),
    *("changelog.gz", "NEWS.gz", "1.gz", "3.gz", "5.gz", "8.gz", "txt.gz", "csv.gz", "xes.gz"),
)


def texts(every: int, folders: list[Path]) -> list[Path]:
    """Files of the sizes in question."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = [path for path in sorted(library.rglob("*.py")) if "site-packages" not in path.parts]
    others = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    fitting = [[path for path in paths if SMALLEST <= path.stat().st_size <= LARGEST] for paths in (sources, others)]
    return [*fitting[0][::every], *fitting[1]]


def of_each_kind(folders: list[Path], each: int) -> list[Path]:
    """So many texts of each kind below the folders."""
    found: list[Path] = []
    below = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for kind in KINDS:
        paths = [path for path in below if path.name.endswith(f".{kind}") or path.name == kind]
        paths.sort(key=lambda path: hashlib.sha256("/".join(path.parts[-2:]).encode()).digest())
        fitting = (path for path in paths if path.stat().st_size * (3 if kind[-2:] == "gz" else 1) >= SMALLEST)
        chosen = [path for _, path in zip(range(4 * each), fitting, strict=False) if _is_text(content_of(path))]
        found += chosen[:each]
    return found


def content_of(path: Path) -> bytes:
    """The bytes of a file, or of what is packed in it."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _is_text(content: bytes) -> bool:
    return SMALLEST <= len(content) <= LARGEST and b"\0" not in content


def measure(path: Path) -> dict[str, float | str]:
    """Bytes of both, and the CPU seconds of ours, which decodes it all once to be sure."""
    import pyppmd

    import glnn

    content = content_of(path)
    encoder = pyppmd.Ppmd7Encoder(ORDER, MEMORY)
    theirs = len(encoder.encode(content) + encoder.flush())
    started = time.process_time()
    ours = len(glnn.compress(content.decode(errors="replace")))
    return {
        "file": "/".join(path.parts[-2:]),
        "size": len(content),
        "glnn": ours,
        "ppmd": theirs,
        "seconds": time.process_time() - started,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--folders", nargs="*", type=Path, default=[Path("/usr/share/common-licenses")])
    parser.add_argument("--under", nargs="+", type=Path, help="texts of each kind below these folders instead")
    parser.add_argument("--each", type=int, default=3, help="so many of each kind")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    known = {line["file"] for line in read(options.out)}
    if options.under:
        chosen = of_each_kind(options.under, options.each)
    else:
        chosen = texts(options.every, [folder for folder in options.folders if folder.is_dir()])
    for path in chosen:
        if "/".join(path.parts[-2:]) not in known:
            append(options.out, {**measure(path), **about()})
    print(summary(options.out))


def summary(path: Path = RESULTS) -> str:
    """How many files ours makes smaller, and by how much."""
    lines = sorted(read(path), key=lambda line: line["glnn"] / line["ppmd"])
    ratios = [line["glnn"] / line["ppmd"] for line in lines]
    if not ratios:
        return "nothing measured yet"
    worst, best = lines[-1], lines[0]
    return (
        f"{sum(ratio <= 1.0 for ratio in ratios)} of {len(ratios)} files at or under PPMd of order 16; of its bytes "
        f"median {ratios[len(ratios) // 2]:.3f}, best {ratios[0]:.3f} ({best['file']}), "
        f"worst {ratios[-1]:.3f} ({worst['file']}, {worst['size']:,} bytes)"
    )


if __name__ == "__main__":
    main()
