"""Run the pages of the gallery as they are printed, on the real data, and write what they print.

    python benchmarks/gallery.py [PAGE ...]        into build/gallery/PAGE/, with the output in PAGE.txt

The archives are fetched from the package index, once. The tests run the same pages on small stand-ins of the same
layout, without a network; the figures in the pages come from here.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "gallery"
FETCHED = ROOT / "build" / "data" / "gallery"
MADE = ROOT / "build" / "gallery"


def blocks(page: Path) -> list[tuple[str, str]]:
    """What can be run, in the order of the page: shell, Python and commands."""
    return re.findall(r"```(sh|python|console)\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def fetch(command: str, folder: Path) -> None:
    """Do what a line `pip download …` says, unless its archive is there, and put the archive into the folder."""
    words = shlex.split(command)
    assert words[:2] == ["pip", "download"], command
    name, _, version = words[-1].partition("==")
    FETCHED.mkdir(parents=True, exist_ok=True)
    if not list(FETCHED.glob(f"{name}-{version}*")):
        subprocess.run([sys.executable, "-m", "pip", *words[1:], "--quiet", "--dest", str(FETCHED)], check=True)
    (archive,) = FETCHED.glob(f"{name}-{version}*")
    shutil.copy(archive, folder)


def run(page: Path) -> str:
    """Everything that the page prints."""
    from glnn.cli import main

    folder = MADE / page.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    printed, names = io.StringIO(), {"__name__": "__gallery__"}
    os.chdir(folder)
    os.environ["COLUMNS"] = "150"
    with redirect_stdout(printed):
        for kind, text in blocks(page):
            begin, spent = time.monotonic(), time.process_time()
            if kind == "python":
                exec(compile(text, page.name, "exec"), names)
            for line in [] if kind == "python" else text.splitlines():
                if kind == "sh":
                    fetch(line, folder)
                    continue
                print(line)
                sys.argv = shlex.split(line.removeprefix("$ "))
                try:
                    main()
                except SystemExit as ended:
                    assert not ended.code, line
            print(f"[{kind}: {time.process_time() - spent:.1f} CPU s, {time.monotonic() - begin:.1f} s]")
    return printed.getvalue()


def all_pages() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", default=[page.stem for page in sorted(PAGES.glob("*.md"))])
    for name in parser.parse_args().pages:
        printed = run(PAGES / f"{name}.md")
        (MADE / f"{name}.txt").write_text(printed, encoding="utf-8")
        print(f"--- {name}\n{printed}")


if __name__ == "__main__":
    all_pages()
