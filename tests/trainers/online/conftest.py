from pathlib import Path

import pytest

from hopefear.decode import Hiero
from hopefear.model.directory import Model


@pytest.fixture(scope="session")
def decoder(task: Path) -> Hiero:
    return Hiero(Model.open(task / "model"), pop_limit=20, templates=("lex",))
