"""Trainers: weights from candidates, or from a model while it translates. One file each, reading like its paper."""

from hopefear.trainers.base import Result, Trainer
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.registry import TRAINERS, find

__all__ = ["TRAINERS", "Corpus", "Result", "Task", "Trainer", "find"]
