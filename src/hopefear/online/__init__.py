"""Online training on forests: hope and fear (Chiang 2012)."""

from __future__ import annotations

from hopefear.online.job import Corpus, Trained, train
from hopefear.online.trainers import ONLINE, Arow, Mira, Online, OnlineMinrisk, OnlinePerceptron, Sgd

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
