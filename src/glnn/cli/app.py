"""The commands of `glnn`, gathered: a new command is a file of its own and one name in the list here."""

from __future__ import annotations

from typing import Annotated

import typer

from glnn import __version__
from glnn.cli.demo import demo
from glnn.cli.source import source

app = typer.Typer(
    name="glnn",
    help="Learn probabilistic models of symbol sequences with Riemannian metrics.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (demo, source):
    app.command()(command)


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
    """Options that stand before any command."""
