"""The table of results next to the paper's: 15 rows, and for each source the paper's regret, ours, and how many runs.

`best` is the least regret over all settings and seeds, as the paper reports. The third sequence shows what choosing by
validation hides; the median, in the document only, is over the seeds at the best setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from glnn.reproduction.results import Line
from glnn.reproduction.settings import ROWS, SOURCES, Row, Setting, from_json
from glnn.reproduction.xor import successes
from glnn.storage.atomic import write_whole

TITLES = {"insertions": "insertions", "music": "music", "anbn": "aⁿbⁿ"}
BEGIN, END = "<!-- {name}: begin -->", "<!-- {name}: end -->"
KINDS = {"baseline": "Sanity checks", "other": "Non-invariant methods", "invariant": "Invariant methods"}


@dataclass(frozen=True)
class Cell:
    """What was found for one row on one source."""

    runs: int
    best: float
    median: float
    seeds: int
    third: float | None
    passes: int | None
    units: int
    degree: int
    budget: str
    form: str
    steps: int | None
    best_step: int | None
    late: float | None
    """Bits gained in the second half of its steps."""


def cell(lines: Iterable[Line], row: Row, source: str) -> Cell | None:
    """The best run of a row on a source, and the median over the seeds at its setting."""
    found = [
        (setting, line)
        for line in lines
        if (setting := from_json(line["setting"])).row == row.key
        and setting.source == source
        and line.get("regret") is not None
    ]
    if not found:
        return None
    # Of two runs that are the same up to their best score, the longer one knows what came after it.
    best_setting, best = min(found, key=lambda pair: (pair[1]["regret"], -(pair[1].get("steps") or 0)))
    alike = [line["regret"] for setting, line in found if _size(setting) == _size(best_setting)]
    return Cell(
        runs=len(found),
        best=best["regret"],
        median=median(alike),
        seeds=len(alike),
        third=best.get("third_regret"),
        passes=best.get("passes"),
        units=best_setting.units,
        degree=best_setting.degree,
        budget=best_setting.budget,
        form=best_setting.form,
        steps=best.get("steps"),
        best_step=best.get("best_step"),
        late=_gained_late(best),
    )


def _gained_late(line: Line) -> float | None:
    """By how many bits validation fell from the middle of a run to its minimum; None where its way was not recorded."""
    way = line.get("trajectory")
    points = zip(way["steps"], way["valid_bits"], strict=True) if way else ()
    later = [bits for step, bits in points if bits is not None and 2 * step >= line["steps"]]
    return max(0.0, later[0] - min(later)) if later else None


def table_document(lines: Sequence[Line], wanted: Sequence[Setting]) -> dict[str, Any]:
    """The whole table as plain data, from the lines of the wanted settings only."""
    chosen = set(wanted)
    lines = [line for line in lines if from_json(line["setting"]) in chosen]
    rows = []
    for row in ROWS:
        cells = {}
        for place, source in enumerate(SOURCES):
            found = cell(lines, row, source)
            cells[source] = {"paper": row.paper[place], **({} if found is None else vars(found))}
        rows.append({"row": row.title, "kind": row.kind, **cells})
    budgets = {source: _budgets(lines, source) for source in SOURCES}
    return {"runs": len(lines), "wanted": len(wanted), "budgets": budgets, "rows": rows}


def markdown(document: dict[str, Any]) -> str:
    """The table for a page: paper, best, the same run on the third sequence, runs."""
    titles = [f"{TITLES[source]}: paper | best | third | runs" for source in SOURCES]
    lines = [
        f"{document['runs']} of {document['wanted']} runs are there. {_told_budgets(document['budgets'])}",
        "",
        "| | " + " | ".join(titles) + " |",
        "|---|" + "---:|" * (4 * len(SOURCES)),
    ]
    kind = ""
    for row in document["rows"]:
        if row["kind"] != kind:
            kind = row["kind"]
            lines.append(f"| *{KINDS[kind]}* |" + " |" * (4 * len(SOURCES)))
        cells = [text for source in SOURCES for text in _cell_texts(row[source])]
        lines.append(f"| {row['row']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def invariant_first(document: dict[str, Any]) -> tuple[int, list[str]]:
    """Pairs of an invariant and another row of one model, where the paper's own table has the invariant one ahead.

    How many of them have been run, and those where ours has it the other way round.
    """
    rows = dict(zip((row.title for row in ROWS), document["rows"], strict=True))
    run, broken = 0, []
    for better in (row for row in ROWS if row.kind == "invariant"):
        for worse in (row for row in ROWS if row.kind == "other" and row.model == better.model):
            for place, source in enumerate(SOURCES):
                first, second = rows[better.title][source], rows[worse.title][source]
                if better.paper[place] < worse.paper[place] and "best" in first and "best" in second:
                    run += 1
                    if first["best"] >= second["best"]:
                        values = f"{number(first['best'])} against {number(second['best'])}"
                        broken.append(f"{better.title} and {worse.title} on {TITLES[source]} ({values})")
    return run, broken


def told_pairs(document: dict[str, Any]) -> str:
    """A sentence about the pairs."""
    run, broken = invariant_first(document)
    if not run:
        return ""
    told = (
        f"The invariant row is ahead in {run - len(broken)} of the {run} pairs of rows of one model that have been run"
    )
    return f"{told} (where it is in the paper)" + (f"; not in: {'; '.join(broken)}." if broken else ".")


def plain_rows(document: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows for the terminal."""
    columns = [""]
    for source in SOURCES:
        columns += [f"{TITLES[source]}: paper", "best", "third", "runs"]
    rows = []
    for row in document["rows"]:
        rows.append([row["row"], *(text for source in SOURCES for text in _cell_texts(row[source], bold=False))])
    return columns, rows


def xor_document(lines: Sequence[Line], wanted: Sequence[Setting]) -> dict[str, Any]:
    """How many of the wanted runs of distant XOR succeeded, by form and metric."""
    chosen = set(wanted)
    mine = [(setting, line) for line in lines if (setting := from_json(line["setting"])) in chosen]
    mine.sort(key=lambda pair: pair[0].seed)
    rows = []
    for form, metric in sorted({(setting.form, setting.metric) for setting in wanted}):
        found = [line for setting, line in mine if (setting.form, setting.metric) == (form, metric)]
        rows.append(
            {
                "metric": metric,
                "form": form,
                "runs": len(found),
                "successes_1500": successes(found, 1500),
                "successes_2000": successes(found, 2000),
                "success_passes": [line["success_passes"] for line in found],
                "best_errors": [line["best_valid_error"] for line in found],
                "passes": [line["passes"] for line in found],
            }
        )
    return {"runs": len(mine), "wanted": len(wanted), "rows": rows}


def xor_rows(document: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the success count, the paper's next to ours."""
    columns = ["", "runs", "under 1 % by 1,500 passes", "by 2,000 passes", "passes at success", "least error"]
    rows = []
    for row in document["rows"]:
        reached = ", ".join("–" if value is None else f"{value:,}" for value in row["success_passes"])
        errors = ", ".join("–" if value is None else f"{100 * value:.1f} %" for value in row["best_errors"])
        counts = [str(row["successes_1500"]), str(row["successes_2000"])] if row["runs"] else ["", ""]
        title = ", ".join(filter(None, (f"GLNN QDH+{row['metric'].upper()}", row["form"])))
        rows.append([title, str(row["runs"]), *counts, reached, errors])
    rows.append(["paper, GLNN QDH+RBPM", "8", "4", "6", "", ""])
    rows.append(["paper, Hessian-free RNN (2011)", "", "", "about 25 % of runs", "", ""])
    return columns, rows


def as_markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Any table for a page."""
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def write_between(page: Path, name: str, text: str) -> None:
    """Replace the text between the two markers of that name in a page."""
    begin, end = BEGIN.format(name=name), END.format(name=name)
    before = page.read_text(encoding="utf-8")
    if before.count(begin) != 1 or before.count(end) != 1 or before.index(begin) > before.index(end):
        raise ValueError(f"{page} must hold the lines {begin} and {end} once each: put them where the table goes")
    head, tail = before.split(begin)[0], before.split(end)[1]
    write_whole(page, f"{head}{begin}\n\n{text}\n\n{end}{tail}".encode())


def number(value: float) -> str:
    """A regret: one digit after the point under a thousand bits."""
    return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def _cell_texts(found: dict[str, Any], bold: bool = True) -> list[str]:
    paper = number(found["paper"])
    if "best" not in found:
        return [paper, "–", "–", "–"]
    best = number(found["best"])
    if bold and found["best"] <= found["paper"]:
        best = f"**{best}**"
    third = "–" if found["third"] is None else number(found["third"])
    return [paper, best, third, str(found["runs"])]


def _size(setting: Setting) -> tuple[int, int, str, str]:
    return setting.units, setting.degree, setting.budget, setting.form


def _budgets(lines: Sequence[Line], source: str) -> list[str]:
    of_source = [line["setting"] for line in lines if line["setting"]["source"] == source]
    return list(dict.fromkeys(setting["budget"] for setting in of_source if setting["budget"]))


def _told_budgets(budgets: dict[str, list[str]]) -> str:
    told = [f"{TITLES[source]} {_from_to(found)}" for source, found in budgets.items() if found]
    return f"Budgets of CPU: {', '.join(told)}; the paper's are 30, 10 and 10 minutes." if told else ""


def _from_to(budgets: list[str]) -> str:
    """The shortest and the longest of several budgets in seconds; any others one by one."""
    if len(budgets) < 3 or not all(text.endswith("s") and not text.endswith("steps") for text in budgets):
        return " or ".join(budgets)
    seconds = sorted(float(text[:-1]) for text in budgets)
    return f"{seconds[0]:g} to {seconds[-1]:g} s"
