"""Training runs: what ``hopefear tune`` and ``hopefear train`` do, for Python.

from hopefear.train import TrainConfig, TuneConfig, online, tune

Names are loaded when they are first used: ``tune`` needs no decoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.util import lazy

_PUBLIC = {
    "TrainConfig": "hopefear.train.training",
    "Trained": "hopefear.train.training",
    "TuneConfig": "hopefear.train.tuning",
    "Tuned": "hopefear.train.tuning",
    "online": "hopefear.train.training",
    "tune": "hopefear.train.tuning",
}

__all__ = list(_PUBLIC)

if TYPE_CHECKING:
    from hopefear.train.training import TrainConfig as TrainConfig, Trained as Trained, online as online
    from hopefear.train.tuning import TuneConfig as TuneConfig, Tuned as Tuned, tune as tune

__getattr__ = lazy.attributes(__name__, _PUBLIC)
