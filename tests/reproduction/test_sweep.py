"""Each finished run is a line at once; nothing is lost or written twice, whatever dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from reproduction import stand_ins

from glnn.reproduction.processes import run_in_processes
from glnn.reproduction.results import appending, read_lines
from glnn.reproduction.settings import from_json
from glnn.reproduction.sweep import expected_seconds, sweep, told


def seeds_in(path: Path) -> list[int]:
    return [json.loads(text)["setting"]["seed"] for text in path.read_text().splitlines()]


def here(settings):
    """A runner without processes."""
    for setting in settings:
        yield setting, stand_ins.line(setting), ""


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    sweep(stand_ins.settings(2), path, here)
    ran = []

    def runner(settings):
        ran.extend(settings)
        return here(settings)

    standing = sweep(stand_ins.settings(4), path, runner)
    assert [setting.seed for setting in ran] == [2, 3]
    assert seeds_in(path) == [0, 1, 2, 3] and (standing.done, standing.wanted) == (4, 4)


def test_a_line_is_there_as_soon_as_its_run_is_done(tmp_path: Path) -> None:
    path, seen = tmp_path / "table.jsonl", []
    sweep(stand_ins.settings(3), path, here, lambda standing: seen.append((standing.done, len(seeds_in(path)))))
    assert seen == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_a_line_cut_short_is_not_read_and_its_run_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    sweep(stand_ins.settings(2), path, here)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert [from_json(line["setting"]).seed for line in read_lines(path)] == [0]
    sweep(stand_ins.settings(3), path, here)
    assert sorted(from_json(line["setting"]).seed for line in read_lines(path)) == [0, 1, 2]


def test_a_run_that_comes_in_twice_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    standing = sweep(stand_ins.settings(2), path, lambda settings: here([*settings, *settings]))
    assert seeds_in(path) == [0, 1] and standing.done == 2


def test_ctrl_c_leaves_what_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"

    def runner(settings):
        yield from list(here(settings))[:1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(stand_ins.settings(2), path, runner)
    assert seeds_in(path) == [0]


def test_two_sweeps_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    with appending(path), pytest.raises(ValueError, match=r"another process is writing to .*table\.jsonl"):
        sweep(stand_ins.settings(1), path, here)


def test_processes_do_the_work_and_a_killed_one_loses_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(stand_ins.FOLDER, str(tmp_path))
    path = tmp_path / "table.jsonl"
    standing = sweep(stand_ins.settings(5), path, partial(run_in_processes, workers=2, work=stand_ins.dies_once))
    assert (tmp_path / "died").exists()
    assert sorted(seeds_in(path)) == [0, 1, 2, 3, 4] and not standing.failed
    assert os.getpid() not in {json.loads(text)["process"] for text in path.read_text().splitlines()}


def test_a_setting_that_always_kills_its_process_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    standing = sweep(stand_ins.settings(2), path, partial(run_in_processes, workers=1, work=stand_ins.always_dies))
    assert seeds_in(path) == [1]
    assert [(setting.seed, "died 3 times" in problem) for setting, problem in standing.failed] == [(0, True)]


def test_a_setting_that_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    standing = sweep(stand_ins.settings(2), path, partial(run_in_processes, workers=1, work=stand_ins.fails))
    assert seeds_in(path) == [1]
    assert standing.failed[0][1] == "ValueError: seed 0 does not please me"


def test_a_process_leaves_when_the_one_that_started_it_is_killed(tmp_path: Path) -> None:
    code = (
        "from reproduction import stand_ins\n"
        "from glnn.reproduction.processes import run_in_processes\n"
        "if __name__ == '__main__':\n"
        "    list(run_in_processes(stand_ins.settings(1), 1, stand_ins.leaves_a_mark))\n"
    )
    (tmp_path / "parent.py").write_text(code)
    tests = Path(__file__).parents[1]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tests), *sys.path]),
        stand_ins.FOLDER: str(tmp_path),
    }
    parent = subprocess.Popen([sys.executable, str(tmp_path / "parent.py")], env=environment)
    deadline = time.monotonic() + 60
    while not (marks := list(tmp_path.glob("begun-*"))):
        assert time.monotonic() < deadline and parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    child = int(marks[0].name.split("-")[2])
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(child, 0)
            time.sleep(0.05)


def test_time_left_counts_what_settings_are_expected_to_take(tmp_path: Path) -> None:
    left = []
    sweep(stand_ins.settings(4), tmp_path / "t.jsonl", here, lambda standing: left.append(standing.seconds_left))
    assert left[0] is None and left[-1] == 0.0 and all(value >= 0 for value in left[1:])
    one = stand_ins.settings(1)[0]
    assert expected_seconds(from_json({**vars(one), "budget": "54s"})) > expected_seconds(one)
    assert [told(seconds) for seconds in (12.3, 600, 36000)] == ["12 s", "10 min", "10.0 h"]


def test_a_sweep_without_a_line_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.jsonl"
    with pytest.raises(ValueError, match="no such cluster"), appending(path):
        raise ValueError("no such cluster")
    assert not path.exists()
    with appending(path) as file:
        file.append({"a": 1})
    with appending(path):
        pass
    assert path.read_text() == '{"a": 1}\n'
