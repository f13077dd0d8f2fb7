"""From a corpus to a translator: what is in its folder, that it translates, that interrupted work goes on."""

import dataclasses
import itertools
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from hopefear.creation import Created, CreateOptions, create, pipeline
from hopefear.creation.data import prepare
from hopefear.errors import InputError, OptionError
from hopefear.model.directory import Model
from hopefear.model.shrinking import needed
from hopefear.runs.events import Note
from hopefear.runs.session import Session
from hopefear.translator.folder import open_translator, read_card
from hopefear.translator.translator import Translator
from tests.models import sentence


def write_corpus(path: Path, count: int, seed: int = 1) -> Path:
    rng = random.Random(seed)
    pairs = [sentence(rng) for _ in range(count)]
    extra = [(f"{f} und {g}", f"{e} and {h}") for (f, e), (g, h) in itertools.pairwise(pairs)]
    path.write_text("".join(f"{f}\t{e}\n" for f, e in extra) + "gleich hier\tgleich hier\n")
    return path


def options(folder: Path, **more: Any) -> CreateOptions:
    names: dict[str, Any] = {"source_language": "de", "target_language": "en", "out": folder / "translator"}
    return CreateOptions(**{**names, "corpus": [folder / "x.tsv"], "curve": False, **more})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Created]:
    folder = tmp_path_factory.mktemp("create")
    write_corpus(folder / "x.tsv", 1300)
    return folder, create(options(folder, licence="CC0", curve=True))


def test_the_folder_is_a_model_with_a_card_and_a_page(made: tuple[Path, Created]) -> None:
    folder, created = made
    assert {path.name for path in folder.iterdir()} == {"x.tsv", "translator"}
    model, card = open_translator(folder / "translator")
    assert (card["source"], card["target"], card["licence"], card["name"]) == ("de", "en", "CC0", "translator")
    assert card["made_from"] == [{"corpus": "x", "pairs": model.info["counts"]["pairs"]}]
    assert card["scores"]["bleu"] == round(created.test["bleu"], 2)
    page = (folder / "translator" / "report.html").read_text()
    assert "gleich hier" in page
    assert "Twice the data" in page or "more data of the same kind" in page


def test_it_translates(made: tuple[Path, Created]) -> None:
    from hopefear.decode import Hiero

    folder, created = made
    assert Hiero(folder / "translator").translate("heute sieht der hund das haus") == "today the dog sees the house"
    assert created.test["low"] <= created.test["bleu"] <= created.test["high"] <= 100
    assert created.test["bleu"] > 50


def test_rules_that_are_not_needed_are_left_out(made: tuple[Path, Created]) -> None:
    model = Model.open(made[0] / "translator")
    assert made[1].recipe["prune"] == model.info["options"]["prune"] == 0.1
    assert model.info["counts"]["rules"] == len(model.grammar)
    assert needed(model.grammar.table(), 0.1).all()


def test_the_record(made: tuple[Path, Created]) -> None:
    record = json.loads(json.dumps(made[1].record()))
    assert set(record) == {"pairs", "test", "recipe", "seconds"}
    assert set(record["test"]) == {"bleu", "chrf", "sentences", "low", "high"}
    assert record["pairs"]["read"] == 1300
    assert record["pairs"]["dropped"]["identical"] == 1
    assert record["pairs"]["kept"] + sum(record["pairs"]["dropped"].values()) == 1300
    assert str(made[1]).startswith(f"{made[0] / 'translator'}\t")


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("report.html", "card.json")}


def test_interrupted_work_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_corpus(tmp_path / "x.tsv", 600)
    create(options(tmp_path, out=tmp_path / "whole", jobs=1))
    done: list[str] = []
    for name in ("prepare", "build_model", "learn", "choose_way", "build_final", "score_all"):
        real = getattr(pipeline, name)

        def once(*args: Any, _real: Any = real, _name: str = name, **more: Any) -> Any:
            done.append(_name)
            if done.count(_name) == 1:
                raise KeyboardInterrupt
            return _real(*args, **more)

        monkeypatch.setattr(pipeline, name, once)
    for _ in range(6):
        with pytest.raises(KeyboardInterrupt):
            create(options(tmp_path, jobs=2))
        assert not (tmp_path / "translator").exists()
    said: list[str] = []
    create(
        options(tmp_path, jobs=2), Session(lambda event: said.append(event.text) if isinstance(event, Note) else None)
    )
    assert [done.count(name) for name in dict.fromkeys(done)] == [2] * 6
    assert any("continuing with" in text for text in said)
    assert files_of(tmp_path / "translator") == files_of(tmp_path / "whole")
    assert not (tmp_path / "translator.work").exists()


def test_other_options_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_corpus(tmp_path / "x.tsv", 500)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "build_model", stop)
        with pytest.raises(KeyboardInterrupt):
            create(options(tmp_path))
    before = (tmp_path / "translator.work" / "test.source").read_text()
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "build_model", stop)
        with pytest.raises(KeyboardInterrupt):
            create(options(tmp_path, seed=2))
    assert (tmp_path / "translator.work" / "test.source").read_text() != before


def test_your_own_test_set(tmp_path: Path) -> None:
    write_corpus(tmp_path / "x.tsv", 500)
    rng = random.Random(99)
    own = [sentence(rng) for _ in range(40)]
    for name, side in zip(("t.de", "t.en"), zip(*own, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side))
    tests = {"test_source": tmp_path / "t.de", "test_refs": [tmp_path / "t.en", tmp_path / "t.en"]}
    created = create(options(tmp_path, **tests))
    assert created.test["sentences"] == 40
    assert "too few to tell" in created.verdict
    assert not created.recipe["learnt"]


def test_overwriting_keeps_what_is_not_ours(tmp_path: Path) -> None:
    write_corpus(tmp_path / "x.tsv", 400)
    create(options(tmp_path))
    (tmp_path / "translator" / "glossary.tsv").write_text("Haus\thome\n")
    with pytest.raises(InputError, match="already exists"):
        create(options(tmp_path))
    create(options(tmp_path, overwrite=True, name="new"))
    assert read_card(tmp_path / "translator")["name"] == "new"
    assert (tmp_path / "translator" / "glossary.tsv").read_text() == "Haus\thome\n"


def test_what_is_refused(tmp_path: Path) -> None:
    write_corpus(tmp_path / "x.tsv", 60)
    with pytest.raises(InputError, match=r"pairs are left of 60 .*identical.*held out.* 100 are needed at least"):
        create(options(tmp_path))
    assert not (tmp_path / "translator").exists()
    with pytest.raises(OptionError, match="--test-source and --test-refs go together"):
        options(tmp_path, test_source="x")
    with pytest.raises(InputError, match="both are the same language"):
        options(tmp_path, target_language="de-AT")
    (tmp_path / "translator.work").mkdir(exist_ok=True)
    for path in (tmp_path / "translator.work").iterdir():
        path.unlink()
    (tmp_path / "translator.work" / "mine").write_text("")
    with pytest.raises(InputError, match="exists and was not made by hopefear"):
        create(options(tmp_path))


def test_every_option_decides_or_is_named_here() -> None:
    """What the fingerprint leaves out must not change the stages."""
    outside = {"out", "jobs", "overwrite", "name", "licence"}
    inside = {"source_language", "target_language", "corpus", "source", "target", "columns", "rules", "curve", "seed"}
    inside |= {
        "dev_source",
        "dev_refs",
        "test_source",
        "test_refs",
        "with_corrections",
        "glossary",
        "lm_text",
        "tokenizer",
        "dev_text",
    }
    assert {each.name for each in dataclasses.fields(CreateOptions)} == inside | outside


def test_corrections_are_built_in(made: tuple[Path, Created], tmp_path: Path) -> None:
    folder = made[0]
    old = Path(shutil.copytree(folder / "translator", tmp_path / "old"))
    translator = Translator(old)
    translator.learn("der hund sieht das dingsda", "the dog sees the gizmo")
    translator.learn("der hund sieht den quux", "the dog sees the quux thing")
    translator.undo("2")
    (tmp_path / "work").mkdir()
    asked = options(folder, with_corrections=old)
    record = prepare(asked, tmp_path / "work", Session())
    read = {path.name: path.read_text() for path in (tmp_path / "work").iterdir() if path.name.endswith((".de", ".en"))}
    kept = "".join(read.values()) + "".join(
        (tmp_path / "work" / f"{part}.source").read_text() for part in ("dev", "test")
    )
    assert "dingsda" in kept and "quux" not in kept
    assert record["pairs"]["read"] == prepare(options(folder), tmp_path / "work", Session())["pairs"]["read"] + 1
    assert asked.fingerprint() != options(folder).fingerprint()
    with pytest.raises(InputError, match="translates from de to en"):
        prepare(options(folder, with_corrections=old, target_language="fr"), tmp_path / "work", Session())


def test_more_text_of_the_target_language(made: tuple[Path, Created], tmp_path: Path) -> None:
    folder = made[0]
    plain = tmp_path / "plain"
    plain.mkdir()
    prepare(options(folder), plain, Session())
    references = (plain / "test.ref.0").read_text().splitlines() + (plain / "dev.ref.0").read_text().splitlines()
    own = ["the gizmo sees the house", "", "word " * 101]
    near = [line.upper() + " 7!" for line in references]
    (tmp_path / "more.txt").write_text("".join(f"{line}\n" for line in (*own, *near)))
    (tmp_path / "work").mkdir()
    asked = options(folder, lm_text=[tmp_path / "more.txt"])
    record = prepare(asked, tmp_path / "work", Session())
    assert record["target_text"] == {"read": 3 + len(near), "kept": 1, "held_out": len(near)}
    assert (tmp_path / "work" / "target.text").read_text() == "the gizmo sees the house\n"
    assert asked.fingerprint() != options(folder).fingerprint()
    (tmp_path / "more.txt").write_text("".join(f"{line}\n" for line in near))
    with pytest.raises(InputError, match=r"more\.txt: has no line to learn a language model from"):
        prepare(asked, tmp_path / "work", Session())
    (tmp_path / "more.txt").write_text('<?xml version="1.0"?>\n<tmx version="1.4">')
    with pytest.raises(InputError, match="not plain text"):
        prepare(asked, tmp_path / "work", Session())


def test_more_text_is_a_language_model_of_its_own(tmp_path: Path) -> None:
    write_corpus(tmp_path / "x.tsv", 300)
    lines = [" and ".join(sentence(random.Random(seed))[1] for _ in range(2)) for seed in range(400)]
    (tmp_path / "more.txt").write_text("".join(f"{line}\n" for line in lines))
    created = create(options(tmp_path, lm_text=[tmp_path / "more.txt"]))
    model, card = open_translator(tmp_path / "translator")
    assert "lm2" in model.weights
    assert 0 < card["recipe"]["target_text"] == created.recipe["target_text"] <= 400
    assert "more text of the target language" in (tmp_path / "translator" / "report.html").read_text()
