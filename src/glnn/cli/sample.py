"""`glnn sample`: new sequences from a model, in the form of its data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from glnn.cli import options


def sample(
    run: options.Run,
    length: Annotated[
        int | None,
        typer.Option("-n", "--length", min=0, help="How many symbols; 200 if left out, or to the end of the case."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many samples.")] = 1,
    prefix: options.Prefix = None,
    temperature: Annotated[
        float, typer.Option(min=0.0, help="Below 1 the likely becomes more likely; 0 always takes the likeliest.")
    ] = 1.0,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Write new symbols, in the form of the data.

    They are a file of the same format as the data, which glnn score reads: a model of an event log writes an event
    log, with one case for each sample. The prefix is read first, and not written.

    \b
    Examples:
      glnn sample tunes -n 300 --temperature 0.8
      glnn sample orders --count 5 > imagined.csv
    """
    from glnn.cli.inputs import prefix_of
    from glnn.cli.printing import print_json, working
    from glnn.cli.run_folder import open_model
    from glnn.sequences.formats import written

    model, reading = open_model(run)
    with working("sampling", json):
        found = model.sample(
            length,
            prefix=prefix_of(prefix, model.alphabet_),
            temperature=temperature,
            random_state=seed,
            count=count,
        )
    if json:
        print_json({"prefix": prefix or [], "seed": seed, "samples": [_plain(item) for item in found]})
    else:
        typer.echo(written(found, reading), nl=False)


def _plain(item: Any) -> Any:
    """A sample as JSON; bytes as hexadecimal digits."""
    if isinstance(item, bytes):
        return item.hex()
    return item.tolist() if hasattr(item, "tolist") else item
