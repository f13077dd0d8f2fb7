"""The best candidates of a list, streamed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hopefear.data.lists import Synthetic
from hopefear.decode.reranking import Reranking, rerank
from hopefear.errors import InputError
from hopefear.formats import read_nbest, read_weights, write_weights
from hopefear.formats.weights import weight_vector
from hopefear.runs import Session
from hopefear.runs.events import Event, Warned


def test_the_same_as_from_the_whole_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Synthetic(sentences=30, candidates=20, sparse=300)
    data.write(tmp_path)
    pool = read_nbest(tmp_path / "nbest.txt")
    rng = np.random.default_rng(3)
    write_weights({name: float(rng.normal()) for name in pool.feature_names}, tmp_path / "weights")
    best = pool.kbest(weight_vector(read_weights(tmp_path / "weights"), pool.feature_names), 1)
    wanted = [best.text(i, 0) for i in range(len(best))]
    assert list(rerank(tmp_path / "nbest.txt", tmp_path / "weights")) == wanted
    monkeypatch.setattr("hopefear.decode.reranking.IN_MEMORY", 100)  # the rest waits in a file
    assert list(rerank([tmp_path / "nbest.txt"], tmp_path / "weights")) == wanted


def test_a_list_with_an_error_has_no_output(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("0 ||| a ||| lm= 1 ||| 0\n0 ||| half a li")
    (tmp_path / "weights").write_text("lm 1\n")
    with pytest.raises(InputError, match="list:2: "):
        rerank(tmp_path / "list", tmp_path / "weights")


def test_names_that_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("0 ||| a ||| lm= 1 tm= 2 ||| 0\n")
    (tmp_path / "weights").write_text("lm 1\nx 1\n")
    events: list[Event] = []
    with pytest.raises(
        InputError, match=r"weights: 1 weight for features that the list does not have: x\. Use the weights"
    ):
        rerank(tmp_path / "list", tmp_path / "weights")
    assert list(
        rerank(tmp_path / "list", tmp_path / "weights", Session(events.append), how=Reranking(missing="zero"))
    ) == ["a"]
    assert [event.text for event in events if isinstance(event, Warned)] == [
        f"{tmp_path}/weights: 1 weight for features that the list does not have: x",
        "1 feature of the list without a weight, taken as 0: tm",
    ]
    (tmp_path / "weights").write_text("x 1\n")
    with pytest.raises(InputError, match=r"none of its 1 weight belongs to a feature of the list, which has lm, tm\."):
        rerank(tmp_path / "list", tmp_path / "weights")
