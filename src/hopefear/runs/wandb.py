"""A run in Weights & Biases: settings, the scores of each epoch, the final scores.

Where it goes is what its own variables say: ``WANDB_PROJECT`` (``hopefear``), ``WANDB_MODE=offline``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from hopefear.runs.tracking import Tracker, needed


class Wandb(Tracker):
    """By the run that ``wandb.init`` returns."""

    name: ClassVar[str] = "wandb"

    def __init__(self) -> None:
        self.wandb: Any = needed("wandb")
        self.run: Any = None

    def begin(self, title: str, settings: Mapping[str, Any]) -> None:
        project = os.environ.get("WANDB_PROJECT", "hopefear")
        quiet = self.wandb.Settings(silent=True)
        self.run = self.wandb.init(project=project, name=title, config=dict(settings), settings=quiet)

    def scores(self, epoch: int, scores: Mapping[str, float]) -> None:
        self.run.log({"epoch": epoch, **scores})

    def end(self, scores: Mapping[str, float], files: Sequence[Path], done: bool) -> None:
        self.run.summary.update(dict(scores))
        for file in files:
            self.run.save(str(file), base_path=str(file.parent))
        self.run.finish(exit_code=0 if done else 1)
