"""Kill whatever writes, again and again, go on each time, and compare with one that was left alone.

Each task is done by a child that is forked after everything is imported and compiled, and is killed with SIGKILL: at a
random moment of its CPU time, or when a file is seen that is being written. After each kill every file that is there
must be whole; the task is then taken up, to be killed again, until it comes to its end, which must have the bits of the
task that was left alone. Each task is one line of JSON, written at once.

    python experiments/kill_runs.py --kills 1000              go on until so many kills are counted by this script
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import glnn
from glnn.cli import main as command
from glnn.codec.fingerprint import fingerprint
from glnn.sources import get
from glnn.storage.checkpoint import has_checkpoint, read_checkpoint
from glnn.storage.model_file import read_model_file
from glnn.training import all_data

RESULTS = Path(os.environ.get("GLNN_RESULTS", Path(__file__).parent / "results")) / "kill_runs.jsonl"
LOG = "case,step,who\n" + "".join(f"{n % 7},{step},{n}\n" for n in range(60) for step in ("open", "read", "close"))
SMALL = ("--units", "4", "--degree", "2", "--save-every", "0", "--quiet")
_MOST_KILLS_OF_ONE = 25


class Task(NamedTuple):
    """What is done (again, from what is there), what must be true after a kill, and what the end is known by."""

    work: Callable[[], None]
    check: Callable[[], None]
    end: Callable[[], Any]


def run(*arguments: object) -> None:
    """A command in this process."""
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        command([str(argument) for argument in arguments])


def training(*options: str) -> Task:
    """`glnn train`, and `glnn resume` when it has begun."""

    def work() -> None:
        if Path("run/config.json").exists():
            run("resume", "run", "--quiet")
        else:
            run("train", "data.txt", "--valid", "valid.txt", *options, *SMALL, "--seed", 3, "--run", "run", "--force")

    def check() -> None:
        if Path("run/model.safetensors").exists():
            glnn.load("run/model.safetensors")
        if Path("run").exists() and has_checkpoint(Path("run")):
            read_checkpoint(Path("run"))
        for name in ("config", "result"):
            if Path(f"run/{name}.json").exists():
                json.loads(Path(f"run/{name}.json").read_bytes())

    def end() -> Any:
        model: Any = glnn.load("run/model.safetensors")
        history = Path("run/history.jsonl")
        rows = [json.loads(line) for line in history.read_text().splitlines()] if history.exists() else []
        return fingerprint(model.predictor_), [{**row, "seconds": None} for row in rows]

    return Task(work, check, end)


def going_on() -> Task:
    """`glnn resume` where every member (each third held out other data) has had its turn, and goes on over all data.

    What came before is counted in seconds and can have no twin; from here on lengths follow from what is recorded.
    """
    place = Path(tempfile.mkdtemp())
    prepare(place)

    def until_then() -> None:
        all_data.go_on = lambda *_, **__: os._exit(0)  # type: ignore[assignment]
        # A checkpoint of all members at each of their steps would take a minute.
        options = ("--members", 4, "--units", 4, "--degree", 2, "--budget", "2s", "--save-every", 0.1, "--quiet")
        run("train", "data.txt", "--valid", "more.txt", *options, "--seed", 3, "--run", "run")

    os.waitpid(forked(until_then, place), 0)
    assert has_checkpoint(place / "run") and not (place / "run/result.json").exists()
    task = training()

    def work() -> None:
        if not Path("run").exists():
            shutil.rmtree("run.new", ignore_errors=True)
            shutil.copytree(place / "run", "run.new")
            Path("run.new").rename("run")
        run("resume", "run", "--quiet")

    def end() -> Any:
        model: Any = glnn.load("run/model.safetensors")
        return fingerprint(model.predictor_), len(model.members_)

    return Task(work, task.check, end)


def reading_on(make: Callable[[], Any]) -> Task:
    """`partial_fit` and `save` after each of eight pieces; how far it is stands in the file of a model beside."""
    pieces = [get("music").sample(3, seed).text for seed in range(8)]

    def done() -> int:
        return int(Path("done").read_text()) if Path("done").exists() else 0

    def work() -> None:
        model = glnn.load("model") if Path("model").exists() else make()
        # What was saved may be one piece further than what was noted.
        first = done() + (Path("model").exists() and int(read_model_file("model")[1]["fitted"]["seed_"]) > done())
        for k in range(first, len(pieces)):
            model.partial_fit(pieces[k])
            model.seed_ = k + 1
            model.save("model")
            _write("done", str(k + 1))

    def check() -> None:
        if Path("model").exists():
            glnn.load("model")

    return Task(work, check, lambda: fingerprint(glnn.load("model").predictor_))


def _write(name: str, text: str) -> None:
    Path(f"{name}.new").write_text(text)
    Path(f"{name}.new").replace(name)


def streaming(make: Callable[[], Any], most: int = 4) -> Task:
    """A group of streams that learns, saved after every sixth event with how far it is."""
    events = [(n % 5, "abc"[(n * n) % 3]) for n in range(120)]

    def work() -> None:
        streams = (
            glnn.load_streams("streams") if Path("streams").exists() else make().streams(learning="online", most=most)
        )
        for k in range(int(streams.more.get("done", 0)), len(events)):
            streams.push(*events[k])
            if k % 17 == 16:
                streams.end(events[k][0])
            if k % 6 == 5:
                streams.more = {"done": k + 1}
                streams.save("streams")

    def check() -> None:
        if Path("streams").exists():
            glnn.load_streams("streams")

    def end() -> Any:
        streams = glnn.load_streams("streams")
        return [(key, streams[key].bits, streams[key].predict(3)) for key in list(streams)], streams.more

    return Task(work, check, end)


def following() -> Task:
    """`glnn follow`, which writes after every line; after a kill some is told twice, nothing is left out."""

    def work() -> None:
        with Path("told").open("a") as out, contextlib.redirect_stdout(out):
            run(
                "follow", "events.model", "log.csv", "--once", "--learn", "--threshold", 2, "--state", "state",
                "--save-every", 0, "--format", "csv", "--case", "case", "--activity", "step", "--json", "--quiet",
            )  # fmt: skip

    def check() -> None:
        if Path("state").exists():
            glnn.load_streams("state")

    def end() -> Any:
        # A kill can cut a line that was being told; it is told again, whole, on the next start.
        told = {line for line in Path("told").read_text().splitlines() if line.endswith("}") and line.startswith("{")}
        more = {
            name: value for name, value in glnn.load_streams("state").more.items() if name not in ("position", "model")
        }
        return sorted(line for line in told if _is_json(line)), more

    return Task(work, check, end)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def packing(*model: str, data: str = "data.txt") -> Task:
    """`glnn compress` and `glnn decompress`: a result is whole, or not there."""

    def work() -> None:
        run("compress", *model, data, "packed", "--json", "--force")
        run("decompress", *model, "packed", "again.txt", "--json", "--force")

    def check() -> None:
        if Path("again.txt").exists():
            assert Path("again.txt").read_bytes() == Path(data).read_bytes()
        if Path("packed").exists():
            run("decompress", *model, "packed", "checked.txt", "--json", "--force")
            assert Path("checked.txt").read_bytes() == Path(data).read_bytes()

    return Task(work, check, lambda: (Path("packed").read_bytes(), Path("again.txt").read_bytes()))


def reporting() -> Task:
    """`glnn report`: the page is whole, or not there."""
    place = Path(tempfile.mkdtemp())
    prepare(place)
    with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
        run("train", "data.txt", "--model", "contexttree", "--run", "run", "--quiet")

    def work() -> None:
        run("report", place / "run", "--data", "data.txt", "--out", "page.html", "--force", "--json")

    def check() -> None:
        if Path("page.html").exists():
            assert Path("page.html").read_text().rstrip().endswith("</html>")

    # The page says in which minute it was made.
    return Task(work, check, lambda: re.sub(r"\d\d:\d\d, glnn", "", Path("page.html").read_text()))


def reproducing() -> Task:
    """`glnn reproduce xor`: what is there is not run again."""

    def work() -> None:
        run(
            "reproduce",
            "xor",
            "--lines",
            5,
            "--steps",
            2,
            "--seeds",
            2,
            "--limit",
            4,
            "--out",
            "out",
            "--quiet",
            "--json",
        )

    def check() -> None:
        path = Path("out/xor.jsonl")
        for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
            json.loads(line)

    def end() -> Any:
        lines = [json.loads(line) for line in Path("out/xor.jsonl").read_text().splitlines()]
        # The commit of the sources changes when somebody works on them: every start reads it again.
        kept = [
            {name: value for name, value in line.items() if "second" not in name and name not in ("when", "commit")}
            for line in lines
        ]
        return sorted(json.dumps(_without_times(line), sort_keys=True) for line in kept)

    return Task(work, check, end)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(part) for name, part in value.items() if "second" not in name}
    return [_without_times(part) for part in value] if isinstance(value, list) else value


def tasks() -> dict[str, Task]:
    """Everything that writes."""
    network = {"units": 3, "degree": 2, "budget": "2 steps", "random_state": 0, "verbose": 0}
    cases = [list("abc"), list("acb"), list("cab")] * 6
    models = {
        "tree": glnn.ContextTree(depth=3, verbose=0).fit(cases),
        "GLNN": glnn.GLNN(restarts=1, **network).fit(cases),
        "mixture": glnn.Mixture(networks=1, budget="2 steps", random_state=0, verbose=0).fit(cases * 8),
    }
    return {
        "train, recipe paper, two starts": training("--recipe", "paper", "--restarts", "2", "--budget", "12 steps"),
        "train, recipe best, two members": training("--members", "2", "--budget", "8 steps"),
        "train, mixture": training_mixture(),
        "train, going on over all data": going_on(),
        "train, RNN": training("--model", "rnn", "--recipe", "paper", "--restarts", "1", "--budget", "10 steps"),
        "partial_fit, network": reading_on(
            lambda: glnn.GLNN(restarts=1, **network, unknown="escape", alphabet=ALPHABET)
        ),
        "partial_fit, mixture": reading_on(
            lambda: glnn.Mixture(networks=0, verbose=0, random_state=0, alphabet=ALPHABET)
        ),
        "streams, tree": streaming(lambda: models["tree"]),
        "streams, network": streaming(lambda: models["GLNN"]),
        "streams, mixture": streaming(lambda: models["mixture"]),
        "follow": following(),
        "compress alone": packing(),
        "compress a log alone": packing(data="log.csv"),
        "report": reporting(),
        "train, mixture of cases": training_mixture(
            "log.csv", "--format", "csv", "--case", "case", "--activity", "step"
        ),
        "train, folds": training("--members", "3", "--folds", "--budget", "6 steps"),
        "streams, few at a time": streaming(lambda: models["mixture"], most=2),
        "compress with a model": packing("letters.model"),
        "reproduce": reproducing(),
    }


def training_mixture(data: str = "data.txt", *reading: str) -> Task:
    """A mixture is read again from the beginning; its file is there whole, or not."""
    task = training()

    def work() -> None:
        begun = Path("run/config.json").exists()
        options = (
            "--model",
            "mixture",
            "--networks",
            1,
            "--budget",
            "4 steps",
            "--seed",
            3,
            "--save-every",
            0,
            "--force",
        )
        run(*(("resume", "run") if begun else ("train", data, *reading, *options, "--run", "run")), "--quiet")

    return Task(work, task.check, lambda: fingerprint(glnn.load("run/model.safetensors").predictor_))


ALPHABET = sorted(set(get("music").sample(200, 1).text))


def prepare(folder: Path) -> None:
    """What the tasks are given."""
    music = get("music")
    (folder / "data.txt").write_text(music.sample(80, 4).text)
    (folder / "valid.txt").write_text(music.sample(8, 5).text)
    (folder / "more.txt").write_text(music.sample(30, 7).text)
    (folder / "log.csv").write_text(LOG)
    glnn.ContextTree(depth=2, verbose=0).fit([["open", "read", "close"]] * 12).save(folder / "events.model")
    glnn.ContextTree(depth=3, verbose=0).fit(music.sample(30, 6).text).save(folder / "letters.model")


def forked(work: Callable[[], None], folder: Path) -> int:
    """A child that does the work in a folder."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.chdir(folder)
            work()
            code = 0
        except BaseException as fault:
            print(f"the child failed: {type(fault).__name__}: {fault}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return child


def cpu_seconds(child: int) -> float:
    """What a child has used so far."""
    try:
        return int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        return float("inf")


def unfinished(folder: Path) -> set[str]:
    """The files that are not whole yet, or were left so by a kill."""
    return {name for _, _, names in os.walk(folder) for name in names if name.endswith(".part")}


def kill_once(work: Callable[[], None], folder: Path, whole: float, generator: random.Random) -> str:
    """Start the work and kill it; gives when it was killed, or that it came to its end."""
    left = unfinished(folder)
    child, at = forked(work, folder), generator.uniform(0.0, 1.1 * whole)
    on_writing, when = generator.random() < 0.4, "at a moment"
    if on_writing:
        at = min(at, 0.5 * whole)
    while True:
        ended, status, _ = os.wait4(child, os.WNOHANG)
        if ended:
            return "failed" if status else "came to its end"
        if cpu_seconds(child) >= at and (not on_writing or unfinished(folder) - left):
            break
        time.sleep(0.0003 if on_writing else 0.001)
    if on_writing:
        when = "while writing"
        time.sleep(generator.uniform(0.0, 0.003))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return when
    return "failed" if status else "came to its end"


def killed(name: str, task: Task, end: Any, whole: float, generator: random.Random) -> dict[str, Any]:
    """One task, killed until it comes to its end in spite of it."""
    counts: dict[str, int] = {"at a moment": 0, "while writing": 0}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        while sum(counts.values()) < _MOST_KILLS_OF_ONE:
            ended = kill_once(task.work, folder, whole, generator)
            if ended == "failed":
                raise SystemExit(f"{name} failed by itself")
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                task.check()
            if ended == "came to its end":
                break
            counts[ended] += 1
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            task.work()
            found = task.end()
    if not (same := found == end):
        print(f"{name} ended in\n{found}\nand not in\n{end}", file=sys.stderr, flush=True)
    return {"task": name, "kills": sum(counts.values()), **counts, "same_bits": same, "version": glnn.__version__}


def whole_task(task: Task) -> tuple[Any, float]:
    """The end of a task that is left alone, and the CPU seconds that it takes when everything is compiled."""
    with tempfile.TemporaryDirectory() as place:
        for folder in (Path(place) / "first", Path(place) / "second"):
            folder.mkdir()
            prepare(folder)
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                begun = time.process_time()
                task.work()
                seconds = time.process_time() - begun
                end = task.end()
            shutil.rmtree(folder)
    return end, seconds


def read() -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    return [line for line in lines if "task" in line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how many kills are wanted in all")
    parser.add_argument("--task", nargs="+", help="only these")
    options = parser.parse_args()
    os.environ.pop("GLNN_TRACEBACK", None)
    RESULTS.parent.mkdir(exist_ok=True)
    chosen = {name: task for name, task in tasks().items() if options.task is None or name in options.task}
    known = {name: whole_task(task) for name, task in chosen.items()}
    print({name: round(seconds, 2) for name, (_, seconds) in known.items()}, file=sys.stderr, flush=True)
    while sum(line["kills"] for line in read()) < options.kills:
        for name, task in chosen.items():
            end, seconds = known[name]
            found = read()
            result = killed(name, task, end, seconds, random.Random(len(found)))
            used = sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
            with RESULTS.open("a") as out:
                out.write(json.dumps(result) + "\n")
            print(json.dumps({**result, "cpu_seconds_so_far": round(used)}), file=sys.stderr, flush=True)
    lines = read()
    same = all(line["same_bits"] for line in lines)
    print(f"{sum(line['kills'] for line in lines)} kills in {len(lines)} tasks; same bits: {same}")


if __name__ == "__main__":
    main()
