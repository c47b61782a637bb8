"""What Section 4 of the paper claims in words, measured on sampled text and on longer runs.

    python experiments/prose.py insertions      what follows an inserted block, GLNN and RNN
    python experiments/prose.py music           rhythm and harmony inside bars, the cycle of 8 bars, GLNN and RNN
    python experiments/prose.py anbn            lengths of neighbouring blocks in text of a GLNN
    python experiments/prose.py lstm            LSTMs on aⁿbⁿ with small n and more samples
    python experiments/prose.py longer          RNNs with 8 (insertions) and 18 times (music) the budget, 14 CPU minutes
    python experiments/prose.py rates           not of the paper: what the first rate of non-invariant methods does
    python experiments/prose.py table           what is there so far, also into experiments/reproduction.md

Each finished run is one line of JSON in results/reproduction/prose.jsonl, written at once; what is there is skipped.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from glnn.predictors.network import NetworkPredictor
from glnn.reproduction.running import Sequences, excess, new_trainer, sequences_of, versions
from glnn.reproduction.settings import Setting, from_json, to_json
from glnn.reproduction.tables import as_markdown, number, write_between
from glnn.sources import AnBn, get

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "reproduction" / "prose.jsonl"
PAGE = HERE / "reproduction.md"
CYCLE = ("I", "IV", "I", "V", "I", "IV", "V", "I")
CHORDS = {"I": set("ceg"), "IV": set("cfa"), "V": set("gbd")}
RHYTHMS = {("4", "4", "4"), ("2", "4"), ("4.", "8", "4"), ("2.",), ("4", "4", "8", "8")}
SHORT_BLOCKS = AnBn(shortest=1, longest=10)


def settings(claim: str) -> list[Setting]:
    """The trainings that a claim is measured on."""
    if claim == "insertions":
        return [
            Setting("insertions", "glnn", "qdh", "rbpm", 32, 3, 0, "54s"),
            Setting("insertions", "rnn", "dh", "fb", 32, 3, 0, "54s"),
            Setting("insertions", "rnn", "qdh", "qdruop", 32, 3, 0, "54s"),
        ]
    if claim == "music":
        return [
            Setting("music", "glnn", "qdh", "rbpm", 32, 3, 0, "18s"),
            Setting("music", "rnn", "dh", "fb", 32, 3, 0, "18s"),
        ]
    if claim == "anbn":
        return [Setting("anbn", "glnn", "qdh", "rbpm", 16, 3, seed, "30s") for seed in range(4)]
    if claim == "lstm":
        return [Setting("anbn", "lstm", "dh", "fb", 8, 3, seed, "30s", 300) for seed in range(2)]
    if claim == "rates":
        # The last two change one method of GLNN DH+FB each, to see which of them makes it slow.
        rows = (
            ("rnn", "dh", "fb"),
            ("glnn", "dh", "fb"),
            ("rnn", "dh", "rms"),
            ("glnn", "qdh", "fb"),
            ("glnn", "dh", "rbpm"),
        )
        return [Setting("music", *row, 16, 3, 0, "250 steps") for row in rows]
    return [
        Setting(source, "rnn", "dh", "fb", 32, 3, 0, f"{factor * seconds}s")
        for source, seconds, factors in (("insertions", 54, (1, 8)), ("music", 18, (1, 18)))
        for factor in factors
    ]


def sequences_for(claim: str, setting: Setting) -> Sequences:
    if claim != "lstm":
        return sequences_of(setting)
    samples = [SHORT_BLOCKS.sample(setting.size, 3 * setting.seed + k) for k in range(3)]
    return Sequences(SHORT_BLOCKS, *samples)


def measure(claim: str, setting: Setting) -> dict[str, Any]:
    sequences = sequences_for(claim, setting)
    trainer = new_trainer(setting, sequences)
    if claim == "rates":
        return {"claim": claim, "setting": to_json(setting), **versions(), **first_rates(setting, sequences)}
    progress = trainer.run(setting.budget)
    predictor = NetworkPredictor(trainer.model, progress.best, sequences.source.alphabet)
    line = {
        "claim": claim,
        "setting": to_json(setting),
        **versions(),
        "regret": excess(progress.best_score, sequences.valid),
        "steps": progress.step,
        "passes": progress.passes,
        "best_step": progress.best_step,
        "cpu_seconds": round(progress.seconds, 1),
    }
    if claim == "insertions":
        line |= after_insertions(sample(predictor, 60_000))
    elif claim == "music":
        line |= bars(sample(predictor, 20_000))
    elif claim == "anbn":
        line |= blocks(sample(predictor, 45_000))
    elif claim == "lstm":
        line |= {"blocks": setting.size, "regret_a_block": round(line["regret"] / setting.size, 3)}
        line |= blocks(sample(predictor, 4_000))
    return line


def first_rates(setting: Setting, sequences: Sequences) -> dict[str, Any]:
    """The same training begun with the paper's rate 1/N, and with 1/(NT), that of a mean instead of a sum."""
    found = {}
    for name, divisor in (("1/N", 1), ("1/(NT)", len(sequences.train.text))):
        trainer = new_trainer(setting, sequences)
        trainer.progress.transition_rate /= divisor
        progress = trainer.run(setting.budget)
        first = progress.history[0]
        found[name] = {
            "regret": excess(progress.best_score, sequences.valid),
            "first_size": first.transition_size,
            "first_rate": first.transition_rate,
        }
    return {"rates": found}


def rate_table() -> str:
    """What the first rate does."""
    cells = []
    for line in read():
        if line["claim"] == "rates":
            both = [line["rates"][which] for which in ("1/N", "1/(NT)")]
            sizes = [
                f"{value['first_size']:,.2g}" if value["first_size"] < 100 else f"{value['first_size']:,.0f}"
                for value in both
            ]
            cells.append([name(line), number(both[0]["regret"]), sizes[0], number(both[1]["regret"]), sizes[1]])
    return as_markdown(
        ("", "1/N: regret", "length of the first step", "1/(NT): regret", "length of the first step"), cells
    )


def sample(predictor: NetworkPredictor, symbols: int) -> str:
    """Text drawn from a network."""
    generator = np.random.default_rng(0)
    state, codes = predictor.begin(), []
    for draw in generator.random(symbols):
        cumulated = np.cumsum(state.probabilities())
        code = min(int(np.searchsorted(cumulated, draw * cumulated[-1], side="right")), len(cumulated) - 1)
        state.advance(code)
        codes.append(code)
    return "".join(predictor.alphabet.decode(np.array(codes)))


def after_insertions(text: str) -> dict[str, Any]:
    """How far from the right letter a line goes on behind a sub-block that was opened after a letter."""
    offsets = Counter()
    for before, after in re.findall(r"([a-z])\([^()\n]*\)(.)", text, flags=re.DOTALL):
        wanted = chr(ord(before) + 1) if before != "z" else "\n"
        if after == wanted:
            offsets["right"] += 1
        elif before != "z" and after.islower() and abs(ord(after) - ord(wanted)) == 1:
            offsets["one off"] += 1
        else:
            offsets["elsewhere"] += 1
    return {"insertions": sum(offsets.values()), **{name: offsets[name] for name in ("right", "one off", "elsewhere")}}


def bars(text: str) -> dict[str, Any]:
    """How many bars have a possible rhythm, pitches of one chord, and stand in the cycle of 8 harmonies."""
    whole = text.split("|\n")[1:-1]
    parsed = [[re.fullmatch(r"([a-g])(\d\.?)", note) for note in bar.split()] for bar in whole]
    rhythms = sum(all(notes) and tuple(note[2] for note in notes if note) in RHYTHMS for notes in parsed)
    possible = [
        {
            name
            for name, chord in CHORDS.items()
            if notes and all(notes) and {note[1] for note in notes if note} <= chord
        }
        for notes in parsed
    ]
    windows = [possible[k : k + 8] for k in range(len(possible) - 7)]
    fits = sum(
        any(all(CYCLE[(k + shift) % 8] in window[k] for k in range(8)) for shift in range(8)) for window in windows
    )
    return {
        "bars": len(whole),
        "right_rhythm": rhythms,
        "one_chord": sum(map(bool, possible)),
        "windows": len(windows),
        "windows_in_cycle": fits,
    }


def blocks(text: str) -> dict[str, Any]:
    """How far the lengths of a block of a and the block of b behind it are apart."""
    pairs = re.findall(r"(?:^|\n)(a+)\n(b+)(?=\n)", text)
    apart = [abs(len(first) - len(second)) for first, second in pairs]
    return {
        "pairs": len(pairs),
        "equal": sum(value == 0 for value in apart),
        "within_one": sum(value <= 1 for value in apart),
        "median_apart": float(np.median(apart)) if apart else None,
        "lengths": [[len(first), len(second)] for first, second in pairs[:12]],
    }


def read() -> list[dict[str, Any]]:
    return [json.loads(text) for text in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def rows() -> list[list[str]]:
    """Each claim, what was measured, and whether it is confirmed."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in read():
        found.setdefault(line["claim"], []).append(line)
    judged = (insertion_row, music_rows, anbn_row, lstm_row, longer_rows)
    claims = ("insertions", "music", "anbn", "lstm", "longer")
    return [row for claim, judge in zip(claims, judged, strict=True) for row in judge(found.get(claim, []))]


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def name(line: dict[str, Any]) -> str:
    setting = from_json(line["setting"])
    return f"{setting.model.upper()} {setting.output_metric.upper()}+{setting.metric.upper()}"


def insertion_row(lines: list[dict[str, Any]]) -> list[list[str]]:
    claim = "after an insertion GLNNs resume at the right letter or one off, RNNs seldom at the right one"
    if not lines:
        return [[claim, "not yet run", ""]]
    told = [
        f"{name(line)}: {share(line['right'], line['insertions'])} right, {share(line['one off'], line['insertions'])} "
        f"one off, of {line['insertions']}"
        for line in lines
    ]
    gated = [line for line in lines if line["setting"]["model"] == "glnn"]
    plain = [line for line in lines if line["setting"]["model"] == "rnn" and line["setting"]["metric"] == "fb"]
    if not gated or not plain:
        return [[claim, "; ".join(told), "not yet complete"]]
    near = all(line["right"] + line["one off"] >= 0.8 * line["insertions"] for line in gated)
    seldom = all(line["right"] <= 0.35 * line["insertions"] for line in plain)
    return [[claim, "; ".join(told), verdict(near, seldom)]]


def music_rows(lines: list[dict[str, Any]]) -> list[list[str]]:
    inside = "GLNNs learn rhythm and harmony inside a bar, RNNs still make mistakes"
    cycle = "GLNNs do not learn the cycle of 8 bars"
    if not lines:
        return [[inside, "not yet run", ""], [cycle, "not yet run", ""]]
    told = [
        f"{name(line)}: rhythm right in {share(line['right_rhythm'], line['bars'])}, one chord in "
        f"{share(line['one_chord'], line['bars'])} of {line['bars']} bars"
        for line in lines
    ]
    gated = [line for line in lines if line["setting"]["model"] == "glnn"]
    plain = [line for line in lines if line["setting"]["model"] == "rnn"]
    windows = [
        f"{share(x['windows_in_cycle'], x['windows'])} of all runs of 8 bars fit the cycle (bars of the source in "
        f"random order: {share(*by_chance())})"
        for x in gated
    ]
    learned = all(min(x["right_rhythm"], x["one_chord"]) >= 0.9 * x["bars"] for x in gated)
    mistakes = all(min(x["right_rhythm"], x["one_chord"]) < 0.9 * x["bars"] for x in plain)
    missed = all(x["windows_in_cycle"] < 0.5 * x["windows"] for x in gated)
    return [
        [inside, "; ".join(told), verdict(bool(gated) and learned, bool(plain) and mistakes)],
        [cycle, "; ".join(windows), verdict(bool(gated) and missed)],
    ]


def by_chance() -> tuple[int, int]:
    """How many runs of 8 bars fit the cycle when bars of the true source follow each other at random, of how many."""
    bars_of_source = get("music").sample(4000, 0).text.split("|\n")[:-1]
    shuffled = np.random.default_rng(0).permutation(np.array(bars_of_source)).tolist()
    found = bars("|\n".join(shuffled))
    return found["windows_in_cycle"], found["windows"]


def anbn_row(lines: list[dict[str, Any]]) -> list[list[str]]:
    claim = "in text of the best GLNNs, lengths of neighbouring blocks agree within 1"
    if not lines:
        return [[claim, "not yet run", ""]]
    best = min(lines, key=lambda line: line["regret"])
    told = (
        f"best of {len(lines)} runs ({number(best['regret'])} bits): {best['equal']} of {best['pairs']} pairs equal, "
        f"{best['within_one']} within 1, median {best['median_apart']:g} apart"
    )
    return [[claim, told, verdict(best["pairs"] > 0 and best["within_one"] >= 0.8 * best["pairs"])]]


def lstm_row(lines: list[dict[str, Any]]) -> list[list[str]]:
    claim = "LSTMs do learn aⁿbⁿ with small n and more samples"
    if not lines:
        return [[claim, "not yet run", ""]]
    best = min(lines, key=lambda line: line["regret"])
    free = math.log2(SHORT_BLOCKS.longest - SHORT_BLOCKS.shortest + 1)
    told = (
        f"n from 1 to 10, {best['blocks']} blocks: {best['regret_a_block']:.2f} bits of regret a block (a model that "
        f"does not count pays {free:.2f}); {best['equal']} of {best['pairs']} pairs of its text equal"
    )
    learned = best["regret_a_block"] < 0.2 * free and best["equal"] >= 0.8 * best["pairs"]
    return [[claim, told, verdict(learned)]]


def longer_rows(lines: list[dict[str, Any]]) -> list[list[str]]:
    answers = []
    for source, factor, paper, seconds in (("insertions", 8, 2810, 54), ("music", 18, 604, 18)):
        claim = f"RNNs with {factor} times the budget gain {paper:,} bits on {source}"
        by_budget = {line["setting"]["budget"]: line for line in lines if line["setting"]["source"] == source}
        short, long = by_budget.get(f"{seconds}s"), by_budget.get(f"{factor * seconds}s")
        if short is None or long is None:
            answers.append([claim, "not yet run (`python experiments/prose.py longer`)", ""])
            continue
        gain = short["regret"] - long["regret"]
        told = (
            f"{number(short['regret'])} bits after {seconds} s and {short['passes']:,} passes, "
            f"{number(long['regret'])} after {factor * seconds} s and {long['passes']:,}: a gain of {number(gain)}"
        )
        answers.append([claim, told, verdict(gain >= 0.5 * paper)])
    return answers


def verdict(*facts: bool) -> str:
    if all(facts):
        return "confirmed"
    return "partly" if any(facts) else "not confirmed"


def table() -> None:
    columns = ("the paper says", "here", "")
    text = as_markdown(columns, rows())
    print(text)
    write_between(PAGE, "prose", text)
    print(rate_table())


def work(claim: str) -> None:
    there = [(line["claim"], from_json(line["setting"])) for line in read()]
    for setting in settings(claim):
        if (claim, setting) in there:
            continue
        line = measure(claim, setting)
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print({key: value for key, value in line.items() if key not in ("setting", "lengths")}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claim", choices=["insertions", "music", "anbn", "lstm", "longer", "rates", "table"])
    claim = parser.parse_args().claim
    if claim == "table":
        table()
    else:
        work(claim)


if __name__ == "__main__":
    main()
