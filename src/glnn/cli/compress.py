"""`glnn compress` and `glnn decompress`: a file into fewer bytes, alone or with a model, and back to the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from glnn.cli import options

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="[RUN] FILE OUT", help="A run or model file (optional), the file, and the result."),
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
    from glnn.cli.printing import print_facts, print_json

    named, out, before, after = _written(paths, "compress", json, force, verify)
    facts: dict[str, Any] = {"file": str(named), "bytes": before, "out": str(out), "compressed_bytes": after}
    if json:
        print_json(facts)
        return
    ratio = f", {8 * after / before:.3f} bits per byte" if before else ""
    rows = [("read", f"{before:,} bytes"), ("written", f"{after:,} bytes{ratio}"), ("to", str(out))]
    print_facts(rows)


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
    from glnn.cli.printing import print_facts, print_json

    named, out, before, after = _written(paths, "decompress", json, force)
    if json:
        print_json({"file": str(named), "compressed_bytes": before, "out": str(out), "bytes": after})
        return
    rows = [("read", f"{before:,} bytes"), ("written", f"{after:,} bytes"), ("to", str(out))]
    print_facts(rows)


def _written(
    paths: list[Path], command: str, json: bool, force: bool, verify: bool | None = None
) -> tuple[Path, Path, int, int]:
    """Write the result of a command; the file, the result and the bytes of both."""
    from glnn import codec
    from glnn.cli.inputs import check_free
    from glnn.cli.run_folder import open_model
    from glnn.codec.event_log import compress_log, decompress_log

    there = command == "compress"
    checked: dict[str, Any] = {} if verify is None else {"verify": verify}
    run, named, out = _parted(paths, command)
    check_free(out, force)
    model, reading = (None, None) if run is None else open_model(run)
    with _on_disk(named) as file, _progress(f"{command}ing {named}", json) as progress:
        if model is None or reading is None:
            (codec.compress_file_alone if there else codec.decompress_file_alone)(
                file, out, progress=progress, **checked
            )
        elif reading.format == "csv":
            (compress_log if there else decompress_log)(model, reading, file, out, **checked)
        else:
            (model.compress_file if there else model.decompress_file)(file, out, progress=progress, **checked)
        return named, out, file.stat().st_size, out.stat().st_size


def _parted(paths: list[Path], command: str) -> tuple[Path | None, Path, Path]:
    """The run, if one is named, the file and the result."""
    if len(paths) not in (2, 3):
        from glnn.sequences import InputError

        given = " ".join(map(str, paths))
        raise InputError(f"glnn {command} was given {given}: give FILE OUT, or RUN FILE OUT to use the model of a run")
    run = paths[0] if len(paths) == 3 else None
    return run, paths[-2], paths[-1]


@contextmanager
def _on_disk(file: Path) -> Iterator[Path]:
    """The file itself; of standard input, written `-`, a copy that is deleted afterwards."""
    if str(file) != "-":
        yield file
        return
    import shutil
    import sys
    import tempfile

    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield Path(copy.name)


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
