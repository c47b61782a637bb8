"""Tables and figures say what the lines say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from glnn.reproduction.planned import xor_settings
from glnn.reproduction.settings import ROWS, Setting, to_json
from glnn.reproduction.tables import (
    as_markdown,
    invariant_first,
    markdown,
    plain_rows,
    table_document,
    told_pairs,
    write_between,
    xor_document,
    xor_rows,
)

GLNN = ("glnn", "qdh", "rbpm")


def line(source: str, units: int, seed: int, regret: float | None, row=GLNN, **more):
    setting = Setting(source, *row, units, 3, seed, "54s")
    return {"setting": to_json(setting), "regret": regret, "third_regret": 2 * (regret or 0), "passes": 7, **more}


LINES = [
    line("insertions", 16, 0, 900.0),
    line("insertions", 32, 0, 500.0),
    line("insertions", 32, 1, 1500.0),
    line("insertions", 64, 0, None),
    line("music", 16, 0, 1200.0),
]
WANTED = [Setting(**entry["setting"]) for entry in LINES]


@pytest.mark.small
def test_best_over_settings_and_median_over_seeds_at_the_best() -> None:
    document = table_document(LINES, WANTED)
    row = document["rows"][-1]
    found = row["insertions"]
    assert row["row"] == "GLNN QDH+RBPM" and found["paper"] == 644.2
    assert (found["best"], found["median"], found["seeds"], found["runs"]) == (500.0, 1000.0, 2, 3)
    assert (found["third"], found["passes"], found["units"]) == (1000.0, 7, 32)
    assert "best" not in row["anbn"] and (document["runs"], document["wanted"]) == (5, 5)


@pytest.mark.small
def test_of_equal_runs_the_longer_one_tells_how_it_went_on() -> None:
    short, long = line("music", 16, 0, 900.0, steps=100), line("music", 16, 0, 900.0, steps=200)
    long["setting"]["budget"] = "108s"
    for lines in ([short, long], [long, short]):
        found = table_document(lines, [Setting(**entry["setting"]) for entry in lines])["rows"][-1]["music"]
        assert (found["steps"], found["budget"], found["runs"]) == (200, "108s", 2)


@pytest.mark.small
def test_lines_of_other_budgets_stay_out() -> None:
    assert table_document(LINES, WANTED[:1])["rows"][-1]["insertions"]["best"] == 900.0


@pytest.mark.small
def test_the_page_has_fifteen_rows_of_three_times_four_columns() -> None:
    text = markdown(table_document(LINES, WANTED))
    rows = [text for text in text.splitlines() if text.startswith("| ") and "*Sanity" not in text]
    assert {row.count("|") for row in rows} == {14}
    assert sum(row.title in text for row in ROWS) == 15
    assert "| 644.2 | **500.0** | 1,000 | 3 |" in text and "5 of 5 runs are there" in text
    assert "| 1,056 | 1,200 | 2,400 | 1 |" in text
    columns, rows = plain_rows(table_document(LINES, WANTED))
    assert len(rows) == 15 and {len(row) for row in rows} == {len(columns)}


@pytest.mark.small
@pytest.mark.parametrize(
    ("budgets", "told"),
    [
        (("54s",), "music 54s;"),
        (("54s", "9s", "18s"), "music 9 to 54 s;"),
        (("2 steps", "9s", "8s"), "music 2 steps or"),
    ],
)
def test_budgets_are_told_from_the_shortest_to_the_longest(budgets: tuple[str, ...], told: str) -> None:
    settings = [Setting("music", *GLNN, 16, 3, 0, budget) for budget in budgets]
    lines = [{"setting": to_json(setting), "regret": 1.0} for setting in settings]
    assert told in markdown(table_document(lines, settings))


@pytest.mark.small
def test_pairs_where_the_invariant_row_is_not_ahead_are_named() -> None:
    rnn = [
        line("insertions", 16, 0, 3000.0, ("rnn", "qdh", "qdruop")),
        line("insertions", 16, 0, 4000.0, ("rnn", "dh", "fb")),
        line("music", 16, 0, 900.0, ("rnn", "qdh", "qdruop")),
        line("music", 16, 0, 800.0, ("rnn", "dh", "rms")),
    ]
    document = table_document(rnn, [Setting(**entry["setting"]) for entry in rnn])
    run, broken = invariant_first(document)
    assert (run, broken) == (2, ["RNN QDH+QDRUOP and RNN DH+RMS on music (900.0 against 800.0)"])
    assert told_pairs(document).startswith("The invariant row is ahead in 1 of the 2 pairs")


def xor_line(metric: str, seed: int, success: int | None, apart: bool = False):
    path = {"passes": [0, 20], "valid_bits": [100.0, None], "valid_error": [0.5, 0.005]}
    setting = Setting("xor", "glnn", "qdh", metric, 10, 10, seed, "2000 passes", apart=apart, silent=True)
    return {
        "setting": to_json(setting),
        "success_passes": success,
        "best_valid_error": 0.005,
        "passes": 20,
        "trajectory": path,
    }


@pytest.mark.small
def test_successes_stand_beside_the_papers() -> None:
    # In the order of the seeds, whichever was finished first.
    lines = [xor_line("rbpm", 1, 1600), xor_line("rbpm", 0, 1400), xor_line("ruop", 0, None)]
    document = xor_document(lines, [Setting(**entry["setting"]) for entry in lines])
    columns, rows = xor_rows(document)
    assert rows[0] == ["GLNN QDH+RBPM", "2", "1", "2", "1,400, 1,600", "0.5 %, 0.5 %"]
    assert rows[1][1:4] == ["1", "0", "0"] and rows[2][2:4] == ["4", "6"] and "25 %" in rows[3][3]
    assert as_markdown(columns, rows).count("\n") == 5


@pytest.mark.small
def test_runs_with_lines_apart_are_counted_apart() -> None:
    lines = [xor_line("rbpm", 0, None), xor_line("rbpm", 0, 400, apart=True)]
    document = xor_document(lines, xor_settings(apart=True))
    _, rows = xor_rows(document)
    titles = ["GLNN QDH+RBPM", "GLNN QDH+RUOP", "GLNN QDH+RBPM, lines apart", "GLNN QDH+RUOP, lines apart"]
    assert [row[0] for row in rows[:4]] == titles
    assert [row[1:4] for row in rows[:4]] == [["1", "0", "0"], ["0", "", ""], ["1", "1", "1"], ["0", "", ""]]
    assert (document["runs"], document["wanted"]) == (2, 32)


@pytest.mark.small
def test_a_page_is_changed_between_its_markers_only(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: begin -->\nold\n<!-- table: end -->\nafter\n")
    write_between(page, "table", "new")
    assert page.read_text() == "before\n<!-- table: begin -->\n\nnew\n\n<!-- table: end -->\nafter\n"
    with pytest.raises(ValueError, match="must hold the lines <!-- xor: begin -->"):
        write_between(page, "xor", "new")


def test_figures_of_what_there_is(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    from glnn.reproduction.figures import FAMILIES, curve, draw_figures, draw_xor, family_of

    path = {"seconds": [0.5, 1.0, 2.0], "valid_bits": [3000.0, None, 1500.0], "steps": [1, 2, 3]}
    lines = [{**entry, "trajectory": path, "true_bits": {"valid": 1000.0}} for entry in LINES]
    assert curve(lines[0]) == ([0.5, 2.0], [2000.0, 500.0])
    assert family_of(lines[0]) == FAMILIES[0] and family_of(line("music", 4, 0, 1.0, ("hmm", "", ""))) is None
    xor = [xor_line("rbpm", 0, 20), xor_line("ruop", 0, None, apart=True)]
    assert [len(draw_xor(runs).axes) for runs in (xor[:1], xor)] == [2, 4]
    written = draw_figures(lines, xor, tmp_path / "figures")
    names = [f"{name}.{kind}" for name in ("insertions", "music", "xor") for kind in ("png", "svg")]
    assert [path.name for path in written] == names
    assert all(path.stat().st_size > 5000 for path in written)
    drawn = (tmp_path / "figures" / "insertions.svg").read_bytes()
    draw_figures(lines, [], tmp_path / "figures")
    assert (tmp_path / "figures" / "insertions.svg").read_bytes() == drawn


def test_the_median_is_over_seeds_and_not_over_starts() -> None:
    settings = [Setting("music", "gnn", "qdh", "rbpm", 16, 3, seed, "18s") for seed in (0, 1)]
    found = [*settings, replace(settings[0], start="even"), replace(settings[0], start="fading")]
    lines = [
        {"setting": to_json(s), "regret": regret}
        for s, regret in zip(found, (1300.0, 1500.0, 1700.0, 1900.0), strict=True)
    ]
    row = next(row for row in table_document(lines, found)["rows"] if row["row"] == "GNN QDH+RBPM")
    assert (row["music"]["best"], row["music"]["median"], row["music"]["seeds"]) == (1300.0, 1400.0, 2)
