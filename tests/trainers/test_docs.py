"""The page on trainers: its example runs, and it names every trainer, option and loss there is."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hopefear import _core
from hopefear.trainers.base import Trainer
from hopefear.trainers.batch.base import BatchTrainer
from tests.trainers.every import every_batch_trainer

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "trainers.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "docs/trainers.md", "exec"), names)
    assert names["result"].score > names["result"].initial_score
    assert (tmp_path / "lists" / "weights.txt").is_file()


@every_batch_trainer
def test_every_option_is_on_the_page(trainer: type[Trainer]) -> None:
    section = PAGE.split(f"\n## {trainer.name}\n")[1].split("\n## ")[0]
    for part in ("What it optimises", "When", "Options", "Paper", "Deviations"):
        assert f"**{part}.**" in section
    shared = {each.name for each in fields(BatchTrainer)}
    inherited = {each.name for each in fields(trainer.__mro__[1])}
    for each in fields(trainer):
        if each.name not in shared | inherited:
            assert f"`{each.name}`" in section, each.name


def test_every_loss_is_on_the_page() -> None:
    assert all(f"`{loss}`" in PAGE for loss, _ in _core.loss_names())
