"""aⁿbⁿ at lengths outside the training range: what a line of b costs, and when a model expects its end, as curves.

python examples/other_lengths.py                             trains for a minute, draws other_lengths.png
python examples/other_lengths.py --model RUN --out FILE      a model that is there, trained on `glnn source anbn`
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import glnn
from glnn import sources

TRAINED = (1024, 2047)
# Two blocks of trained lengths come first, so that no model stands at its start state.
BEFORE = "".join("a" * n + "\n" + "b" * n + "\n" for n in (1200, 1800))
LENGTHS = [int(n) for n in np.unique(np.round(np.geomspace(128, 8192, 61)))]
ENDS_OF = (256, 1500, 4000)
AROUND = 20


def line_of_b(model: Any, n: int) -> float:
    """The bits of n letters b and their newline, after n letters a: 0 for whoever has counted."""
    text = BEFORE + "a" * n + "\n" + "b" * n + "\n"
    return float(model.surprise(text)[-n - 1 :].sum())


def end_expected(model: Any, n: int) -> np.ndarray:
    """The probability that the line of b ends after n − AROUND … n + AROUND letters, when there were n letters a."""
    text = BEFORE + "a" * n + "\n" + "b" * (n + AROUND + 1)
    # All that can follow a b is another one or the end: the second is what the first leaves.
    return 1.0 - 2.0 ** -model.surprise(text)[-2 * AROUND - 1 :]


def curves(models: dict[str, Any]) -> dict[str, Any]:
    """Everything that is drawn."""
    ends = {n: {name: end_expected(model, n) for name, model in models.items()} for n in ENDS_OF}
    return {
        "lengths": LENGTHS,
        "bits": {name: [line_of_b(m, n) for n in LENGTHS] for name, m in models.items()},
        "ends": ends,
    }


def draw(drawn: dict[str, Any], out: Path) -> None:
    """Two panels: bits against n, and the expected end around n."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    colours = dict(zip(drawn["bits"], ("#3f51b5", "#e69f00", "#009e73", "#cc79a7"), strict=False))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    left.axvspan(*TRAINED, color="#eeeeee")
    left.text(
        np.sqrt(TRAINED[0] * TRAINED[1]), 0.97, "trained", ha="center", va="top", transform=left.get_xaxis_transform()
    )
    for name, bits in drawn["bits"].items():
        left.plot(drawn["lengths"], bits, color=colours[name], label=name)
    left.set(xscale="log", xlabel="n", ylabel="bits of the line of b", ylim=(0, None))
    left.set_xticks([128, 256, 512, 1024, 2048, 4096, 8192], ["128", "256", "512", "1,024", "2,048", "4,096", "8,192"])
    left.minorticks_off()
    left.legend(frameon=False)
    first = next(iter(drawn["bits"]))
    for n, shade in zip(drawn["ends"], (0.35, 0.65, 1.0), strict=True):
        expected = drawn["ends"][n][first]
        places = np.arange(-AROUND, AROUND + 1)
        right.plot(places, expected, color=colours[first], alpha=shade, marker=".", label=f"n = {n:,}")
    right.axvline(0.0, color="#999999", linewidth=0.8, linestyle=":")
    right.set(xlabel="letters b read, less n", ylabel=f"{first}: probability that the line ends", ylim=(-0.02, 1.02))
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(out, dpi=130)


def main() -> None:
    """Train or open, compute, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a folder of `glnn train`, or a model file")
    parser.add_argument("--out", type=Path, default=Path("other_lengths.png"))
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    text = sources.get("anbn").sample(seed=given.seed).text
    if given.model is None:
        network = glnn.GLNN(budget=given.budget, random_state=given.seed).fit(text)
    else:
        network = glnn.load(given.model / "model.safetensors" if given.model.is_dir() else given.model)
    found = curves({type(network).__name__: network, "ContextTree": glnn.ContextTree(verbose=0).fit(text)})
    for name, bits in found["bits"].items():
        inside = [b for n, b in zip(LENGTHS, bits, strict=True) if TRAINED[0] <= n <= TRAINED[1]]
        print(
            f"{name}: {np.mean(inside):.1f} bits a line inside the trained lengths; "
            f"{bits[0]:.1f} at n = {LENGTHS[0]}, {bits[-1]:.1f} at n = {LENGTHS[-1]}"
        )
    draw(found, given.out)
    print(f"{given.out} is drawn")


if __name__ == "__main__":
    main()
