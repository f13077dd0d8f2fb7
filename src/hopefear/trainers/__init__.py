"""Trainers: weights from candidates. One file each, reading like its paper."""

from __future__ import annotations

from hopefear.errors import InputError
from hopefear.trainers.base import Problem, Result, Trainer
from hopefear.trainers.batch.cmira import Cmira
from hopefear.trainers.batch.kbmira import Kbmira
from hopefear.trainers.batch.logloss import Logloss
from hopefear.trainers.batch.mert import Mert
from hopefear.trainers.batch.minrisk import Minrisk
from hopefear.trainers.batch.pa import Pa
from hopefear.trainers.batch.perceptron import Perceptron
from hopefear.trainers.batch.pro import Pro
from hopefear.trainers.batch.rampion import Rampion

TRAINERS: dict[str, type[Trainer]] = {
    trainer.name: trainer for trainer in (Mert, Pro, Kbmira, Cmira, Rampion, Minrisk, Logloss, Perceptron, Pa)
}

__all__ = [
    "TRAINERS",
    "Cmira",
    "Kbmira",
    "Logloss",
    "Mert",
    "Minrisk",
    "Pa",
    "Perceptron",
    "Pro",
    "Problem",
    "Rampion",
    "Result",
    "Trainer",
    "trainer",
]


def trainer(name: str) -> type[Trainer]:
    """A trainer's class by its name."""
    if name not in TRAINERS:
        raise InputError(f"there is no trainer {name}. Choose one of {', '.join(TRAINERS)}")
    return TRAINERS[name]
