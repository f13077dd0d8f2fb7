"""Translation of files, block by block."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from threading import Timer

import pytest

from hopefear._core import Pool
from hopefear.commands.translate import Translate
from hopefear.decode import Hiero
from hopefear.decode.consensus import best_by_consensus
from hopefear.decode.translation import _ahead, translate
from hopefear.errors import InputError, OptionError
from hopefear.formats import read_forests
from hopefear.model.directory import Model, write_model
from hopefear.runs import Session
from hopefear.runs.events import Event, Progress
from tests.decode.models import model_of, random_lm, random_rules

WEIGHTS = {"lm": 0.5, "phrase_ef": 0.3, "rule": -0.1, "word": 0.7, "glue": -0.2, "unknown": -5.0}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translation")
    rng = random.Random(8)
    model = model_of(folder, random_rules(rng, 40), [random_lm(rng, 3)], weights=WEIGHTS, counts={})
    write_model(folder / "model", model.info, model.grammar, model.language_models, [])
    lines = [" ".join(rng.choices(["a", "b", "c", "?"], k=rng.randint(0, 6))) for _ in range(23)]
    (folder / "source").write_text("".join(line + "\n" for line in lines))
    return folder


@pytest.mark.parametrize("block", [1, 4, 100])
@pytest.mark.parametrize("nbest", [0, 3])
def test_blocks_do_not_show(path: Path, monkeypatch: pytest.MonkeyPatch, block: int, nbest: int) -> None:
    config = Translate(model=str(path / "model"), nbest=nbest)
    whole = "".join(translate(config, path / "source"))
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", block)
    events: list[Event] = []
    pieces = list(translate(config, path / "source", Session(events.append)))
    assert len(pieces) == -(-23 // block)
    assert "".join(pieces) == whole
    assert [event.done for event in events if isinstance(event, Progress)][-1] == 23
    if not nbest:
        assert whole.splitlines() == Hiero(Model.open(path / "model")).translate(
            (path / "source").read_text().splitlines()
        )


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_minimum_bayes_risk_is_reranking_of_forests(path: Path, monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", 5)
    config = Translate(model=str(path / "model"), mbr=metric, scale=0.1, tokens=True)
    texts = "".join(translate(config, path / "source")).split("\n")[:-1]
    decoder = Hiero(Model.open(path / "model"))
    pool = decoder.decode((path / "source").read_text().split("\n")[:-1], max_edges=2000)
    assert texts == best_by_consensus(pool, WEIGHTS, metric, 0.1)
    best = "".join(translate(Translate(model=str(path / "model"), tokens=True), path / "source")).split("\n")[:-1]
    assert texts != best and [not text for text in texts] == [not text for text in best]


def test_minimum_bayes_risk_goes_with_plain_output(path: Path) -> None:
    for more in ({"nbest": 2}, {"forests": "f"}, {"explain": True}):
        with pytest.raises(OptionError, match="--mbr cannot be combined with --nbest, --forests or --explain"):
            Translate(model=str(path / "model"), mbr="bleu", **more)
    with pytest.raises(OptionError, match="--scale works only with --mbr"):
        Translate(model=str(path / "model"), scale=0.5)
    with pytest.raises(InputError, match="mbr: 'wer' is not known"):
        Translate(model=str(path / "model"), mbr="wer")


def test_forests_appear_at_the_end_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("hopefear.decode.translation.FOREST_BLOCK", 5)
    config = Translate(model=str(path / "model"), forests=str(tmp_path / "forests"))
    pieces = translate(config, path / "source")
    next(pieces)
    pieces.close()
    assert list(tmp_path.iterdir()) == []
    assert "".join(translate(config, path / "source")).count("\n") == len(read_forests(tmp_path / "forests")) == 23


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(OptionError, match="--explain cannot be combined"):
        Translate(model="model", explain=True, nbest=1)


def test_ctrl_c_does_not_wait_for_a_long_sentence(tmp_path: Path) -> None:
    """The signal comes while the core is at work; what it was doing ends unfinished."""
    rng = random.Random(5)
    decoder = Hiero(model_of(tmp_path, random_rules(rng, 40), [random_lm(rng, 3)], weights={"lm": 1.0, "word": 0.5}))
    ends: list[str] = []

    def work(item: tuple[int, list[str]]) -> tuple[list[str], Pool, None]:
        Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            decoder.translate(item[1], jobs=1)
            ends.append("it was finished")
        except InputError as error:
            ends.append(str(error))
        return item[1], Pool(), None

    with pytest.raises(KeyboardInterrupt):
        list(_ahead(work, iter([(0, ["a b c a c b " * 8000])])))
    assert ends == ["decoding was asked to stop"]
    assert decoder.translate(["a b c"])  # and it can be used again
