"""What is run: the rows of the paper's table × sources × sizes × connectivities × seeds, and in which order.

The order is such that a sweep cut short has every row at its most promising sizes first, then the gated networks with
invariant metrics at six sizes with every seed, then the other rows at six sizes, then what is left.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple

from glnn.sources import get

SOURCES = ("insertions", "music", "anbn")
# One training, validation and third sequence for all runs; the others draw new ones for each, as the paper does.
FIXED = ("insertions", "music")
# Minutes that the paper allows a run, on a core of 2012.
PAPER_MINUTES = {"insertions": 30.0, "music": 10.0, "anbn": 10.0}
BASELINES = ("bzip2", "ctw", "hmm")
SPARSE = 3
FIRST_SIZES = (16, 32, 64)
# By factors of 2, the most promising ones first; and the 23 that the paper names for aⁿbⁿ.
SIZES = {
    "insertions": (*FIRST_SIZES, 128, 4, 256, 8),
    "music": (*FIRST_SIZES, 128, 4, 256, 8),
    "anbn": (*FIRST_SIZES, 8, 23, 4),
}
# The paper goes by factors of √2 to 512, 256 and 64.
BETWEEN = {
    "insertions": (23, 45, 11, 91, 6, 181, 362, 512),
    "music": (23, 45, 11, 91, 6, 181),
    "anbn": (11, 45, 6),
}
# As many sizes as every row has before any has more.
MOST_SIZES = 6
ALL_SIZES_FROM, FEW_SIZES_BELOW = 0.06, 0.03
SEEDS = 2
# Our estimate of the smallest scale with as many passes as the paper's.
SCALE = 0.06
XOR_SEEDS = 8
XOR_PASSES = 2000
XOR_UNITS = 10


class Row(NamedTuple):
    """A row of the paper's table: its model and methods, its name there, and its regrets on the three sources."""

    model: str
    output_metric: str
    metric: str
    title: str
    paper: tuple[float, float, float]
    kind: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies a row."""
        return self.model, self.output_metric, self.metric


ROWS = (
    Row("bzip2", "", "", "bzip2", (27206.1, 6035.7, 244.0), "baseline"),
    Row("ctw", "", "", "context tree weighting", (18272.1, 3611.0, 143.5), "baseline"),
    Row("hmm", "", "", "hidden Markov model", (10212.0, 4818.1, 125.7), "baseline"),
    Row("rnn", "dh", "fb", "RNN DH+FB", (7616.8, 2898.9, 122.4), "other"),
    Row("rnn", "dh", "rms", "RNN DH+RMS", (6721.5, 2295.0, 129.9), "other"),
    Row("gnn", "dh", "fb", "GNN DH+FB", (4059.0, 2688.7, 132.0), "other"),
    Row("glnn", "dh", "fb", "GLNN DH+FB", (5883.9, 3616.4, 74.4), "other"),
    Row("lstm", "plain", "plain", "LSTM plain", (20073.1, 8796.1, 139.8), "other"),
    Row("lstm", "dh", "fb", "LSTM DH+FB", (11843.1, 5590.9, 101.7), "other"),
    Row("rnn", "qdh", "qdruop", "RNN QDH+QDRUOP", (3372.8, 1349.5, 89.5), "invariant"),
    Row("rnn", "qdh", "qdrbpm", "RNN QDH+QDRBPM", (3623.9, 1224.3, 106.0), "invariant"),
    Row("gnn", "qdh", "ruop", "GNN QDH+RUOP", (1759.0, 1148.3, 71.6), "invariant"),
    Row("gnn", "qdh", "rbpm", "GNN QDH+RBPM", (2166.0, 1596.0, 115.4), "invariant"),
    Row("glnn", "qdh", "ruop", "GLNN QDH+RUOP", (1011.9, 1055.9, 29.7), "invariant"),
    Row("glnn", "qdh", "rbpm", "GLNN QDH+RBPM", (644.2, 1055.9, 30.0), "invariant"),
)
READINGS = ("figures", "text")
_WITHOUT_METRIC = ("fb", "rms", "plain")
_RATES = {"": "1/N", "unsaturated": "1/N unsaturated", "mean": "1/(NT)"}
FIRST_RATES = ("unsaturated", "mean", "")
# The paper does not say how a GNN begins: as an RNN does, or with slow units that react less (`starts.py`).
GNN_STARTS = ("", "even", "fading")


@dataclass(frozen=True)
class Setting:
    """All that a run depends on. `budget` is a text such as '54s' (CPU seconds), '20 steps' or '2000 passes'."""

    source: str
    model: str
    output_metric: str
    metric: str
    units: int
    degree: int
    seed: int
    budget: str
    size: int = 0
    """Lines, bars or blocks of a sequence; 0 is the paper's number."""
    apart: bool = False
    """Whether lines (blocks of aⁿbⁿ) are sequences of their own; the paper joins them to one."""
    coherence: int = 0
    """Steps between measurements of how far effects add up over time; 0 is the paper's method, without any."""
    longest: int = 0
    """The longest time scale of a GLNN, or of a GNN with a `start`, when it begins, in symbols, from 2 on by equal
    factors; 0 is the paper's 2, 3, 4 …

    The paper leaves them to what is known of the data."""
    after_nine: bool = True
    """Insertions: whether a sub-sub-block may follow the digit 9, as the paper's text says and its figures do not."""
    first_rate: str = ""
    """Where the transitions' rate begins: empty for 1/N, "unsaturated" for 1/N halved until the first step saturates
    no units, "mean" for 1/(NT), the rate of a mean over the T symbols."""
    start: str = ""
    """How the network begins, a name of `starts.py`; empty for the model's own way."""
    graph: str = ""
    """Empty for d edges from each unit, as the text has it, "into" for d edges into each, as its costs are counted."""
    fold: int = 0
    """Steps between looks for units that have become constants, to fold them and restart them; 0 for none."""
    length: int = 0
    """Distant XOR: the T of its lines; 0 is the paper's 100."""
    recipe: str = ""
    """Empty for the paper's training, "best" for what is known today."""
    batches: int = 0
    """Distant XOR: the stretches of whole lines that the training sequence is cut into, for steps on one of them at a
    time; 0 for steps on all of it. Passes count as passes over all of it."""
    restart: int = 0
    """Distant XOR: passes after which a run that is still at chance (with `quasi`, or that stands still) begins anew,
    from another random start; 0 for never."""
    dwell: int = 0
    """Distant XOR: steps on a stretch before the next one is drawn; 0 is 1."""
    quasi: int = 0
    """Distant XOR: after how many of the paper's steps quasi-Newton ones follow (`quasi_newton.py`), or earlier, once
    a run has left chance; 0 for never."""
    strict: int = 0
    """Distant XOR: with `quasi`, passes after which a start that is not leaving chance is given up; past chance, one
    that falls too slowly is (`keeps_pace` in `xor.py`). 0 for the rule of `restart`."""
    forget: bool = False
    """Distant XOR: with `strict`, a start past chance that falls too slowly first forgets its pairs, and is given up
    if that does not help."""
    silent: bool = False
    """Whether symbols that are never to be predicted begin with log 0, as w_0y = log ν_y has it. Estimators, which may
    meet them later on, begin with the log of half a count."""

    @property
    def row(self) -> tuple[str, str, str]:
        """The row of the table that it belongs to."""
        return self.model, self.output_metric, self.metric

    @property
    def form(self) -> str:
        """How it departs from the paper; empty if it does not."""
        still = " or standing still" if self.quasi else ""
        parts = (
            "lines apart" if self.apart else "",
            f"steps shortened every {self.coherence}" if self.coherence else "",
            f"time scales to {self.longest}" if self.longest else "",
            f"begun {self.start}" if self.start else "",
            "d edges into each unit" if self.graph else "",
            f"first rate {_RATES[self.first_rate]}" if self.metric in _WITHOUT_METRIC else "",
            "insertions after 9" if self.source == "insertions" and self.after_nine else "",
            f"constants folded every {self.fold}" if self.fold else "",
            f"T = {self.length}" if self.length else "",
            f"steps on one of {self.batches} stretches" if self.batches else "",
            f"{self.dwell} steps on each" if self.dwell else "",
            f"begun anew if at chance after {self.restart} passes{still}" if self.restart else "",
            f"begun anew if at chance after {self.strict} passes or falling slowly" if self.strict else "",
            "pairs forgotten before" if self.forget else "",
            f"quasi-Newton steps past chance or after {self.quasi}" if self.quasi else "",
            f"recipe {self.recipe}" if self.recipe else "",
            "begun at half a count" if self.source == "xor" and not self.silent else "",
        )
        return ", ".join(filter(None, parts))

    def __str__(self) -> str:
        methods = f" {self.output_metric}+{self.metric}".upper() if self.metric else ""
        size = f", {self.units} units" if self.units else ""
        degree = f", d = {self.degree}" if self.degree else ""
        budget = f", {self.budget}" if self.budget else ""
        form = f", {self.form}" if self.form else ""
        return f"{self.source}, {self.model.upper()}{methods}{size}{degree}{form}, seed {self.seed}{budget}"


_FIELDS = tuple(field.name for field in fields(Setting))
# Older lines lack these, and mean their defaults.
LATER = (
    "size",
    "apart",
    "coherence",
    "longest",
    "after_nine",
    "first_rate",
    "start",
    "graph",
    "fold",
    "length",
    "recipe",
    "batches",
    "restart",
    "dwell",
    "quasi",
    "strict",
    "forget",
    "silent",
)


def from_json(value: dict[str, Any]) -> Setting:
    """The setting of a line of results."""
    return Setting(**{name: value[name] for name in _FIELDS if name not in LATER or name in value})


def to_json(setting: Setting) -> dict[str, Any]:
    """The setting as a line of results holds it."""
    return asdict(setting)


def row_named(model: str, metric: str) -> Row:
    """The row of a model and a metric of the transitions."""
    return next(row for row in ROWS if (row.model, row.metric) == (model, metric))


@cache
def alphabet_size(source: str) -> int:
    """The number of symbols of a source."""
    return len(get(source).alphabet)


def degrees(source: str, model: str, units: int) -> tuple[int, ...]:
    """The sparse and the semi-sparse connectivity: 3, and √(2A) rounded up (A for RNN and LSTM).

    Both are at most the number of units, and equal ones occur once.
    """
    symbols = alphabet_size(source)
    semi = symbols if model in ("rnn", "lstm") else math.ceil(math.sqrt(2 * symbols))
    return tuple(dict.fromkeys(min(degree, units) for degree in (SPARSE, semi)))


def sizes_at(source: str, scale: float) -> tuple[int, ...]:
    """The sizes that a scale is enough for: the paper's, every second one of them, or three."""
    if scale >= ALL_SIZES_FROM:
        return (*SIZES[source], *BETWEEN[source])
    return SIZES[source] if scale >= FEW_SIZES_BELOW else FIRST_SIZES


def budget(source: str, scale: float) -> str:
    """The paper's minutes times `scale`, as CPU seconds."""
    return f"{60.0 * PAPER_MINUTES[source] * scale:g}s"


def readings(setting: Setting, reading: str = READINGS[0]) -> tuple[Setting, ...]:
    """The setting as the paper is read, the same way for all rows of the table (see `experiments/reproduction.md`).

    By its figures, insertions have no sub-sub-block after 9, methods without a metric are run from 1/N and from two
    first rates that leave units room to learn, and GNNs from three starts. By its text, there are such blocks, all
    rates begin at 1/N, and a GNN begins as an RNN.
    """
    if reading == "text":
        return (replace(setting, after_nine=True, first_rate="", start="", graph="", recipe=""),)
    read = replace(setting, after_nine=setting.source != "insertions", start="", graph="", recipe="")
    rates = FIRST_RATES if setting.metric in _WITHOUT_METRIC else ("",)
    starts = GNN_STARTS if setting.model == "gnn" else ("",)
    return tuple(replace(read, first_rate=rate, start=start) for start in starts for rate in rates)
