"""Online training on forests: hope and fear (Chiang 2012)."""

from __future__ import annotations

from hopefear.trainers.online.base import ONLINE, Arow, Mira, Online, OnlineMinrisk, OnlinePerceptron, Sgd
from hopefear.trainers.online.job import Corpus, Trained, train

__all__ = [
    "ONLINE",
    "Arow",
    "Corpus",
    "Mira",
    "Online",
    "OnlineMinrisk",
    "OnlinePerceptron",
    "Sgd",
    "Trained",
    "train",
]
