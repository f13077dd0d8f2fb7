"""Sentences for development as text: which pairs, of which domain, and a model that has them."""

import random
from pathlib import Path

import pytest

from hopefear.corpus import CleaningRules, Pair, write_plain
from hopefear.creation import create
from hopefear.creation.data import prepare
from hopefear.creation.dev_text import joined, keep_dev_text, nearest_domain, own_pairs
from hopefear.model.directory import Model
from hopefear.runs.session import Session
from hopefear.trainers.data import Corpus
from hopefear.translator.folder import open_translator
from tests.creation.test_pipeline import options, write_corpus
from tests.models import sentence

LANGUAGES = ("de", "en")


def pair(source: str, target: str, domain: str = "a") -> Pair:
    return Pair(source, target, None, domain, "x:1")


def test_each_reference_is_a_pair() -> None:
    dev = Corpus(["eins", "zwei"], [["one", "two"], ["1", "2"]])
    pairs = [(p.source, p.target, p.domain) for p in own_pairs(dev, "a")]
    assert pairs == [("eins", "one", "a"), ("eins", "1", "a"), ("zwei", "two", "a"), ("zwei", "2", "a")]


def test_what_is_left_out(tmp_path: Path) -> None:
    test = Corpus(["ein haus"], [["a house"], ["one house"]])
    pairs = [
        pair("der hund", "the dog"),
        pair("der hund", "the dog"),  # twice
        pair("der hund", ""),
        pair("Ein Haus!", "a building"),  # as the test is, on one side
        pair("das gebäude", "One house."),
        pair("die katze", "the cat", "b"),
    ]
    assert keep_dev_text(pairs, test, tmp_path, LANGUAGES, CleaningRules()) == {"a": 1, "b": 1}
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "dev.text.a.de": "der hund\n",
        "dev.text.a.en": "the dog\n",
        "dev.text.b.de": "die katze\n",
        "dev.text.b.en": "the cat\n",
    }


@pytest.mark.parametrize("line, domain", [("yeah I know , right", "speech"), ("the report was adopted", "news")])
def test_the_nearest_domain(tmp_path: Path, line: str, domain: str) -> None:
    news = [pair("x", "the minister adopted the report", "news")] * 50
    speech = [pair("x", "yeah right", "speech"), pair("x", "Yeah I know", "speech")]
    files = write_plain([*news, *speech], tmp_path, "train", *LANGUAGES)
    assert nearest_domain(files, Corpus(["x"], [[line]])) == domain


def test_text_goes_behind_that_of_its_domain(tmp_path: Path) -> None:
    files = write_plain([pair("f", "e"), pair("g", "h", "b")], tmp_path, "train", *LANGUAGES)
    kept = keep_dev_text([pair("k", "m", "b")], Corpus(["z"], [["z"]]), tmp_path, LANGUAGES, CleaningRules())
    train = {"domains": list(files.domains)} | {
        side: [path.name for path in getattr(files, side)] for side in ("source", "target")
    }
    assert kept == {"b": 1}
    sides = joined({"train": train}, tmp_path)
    assert [[path.read_text() for path in side] for side in sides] == [["f\n", "g\nk\n"], ["e\n", "h\nm\n"]]


def test_the_final_model_knows_their_words(tmp_path: Path) -> None:
    write_corpus(tmp_path / "x.tsv", 500)
    rng = random.Random(99)
    own = [(f"{f} und der quux", f"{e} and the gizmo") for f, e in (sentence(rng) for _ in range(150))]
    for name, side in zip(("d.de", "d.en"), zip(*own, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side))
    dev = {"dev_source": tmp_path / "d.de", "dev_refs": [tmp_path / "d.en"]}
    made = create(options(tmp_path, **dev, source_language="de-AT"))
    model, card = open_translator(tmp_path / "translator")
    assert made.recipe["dev_text"] and model.grammar.source_vocab.find("quux") >= 0
    assert card["made_from"] == [{"corpus": "x", "pairs": model.info["counts"]["pairs"]}]
    again = create(options(tmp_path, **dev, dev_text=False, overwrite=True))
    assert not again.recipe["dev_text"]
    assert Model.open(tmp_path / "translator").grammar.source_vocab.find("quux") < 0


def test_held_out_pairs_keep_their_domains(tmp_path: Path) -> None:
    for seed, name in enumerate("ab"):
        write_corpus(tmp_path / f"{name}.tsv", 400, seed)
    asked = options(tmp_path, corpus=[tmp_path / "a.tsv", tmp_path / "b.tsv"])
    (tmp_path / "work").mkdir()
    record = prepare(asked, tmp_path / "work", Session())
    assert set(record["dev_text"]) == {"a", "b"}
    assert 0.9 * record["sentences"]["dev"] < sum(record["dev_text"].values()) <= record["sentences"]["dev"]
    train = {line for name in record["train"]["source"] for line in (tmp_path / "work" / name).read_text().splitlines()}
    for domain in "ab":
        lines = (tmp_path / "work" / f"dev.text.{domain}.de").read_text().splitlines()
        assert len(lines) == record["dev_text"][domain] and not train & set(lines)
