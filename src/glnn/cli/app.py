"""The commands of `glnn`, gathered: a new command is a file of its own and one name in the list here."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from glnn import __version__
from glnn.cli import BROKEN_PIPE
from glnn.cli.bench import bench
from glnn.cli.compare import compare
from glnn.cli.compress import compress, decompress
from glnn.cli.demo import demo
from glnn.cli.follow import follow
from glnn.cli.inspect import inspect
from glnn.cli.predict import predict
from glnn.cli.report import report
from glnn.cli.reproduce import reproduce
from glnn.cli.sample import sample
from glnn.cli.score import score
from glnn.cli.source import source
from glnn.cli.train import resume, train

INTERRUPTED = 130
COMMANDS = (
    demo,
    train,
    resume,
    score,
    follow,
    predict,
    sample,
    compress,
    decompress,
    compare,
    inspect,
    report,
    reproduce,
    source,
    bench,
)

app = typer.Typer(
    name="glnn",
    help="Learn probabilistic models of symbol sequences with Riemannian metrics.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _leaving_quietly(command: Callable[..., None]) -> Callable[..., None]:
    """The command; Ctrl-C and a reader that goes away are not errors."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            if os.environ.get("GLNN_TRACEBACK"):
                raise
            print("glnn: interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None

    return run


for command in COMMANDS:
    app.command()(_leaving_quietly(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"glnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options given before any command."""
