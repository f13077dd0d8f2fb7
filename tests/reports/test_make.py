"""The page of a report: it is whole, fetches nothing, and no text becomes markup."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from hopefear.cli.main import main
from hopefear.reports.page import unpacked
from tests.reports.pages import HOSTILE, parsed


def test_the_page_is_well_formed_and_self_contained(page: Path) -> None:
    parts = parsed(page)
    assert parts.scripts == ["text/plain", None]
    assert len(set(parts.ids)) == len(parts.ids)
    assert all(target.startswith("#") and target[1:] in parts.ids for target in parts.targets)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'".replace("'", "&#x27;") in text


def test_every_section_is_there(page: Path) -> None:
    wanted = {
        *("verdict", "pairs", "scores", "metrics", "warnings", "curves", "buckets", "sentences", "candidates"),
        *("weights", "table", "surface", "length", "options", "made"),
    }
    assert wanted <= set(parsed(page).ids)


def test_hostile_text_stays_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<script>window" not in text and "<img" not in text
    data = unpacked(text)
    assert data["runs"][0]["sentences"]
    assert any(HOSTILE in reference for each in data["sentences"][0]["references"] for reference in each)


def test_runs_keep_their_numbers_where_some_have_no_pictures(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "mert", tmp_path / "lost")
    record = json.loads((tmp_path / "lost" / "run.json").read_text())
    record["inputs"][0]["path"] = "nowhere.txt"
    (tmp_path / "lost" / "run.json").write_text(json.dumps(record))
    given = [str(tmp_path / "lost"), str(runs / "kbmira"), str(runs / "mert")]
    assert main(["report", *given, "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    parsed(tmp_path / "r.html")
    assert re.findall(r'data-panel="s" data-run="(\d)"', text) == ["1", "2"]
    assert re.findall(r'data-panel="w" data-run="(\d)"', text) == ["0", "1", "2"]


def test_not_a_run(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "r.html")]) == 2
    assert "run.json" in capsys.readouterr().err
    assert main(["report"]) == 2


def test_a_table_without_texts_has_a_page(tmp_path: Path) -> None:
    """Scores and a column that says how good a row is; a metric of the whole order."""
    random = np.random.default_rng(1)
    with (tmp_path / "t.csv").open("w") as file:
        file.write("q,a,b,grade\n")
        for group in range(30):
            for _ in range(5):
                a, b = random.normal(size=2)
                file.write(f"q{group},{a:.3f},{b:.3f},{int(a + random.normal() > 1)}\n")
    table = ["--table", str(tmp_path / "t.csv"), "--group", "q", "--outcome", "grade", "--holdout", "0.3", "--quiet"]
    for name, more in (("mean", []), ("order", ["--metric", "ndcg@3:column=grade"])):
        options = ["--trainer", "mert", "--set", "restarts=1", "kicks=0", *more, "--out", str(tmp_path / name)]
        assert main(["tune", *table, *options]) == 0
    given = [str(tmp_path / "mean"), str(tmp_path / "order")]
    assert main(["report", *given, "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    page = parsed(tmp_path / "r.html")
    assert {"verdict", "scores", "table"} <= set(page.ids) and "buckets" not in page.ids
    record = json.loads((tmp_path / "order" / "run.json").read_text())
    assert f"{record['final']['holdout']['ndcg@3']:.4f}" in "".join(page.text)
