"""Options that a command gets as one thing."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from glnn.cli import options


class Own(NamedTuple):
    many: Annotated[int, typer.Option(min=1, help="How many.")] = 3
    loud: Annotated[bool, typer.Option("--loud")] = False


@pytest.fixture
def given() -> tuple[typer.Typer, dict[str, Any]]:
    app, seen = typer.Typer(), {}

    @app.command()
    @options.with_reading("format", "empty")
    @options.with_fields("own", Own)
    def command(file: options.File, own: Any = None, asked: Any = None, json: options.Json = False) -> None:
        seen.update(file=file, own=own, asked=asked, json=json)

    return app, seen


def test_a_command_gets_a_group_as_one_thing(given: tuple[typer.Typer, dict[str, Any]]) -> None:
    app, seen = given
    done = CliRunner().invoke(app, ["book.txt", "--many", "5", "--format", "text", "--json"])
    assert done.exit_code == 0, done.output
    assert seen["own"] == Own(many=5, loud=False)
    assert seen["asked"] == {"format": "text", "empty": "error"}
    assert str(seen["file"]) == "book.txt" and seen["json"] is True


def test_options_of_a_group_are_checked_and_listed_in_its_place(given: tuple[typer.Typer, dict[str, Any]]) -> None:
    app, _ = given
    assert CliRunner().invoke(app, ["book.txt", "--many", "0"]).exit_code == 2
    assert CliRunner().invoke(app, ["book.txt", "--own", "0"]).exit_code == 2
    found = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    places = [found.index(name) for name in ("--many", "--loud", "--format", "--empty", "--json")]
    assert places == sorted(places)
