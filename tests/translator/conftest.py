"""A small translator from German to English, built once."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.translator.folder import write_card
from hopefear.translator.translator import Translator

NOUNS = [("Haus", "house"), ("Tor", "gate"), ("Brot", "loaf"), ("Pferd", "horse"), ("Boot", "boat"), ("Glas", "glass")]
ADJECTIVES = [("rotes", "red"), ("altes", "old"), ("großes", "big"), ("kleines", "small"), ("neues", "new")]
ENDS = [
    ("steht hier", "stands here"),
    ("gehört dem Kunden", "belongs to the customer"),
    ("kostet zwei Euro", "costs two euros"),
    ("kommt von Ikea", "comes from Ikea"),
    ("ist wichtig", "is important"),
    ("ist im Verkauf", "is on sale"),
]


def corpus() -> tuple[list[str], list[str]]:
    pairs = [
        (f"Ein {a} {n} {e}.", f"A {b} {m} {f}.")
        for (n, m), (a, b), (e, f) in itertools.product(NOUNS, ADJECTIVES, ENDS)
    ]
    pairs += [(f"Hallo, das {n} {e}!", f"Hello, the {m} {f}!") for (n, m), (e, f) in itertools.product(NOUNS, ENDS)]
    pairs += [(f"das {n}", f"the {m}") for n, m in NOUNS] + [("kunde", "customer"), ("Kunde", "customer")]
    return [source for source, _ in pairs], [target for _, target in pairs]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed: tests share it."""
    return make_translator(tmp_path_factory.mktemp("translator"))


def make_translator(path: Path, options: BuildOptions | None = None) -> Path:
    """The translator ``path/model``, and its corpus beside it."""
    for name, lines in zip(("de", "en"), corpus(), strict=True):
        (path / name).write_text("".join(line + "\n" for line in lines))
    build([path / "de"], [path / "en"], path / "model", options or BuildOptions(lm_order=3, lex_frequency=5))
    write_card(path / "model", {"name": "small", "source": "de", "target": "en", "scores": {"bleu": 90.0}})
    return path / "model"


@pytest.fixture(scope="session")
def translator(folder: Path) -> Translator:
    return Translator(folder)
