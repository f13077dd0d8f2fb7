"""JSON of candidates as people have it: flat and nested objects, lists of dicts, shuffled rows, answers of servers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.errors import InputError
from hopefear.formats.nested import columns_of, rows_of

RANDOM = np.random.default_rng(5)
SENTENCES = [
    [
        {"text": f"t{i} {k}", "logprob": -20 - k, "reward_a": float(a), "comet": float(0.5 + 0.1 * a)}
        for k, a in enumerate(RANDOM.normal(size=4))
    ]
    for i in range(60)
]


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    return write(tmp_path / "flat.jsonl", [{"prompt": f"p{i}", "candidates": c} for i, c in enumerate(SENTENCES)])


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    inner = [
        [
            {
                "text": c["text"],
                "features": {"logprob": c["logprob"], "reward_a": c["reward_a"]},
                "metrics": {"comet": c["comet"]},
            }
            for c in candidates
        ]
        for candidates in SENTENCES
    ]
    return write(tmp_path / "nested.jsonl", [{"id": f"p{i}", "candidates": c} for i, c in enumerate(inner)])


def test_a_score_of_flat_candidates_is_the_metric(flat: Path, nested: Path, tmp_path: Path) -> None:
    for name, path in (("flat", flat), ("nested", nested)):
        run = tmp_path / name
        given = ["tune", "--nbest", str(path), "--metric", "comet", "--trainer", "mert", "--set", "restarts=1"]
        assert main([*given, "--out", str(run)]) == 0
    weights = {name: hf.read_weights(tmp_path / name / "weights.txt") for name in ("flat", "nested")}
    assert weights["flat"] == weights["nested"]
    assert set(weights["flat"]) == {"logprob", "reward_a"}
    assert weights["flat"]["reward_a"] > 0


def test_features_and_outcomes_are_chosen(flat: Path, tmp_path: Path) -> None:
    given = ["tune", "--nbest", str(flat), "--outcome", "comet", "--features", "rew*", "--trainer", "mert"]
    assert main([*given, "--set", "restarts=1", "--out", str(tmp_path / "run")]) == 0
    assert set(hf.read_weights(tmp_path / "run" / "weights.txt")) == {"reward_a"}
    assert main([*given[:4], "comett", *given[5:], "--out", str(tmp_path / "no")]) == 2


@pytest.mark.parametrize("kind", ["flat", "nested"])
def test_weigh_reads_both(kind: str, flat: Path, nested: Path) -> None:
    group = {"flat": "prompt", "nested": "id"}[kind]
    with pytest.warns(UserWarning, match="reward_a agrees completely with the outcome 'comet'"):
        weighed = hf.weigh({"flat": flat, "nested": nested}[kind], group, "comet", features=["logprob", "reward_a"])
    assert weighed.weights["reward_a"] > 0


def test_lists_of_dicts_shuffled_rows_and_iterators(flat: Path) -> None:
    rows = rows_of(json.loads(line) for line in flat.read_text().splitlines())
    RANDOM.shuffle(rows)
    how: dict[str, Any] = {
        "group": "prompt",
        "features": ["logprob", "reward_a"],
        "outcome": "comet",
        "trainer": "mert",
    }
    with pytest.warns(UserWarning, match="reward_a agrees with the outcome 'comet'"):
        from_rows, from_iterator = hf.tune(rows, **how), hf.tune(iter(rows), **how)
    assert from_rows.weights == from_iterator.weights
    assert from_rows.weights["reward_a"] > 0
    best = hf.rerank(SENTENCES[0], {"reward_a": 1.0, "logprob": 0.0})
    assert best[0]["reward_a"] == max(each["reward_a"] for each in SENTENCES[0])


def test_answers_of_servers_with_several_choices() -> None:
    chat = {
        "id": "chatcmpl-9",
        "choices": [
            {"index": 0, "message": {"content": "a"}, "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -1.5}]}},
            {"index": 1, "message": {"content": "b"}, "logprobs": {"content": [{"logprob": -3.0}]}},
        ],
    }
    batch = {"custom_id": "r-1", "response": {"body": {**chat, "id": "chatcmpl-10"}}}
    rows = rows_of([chat, batch])
    assert [row["text"] for row in rows] == ["a", "b", "a", "b"]
    assert rows[0] == {"id": "chatcmpl-9", "text": "a", "logprob_sum": -2.0, "logprob_mean": -1.0, "logprob_min": -1.5}
    assert rows[2]["id"] == "r-1"
    completion = {"prompt": "x", "outputs": [{"text": "a", "cumulative_logprob": -3.5, "finish_reason": "stop"}]}
    assert rows_of([completion])[0]["cumulative_logprob"] == -3.5


def test_missing_cells_are_none() -> None:
    assert columns_of([{"a": 1}, {"b": 2}]) == {"a": [1, None], "b": [None, 2]}


@pytest.mark.parametrize(
    ("records", "message"),
    [([3], "entry 0 is int"), ([{"candidates": [{"score": 1}]}], "a candidate of entry 0 has no text")],
)
def test_unreadable_records_are_errors(records: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows_of(records, "dev.jsonl")
