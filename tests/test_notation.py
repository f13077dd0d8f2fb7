"""docs/notation.md and docs/audit.md name files that are there, and the map every trainer."""

import re
from pathlib import Path

import pytest

from hopefear.trainers import TRAINERS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
AUDIT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
FILES = sorted({name for name in re.findall(r"`([\w/.]+)`", TEXT + AUDIT) if "/" in name})


@pytest.mark.parametrize("name", FILES)
def test_files_are_there(name: str) -> None:
    where = ROOT if name.startswith(("core/", "tests/", "src/", "papers/")) else ROOT / "src" / "hopefear"
    assert (where / name).exists()


def test_every_trainer_is_on_the_map() -> None:
    for trainer in TRAINERS:
        file = trainer.__module__.replace("hopefear.", "").replace(".", "/") + ".py"
        assert f"`{file}`" in TEXT
