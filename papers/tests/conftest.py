"""Where experiments work in tests: what one has computed, the next finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear_papers import Lab


@pytest.fixture(scope="session")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="session")
def lab(out: Path) -> Lab:
    return Lab(out, size="tiny", jobs=2)
