"""The true model against its definition: every choice of a small source written out, with its probability.

`enumerate_*` transcribe the text of the paper as loops over all choices; they share nothing with the sources.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from glnn.sources import AnBn, DistantXor, Insertions, Music, Source


def enumerate_insertions(source: Insertions) -> dict[str, float]:
    def with_insertions(characters, probability, inserted, after_last):
        options = []
        for character in characters:
            if character is characters[-1] and not after_last:
                options.append([(character, 1.0)])
                continue
            choices = [(character, 1.0 - probability)]
            choices += [(character + text, probability * p) for text, p in inserted.items()]
            options.append(choices)
        lines = {}
        for chosen in product(*options):
            lines["".join(text for text, _ in chosen)] = math.prod(p for _, p in chosen)
        return lines

    words = list(product(source.capitals, repeat=source.capitals_per_block))
    inner = {f"[{''.join(word)}]": 1 / len(words) for word in words}
    blocks = with_insertions(list(source.digits), source.inner_block_probability, inner, source.after_last_digit)
    blocks = {f"({text})": p for text, p in blocks.items()}
    lines = with_insertions(list(source.letters), source.block_probability, blocks, source.after_last_letter)
    return {line + "\n": p for line, p in lines.items()}


def enumerate_music(source: Music) -> dict[str, float]:
    bars = []
    for chord in source.progression:
        bar = {}
        for rhythm in source.rhythms:
            for pitches in product(chord, repeat=len(rhythm)):
                notes = [pitch + value for pitch, value in zip(pitches, rhythm, strict=True)]
                bar[" ".join(notes) + " |\n"] = 1 / len(source.rhythms) / len(chord) ** len(rhythm)
        bars.append(bar)
    return {"".join(t for t, _ in c): math.prod(p for _, p in c) for c in product(*(b.items() for b in bars))}


def enumerate_xor(source: DistantXor) -> dict[str, float]:
    longest = int(source.length * source.stretch + 1e-9)
    lengths = range(source.length, longest + 1)
    lines: dict[str, float] = defaultdict(float)
    for length in lengths:
        first = [p for p in range(length) if p < source.first_end * length - 1e-9]
        second = [p for p in range(length) if source.first_end * length - 1e-9 <= p < source.second_end * length - 1e-9]
        for p1, p2, bits in product(first, second, product("01", repeat=length)):
            places = "".join(("X" if p in (p1, p2) else " ") + bit for p, bit in enumerate(bits))
            result = int(bits[p1] != bits[p2])
            lines[f"{places}={result}\n"] += 1 / len(lengths) / len(first) / len(second) / 2**length
    return dict(lines)


def enumerate_anbn(source: AnBn) -> dict[str, float]:
    lengths = range(source.shortest, source.longest + 1)
    return {"a" * n + "\n" + "b" * n + "\n": 1 / len(lengths) for n in lengths}


def small_insertions(**reading: bool) -> Insertions:
    return Insertions("ab", "01", "AB", 1, block_probability=0.3, inner_block_probability=0.4, **reading)


SMALL = {
    "insertions": (small_insertions(), enumerate_insertions),
    "insertions, not after z": (small_insertions(after_last_letter=False), enumerate_insertions),
    "insertions, not after 9": (small_insertions(after_last_digit=False), enumerate_insertions),
    "music": (Music(("ce", "gb"), (("4", "4."), ("4",), ("2", "4"))), enumerate_music),
    "xor": (DistantXor(length=5, stretch=1.4, first_end=0.3, second_end=0.8), enumerate_xor),
    "anbn": (AnBn(2, 5), enumerate_anbn),
}


@pytest.fixture(params=SMALL)
def small(request) -> tuple[Source, dict[str, float]]:
    source, enumerate_texts = SMALL[request.param]
    return source, enumerate_texts(source)


def test_every_complete_text_has_the_probability_of_its_choices(small):
    source, texts = small
    assert sum(texts.values()) == pytest.approx(1, abs=1e-12)
    for text, probability in texts.items():
        assert source.bits(text, masked=False) == pytest.approx(-math.log2(probability), abs=1e-9)


def test_complete_texts_follow_each_other_independently(small):
    source, texts = small
    listed = list(texts)
    for first, second in zip(listed[::7], reversed(listed[::5]), strict=False):
        expected = source.bits(first, masked=False) + source.bits(second, masked=False)
        assert source.bits(first + second, masked=False) == pytest.approx(expected)


def test_every_continuation_of_every_beginning(small):
    """P(next symbol | beginning), for all beginnings and all symbols, is a ratio of sums over the texts."""
    source, texts = small
    weight: dict[str, float] = defaultdict(float)
    for text, probability in texts.items():
        for end in range(len(text) + 1):
            weight[text[:end]] += probability
    for beginning, total in weight.items():
        if beginning in texts:
            continue
        expected = [weight.get(beginning + symbol, 0.0) / total for symbol in source.alphabet.symbols]
        state = source.begin()
        for code in source.alphabet.encode(beginning):
            state.advance(int(code))
        probabilities = state.probabilities()
        np.testing.assert_allclose(probabilities, expected, atol=1e-12)
        assert probabilities.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "name, length", [("insertions", 4), ("insertions, not after 9", 4), ("music", 4), ("xor", 6), ("anbn", 8)]
)
def test_all_strings_of_one_length_have_total_probability_one(name, length):
    source = SMALL[name][0]
    strings = map("".join, product(source.alphabet.symbols, repeat=length))
    total = sum(2 ** -source.bits(string, masked=False) for string in strings)
    assert total == pytest.approx(1, abs=1e-12)


def test_samples_follow_the_law_of_the_source(small):
    """A chi-square test of the frequencies of whole texts, the rare ones counted as one."""
    source, texts = small
    bars = len(source.progression) if isinstance(source, Music) else 1
    generator = np.random.default_rng(3)
    count = 4000
    seen = Counter(source.sample(bars, generator).text for _ in range(count))
    assert set(seen) <= set(texts)
    frequent = [text for text, probability in texts.items() if probability * count >= 8]
    expected = np.array([texts[text] * count for text in frequent])
    observed = np.array([seen[text] for text in frequent], float)
    expected = np.append(expected, count - expected.sum())
    observed = np.append(observed, count - observed.sum())
    kept = expected > 1e-6
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    assert kept.sum() >= 4
    assert chi2.sf(statistic, kept.sum() - 1) > 1e-3


def test_entropy_of_the_small_sources(small):
    """The closed form is −Σ p log2 p over all texts."""
    source, texts = small
    bars = len(source.progression) if isinstance(source, Music) else 1
    entropy = -sum(p * math.log2(p) for p in texts.values())
    assert source.entropy_bits(bars, masked=False) == pytest.approx(entropy)
