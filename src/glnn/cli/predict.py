"""`glnn predict`: what a model expects next."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from glnn.cli import options


def predict(
    run: options.Run,
    prefix: options.Prefix = None,
    top: Annotated[int, typer.Option(min=1, help="How many symbols to show.")] = 10,
    json: options.Json = False,
) -> None:
    """Say what comes next, after a prefix or at the start.

    \b
    Examples:
      glnn predict tunes --prefix 'c4 c4 '
      glnn predict orders --prefix 'order placed' --prefix 'paid'
    """
    from glnn.cli.inputs import prefix_of
    from glnn.cli.printing import console, data_table, print_json, working
    from glnn.cli.run_folder import open_model
    from glnn.cli.score import plain
    from glnn.report.labels import label

    model, _ = open_model(run)
    alphabet = model.alphabet_
    with working("predicting", json):
        probabilities = model.predict_proba(prefix_of(prefix, alphabet)).tolist()
    order = sorted(range(len(probabilities)), key=lambda code: -probabilities[code])[:top]
    rows = [(alphabet.symbols[code], probabilities[code]) for code in order]
    if json:
        print_json(
            {
                "prefix": prefix or [],
                "next": [
                    {"symbol": plain(symbol), "name": label(symbol, alphabet.kind), "probability": probability}
                    for symbol, probability in rows
                ],
            }
        )
        return
    lines = [
        (
            label(symbol, alphabet.kind),
            f"{probability:.4f}",
            f"{-math.log2(probability) if probability else math.inf:.2f}",
        )
        for symbol, probability in rows
    ]
    console().print(data_table(("next", "probability", "bits"), lines))
