"""A model that was built once, for all tests that only look at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear.model.builder import build
from hopefear.model.directory import Model
from tests.model.parallel_files import DATA, NONE, write


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = DATA.pairs(500)
    write(folder / "f", [pair.source for pair in pairs])
    write(folder / "e", [pair.target for pair in pairs])
    clean = DATA.pairs(300, noise=0)
    write(folder / "clean.f", [pair.source for pair in clean])
    write(folder / "clean.e", [pair.target for pair in clean])
    write(folder / "clean.a", [" ".join(f"{s}-{t}" for s, t in pair.links) for pair in clean])
    write(folder / "test.f", [pair.source for pair in DATA.pairs(5, stream=1)])
    return folder


@pytest.fixture(scope="session")
def model_path(corpus: Path) -> Path:
    build(corpus / "f", corpus / "e", corpus / "model", NONE, lm_text=[corpus / "clean.e"])
    return corpus / "model"


@pytest.fixture(scope="session")
def model(model_path: Path) -> Model:
    return Model.open(model_path)
