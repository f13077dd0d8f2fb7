"""The weight of preferred terms, and a glossary that goes into the translator."""

from pathlib import Path
from typing import Any

import pytest

from hopefear.creation import create
from hopefear.creation.terms import LEAST, WEIGHTS, choose_term_weight
from hopefear.errors import InputError
from hopefear.formats.weights import write_weights
from hopefear.model.directory import Model
from hopefear.runs.session import SILENT
from hopefear.trainers.data import Corpus
from hopefear.translator.glossary import Term
from hopefear.translator.translator import Translator
from tests.creation.test_pipeline import options, write_corpus
from tests.translator.conftest import make_translator


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_translator(tmp_path_factory.mktemp("terms"))
    write_weights(Model.open(folder).weights, folder.with_name("weights.txt"))
    return folder


def chosen(model: Path, terms: list[Term], target: str, count: int = LEAST) -> dict[str, Any]:
    corpus = Corpus(["Das Tor steht hier."] * count + ["Das Brot."], [[f"The {target} stands here."] * count + ["x"]])
    weights = model.with_name("weights.txt")
    return choose_term_weight(model, weights, None, terms, corpus, "en", 1, SILENT)


def test_a_term_that_references_have_weighs_something(model: Path) -> None:
    terms = [Term("Tor", "goal", forced=False), Term("Brot", "bread")]
    before = sorted(path.name for path in model.parent.iterdir())
    wanted, against = chosen(model, terms, "goal"), chosen(model, terms, "gate")
    assert wanted["sentences"] == against["sentences"] == LEAST
    assert set(wanted["bleu"]) == {f"{weight:g}" for weight in WEIGHTS}
    for made, other in ((wanted, against), (against, wanted)):
        best = f"{made['weight']:g}"
        assert made["bleu"][best] == max(made["bleu"].values()) > other["bleu"][best]
    assert sorted(path.name for path in model.parent.iterdir()) == before


def test_few_sentences_tell_nothing(model: Path) -> None:
    assert chosen(model, [Term("Tor", "goal", forced=False)], "goal", LEAST - 1)["weight"] is None
    assert chosen(model, [Term("Schiff", "ship", forced=False)], "goal")["sentences"] == 0


def test_create_takes_a_glossary_into_the_translator(tmp_path: Path) -> None:
    write_corpus(tmp_path / "x.tsv", 400)
    (tmp_path / "terms.tsv").write_text("gleich\tright now\n")
    create(options(tmp_path, glossary=tmp_path / "terms.tsv"))
    assert "right now" in Translator(tmp_path / "translator")("gleich").lower()
    (tmp_path / "terms.tsv").write_text("gleich\n")
    with pytest.raises(InputError, match=r"terms\.tsv:1: has no source and target term"):
        create(options(tmp_path, out=tmp_path / "other", glossary=tmp_path / "terms.tsv"))
    assert not (tmp_path / "other.work").exists()
