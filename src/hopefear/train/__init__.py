"""Training runs: what ``hopefear tune`` and ``hopefear train`` do, for Python.

from hopefear.train import TrainConfig, TuneConfig, online, tune
"""

from hopefear.train.training import TrainConfig, Trained, online
from hopefear.train.tuning import TuneConfig, Tuned, tune

__all__ = ["TrainConfig", "Trained", "TuneConfig", "Tuned", "online", "tune"]
