"""A small translator from German to English, built once, and copies of it to correct."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hopefear.model.builder import build
from hopefear.model.directory import Model
from hopefear.model.options import BuildOptions
from hopefear.translator.folder import write_card
from hopefear.translator.translator import Translator

NOUNS = [("Haus", "house"), ("Tor", "gate"), ("Brot", "loaf"), ("Pferd", "horse"), ("Boot", "boat"), ("Glas", "glass")]
ADJECTIVES = [("rotes", "red"), ("altes", "old"), ("großes", "big"), ("kleines", "small"), ("neues", "new")]
ENDS = [
    ("steht hier", "stands here"),
    ("gehört dem Kunden", "belongs to the customer"),
    ("kostet zwei Euro", "costs two euros"),
    ("ist wichtig", "is important"),
]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed: tests share it."""
    path = tmp_path_factory.mktemp("translator")
    pairs = [(f"Ein {a} {n} {e}.", f"A {b} {m} {f}.") for n, m in NOUNS for a, b in ADJECTIVES for e, f in ENDS] + [
        (f"das {n}", f"the {m}") for n, m in NOUNS
    ]
    (path / "de").write_text("".join(f"{source}\n" for source, _ in pairs))
    (path / "en").write_text("".join(f"{target}\n" for _, target in pairs))
    build([path / "de"], [path / "en"], path / "model", BuildOptions(lm_order=3, lex_frequency=5))
    write_card(path / "model", {"name": "small", "source": "de", "target": "en"})
    return path / "model"


@pytest.fixture(scope="session")
def model(built: Path) -> Model:
    return Model.open(built)


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A copy."""
    return Path(shutil.copytree(built, tmp_path / "small"))


@pytest.fixture
def translator(folder: Path) -> Translator:
    return Translator(folder)
