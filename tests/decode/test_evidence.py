"""The columns of ``hopefear features``, each against a plain twin."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear._core import (
    consensus_columns,
    expected_gains,
    lexical_columns,
    shallow_columns,
    source_columns,
    text_columns,
)
from hopefear.decode.evidence import Evidence
from hopefear.errors import OptionError
from tests.decode.models import model_of, random_lm
from tests.reference import consensus as twin


def pool_of(lists: Sequence[Sequence[str]], sources: Sequence[str] = (), folder: Path | None = None) -> hf.Pool:
    """Lists with one feature, ``m``, which falls from candidate to candidate."""
    assert folder is not None
    path = folder / "list.jsonl"
    with path.open("w") as file:
        for i, texts in enumerate(lists):
            candidates = [{"text": text, "features": {"m": -0.3 * k}} for k, text in enumerate(texts)]
            entry = {"id": str(i), "candidates": candidates}
            file.write(json.dumps({**entry, "source": sources[i]} if sources else entry) + "\n")
    return hf.read_nbest(path)


def random_lists(seed: int, count: int, size: int) -> list[list[str]]:
    rng = random.Random(seed)
    lists = []
    for _ in range(count):
        base = rng.choices(["the", "house", "is", "green", "and", "it", "was", "there"], k=rng.randint(1, 9))
        texts = []
        for _ in range(rng.randint(1, size)):
            own = [word for word in base if rng.random() > 0.15] + rng.choices(
                ["no", "the", "été"], k=rng.randint(0, 2)
            )
            if rng.random() < 0.3:
                own = own[2:] + own[:2]
            texts.append(" ".join(own))
        lists.append(texts)
    lists[0][0] = ""
    return lists


def probabilities(texts: Sequence[str], scale: float) -> list[float]:
    weights = [math.exp(-0.3 * scale * k) for k in range(len(texts))]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_expected_gains_are_those_of_all_pairs(metric: str, tmp_path: Path) -> None:
    lists = random_lists(1, 12, 8)
    pool = pool_of(lists, folder=tmp_path)
    for w, scale in ((None, 0.0), (np.array([1.0]), 1.7)):
        got = expected_gains(pool, metric, w, scale, 200)
        wanted = [g for texts in lists for g in twin.expected_gains(metric, texts, probabilities(texts, scale))]
        assert got == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("metric", "linear"), [("bleu", twin.linear_bleu), ("chrf", twin.linear_chrf)])
def test_above_the_limit_expected_counts_are_the_reference(metric: str, linear: Any, tmp_path: Path) -> None:
    lists = random_lists(2, 8, 9)
    got = expected_gains(pool_of(lists, folder=tmp_path), metric, np.array([1.0]), 0.8, 0)
    wanted = [gain for texts in lists for gain in linear(texts, probabilities(texts, 0.8))]
    assert got == pytest.approx(wanted, abs=1e-9)


def test_ter_above_the_limit_looks_at_the_most_probable(tmp_path: Path) -> None:
    texts = ["a b c", "a c b d", "d d", "a b"]
    pool = pool_of([texts], folder=tmp_path)
    p = [q / sum(probabilities(texts, 1.0)[:2]) for q in probabilities(texts, 1.0)[:2]]
    wanted = [sum(q * twin.gain("ter", text, other) for other, q in zip(texts[:2], p, strict=True)) for text in texts]
    assert expected_gains(pool, "ter", np.array([1.0]), 1.0, 2) == pytest.approx(wanted, abs=1e-12)


def test_agreement(tmp_path: Path) -> None:
    lists = random_lists(3, 10, 7)
    got = consensus_columns(pool_of(lists, folder=tmp_path), [], np.array([1.0]), 1.3, 200)
    wanted = [row for texts in lists for row in twin.agreement(texts, probabilities(texts, 1.3))]
    np.testing.assert_allclose(got, wanted, atol=1e-9)


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    pool = pool_of(random_lists(4, 40, 12), folder=tmp_path)
    serial, four = (consensus_columns(pool, ["bleu", "chrf", "ter"], None, 1.0, 200, jobs) for jobs in (1, 4))
    assert serial.tobytes() == four.tobytes()


def test_surface(tmp_path: Path) -> None:
    texts = ["the the cat ( sat . the cat", "Ana has 2 dogs and 2 \u201ccats .", ""]
    pool = pool_of([texts], ["hoy Ana tiene 2 cats y 3 , Rosa"], tmp_path)
    rows = [dict(zip([*text_columns(), *source_columns()], row, strict=True)) for row in shallow_columns(pool)]
    mean = (8 + 8) / 3
    assert rows[0] == {
        **{
            "words": 8,
            "gap": 8 - mean,
            "repeat_1": 1,
            "repeat_2": 1,
            "repeat_3": 0,
            "marks": 2,
            "final": 0,
            "brackets": 1,
        },
        **{"ratio": 8 / 9, "mark_gap": 1, "numbers": 2, "names": 2, "copies": 0},
    }
    assert rows[1] == {
        **{
            "words": 8,
            "gap": 8 - mean,
            "repeat_1": 0,
            "repeat_2": 0,
            "repeat_3": 0,
            "marks": 1,
            "final": 1,
            "brackets": 1,
        },
        **{"ratio": 8 / 9, "mark_gap": 0, "numbers": 2, "names": 1, "copies": 1},
    }
    assert rows[2]["words"] == rows[2]["final"] == rows[2]["copies"] == 0
    assert (rows[2]["numbers"], rows[2]["names"]) == (2, 2)


def test_word_translations_in_both_directions(tmp_path: Path) -> None:
    rules = [
        (("a",), ("u",), {"lexical_ef": math.log(0.5), "lexical_fe": math.log(0.25)}),
        (("a",), ("v",), {"lexical_ef": math.log(0.125), "lexical_fe": math.log(0.5)}),
        (("b",), ("v",), {"lexical_ef": math.log(0.25), "lexical_fe": math.log(0.0078125)}),
        (("a", "b"), ("u",), {"lexical_ef": math.log(0.5), "lexical_fe": math.log(0.5)}),
    ]
    grammar = model_of(tmp_path, rules, []).grammar
    ef = {("a", "u"): 0.5, ("a", "v"): 0.125, ("b", "v"): 0.25, ("?", "?"): 1.0}
    fe = {("a", "u"): 0.25, ("a", "v"): 0.5, ("b", "v"): 0.0078125, ("?", "?"): 1.0}
    source, texts, floor = ["b", "a", "?"], ["u v", "v v w ?", ""], 1e-4
    rows = lexical_columns(pool_of([texts], folder=tmp_path), [" ".join(source)], grammar)
    for text, row in zip(texts, rows, strict=True):
        words = text.split()
        best = [max((ef.get((f, e), 0.0), -i) for i, f in enumerate(source)) for e in words]
        linked = [(-i) for score, i in best if score >= 0.01]
        jumps = [abs(here - before - 1) for before, here in zip([-1, *linked], linked, strict=False)]
        wanted = [
            sum(math.log(floor + sum(ef.get((f, e), 0.0) for f in source) / 3) for e in words),
            sum(math.log(floor + sum(fe.get((f, e), 0.0) for e in words) / max(1, len(words))) for f in source),
            sum(math.log(max(floor, score)) for score, _ in best),
            sum(math.log(max([floor, *(fe.get((f, e), 0.0) for e in words)])) for f in source),
            sum(max([0.0, *(ef.get((f, e), 0.0) for e in words)]) < 0.01 for f in source),
            sum(max(fe.get((f, e), 0.0) for f in source) < 0.01 for e in words),
            max([1, *(linked.count(place) for place in linked)]) - 1,
            sum(jumps) / max(1, len(jumps)),
        ]
        assert row == pytest.approx(wanted, abs=1e-6)


def test_language_models_and_what_is_written(tmp_path: Path) -> None:
    lm = random_lm(random.Random(5), 3)
    lm.write_arpa(tmp_path / "small.arpa")
    pool_of([["u v", "v q w"], ["z"]], folder=tmp_path)
    added = hf.add_features(list=tmp_path / "list.jsonl", out=tmp_path / "out.jsonl", lm=[tmp_path / "small.arpa"])
    families = added.families
    assert families["lm"] == ["lm_small", "lm_small_unknown"]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    got = [candidate for line in lines for candidate in line["candidates"]]
    assert [candidates["features"]["m"] for candidates in got] == [0, -0.3, 0]
    assert [candidates["features"]["lm_small_unknown"] for candidates in got] == [0, 1, 0]
    assert [candidates["features"]["lm_small"] for candidates in got] == pytest.approx(
        [math.log(10) * lm.score(candidates["text"]) for candidates in got], abs=1e-5
    )


def test_pieces_of_a_list_are_the_whole_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool_of(random_lists(6, 30, 4), folder=tmp_path)
    written = []
    for sentences in (1, 7, 1000):
        for name in ("out.jsonl", "out.nbest"):
            monkeypatch.setattr("hopefear.formats.streaming.SENTENCES", sentences)
            monkeypatch.setattr("hopefear.util.files.CHUNK", 500 if sentences < 10 else 1 << 20)
            hf.add_features(list=tmp_path / "list.jsonl", out=tmp_path / name, consensus=["bleu"])
            written.append((tmp_path / name).read_bytes())
    assert written[::2] == [written[0]] * 3
    assert written[1::2] == [written[1]] * 3
    assert len(hf.read_nbest(tmp_path / "out.nbest")) == 30


def test_an_existing_column_is_an_error(tmp_path: Path) -> None:
    pool_of([["a"]], folder=tmp_path)
    hf.add_features(list=tmp_path / "list.jsonl", out=tmp_path / "more.jsonl")
    with pytest.raises(hf.InputError, match="has 8 columns that would be added: text_words, "):
        hf.add_features(list=tmp_path / "more.jsonl", out=tmp_path / "again.jsonl")
    assert not (tmp_path / "again.jsonl").exists()


def test_wrong_options() -> None:
    with pytest.raises(OptionError, match="forced needs --model"):
        Evidence(forced=True)
    with pytest.raises(OptionError, match="explain works only with forced"):
        hf.add_features(list="l", out="o", explain="1")
    with pytest.raises(OptionError, match="weights works only with consensus"):
        hf.add_features(list="l", out="o", weights="w")


def test_other_pools_keep_their_features() -> None:
    candidates = [{"text": "a cat", "lm": -2.0}, {"text": "cat", "lm": -1.0}]
    pool = hf.read_nbest([{"source": "un gato", "candidates": candidates}])
    assert len(Evidence().add(pool[:1]).feature_names) > 10
    assert len(hf.with_functions(pool, {"long": lambda edge: len(edge.words)}).feature_names) == 2
    assert pool.feature_names == ["lm"]
