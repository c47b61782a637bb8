"""Running the settings of `glnn reproduce` that are missing, in processes or on a cluster, with progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glnn.cli.printing import ProgressLine, tell
from glnn.reproduction.settings import Setting
from glnn.reproduction.sweep import Standing, sweep, told


def run_missing(
    wanted: Sequence[Setting], path: Path, workers: int | None, cluster: str | None, quiet: bool
) -> tuple[bool, list[tuple[Setting, str]]]:
    """Run what is missing; whether Ctrl-C ended it, and what failed."""
    from glnn.reproduction.processes import run_in_processes
    from glnn.training.parallel import cores

    progress = _Told(quiet)

    def runner(settings: Sequence[Setting]) -> Any:
        if cluster is None:
            return run_in_processes(settings, min(workers or cores(), max(len(settings), 1)))
        from glnn.reproduction.cluster import run_on_cluster

        return run_on_cluster(settings, cluster)

    try:
        standing = sweep(wanted, path, runner, progress)
    except KeyboardInterrupt:
        progress.close()
        tell("glnn: interrupted; all finished runs are in the file, and the same command continues from there", quiet)
        return True, []
    progress.close()
    for setting, problem in standing.failed:
        tell(f"failed: {setting}: {problem}", quiet)
    return False, standing.failed


class _Told:
    """Progress: how many settings are done, the time left, and each result as it comes."""

    def __init__(self, quiet: bool) -> None:
        self._line = ProgressLine(quiet)

    def __call__(self, standing: Standing) -> None:
        left = "" if standing.seconds_left is None else f", about {told(standing.seconds_left)} left"
        text = f"{standing.done} of {standing.wanted} runs{left}"
        if standing.last is not None and standing.line is not None:
            found = standing.line.get("regret")
            outcome = "" if found is None else f": {found:,.1f} bits of regret"
            text = f"{text}; {standing.last}{outcome}"
        self._line.update(standing.fraction, text, new=True)

    def close(self) -> None:
        self._line.close()
