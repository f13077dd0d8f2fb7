"""Trainers: weights from candidates, or from a model while it translates. One file each, reading like its paper."""

from typing import Any

from hopefear.trainers import registry
from hopefear.trainers.base import Result, Trainer
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.registry import find

__all__ = ["TRAINERS", "Corpus", "Result", "Task", "Trainer", "find"]

TRAINERS: tuple[type[Trainer], ...]  # all of them, which takes a moment: when they are asked for


def __getattr__(name: str) -> Any:
    if name == "TRAINERS":
        return registry.TRAINERS
    raise AttributeError(f"module 'hopefear.trainers' has no attribute {name!r}")
