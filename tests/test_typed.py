"""Typical user code under ``mypy --strict``: CI's mypy reads this file, and ``assert_type`` fails on ``Any``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray

import hopefear as hf
from hopefear.data.lists import Synthetic

REFS = ["ref.0", "ref.1"]
ROWS: list[dict[str, Any]] = [
    {"id": i, "text": f"answer {k}", "lm": -float(k), "tm": k * i % 7, "comet": 1 - 0.2 * k}
    for i in range(40)
    for k in range(4)
]
Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Synthetic(sentences=30, candidates=5, dense=4).write(tmp_path)


def read() -> hf.Pool:
    return hf.read_nbest("nbest.txt", references=REFS)


@pytest.mark.filterwarnings("ignore")
def test_results() -> None:
    tuned = hf.tune(ROWS, "id", "comet", trainer=hf.Mert(restarts=1, kicks=0))
    assert_type(tuned.weights, dict[str, float])
    assert_type(tuned.score, float)
    assert_type(tuned.best.scores["dev"]["comet"], float)
    assert_type(tuned.best.seed, int)
    assert_type(tuned.path, Path | None)
    assert_type(tuned.predict(ROWS), Floats)
    assert_type(tuned.save("weights.json"), Path)
    assert_type(tuned.to_dict(), dict[str, Any])
    assert_type(tuned.reranker, hf.Reranker)

    weighed = hf.weigh(ROWS, "id", "comet", features=["lm", "tm"], seed=3)
    assert_type(weighed.better_than_equal, bool | None)
    assert_type(weighed.verdict, str)
    assert_type(weighed.held_out["chosen"].score, float)
    assert_type(weighed.weights, dict[str, float])

    compared = hf.compare(ROWS, "id", "comet", trainers=["mert", hf.Kbmira(C=0.1)], seeds=2)
    assert_type(compared.verdict, str)
    assert_type(compared.recipes[0].name, str)
    assert_type(compared.pairs[0].p, float)

    scored = hf.score(["the cat sat down"], [["the cat sat down"]], metric=["bleu", "chrf"])
    assert_type(scored.scores, dict[str, float])
    assert_type(scored.value, float)
    assert_type(scored.bleu, float)
    assert_type(scored["bleu"], float)


def test_trainers() -> None:
    pool = read()
    result = hf.Kbmira(C=0.1, passes=5, metric=hf.Bleu(lowercase=True)).fit(pool, {"lm": 1.0})
    assert_type(result.weights, Mapping[str, float])
    assert_type(result.score, float)
    assert_type(result.history[0]["score"], Any)
    assert_type(result.warnings, list[str])
    online = hf.Arow(epochs=1, eta=0.1).fit(pool, result)
    assert_type(online.epoch, int | None)
    assert_type(hf.Bleu().corpus_score(["a"], [["a"]]), float)
    assert_type(hf.Ndcg("grade", k=5).score([1.0, 1.0]), float)

    def report(event: object) -> None: ...

    hf.Mert(restarts=1, kicks=0, seed=2).fit(pool, run=hf.Session(report))


@pytest.mark.filterwarnings("ignore:.* are the same list")
def test_pools() -> None:
    pool = read()
    assert_type(len(pool), int)
    assert_type(pool.ids, list[str])
    assert_type(pool.feature_names, list[str])
    assert_type(pool[0], hf.Forest)
    assert_type(pool[:5], hf.Pool)
    assert_type(pool.text(0, 0), str)
    assert_type(pool.references(0), list[str])
    assert_type(pool[0].viterbi({"lm": 1.0}).text, str)
    assert_type(pool[0].kbest({"lm": 1.0}, 2)[0], hf.Derivation)
    assert_type([forest.edge_count for forest in pool], list[int])
    assert_type(hf.Pool.from_table(ROWS, group="id", outcome="comet"), hf.Pool)
    assert_type(next(hf.iter_nbest("nbest.txt")).id, str)
    assert_type(hf.features(pool), hf.Pool)
    assert_type(hf.combine(pool, pool, names=["a", "b"]), hf.Pool)
    assert_type(hf.merged([pool, pool]), hf.Pool)


def test_production() -> None:
    reranker = hf.Reranker({"lm": 0.5, "tm": 1.0}, missing="zero", group="id")
    assert_type(hf.load(reranker.save("weights.json")), hf.Reranker)
    assert_type(reranker.best(ROWS[:4]), int)
    assert_type(reranker.names, tuple[str, ...])
    assert_type(reranker.predict(np.zeros((3, 2))), Floats)
    assert_type(reranker.rerank(np.zeros((3, 2))), NDArray[np.int64])
    assert_type(hf.rerank(read(), {"lm": 1.0}), list[str])
    assert_type(hf.Reranker({"lm": 1.0}).rerank(read()), list[str])
    assert reranker.rerank(ROWS)[0]["text"] == "answer 0"


def checked(path: Path) -> str:
    """What the commands that are functions take is checked too."""
    created = hf.create(source=["train.de"], target=["train.en"], from_="de", to="en", out=str(path))
    assert_type(created.test, dict[str, Any])
    translator = hf.Translator(created.path, keep=["Ikea"], glossary=[hf.Term("Tor", "goal", forced=False)])
    assert_type(translator(["Das Haus."]), list[str])
    assert_type(translator(iter(["Das Haus."])), Iterator[str])
    assert_type(translator.alternatives("Das Haus.", 3)[0].text, str)
    assert_type(translator.learn("Das Haus.", "The house.").id, str)
    assert_type(hf.read_run(path).status, str)
    hf.generate(out="practice", sentence=5)  # type: ignore[call-arg]
    return translator("Das Haus.")


def without_names() -> None:
    """Arguments that need no name, for mypy alone: they are of models and translators."""
    hf.convert("lists.jsonl", "lists.nbest")
    hf.inspect("model")
    hf.report("run")
    hf.pack("translator", "translator.pack")
    assert_type(hf.export("model", format="cdec", out="cdec"), str)
    for trainer in (hf.Cmira(), hf.Logloss(l2=0.1), hf.Minrisk(), hf.Pa(), hf.Pro(), hf.Rampion(), hf.Auto()):
        assert_type(trainer.fit(read()).score, float)
    assert_type(hf.read_weights("weights.txt"), dict[str, float])
