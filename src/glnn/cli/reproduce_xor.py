"""The ways of distant XOR that `glnn reproduce xor` can be asked for."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer


class XorOptions(NamedTuple):
    """The ways of distant XOR."""

    lines: Annotated[int | None, typer.Option(min=1, help="Distant XOR: lines in a sequence (10,000).")] = None
    apart: Annotated[bool, typer.Option("--apart", help="Distant XOR: also with each line a sequence of its own.")] = (
        False
    )
    coherence: Annotated[
        int,
        typer.Option(
            min=0, metavar="STEPS", help="Distant XOR: also with steps shortened, measured every STEPS steps."
        ),
    ] = 0
    longest: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="SYMBOLS",
            help="Distant XOR: also (with --batches: those) with time scales from 2 to this many symbols.",
        ),
    ] = 0
    fold: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="STEPS",
            help="Distant XOR: also with constant units folded, looked for every STEPS steps.",
        ),
    ] = 0
    half_count: Annotated[
        bool,
        typer.Option("--half-count", help="Distant XOR: symbols never predicted begin at half a count, not at log 0."),
    ] = False
    batches: Annotated[
        int,
        typer.Option(
            min=0, metavar="K", help="Distant XOR: also with each step on one of K stretches of the sequence."
        ),
    ] = 0
    length: Annotated[int, typer.Option(min=0, metavar="T", help="Distant XOR: the T of all lines (100).")] = 0
    restart: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="PASSES",
            help="Distant XOR: also (with --batches: those) begun anew if at chance after PASSES.",
        ),
    ] = 0
    dwell: Annotated[
        int,
        typer.Option(min=0, metavar="STEPS", help="Distant XOR: with --batches, STEPS steps on each stretch."),
    ] = 0
    quasi: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="STEPS",
            help="Distant XOR: also (with --restart: those) with quasi-Newton steps past chance or after STEPS.",
        ),
    ] = 0
    strict: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="PASSES",
            help="Distant XOR: with --quasi, begun anew if not leaving chance after PASSES, or slow past it.",
        ),
    ] = 0
    forget: Annotated[
        bool,
        typer.Option(
            "--forget", help="Distant XOR: with --strict, what is slow forgets its way before it is given up."
        ),
    ] = False

    def check(self) -> None:
        """Refuse what does not go together."""
        from glnn.sequences import InputError

        if self.longest == 1:
            raise InputError("--longest is 1: time scales begin at 2 symbols, so it must be 2 or more, such as 30")
        if self.quasi and self.batches:
            raise InputError("--quasi and --batches were both given: quasi-Newton steps need all of the data; drop one")
        if self.strict and not self.quasi:
            raise InputError("--strict was given without --quasi: by the paper's steps runs creep; add --quasi 120")
        if self.strict and self.restart:
            raise InputError("--strict and --restart were both given: each says when a run begins anew; drop one")
        if self.forget and not self.strict:
            raise InputError("--forget was given without --strict, which says what is slow; add --strict 300")

    @property
    def marker(self) -> str:
        """The name of the place in a page where its table goes."""
        if self.quasi:
            return "xor-forget" if self.forget else "xor-strict" if self.strict else "xor-quasi"
        if self.half_count:
            return "xor-half"
        return "xor-stretches" if self.batches or self.restart else "xor"
