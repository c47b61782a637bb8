"""Steps have the same bits on the plainest processor, and streams made there decode here and the other way round.

A processor with fused multiply-add rounds once where another rounds twice: a kernel that allows it would fail here, and
so would one that lets sums be reordered, since the other process does not vectorise loops.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from glnn.codec import compress, decompress
from glnn.models import MODELS
from tests.codec.predictors import LETTERS, predictor
from tests.predictors.test_network import stepper

KINDS = ("glnn", "rnn-logistic", "lstm", "hmm", "hmm-sparse", "tree", "members", "calibrated-lstm")
TEXT = "".join(np.random.default_rng(11).choice(list(LETTERS), 4000)) + "Z" + "abc de\n" * 50


def digest() -> str:
    """A fingerprint of every bit of many steps of every network."""
    found, codes = hashlib.sha256(), np.random.default_rng(1).integers(0, 5, 3000)
    for name in MODELS:
        for activation in ("tanh", "logistic"):
            steps = stepper(name, activation, units=20)
            found.update(steps.run(steps.begin(), codes).tobytes())
    return found.hexdigest()


def streams() -> dict[str, bytes]:
    return {kind: compress(predictor(kind, escape=0.01), TEXT) for kind in KINDS}


def check(folder: Path) -> None:
    """Decode what lies in the folder."""
    for kind in KINDS:
        assert decompress(predictor(kind, escape=0.01), (folder / kind).read_bytes()) == TEXT


def write(folder: Path) -> None:
    folder.mkdir()
    for kind, blob in streams().items():
        (folder / kind).write_bytes(blob)


def other_process(here: Path, there: Path, cache: Path) -> str:
    """In a process compiled for any processor: decode what is here, write streams there, return its digest."""
    root = Path(__file__).resolve().parents[2]
    code = (
        "from pathlib import Path; from llvmlite import binding; import numba; "
        "assert numba.config.CPU_NAME == 'generic'; "
        "from tests.codec.test_portability import check, digest, write; import sys; "
        "check(Path(sys.argv[1])); write(Path(sys.argv[2])); print(digest())"
    )
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_OPT": "0",
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")]),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, str(here), str(there)], env=environment, capture_output=True, text=True, cwd=root
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_steps_have_the_same_bits_and_streams_travel_between_processors(tmp_path: Path) -> None:
    write(tmp_path / "here")
    assert other_process(tmp_path / "here", tmp_path / "there", tmp_path / "cache") == digest()
    check(tmp_path / "there")
    for kind in KINDS:
        assert (tmp_path / "here" / kind).read_bytes() == (tmp_path / "there" / kind).read_bytes()
