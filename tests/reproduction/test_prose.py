"""The measures behind what the paper says in words: right on text of the true sources, and they see planted faults."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from glnn.sources import get

pytestmark = pytest.mark.small

_PATH = Path(__file__).resolve().parents[2] / "experiments" / "prose.py"


@pytest.fixture(scope="module")
def prose():
    specification = importlib.util.spec_from_file_location("prose", _PATH)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_true_source_always_resumes_at_the_right_letter(prose) -> None:
    found = prose.after_insertions(get("insertions").sample(200, 0).text)
    assert found["insertions"] == found["right"] > 100


def test_resuming_elsewhere_is_seen(prose) -> None:
    text = "ab(0123[ABC]456789)cde(0)gz(0)\nab(1)bz(2)ax"
    assert prose.after_insertions(text) == {"insertions": 5, "right": 2, "one off": 2, "elsewhere": 1}


def test_the_true_music_has_every_bar_right_and_in_the_cycle(prose) -> None:
    found = prose.bars(get("music").sample(50, 0).text)
    assert found["bars"] == found["right_rhythm"] == found["one_chord"] == 49
    assert found["windows_in_cycle"] == found["windows"] == 42


def test_a_wrong_rhythm_and_a_foreign_pitch_are_seen(prose) -> None:
    text = "c4 c4 c4 |\nc4 c4 |\nc4 d4 c4 |\ng2 b4 |\nx4 c4 c4 |\nc2. |\n"
    found = prose.bars(text)
    assert (found["bars"], found["right_rhythm"], found["one_chord"]) == (5, 3, 3)


def test_the_cycle_is_hardly_met_by_chance(prose) -> None:
    fits, windows = prose.by_chance()
    assert 0 <= fits < 0.05 * windows


def test_lengths_of_neighbouring_blocks(prose) -> None:
    found = prose.blocks("aaa\nbbb\naa\nbbb\naaaa\nb\nbb\naa\nbb")
    assert (found["pairs"], found["equal"], found["within_one"], found["median_apart"]) == (3, 1, 2, 1.0)
