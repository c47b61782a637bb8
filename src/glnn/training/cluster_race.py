"""Random starts that train on the workers of a Dask cluster, each on one of them, and come back with their share spent.

`fit(…, cluster=client)`: what is learned is what this machine would learn in as many steps; CPU seconds are those of
the workers. Steps are told when a start comes back. A worker that is lost has its start trained again by another. Dask
runs whatever code its clients send: trusted networks only.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from glnn.training.budget import Budget, charged_alone
from glnn.training.race import Listener, Run, Together, limits_of
from glnn.training.records import Progress, StepInfo
from glnn.training.trainer import Trainer

Given = Callable[[Run], tuple[Callable[..., Trainer], tuple[Any, ...]]]
"""What makes the trainer of a run, and what it is called with; the second of these are the training data."""
Told = Callable[[Run, StepInfo, Trainer], Any]


def on_cluster(client: Any, given: Given, told: Told | None = None) -> Together:
    """Trains runs together on the cluster of a `distributed.Client`; `told` hears of every step."""
    data_there: dict[int, Any] = {}

    def together(
        runs: Sequence[Run], share: dict[str, float], trainer: Callable[[Run], Trainer], listener: Listener
    ) -> bool:
        from distributed import as_completed

        run_of: dict[str, Run] = {}
        futures = []
        for run in runs:
            kind, (model, data, *rest) = given(run)
            if id(data) not in data_there:
                data_there[id(data)] = client.scatter(data, broadcast=True)
            key = f"glnn-start-{uuid.uuid4().hex}"
            arguments = (kind, limits_of(run, share), model, data_there[id(data)], *rest)
            futures.append(client.submit(_train_there, *arguments, key=key, pure=False))
            run_of[key] = run
        try:
            for future in as_completed(futures, loop=client.loop):
                run = run_of[future.key]
                known = 0 if run.progress is None else run.progress.step
                run.progress = future.result()
                # A trainer that stands where the worker's stood, for who wants to look at it.
                source = trainer(run)
                stops = []
                for info in run.progress.history[known:]:
                    if told is not None:
                        told(run, info, source)
                    stops.append(listener(run, info, source))
                if any(stops):
                    run.progress.reason = "callback"
                    return True
        finally:
            client.cancel(futures)
        return False

    return together


def _train_there(kind: Callable[..., Trainer], limits: Budget, *arguments: Any) -> Progress:
    """On a worker: train until the limits are reached."""
    with charged_alone():
        return kind(*arguments).run(limits)
