"""`glnn compress` and `glnn decompress`: a file into fewer bytes, alone or with a model, and back to the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from glnn.cli import options

STREAM = "-"

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="[RUN] FILE OUT",
        help="A run or model file (optional), the file, and the result; - is standard input, and standard output.",
    ),
]


def compress(
    paths: Paths,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Decode the result once as a check: twice the work.")
    ] = True,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Compress a file, alone or with a model.

    Without a model it learns as it reads, and nothing but the result is needed to get the file back. With one, the same
    model is needed. The result is decoded once as a check before it is written, unless --no-verify is given. A model of
    an event log compresses the activities, and xz the other columns.

    \b
    Examples:
      glnn compress book.txt book.glnn && glnn decompress book.glnn again.txt
      tar c letters | glnn compress - letters.glnn
      glnn compress tunes other.txt other.glnn && glnn decompress tunes other.glnn again.txt
    """
    named, out, before, after = _written(paths, "compress", json, force, verify)
    ratio = f", {8 * after / before:.3f} bits per byte" if before else ""
    facts = {"file": str(named), "bytes": before, "out": str(out), "compressed_bytes": after}
    _say(facts, [("read", f"{before:,} bytes"), ("written", f"{after:,} bytes{ratio}"), ("to", str(out))], json)


def decompress(
    paths: Paths,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Get a file back that was compressed, with the same model if there was one.

    \b
    Examples:
      glnn decompress book.glnn again.txt
      glnn decompress tunes other.glnn again.txt
    """
    named, out, before, after = _written(paths, "decompress", json, force)
    facts = {"file": str(named), "compressed_bytes": before, "out": str(out), "bytes": after}
    _say(facts, [("read", f"{before:,} bytes"), ("written", f"{after:,} bytes"), ("to", str(out))], json)


def _say(facts: dict[str, Any], rows: list[tuple[str, str]], json: bool) -> None:
    """What was done; nothing where the result itself is the output."""
    from glnn.cli.printing import print_facts, print_json

    if facts["out"] == STREAM:
        return
    if json:
        print_json(facts)
    else:
        print_facts(rows)


def _written(
    paths: list[Path], command: str, json: bool, force: bool, verify: bool | None = None
) -> tuple[Path, Path, int, int]:
    """Write the result of a command; the file, the result and the bytes of both."""
    from glnn import codec
    from glnn.cli.run_folder import open_model
    from glnn.codec.event_log import compress_log, decompress_log
    from glnn.sequences.formats import Source

    there = command == "compress"
    checked: dict[str, Any] = {} if verify is None else {"verify": verify}
    run, named, out = _parted(paths, command)
    _check_out(out, json, force)
    model, reading = (None, None) if run is None else open_model(run)
    source = Source(named)
    file = source.path
    with _put_out(out) as target, _progress(f"{command}ing {named}", json) as progress:
        if model is None or reading is None:
            (codec.compress_file_alone if there else codec.decompress_file_alone)(
                file, target, progress=progress, **checked
            )
        elif reading.format == "csv":
            (compress_log if there else decompress_log)(model, reading, file, target, **checked)
        else:
            (model.compress_file if there else model.decompress_file)(file, target, progress=progress, **checked)
        return named, out, file.stat().st_size, target.stat().st_size


def _parted(paths: list[Path], command: str) -> tuple[Path | None, Path, Path]:
    """The run, if one is named, the file and the result."""
    if len(paths) not in (2, 3):
        from glnn.sequences import InputError

        given = " ".join(map(str, paths))
        raise InputError(f"glnn {command} was given {given}: give FILE OUT, or RUN FILE OUT to use the model of a run")
    run = paths[0] if len(paths) == 3 else None
    return run, paths[-2], paths[-1]


def _check_out(out: Path, json: bool, force: bool) -> None:
    """Refuse a result that cannot be written where it is wanted."""
    from glnn.cli.inputs import check_free
    from glnn.sequences import InputError

    if str(out) != STREAM:
        check_free(out, force)
    elif json:
        raise InputError("the result and --json would both go to standard output: name a file in place of -")


@contextmanager
def _put_out(out: Path) -> Iterator[Path]:
    """The file itself; for standard output, written `-`, one that is copied there once it is whole."""
    if str(out) != STREAM:
        yield out
        return
    import shutil
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, "whole")
        with Path(folder, "whole").open("rb") as whole:
            shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@contextmanager
def _progress(text: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """How much is done, as a bar in a terminal and as a line elsewhere when it takes long."""
    from glnn.progress import Display

    display = Display(0 if quiet else 1)
    try:
        with display.said_if_slow(f"{text} ...", 2.0):
            yield lambda done: display.update(done, text)
    finally:
        display.close()
