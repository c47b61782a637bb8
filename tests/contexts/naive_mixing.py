"""The mixture of contexts in plain Python: dictionaries for tables, tuples for keys, one list for everything read.

No hash, no slot, no growth: so a collision, a lost entry or a wrong key in the compiled one shows as a difference.
Floating-point operations are in the same order, so that results agree to rounding.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from glnn.contexts import mixing_plan as plans
from glnn.contexts.mixing_hashing import combined
from glnn.contexts.mixing_memory import new_memory, weight_rows
from glnn.contexts.mixing_plan import Plan
from glnn.contexts.mixing_states import NEXT_STATE, class_of


def stretch(p: float) -> float:
    return math.log(p / (1.0 - p))


def squash(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def clamp(x: float, bound: float) -> float:
    return min(max(x, -bound), bound)


def length_class(length: int) -> int:
    edges = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128, 512]
    return sum(length >= edge for edge in edges)


class NaiveMixing:
    """One reading that learns all; sequences begin where `restart` is called."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.size = plan, plan.lengths.size
        fresh = new_memory(plan)
        self.states, self.runs, self.match = fresh.state_chance, fresh.run_chance, fresh.match_chance
        self.weights, self.uses = fresh.weights, fresh.uses
        self.final, self.final_uses = fresh.final_weights, fresh.final_uses
        self.base = weight_rows(plan)
        self.corrections: dict[tuple[int, int], list[float]] = {}
        self.contexts: dict[Any, dict[str, Any]] = {}
        self.decisions: dict[Any, list[float]] = {}
        self.places: dict[Any, int] = {}
        self.history: list[int] = []
        self.followed: dict[Any, list[int]] = {}
        self.restart()

    def restart(self) -> None:
        self.sequence: list[int] = []
        matches = len(self.plan.match_lengths)
        self.pointer, self.length, self.misses = [-1] * matches, [0] * matches, [0] * matches

    def back(self, k: int) -> int:
        """The symbol k places back; before a sequence the number of symbols."""
        return self.sequence[-1 - k] if k < len(self.sequence) else self.size

    def path(self, symbol: int) -> list[tuple[int, int]]:
        many = self.plan.lengths[symbol]
        return list(
            zip(self.plan.branchings[symbol, :many].tolist(), self.plan.bits[symbol, :many].tolist(), strict=True)
        )

    def words(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The word so far and the one before it."""
        words: list[list[int]] = [[]]
        for symbol in self.sequence:
            if self.plan.letter[symbol]:
                words[-1].append(symbol)
            elif words[-1]:
                words.append([])
        return tuple(words[-1]), tuple(words[-2]) if len(words) > 1 else ()

    def lower(self, word: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(self.plan.folded[symbol]) for symbol in word)

    def of_words(self, kind: int) -> Any:
        """The key of the newer contexts of words, from the whole sequence."""
        letter = self.plan.letter
        words: list[list[int]] = [[]]
        gap: list[int] = []
        for place, symbol in enumerate(self.sequence):
            if letter[symbol]:
                words[-1].append(symbol)
            elif words[-1]:
                words.append([])
            if not letter[symbol]:
                gap = [*([] if place and letter[self.sequence[place - 1]] else gap), symbol]
        line = self.two_lines()[1] if self.plan.newline >= 0 else tuple(self.sequence)
        letters = [place for place, symbol in enumerate(line) if letter[symbol]]
        indent = line[: letters[0]] if letters else line
        rest = line[len(indent) :]
        ends = [place for place, symbol in enumerate(rest) if not letter[symbol]]
        first = rest[: ends[0]] if ends else ()
        now, last, before = (tuple(words[-k]) if k <= len(words) else () for k in (1, 2, 3))
        return {
            plans.ANY_CASE: self.lower(now),
            plans.TWO_OF_ANY_CASE: (self.lower(now), self.lower(last)),
            plans.LEAP: (now, before),
            plans.GAP: (now, tuple(gap)),
            plans.INDENTED: (now, indent),
            plans.UNDER: (now, first),
        }[kind]

    def two_lines(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The line above and this one so far."""
        lines: list[list[int]] = [[], []]
        for symbol in self.sequence:
            if symbol == self.plan.newline:
                lines.append([])
            else:
                lines[-1].append(symbol)
        return tuple(lines[-2]), tuple(lines[-1])

    def before(self, kind: int) -> Any:
        """What the symbols that followed are kept for; two are found by a hash without a check."""
        if kind == plans.AFTER_ONE:
            return self.back(0)
        return "two", int(combined(np.uint64(self.back(0)), np.uint64(self.back(1)))) & 0xFFFF

    def keys(self) -> list[Any]:
        found = []
        for kind, count, skip in zip(self.plan.kinds, self.plan.counts, self.plan.skips, strict=True):
            key: Any = ()
            if kind == plans.WORD:
                key = self.words()[0]
            elif kind == plans.TWO_WORDS:
                key = self.words()
            elif kind == plans.BAG:
                key = tuple(sorted(self.sequence))
            elif kind == plans.SET:
                key = tuple(sorted(set(self.sequence)))
            elif kind == plans.LAST_WORD:
                key = self.words()[1]
            elif kind == plans.ABOVE:
                above, line = self.two_lines()
                key = above[len(line)] if len(line) < min(len(above), 128) else None
            elif kind == plans.LINE:
                key = self.two_lines()[1][:2]
            elif kind in (plans.AFTER_ONE, plans.AFTER_TWO):
                key = tuple(self.followed.get(self.before(kind), [])[-2:])
            elif kind >= plans.ANY_CASE:
                key = self.of_words(kind)
            elif kind == plans.PLACE:
                key = len(self.sequence)
            elif kind == plans.RUN:
                run = 0
                while run < len(self.sequence) and self.back(run) == self.back(0):
                    run += 1
                key = (run, self.back(run), self.back(0)) if run else (0, 0, self.size)
            found.append((len(found), key, tuple(self.back(k) for k in range(skip, skip + count))))
        return found

    def seek(self) -> None:
        for m, least in enumerate(self.plan.match_lengths.tolist()):
            key = (m, tuple(self.back(k) for k in range(least)))
            if key in self.places and self.length[m] < least:
                at = self.places[key]
                length = 0
                while length < min(plans.REACH, at) and self.back(length) == self.history[at - 1 - length]:
                    length += 1
                if length >= least or self.back(length) == self.size:
                    self.pointer[m], self.length[m] = at, length
                    if length >= 16:
                        self.misses[m] = 0
            self.places[key] = len(self.history)

    def predict(self, node: int, keys: list[Any]) -> float:
        plan, depth = self.plan, int(self.plan.depth[node])
        record = self.record = SimpleNamespace(said=[])
        x: list[float] = []
        known = 0
        for i, key in enumerate(keys):
            inputs, slot = [0.0, 0.0, 0.0], self.contexts.get(key)
            if slot is not None:
                known = i + 1 if i < plan.orders else known
                expected = dict(self.path(slot["symbol"])).get(node)
                if expected is not None:
                    cell = self.runs[i, int(slot["many"]), min(slot["run"], 63)]
                    sign = 1.0 if expected else -1.0
                    if not slot["many"]:
                        inputs = [sign * stretch(cell[0]), sign * (cell[0] - 0.5) * 4.0, 0.0]
                    elif not plan.stationary:
                        inputs[2] = sign * stretch(cell[0])
                    record.said.append((cell, expected))
                if slot["many"] and (key, node) in self.decisions:
                    chance, state, _ = self.decisions[key, node]
                    cell = self.states[i, int(state)]
                    inputs[:2] = stretch(cell[0]), stretch(chance)
                    record.said.append((cell, 1))
            x += inputs
        longest = 0
        for m, at in enumerate(self.pointer):
            inputs = [0.0, 0.0]
            expected = dict(self.path(self.history[at])).get(node) if at >= 0 else None
            if expected is not None:
                length = length_class(self.length[m])
                cell = self.match[m, length, min(self.misses[m], 3)]
                sign = 1.0 if expected else -1.0
                inputs = [sign * stretch(cell[0]), sign * (cell[0] - 0.5) * 4.0]
                record.said.append((cell, expected))
                longest = max(longest, 1 + length)
            x += inputs
        record.x = np.array([*x, 0.3] + [0.0] * (self.weights.shape[1] - len(x) - 1))
        stage = min(depth, 2)
        choices = [min(node, 255), 3 * known + stage, 3 * longest + stage]
        for k in range(2):
            last = self.back(k)
            choices.append(256 if last == self.size else min(int(plan.rank[last]), 255))
        if plan.pairs:
            choices.append(int(combined(np.uint64(self.back(0)), np.uint64(self.back(1)))) & 2047)
        record.rows = [int(first) + choice for first, choice in zip(self.base, choices, strict=False)]
        record.odds = [clamp(float(self.weights[row] @ record.x), 16.0) for row in record.rows]
        record.mixed = clamp(sum(v * z for v, z in zip(self.final[min(node, 255)], record.odds, strict=True)), 16.0)
        place = (clamp(record.mixed, 12.0) + 12.0) * 32.0 / 24.0
        low = min(int(place), 31)
        share = place - low
        record.near = low + (share > 0.5)
        record.tables = []
        for k in range(3):
            # These tables are found by a hash without a check: the same here.
            row = np.uint64(node)
            for j in range(k):
                row = np.uint64(combined(row, np.uint64(self.back(j) + 1)))
            key = (k, int(row) & 4095)
            start = [squash(z) for z in np.linspace(-12.0, 12.0, 33)]
            record.tables.append(self.corrections.setdefault(key, start))
        said = sum(table[low] * (1.0 - share) + table[low + 1] * share for table in record.tables) / 3.0
        return min(max(0.5 * squash(record.mixed) + 0.5 * said, 2.0**-24), 1.0 - 2.0**-24)

    def learn(self, node: int, bit: int, keys: list[Any]) -> None:
        steady, record = self.plan.stationary, self.record
        for table in record.tables:
            table[record.near] += (bit - table[record.near]) * (0.005 if steady else 0.02)
        least = 0.0003 if steady else 0.002
        row = min(node, 255)
        self.final_uses[row] += 1
        rate = max(self.plan.final_rate / math.sqrt(1.0 + 0.02 * self.final_uses[row]), least)
        self.final[row] += rate * (bit - squash(record.mixed)) * np.array(record.odds)
        for row, odds in zip(record.rows, record.odds, strict=True):
            self.uses[row] += 1
            rate = max(0.04 / math.sqrt(1.0 + 0.02 * self.uses[row]), least)
            self.weights[row] += rate * (bit - squash(odds)) * record.x
        for cell, expected in record.said:
            cell[0] += (float(bit == expected) - cell[0]) / (cell[1] + 1.5)
            cell[1] = min(cell[1] + 1, 255)
        for key in keys:
            if key in self.contexts and self.contexts[key]["many"]:
                self.count(key, node, bit)

    def count(self, key: Any, node: int, bit: int) -> None:
        chance, state, count = self.decisions.get((key, node), [0.5, 0, 0])
        chance = float(np.float32(chance + (bit - chance) / (count + 1.5)))
        following = class_of(chance, int(count) + 1) if self.plan.stationary else NEXT_STATE[int(state), bit]
        most = 65535 if self.plan.stationary else 250
        self.decisions[key, node] = [chance, following, min(count + 1, most)]

    def conclude(self, symbol: int, keys: list[Any]) -> None:
        for kind in (plans.AFTER_ONE, plans.AFTER_TWO):
            self.followed.setdefault(self.before(kind), []).append(symbol)
        for key in keys:
            slot = self.contexts.setdefault(key, {"symbol": symbol, "run": 0, "many": False})
            if slot["symbol"] == symbol:
                slot["run"] += 1
                continue
            if not slot["many"]:
                slot["many"] = True
                for former, times in ((slot["symbol"], min(slot["run"], 60)), (symbol, 1)):
                    for node, bit in self.path(former):
                        for _ in range(times):
                            self.count(key, node, bit)
            slot.update(symbol=symbol, run=1)
        for m, at in enumerate(self.pointer):
            if at < 0:
                continue
            if self.history[at] == symbol:
                self.length[m] += 1
                self.misses[m] = 0 if self.length[m] >= 16 else self.misses[m]
            else:
                self.length[m] = 0
                self.misses[m] += 1
            self.pointer[m] += 1
            if self.pointer[m] >= len(self.history) or self.misses[m] > 8:
                self.pointer[m], self.length[m] = -1, 0
        self.history.append(symbol)
        self.sequence.append(symbol)

    def read(self, symbol: int) -> float:
        """The probability of a symbol, which is then learned."""
        self.seek()
        keys, product = self.keys(), 1.0
        records = []
        for node, bit in self.path(symbol):
            one = self.predict(node, keys)
            product *= one if bit else 1.0 - one
            records.append((node, bit, self.record))
        for node, bit, self.record in records:
            self.learn(node, bit, keys)
        self.conclude(symbol, keys)
        return product
