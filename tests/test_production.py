"""The snippets of docs/production.md in other languages score as Python does; threads share a reranker."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf

PAGE = Path(__file__).parents[1] / "docs" / "production.md"
ROWS = [{"sentence": k // 4, "lm": float(-k % 7), "tm": float(k * k % 11), "text": f"t{k}"} for k in range(20)]


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(text)


@pytest.fixture
def reranker() -> hf.Reranker:
    return hf.Reranker({"lm": 0.31, "tm": -0.55}, missing="mean", means={"lm": -3.0, "tm": 5.0})


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize("missing", ["error", "zero", "mean"])
def test_javascript(missing: str, tmp_path: Path) -> None:
    reranker = hf.Reranker({"lm": 0.31, "tm": -0.55}, missing=missing, means={"lm": -3.0, "tm": 5.0})
    reranker.save(tmp_path / "weights.json")
    rows = [*ROWS, {"sentence": 9, "tm": 1.0}]
    show = """
const rows = JSON.parse(readFileSync("rows.json", "utf8"));
const scores = rows.map((row) => { try { return score(row); } catch (error) { return error.message; } });
console.log(JSON.stringify([scores, best(rows.slice(0, 20)).text]));
"""
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "score.js").write_text(block("js") + show)
    done = subprocess.run(["node", "score.js"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    scores, best = json.loads(done.stdout)
    np.testing.assert_allclose(scores[:20], reranker.predict(ROWS))
    assert best == ROWS[reranker.best(ROWS)]["text"]
    if missing == "error":
        assert scores[20] == "the candidate lacks lm"
        with pytest.raises(hf.InputError, match="row 20 has no lm"):
            reranker.predict(rows)
    else:
        assert scores[20] == pytest.approx(reranker.predict(rows)[20])


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 38), reason="needs a SQLite with ->>")
def test_sql(reranker: hf.Reranker, tmp_path: Path) -> None:
    path = reranker.save(tmp_path / "weights.json")
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE model (json TEXT)")
    database.execute("INSERT INTO model VALUES (?)", [path.read_text()])
    database.execute("CREATE TABLE candidates (sentence INTEGER, lm REAL, tm REAL, text TEXT)")
    database.executemany("INSERT INTO candidates VALUES (:sentence, :lm, :tm, :text)", ROWS)
    database.execute("INSERT INTO candidates VALUES (4, NULL, -99, 'lacks lm')")
    database.row_factory = sqlite3.Row
    result = {row["text"]: dict(row) for row in database.execute(block("sql"))}
    np.testing.assert_allclose([result[row["text"]]["score"] for row in ROWS], reranker.predict(ROWS))
    assert result["lacks lm"]["score"] is None and result["lacks lm"]["rank"] == 5
    ranks = {row["text"]: row["rank"] for row in _ranked(reranker)}
    assert {text: row["rank"] for text, row in result.items() if text in ranks} == ranks


def _ranked(reranker: hf.Reranker) -> list[dict[str, object]]:
    """Ranks in each group, by a twin of three lines."""
    scores = reranker.predict(ROWS).tolist()
    return [
        {
            **row,
            "rank": 1
            + sum(s > score for s, other in zip(scores, ROWS, strict=True) if other["sentence"] == row["sentence"]),
        }
        for row, score in zip(ROWS, scores, strict=True)
    ]


def test_threads_share_a_reranker_for_everything(reranker: hf.Reranker) -> None:
    """Dicts, matrices and pools from eight threads at once, some with scores that are missing."""
    rows = [*ROWS, {"sentence": 9, "tm": 1.0}]
    matrix = np.random.default_rng(1).normal(size=(5000, 2))
    matrix[::7, 0] = np.nan
    records = [
        {"candidates": [{"text": row["text"], "lm": row["lm"], "tm": row["tm"]} for row in ROWS[k : k + 4]]}
        for k in range(0, 20, 4)
    ]
    pool = hf.read_nbest(records)

    def work(number: int) -> tuple[list[float], list[float], list[str], list[float]]:
        fresh = hf.Reranker({"lm": 0.31, "tm": -0.55}, missing="mean", means={"lm": -3.0, "tm": 5.0})
        own = reranker if number % 2 else fresh
        return own.predict(rows).tolist(), own.predict(matrix).tolist(), own.rerank(pool), own.predict(pool).tolist()

    expected = work(0)
    with ThreadPoolExecutor(8) as threads:
        assert all(result == expected for result in threads.map(work, range(64)))


@pytest.mark.parametrize("missing", ["error", "zero", "mean"])
def test_onnx(missing: str, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    many = {f"f{k}": float(np.sin(k)) for k in range(40)}  # lengths of more than one byte
    reranker = hf.Reranker(
        {"lm": 0.31, "tm": -0.55} | many, missing, {"lm": -3.0, "tm": 5.0} | dict.fromkeys(many, 2.0)
    )
    session = onnxruntime.InferenceSession(reranker.to_onnx(tmp_path / "weights.onnx"))
    about = session.get_modelmeta().custom_metadata_map
    assert json.loads(about["features"]) == list(reranker.names) and about["missing"] == missing
    rows = np.random.default_rng(1).normal(size=(300, 42)).astype(np.float32)
    (scores,) = session.run(["scores"], {"features": rows})
    np.testing.assert_allclose(scores, reranker.predict(rows), rtol=1e-5, atol=1e-5)
    rows[7, 0] = rows[9, 40] = np.nan
    (scores,) = session.run(None, {"features": rows})
    if missing == "error":
        assert np.flatnonzero(np.isnan(scores)).tolist() == [7, 9]
    else:
        np.testing.assert_allclose(scores, reranker.predict(rows), rtol=1e-5, atol=1e-5)


def fields(data: bytes) -> dict[int, list[Any]]:
    """The fields of a protobuf message: numbers, and bytes."""
    found: dict[int, list[Any]] = {}
    place = 0

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
            if byte < 128:
                return value

    while place < len(data):
        head = number()
        content: Any = number()
        if head & 7 == 2:
            assert place + content <= len(data)
            content, place = data[place : place + content], place + content
        found.setdefault(head >> 3, []).append(content)
    return found


def test_the_bytes_of_an_onnx_model(tmp_path: Path) -> None:
    """Where no runtime reads it: the weights lie in it as they are, and the lengths add up."""
    data = hf.Reranker({"lm": 0.5, "tm": 1.0}).to_onnx(tmp_path / "weights.onnx").read_bytes()
    assert np.array([0.5, 1.0], "<f4").tobytes() in data
    model = fields(data)
    graph = fields(model[7][0])
    assert [sorted(each) for each in (model, graph)] == [[1, 2, 7, 8, 14], [1, 2, 5, 11, 12]]
    assert [fields(node)[4] for node in graph[1]] == [[b"MatMul"]] and model[1] == [7]
    about = {fields(each)[1][0]: fields(each)[2][0] for each in model[14]}
    assert about == {b"features": b'["lm", "tm"]', b"missing": b"error", b"metric": b""}
    with pytest.raises(hf.InputError, match="the means of lm, tm are not known"):
        hf.Reranker({"lm": 0.5, "tm": 1.0}, missing="mean").to_onnx(tmp_path / "other.onnx")
    assert not (tmp_path / "other.onnx").exists()
