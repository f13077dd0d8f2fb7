"""Domains: language models of parts of the text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.builder import build
from hopefear.model.directory import LM_NAMES, Model
from hopefear.model.features import SMALL
from hopefear.model.options import BuildOptions

TALK = [("ja klar", "yeah sure"), ("na gut", "oh well"), ("das haus da", "that house there")]
BOOK = [
    ("das haus", "the house"),
    ("das buch", "the book"),
    ("ein haus", "a house"),
    ("ein buch", "a book"),
    ("na gut", "well then"),
    ("das haus da", "that house there"),
]


def _files(folder: Path, name: str, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    for side in (0, 1):
        (folder / f"{name}.{side}").write_text("".join(pair[side] + "\n" for pair in pairs))
    return folder / f"{name}.0", folder / f"{name}.1"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Model, Model]:
    """With domains, and the two domains alone, all with the same alignment: word by word."""
    folder = tmp_path_factory.mktemp("domains")
    talk, book = _files(folder, "talk", TALK), _files(folder, "book", BOOK)
    for name, pairs in (("talk", TALK), ("book", BOOK)):
        links = (" ".join(f"{i}-{i}" for i in range(len(f.split()))) for f, _ in pairs)
        (folder / f"{name}.align").write_text("".join(line + "\n" for line in links))
    align = [folder / "talk.align", folder / "book.align"]

    def built(name: str, which: list[int], domains: tuple[str, ...]) -> Model:
        files = [talk, book]
        sources, targets = [files[i][0] for i in which], [files[i][1] for i in which]
        options = BuildOptions(domains=domains, lm_order=2, max_options=0)
        build(sources, targets, folder / name, options, align=[align[i] for i in which])
        return Model.open(folder / name)

    return built("both", [0, 1], ("talk", "book")), built("t", [0], ()), built("b", [1], ())


def test_the_small_domain_has_a_language_model(models: tuple[Model, Model, Model]) -> None:
    both, talk, _ = models
    assert len(both.language_models) == 2
    for line in ("yeah sure", "the house", "well"):
        assert both.language_models[1].score(line) == talk.language_models[0].score(line)
    assert both.weights["lm"] == both.weights["lm2"] == talk.weights["lm"] / 2


def test_three_language_models_are_features_of_the_decoder(tmp_path: Path) -> None:
    files = [_files(tmp_path, name, pairs) for name, pairs in (("talk", TALK), ("na", TALK[1:2]), ("book", BOOK))]
    sources, targets = zip(*files, strict=True)
    build(list(sources), list(targets), tmp_path / "m", BuildOptions(domains=("t", "n", "b"), lm_order=2))
    model = Model.open(tmp_path / "m")
    assert len(model.language_models) == 3
    assert model.dense_names == [*SMALL, "lm3"]
    pool = Hiero(model).kbest(["na gut"], 1)
    row = dict(zip(pool.feature_names, np.asarray(pool[0].dense)[0], strict=False))
    for name, lm in zip(LM_NAMES, model.language_models, strict=True):
        assert row[name] == pytest.approx(lm.score(pool.text(0, 0)) * np.log(10), rel=1e-5)


def test_wrong_domains(tmp_path: Path) -> None:
    talk, book = _files(tmp_path, "talk", TALK), _files(tmp_path, "book", BOOK)
    sources, targets = [talk[0], book[0]], [talk[1], book[1]]
    with pytest.raises(InputError, match="1 domains, 2 source files"):
        build(sources, targets, tmp_path / "m", BuildOptions(domains=("talk",)))
    with pytest.raises(InputError, match="its own name"):
        BuildOptions(domains=("a", "a"))
    with pytest.raises(InputError, match="its own name"):
        BuildOptions(domains=("a b",))
    with pytest.raises(InputError, match="domains are for hierarchical models"):
        BuildOptions(domains=("a",), kind="blocks")
    empty = _files(tmp_path, "empty", [("", "")])
    with pytest.raises(InputError, match="domain e: none of its pairs"):
        build([talk[0], empty[0]], [talk[1], empty[1]], tmp_path / "m", BuildOptions(domains=("t", "e")))
    assert not (tmp_path / "m").exists()
