"""`glnn source`: a sample of one of the paper's four synthetic sources, and its exact bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from glnn.sources import Sample, Source


def source(
    name: Annotated[str, typer.Argument(help="insertions | music | xor | anbn")],
    out: Annotated[Path, typer.Option(help="The file to write the sample to.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same sample.")] = 0,
    size: Annotated[int | None, typer.Option(help="Lines, bars or blocks; the paper's number if left out.")] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A constant of the source, instead of the paper's."),
    ] = None,
    mask_out: Annotated[
        Path | None, typer.Option(help="A file for what is to be predicted: 0 or 1 per symbol.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write a sample of a synthetic source, and say how many bits it costs exactly.

    \b
    Example:
      glnn source music --seed 1 --out valid.txt
    """
    from glnn import sources
    from glnn.cli.inputs import check_free
    from glnn.cli.printing import print_json
    from glnn.storage.atomic import write_whole

    chosen = sources.get(name, **_parsed(constants or [], sources.get(name)))
    for path in filter(None, (out, mask_out)):
        check_free(path, force)
    sample = chosen.sample(size, seed)
    write_whole(out, sample.text.encode())
    if mask_out is not None:
        write_whole(mask_out, (sample.mask + ord("0")).astype("u1").tobytes() + b"\n")
    facts = _facts(chosen, sample, seed, size, out)
    if json:
        print_json(facts)
    else:
        _print_table(facts, chosen.unit)


def _parsed(constants: list[str], default: Source) -> dict[str, Any]:
    """`--set` options as keyword arguments, each read as the type of the paper's value."""
    from glnn.sequences.errors import InputError

    parsed: dict[str, Any] = {}
    for constant in constants:
        name, equals, value = constant.partition("=")
        if not equals:
            raise InputError(f"--set {constant}: write a constant as NAME=VALUE")
        # The source itself reports a name it does not have, with the nearest one.
        usual = getattr(default, name, value)
        try:
            parsed[name] = _READERS[type(usual)](value)
        except KeyError:
            raise InputError(f"--set {constant}: {name} is {usual!r}, which can be changed in Python only") from None
        except ValueError:
            raise InputError(
                f"--set {constant}: {name} is {usual!r} in the paper, and {value!r} is not of that type"
            ) from None
    return parsed


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_READERS: dict[type, Callable[[str], Any]] = {bool: _boolean, int: int, float: float, str: str}


def _facts(source: Source, sample: Sample, seed: int, size: int | None, out: Path) -> dict[str, Any]:
    return {
        "source": source.name,
        "seed": seed,
        "size": source.default_size if size is None else size,
        "symbols": len(sample.text),
        "alphabet": len(source.alphabet),
        "predicted": int(sample.mask.sum()),
        "bits": sample.bits,
        "total_bits": sample.total_bits,
        "file": str(out),
    }


def _print_table(facts: dict[str, Any], unit: str) -> None:
    from glnn.cli.printing import print_facts

    rows = [
        ("source", f"{facts['source']}, seed {facts['seed']}, {facts['size']:,} {unit}"),
        ("symbols", f"{facts['symbols']:,} over an alphabet of {facts['alphabet']}"),
        ("to be predicted", f"{facts['predicted']:,}"),
        ("exact bits", f"{facts['bits']:,.1f}"),
    ]
    if facts["total_bits"] != facts["bits"]:
        rows.append(("", f"{facts['total_bits']:,.1f} with the symbols that are not to be predicted"))
    print_facts([*rows, ("written to", facts["file"])])
