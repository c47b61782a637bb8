"""`glnn compress` and `glnn decompress`: a file into fewer bytes with a model, and back to the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from glnn.cli import options

Output = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")]


def compress(
    run: options.Run,
    file: options.File,
    out: Output,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Compress a file with a model.

    The same model is needed to get it back. The result is decoded once to be sure before it is written. A model of an
    event log compresses the activities, and xz what else is in the log.

    \b
    Example:
      glnn compress tunes other.txt other.glnn && glnn decompress tunes other.glnn again.txt
    """
    from glnn.cli.log_layout import compress_log
    from glnn.cli.printing import print_facts, print_json
    from glnn.cli.run_folder import open_model
    from glnn.cli.whole_file import check_free

    check_free(out, force)
    model, reading = open_model(run)
    with _progress(f"compressing {file}", json) as progress:
        if reading.format == "csv":
            compress_log(model, reading, file, out)
        else:
            model.compress_file(file, out, progress=progress)
    before, after = file.stat().st_size, out.stat().st_size
    facts: dict[str, Any] = {"file": str(file), "bytes": before, "out": str(out), "compressed_bytes": after}
    if json:
        print_json(facts)
        return
    ratio = f", {8 * after / before:.3f} bits a byte" if before else ""
    rows = [("read", f"{before:,} bytes"), ("written", f"{after:,} bytes{ratio}"), ("to", str(out))]
    print_facts(rows)


def decompress(
    run: options.Run,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What glnn compress wrote.")],
    out: Output,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Get a file back that was compressed with the same model.

    \b
    Example:
      glnn decompress tunes other.glnn again.txt
    """
    from glnn.cli.log_layout import decompress_log
    from glnn.cli.printing import print_facts, print_json
    from glnn.cli.run_folder import open_model
    from glnn.cli.whole_file import check_free

    check_free(out, force)
    model, reading = open_model(run)
    with _progress(f"decompressing {file}", json) as progress:
        if reading.format == "csv":
            decompress_log(model, reading, file, out)
        else:
            model.decompress_file(file, out, progress=progress)
    before, after = file.stat().st_size, out.stat().st_size
    if json:
        print_json({"file": str(file), "compressed_bytes": before, "out": str(out), "bytes": after})
        return
    rows = [("read", f"{before:,} bytes"), ("written", f"{after:,} bytes"), ("to", str(out))]
    print_facts(rows)


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
