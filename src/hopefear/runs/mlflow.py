"""A run in MLflow: parameters, the scores of each epoch, the final scores, weights and record.

Where it goes is what MLflow's own variables say: ``MLFLOW_TRACKING_URI``, ``MLFLOW_EXPERIMENT_NAME`` (``hopefear``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from hopefear.runs.tracking import Tracker, needed

TOGETHER, LONGEST = 100, 6000  # parameters in a request, signs in a parameter


class Mlflow(Tracker):
    """By MLflow's client, which leaves a run that the user began alone."""

    name: ClassVar[str] = "mlflow"

    def __init__(self) -> None:
        needed("mlflow")
        from mlflow.tracking import MlflowClient

        if os.environ.get("MLFLOW_TRACKING_URI", "").startswith("file:"):  # MLflow 3 also needs this variable
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        self.client: Any = MlflowClient()
        self.run: Any = None

    def begin(self, title: str, settings: Mapping[str, Any]) -> None:
        from mlflow.entities import Param

        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "hopefear")
        known = self.client.get_experiment_by_name(name)
        experiment = known.experiment_id if known is not None else self.client.create_experiment(name)
        self.run = self.client.create_run(experiment, run_name=title).info.run_id
        parameters = [Param(key, str(value)[:LONGEST]) for key, value in settings.items()]
        for first in range(0, len(parameters), TOGETHER):
            self.client.log_batch(self.run, params=parameters[first : first + TOGETHER])

    def scores(self, epoch: int, scores: Mapping[str, float]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        self.client.log_batch(self.run, [Metric(name, value, now, epoch) for name, value in scores.items()])

    def end(self, scores: Mapping[str, float], files: Sequence[Path], done: bool) -> None:
        self.scores(0, scores)
        for file in files:
            self.client.log_artifact(self.run, str(file))
        self.client.set_terminated(self.run, "FINISHED" if done else "KILLED")
