"""Tests that every trainer takes."""

import pytest

import hopefear as hf
from hopefear.trainers import TRAINERS

# Fewer rounds where the defaults take long; nothing else depends on the trainer.
FEW = {"mert": {"restarts": 2, "kicks": 1}, "cmira": {"epochs": 60}, "kbmira": {"passes": 15}}

every_trainer = pytest.mark.parametrize("name", TRAINERS)


def make(name: str, **options: object) -> hf.trainers.Trainer:
    return TRAINERS[name](**(FEW.get(name, {}) | options))
