"""A real cluster of workers in other processes, one of which is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from reproduction import stand_ins

from glnn.reproduction.cluster import run_on_cluster
from glnn.reproduction.sweep import sweep
from glnn.sequences import InputError

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def cluster(folder: Path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(stand_ins.FOLDER, str(folder))
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=folder / "dask"
        ) as cluster:
            yield cluster


def waited_for(folder: Path, count: int) -> list[Path]:
    """The marks of settings that are being worked at, once there are so many."""
    deadline = time.monotonic() + 60
    while len(marks := sorted(folder.glob("begun-*"))) < count:
        assert time.monotonic() < deadline, "the cluster did not begin"
        time.sleep(0.02)
    return marks


def test_a_killed_worker_loses_nothing_and_nothing_counts_twice(cluster, folder: Path) -> None:
    path, standings = folder / "table.jsonl", []

    def work() -> None:
        runner = lambda settings: run_on_cluster(settings, cluster.scheduler_address, stand_ins.leaves_a_mark)  # noqa: E731
        standings.append(sweep(stand_ins.settings(6), path, runner))

    thread = threading.Thread(target=work)
    thread.start()
    victim = waited_for(folder, 2)[0].name
    _, seed, process = victim.split("-")
    assert int(process) != os.getpid()
    os.kill(int(process), signal.SIGKILL)
    (folder / "go").touch()
    thread.join(90)
    assert not thread.is_alive()
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    assert sorted(line["setting"]["seed"] for line in lines) == [0, 1, 2, 3, 4, 5]
    again = next(line for line in lines if line["setting"]["seed"] == int(seed))
    assert again["process"] != int(process)
    assert standings[0].done == 6 and not standings[0].failed


def test_a_setting_that_fails_on_the_cluster_is_told(cluster) -> None:
    found = {
        setting.seed: (line, problem)
        for setting, line, problem in run_on_cluster(stand_ins.settings(2), cluster, stand_ins.fails)
    }
    assert found[0] == (None, "ValueError: seed 0 does not please me")
    assert found[1][0]["regret"] == 101.0


def test_no_scheduler_is_told_in_one_line(monkeypatch) -> None:
    monkeypatch.setattr("glnn.reproduction.cluster._CONNECTING", 0.5)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(run_on_cluster(stand_ins.settings(1), "tcp://127.0.0.1:9"))
