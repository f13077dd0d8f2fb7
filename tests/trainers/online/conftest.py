from pathlib import Path

import pytest

from hopefear.decode import Hiero
from hopefear.model.directory import Model
from tests.trainers.online.models import write_task


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("task")
    write_task(folder)
    return folder


@pytest.fixture(scope="session")
def decoder(task: Path) -> Hiero:
    return Hiero(Model.open(task / "model"), pop_limit=20, templates=("lex",))
