"""Damaged and forged files of every kind: refused with a reason, or read; never a crash, a flood or a command run."""

from __future__ import annotations

import json
import lzma
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glnn.estimators.persistence import _parameter_from_json, _parameter_to_json
from glnn.metrics import TRANSITION_METHODS
from tests.trust.damage import damaged
from tests.trust.effort import examples
from tests.trust.kinds import readers

MIXTURES = ("Mixture", "Mixture of cases", "Mixture with ends")
NAMED = ("GLNN", "LSTM", "HMM", "ContextTree", "NGram", "members", "all data", *MIXTURES)
PLACED = ("GLNN", "members", "ContextTree", *MIXTURES)
NAMES = (
    *(f"model {name}" for name in NAMED),
    *(f"{learning} stream's state {name}" for name in PLACED for learning in ("frozen", "online")),
    *(f"group of streams {name}" for name in ("ContextTree", "LSTM", "Mixture of cases")),
    *(f"{what} that stand{'s' * (what == 'file')} alone" for what in ("file", "symbols", "numbers", "texts")),
    *(f"stream {name}" for name in ("GLNN", "HMM", "ContextTree")),
    *(f"{recipe} run's checkpoint" for recipe in ("paper", "best", "race", "all data", "folds")),
    "compressed file", "compressed log", "checkpoint", "config.json", "result.json", "text", "mask", "event log",
    "FASTA", "FASTA, packed", "XES", "XES, packed", "ABC", "CSV", "CSV with times", "CSV, empty cells kept",
    "JSON lines",
    "JSON events", "lines of numbers", "whatever it is", "state of following", "followed table", "followed JSON",
    "followed lines",
)  # fmt: skip


def test_the_list_is_whole() -> None:
    assert set(readers()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_file_is_read(name: str, tmp_path: Path) -> None:
    readers()[name].read(readers()[name].whole, tmp_path)


@pytest.mark.parametrize("name", NAMES)
@given(st.integers(0, 2**32))
@examples(8)
def test_damage_is_refused_or_harmless(name: str, number: int) -> None:
    kind = readers()[name]
    content, _ = damaged(kind, random.Random(number))
    with tempfile.TemporaryDirectory() as place:
        try:
            kind.read(content, Path(place))
        except (ValueError, OSError) as error:
            assert str(error) and "\n" not in str(error).strip()


HUGE = """
import resource, sys
from pathlib import Path
sys.path[:0] = [{root!r}, {root!r} + "/tests"]
from tests.trust.kinds import compressed
kinds = compressed()
# Everything is loaded: from here on there is room for 100 MB more, and a claim of a petabyte must not try for it.
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)
for file in sorted(Path({folder!r}).glob("*.huge")):
    name = file.name.split(".")[0].replace("_", " ")
    try:
        kinds[name].read(file.read_bytes(), Path({folder!r}) / "work")
    except (ValueError, OSError) as error:
        print(file.name, "refused:", error)
    except MemoryError:
        print(file.name, "asked for too much memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is set as on Linux")
def test_what_claims_a_petabyte_is_refused(tmp_path: Path) -> None:
    """Headers that promise far more than the file holds, and packed data that unpacks to gigabytes."""
    model, stream, log = (readers()[name].whole for name in ("model GLNN", "stream GLNN", "compressed log"))
    (length,) = struct.unpack("<Q", model[:8])
    header = json.loads(model[8 : 8 + length])
    claims = {"model_GLNN.header": struct.pack("<Q", 10**15) + model[8:]}
    for which, shape in (("tensor", [10**15]), ("product", [2**40, 2**40])):
        header["w"].update(shape=shape, data_offsets=[0, 8 * 10**15])
        text = json.dumps(header).encode()
        claims[f"model_GLNN.{which}"] = struct.pack("<Q", len(text)) + text + model[8 + length :]
    place = 4 + 2 + 16
    for which in range(4):
        # The header's four numbers, in pieces of 7 bits: symbols, sequences, bytes of code and of layout.
        numbers = [b"\x01"] * 4
        numbers[which] = b"\xff\xff\xff\xff\xff\xff\xff\x01"
        claims[f"stream_GLNN.number{which}"] = stream[:place] + b"".join(numbers) + stream[place + 4 :]
    packer = lzma.LZMACompressor(preset=0)
    bomb = b"".join(packer.compress(bytes(10_000_000)) for _ in range(15)) + packer.flush()
    begin = log.index(b"\xfd7zXZ")
    claims["compressed_log.bomb"] = (
        log[: begin - 8] + struct.pack("<Q", len(bomb)) + bomb + log[log.index(b"\x97GLN") :]
    )
    for name, content in claims.items():
        (tmp_path / f"{name}.huge").write_bytes(content)
    (tmp_path / "work").mkdir()
    code = HUGE.format(root=str(Path(__file__).parents[2]), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(claims) and all("refused: " in line for line in lines), done.stdout


def test_a_metric_that_is_none_is_written_as_it_was_read() -> None:
    """A forged file may say so: it is refused where it is used, and is no reason to fail in saving."""
    assert _parameter_to_json("metric", TRANSITION_METHODS["rbpm"]) == "rbpm"
    assert _parameter_from_json(_parameter_to_json("metric", 7)) == 7
