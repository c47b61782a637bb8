"""Which settings are run, and in which order: the sweep of the paper's table, and distant XOR.

What is most likely to matter comes first, so that a sweep that is stopped early has a bit of everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from glnn.reproduction.settings import (
    BETWEEN,
    FIRST_SIZES,
    FIXED,
    MOST_SIZES,
    READINGS,
    SEEDS,
    SIZES,
    SOURCES,
    XOR_PASSES,
    XOR_SEEDS,
    XOR_UNITS,
    Setting,
    alphabet_size,
    budget,
    degrees,
    readings,
    row_named,
    sizes_at,
)

# The order in which rows are run.
_GATED = (("glnn", "rbpm"), ("glnn", "ruop"), ("gnn", "ruop"), ("gnn", "rbpm"))
_OTHERS = (
    ("rnn", "qdruop"),
    ("rnn", "qdrbpm"),
    ("rnn", "fb"),
    ("rnn", "rms"),
    ("gnn", "fb"),
    ("glnn", "fb"),
    ("lstm", "fb"),
    ("lstm", "plain"),
)


def table_settings(
    scale: float,
    steps: int | None = None,
    sizes: Iterable[int] | None = None,
    seeds: int = SEEDS,
    reading: str = READINGS[0],
) -> list[Setting]:
    """The whole sweep in its order; `steps` stand in for CPU seconds, `sizes` for the sizes, `seeds` for two."""
    chosen = None if sizes is None else tuple(sizes)
    found = [readings(setting, reading) for setting in _table(scale, steps, chosen, seeds)]
    # The other first rates and starts come after all that has one only.
    ranks = max(map(len, found))
    return list(dict.fromkeys(read[min(rank, len(read) - 1)] for rank in range(ranks) for read in found))


def _table(scale: float, steps: int | None, sizes: tuple[int, ...] | None, seeds: int) -> Iterator[Setting]:
    def sizes_of(source: str) -> tuple[int, ...]:
        return sizes_at(source, scale) if sizes is None else sizes

    def runs(rows: Iterable[tuple[str, str]], seed: int, most: int | None, every_degree: bool) -> Iterator[Setting]:
        ranks = max(len(sizes_of(source)) for source in SOURCES)
        for rank in range(ranks if most is None else most):
            for degree_rank in range(2 if every_degree else 1):
                for row in rows:
                    for source in SOURCES:
                        yield from one(row, source, rank, degree_rank, seed)

    def one(row: tuple[str, str], source: str, rank: int, degree_rank: int, seed: int) -> Iterator[Setting]:
        chosen = sizes_of(source)
        if rank >= len(chosen):
            return
        model, output_metric, metric = row_named(*row).key
        units = chosen[rank]
        possible = degrees(source, model, units)
        if degree_rank < len(possible):
            allowed = budget(source, scale) if steps is None else f"{steps} steps"
            yield Setting(source, model, output_metric, metric, units, possible[degree_rank], seed, allowed)

    def hidden_markov_models() -> Iterator[Setting]:
        for source in SOURCES:
            allowed = budget(source, scale) if steps is None else f"{steps} steps"
            for seed in range(seeds):
                for units in sizes_of(source):
                    yield Setting(source, "hmm", "", "", units, min(alphabet_size(source), units), seed, allowed)

    def quick(draws: range) -> Iterator[Setting]:
        sources = SOURCES if 0 in draws else [source for source in SOURCES if source not in FIXED]
        yield from (
            Setting(source, model, "", "", 0, 0, seed, "")
            for source in sources
            for model in ("bzip2", "ctw")
            for seed in draws
        )

    yield from quick(range(1))
    yield from runs((*_GATED, *_OTHERS), 0, len(FIRST_SIZES), every_degree=False)
    yield from hidden_markov_models()
    # Where every run has sequences of its own, these have as many draws as a network has sizes.
    yield from quick(range(1, len(SIZES["anbn"]) + len(BETWEEN["anbn"])))
    for most in (MOST_SIZES, None):
        for seed in range(seeds):
            yield from runs((*_GATED, *_OTHERS), seed, most, every_degree=True)


def xor_settings(
    passes: int = XOR_PASSES,
    seeds: int = XOR_SEEDS,
    lines: int = 0,
    apart: bool = False,
    coherence: int = 0,
    longest: int = 0,
    fold: int = 0,
    half_count: bool = False,
    batches: int = 0,
    length: int = 0,
    restart: int = 0,
    dwell: int = 0,
    quasi: int = 0,
    strict: int = 0,
    forget: bool = False,
) -> list[Setting]:
    """Distant XOR: a fully connected GLNN of ten units, both metrics, each seed with sequences of its own.

    `batches`, `restart` and `quasi` (together, with `longest`, `dwell`, `strict` and `forget`), `fold`, `longest`,
    `coherence` and `apart` add the same runs in these forms, which come first: they are over sooner. With `half_count`
    all of them begin as estimators do, not with log 0, where symbols are never predicted; `length` is the T of all
    their lines, if it is not the paper's.
    """
    silent = not half_count
    together = {"batches": batches, "restart": restart, "dwell": dwell, "longest": longest, "quasi": quasi}
    forms = [
        {**together, "strict": strict, "forget": forget} if batches or restart or quasi else None,
        {"fold": fold} if fold else None,
        {"longest": longest} if longest and not (batches or restart or quasi) else None,
        {"coherence": coherence} if coherence else None,
        {"apart": True} if apart else None,
        {},
    ]
    return [
        Setting(
            "xor",
            "glnn",
            "qdh",
            metric,
            XOR_UNITS,
            XOR_UNITS,
            seed,
            f"{passes} passes",
            lines,
            silent=silent,
            length=length,
            **form,
        )
        for form in forms
        if form is not None
        for metric in ("rbpm", "ruop")
        for seed in range(seeds)
    ]
