"""What `glnn follow` does: opens or continues a follower, reads until told to stop, and keeps its place.

Everything is in one file, written whole every few seconds: streams, what they learned, place in the log, counts.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from glnn.sequences.errors import InputError

if TYPE_CHECKING:
    from glnn.cli.follow import Wanted
    from glnn.estimators import SequenceModel
    from glnn.sequences import ReadOptions
    from glnn.streams import Streams
    from glnn.streams.follower import Follower, Surprise
    from glnn.streams.growing_file import GrowingFile
    from glnn.streams.standard_input import Pipe
    from glnn.streams.threshold import Threshold

_RATE = 0.001
_TOLD_BROKEN = 20
# Writing must not take more than this share of the time.
_WRITING_SHARE = 0.1


class Stop:
    """Whether a signal asked to stop, and which."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        """Whether to stop."""
        return self.signal is not None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C end the reading after a line, not in the middle of one."""

        def stop(number: int, frame: FrameType | None) -> None:
            self.signal = number

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def followed(run: Path, file: Path, wanted: Wanted, reading: dict[str, str | None], json: bool, quiet: bool) -> None:
    """Follow a file to its end, or to that of this process."""
    from glnn.cli.app import INTERRUPTED
    from glnn.cli.printing import tell

    stop, kept = Stop(), Kept(wanted.state or _beside(run, file), wanted.save_every)
    if not kept.path.parent.is_dir():
        # Better to say it now than when saving fails.
        raise InputError(f"--state: the folder {kept.path.parent} does not exist: make it first")
    with stop.listening():
        follower, lines = _open(run, file, wanted, reading, kept, stop)
        for line in lines.lines():
            _read(follower, line, json)
            _tell_notes(lines)
            kept.now_and_then()
            if stop():
                break
        _tell_notes(lines)
        kept.write()
        lines.close()
    tally = follower.tally
    each = tally.bits / tally.events if tally.events else 0.0
    tell(
        f"{tally.events:,} events, {each:.3f} bits per event; {tally.told:,} reported; {tally.broken:,} broken lines; "
        f"kept in {kept.path}",
        quiet,
    )
    if stop.signal == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


def _tell_notes(lines: GrowingFile | Pipe) -> None:
    from glnn.cli.printing import tell

    while lines.notes:
        tell(lines.notes.pop(0))


def _read(follower: Follower, line: bytes, json: bool) -> None:
    """Read a line and print what surprises in it."""
    from glnn.cli.printing import print_json, tell
    from glnn.streams.events import BrokenLine

    kind = follower.streams.predictor.alphabet.kind
    try:
        for found in follower.read(line):
            if json:
                print_json(_document(found))
            else:
                typer.echo(_text(found, kind))
    except BrokenLine as why:
        if follower.tally.broken <= _TOLD_BROKEN:
            more = "; more of them are only counted" if follower.tally.broken == _TOLD_BROKEN else ""
            tell(f"line {follower.tally.lines:,} was skipped: {why}{more}")


def _text(found: Surprise, kind: str) -> str:
    from glnn.report.labels import label

    of_case = "" if found.key is None else f"case {found.key}: "
    likely = found.expected[0]
    expected = f"expected {label(likely.symbol, kind)} ({likely.probability:.2f})"
    return f"line {found.line:,}: {of_case}{expected}, got {label(found.symbol, kind)} ({found.bits:.1f} bits)"


def _document(found: Surprise) -> dict[str, Any]:
    from glnn.cli.score import plain

    expected = [{"symbol": plain(one.symbol), "probability": one.probability} for one in found.expected]
    case = {} if found.key is None else {"case": found.key}
    return {
        "line": found.line,
        **case,
        "symbol": plain(found.symbol),
        "bits": found.bits,
        "probability": found.probability,
        "expected": expected,
    }


class Kept:
    """The file that keeps the place in the log."""

    def __init__(self, path: Path, every: float) -> None:
        self.path, self._every = path, every
        self._due = time.monotonic() + every
        self._follower: Follower | None = None
        self._lines: GrowingFile | Pipe | None = None
        self._written = 0

    def of(self, follower: Follower, lines: GrowingFile | Pipe) -> None:
        """Set what is written from now on."""
        self._follower, self._lines, self._written = follower, lines, follower.tally.lines

    def now_and_then(self) -> None:
        """Write it when it is time to, and there is something new."""
        begun = time.monotonic()
        if self._follower is None or begun < self._due or self._follower.tally.lines == self._written:
            return
        self.write()
        spent = time.monotonic() - begun
        self._due = begun + spent + max(self._every, spent / _WRITING_SHARE if self._every else 0.0)

    def write(self) -> None:
        """Write it whole."""
        assert self._follower is not None and self._lines is not None
        streams, position = self._follower.streams, self._lines.position
        place = None if position is None else [*position]
        streams.more = {**streams.more, **self._follower.memory(), "position": place}
        # Surprises must be printed before the file says that they were.
        sys.stdout.flush()
        streams.save(self.path)
        self._written = self._follower.tally.lines


def _open(
    run: Path, file: Path, wanted: Wanted, changes: dict[str, str | None], kept: Kept, stop: Stop
) -> tuple[Follower, GrowingFile | Pipe]:
    """A follower, new or as it was left, and the lines that it reads."""
    from glnn.cli.inputs import sha256
    from glnn.cli.printing import tell
    from glnn.cli.run_folder import RunFolder, open_model
    from glnn.sequences.formats import as_in
    from glnn.streams.events import has_cases, parser_for
    from glnn.streams.follower import Follower, remembered
    from glnn.streams.growing_file import GrowingFile
    from glnn.streams.standard_input import Pipe
    from glnn.streams.threshold import Threshold

    model, reading = open_model(run)
    reading = as_in(reading, **changes)
    if reading.predict_after is None and run.is_dir() and "data_mask" in RunFolder(run).config().inputs:
        raise InputError(
            f"{run} was trained with a mask, and there is none for events to come: say with "
            "--predict-after which of them are to be predicted"
        )
    rate = wanted.false_alarms
    if wanted.threshold is None and rate is None:
        rate = _RATE
    threshold = Threshold(wanted.threshold, rate)
    whole = sha256(RunFolder(run).model if run.is_dir() else run)
    streams = _taken_up(kept.path, whole, wanted)
    memory = {} if streams is None else streams.more
    parser = parser_for(reading, memory.get("parser"))

    def stopped() -> bool:
        # Called whenever nothing new has come, so that what was read last is saved too.
        kept.now_and_then()
        return stop()

    before = None if streams is None else remembered(memory, threshold)
    lines: GrowingFile | Pipe
    if str(file) == "-":
        lines = Pipe(sys.stdin.fileno(), stopped)
    else:
        lines = GrowingFile(file, None if before is None else before.position, stopped, grows=not wanted.once)
    after = _known("--predict-after", reading.predict_after, model)
    last = _known("--last", wanted.last, model)
    if wanted.learn and last is None and has_cases(parser):
        tell(
            "a case is learned when it is over: --last ACTIVITY says with what; without it one is learned when it is "
            f"forgotten, as the one longest unused of more than {wanted.cases:,}"
        )
    if streams is None or before is None:
        most = wanted.cases if has_cases(parser) else 1
        streams = model.streams(learning="online" if wanted.learn else "frozen", most=most)
        streams.more = {"model": whole}
        counting = rate is not None and _count_normal(threshold, model, run, reading, wanted.normal)
        follower = Follower(streams, parser, threshold, counting, last, after=after)
    else:
        tell(f"{kept.path}: continuing after {before.tally.lines:,} lines")
        follower = Follower(
            streams, parser, threshold, before.counting, last, before.tally, after, before.due, before.course
        )
    kept.of(follower, lines)
    return follower, lines


def _known(option: str, symbol: str | None, model: SequenceModel) -> Any:
    """A symbol that an option names, as the lines have it; None if it names none."""
    base = model.alphabet_.base
    if symbol is None:
        return None
    known: Any = symbol
    if base.kind == "bytes" and len(symbol.encode()) == 1:
        known = symbol.encode()[0]
    elif base.kind == "integers" and symbol.lstrip("-").isdigit():
        known = int(symbol)
    if known not in base.codes:
        raise InputError(f"{option} is {symbol!r}, which is not a symbol of the model ({base.summary()})")
    return known


def _taken_up(path: Path, model: str, wanted: Wanted) -> Streams | None:
    """The saved streams, if there are any."""
    from glnn.estimators.streaming import load_streams

    if not path.exists():
        return None
    found = load_streams(path)
    if found.more.get("model") != model:
        raise InputError(f"{path} was kept for another model: remove it to start again, or name another with --state")
    if (found.learner is not None) != wanted.learn:
        how = "with" if found.learner is not None else "without"
        raise InputError(f"{path} was kept {how} --learn: continue that way, remove it, or name another with --state")
    return found


def _count_normal(
    threshold: Threshold, model: SequenceModel, run: Path, reading: ReadOptions, normal: Path | None
) -> bool:
    """Count normal events for the threshold; whether those that are followed are to be counted too."""
    from glnn.cli.alarms import event_bits, held_out_bits
    from glnn.cli.inputs import read
    from glnn.cli.printing import tell

    found = held_out_bits(model, run)
    if normal is not None:
        data = read(normal, reading)
        found = event_bits(model, data)
    threshold.count_many(found.tolist() if found is not None else ())
    if threshold.bits < float("inf"):
        return False
    number = 0 if found is None else found.size
    tell(
        f"{number:,} normal events are too few for the rate {threshold.rate:g} (--normal FILE gives others): "
        "those that are followed count too"
    )
    return True


def _beside(run: Path, file: Path) -> Path:
    """The default place: in the folder of the run, or next to the model file."""
    name = "standard-input" if str(file) == "-" else file.name
    return run / f"follow-{name}.state" if run.is_dir() else run.with_name(f"{run.name}-follow-{name}.state")
