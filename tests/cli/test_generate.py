import json
from pathlib import Path

import pytest

from hopefear.cli.main import main

Capture = pytest.CaptureFixture[str]
SMALL = ["--sentences", "3", "--candidates", "5"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_files_are_named_on_stdout(capsys: Capture) -> None:
    assert main(["generate", "--out", "d", *SMALL, "--refs", "2"]) == 0
    out, err = capsys.readouterr()
    assert out.split() == ["d/nbest.txt", "d/source.txt", "d/ref.0", "d/ref.1", "d/initial.txt"]
    assert err == ""
    assert sorted(str(path) for path in Path("d").iterdir()) == sorted(out.split())


def test_the_seed_decides(capsys: Capture) -> None:
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(["generate", "--out", folder, *SMALL, "--seed", seed]) == 0
    texts = [Path(folder, "nbest.txt").read_bytes() for folder in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_files_are_replaced_with_overwrite_only(capsys: Capture) -> None:
    Path("d").mkdir()
    Path("d/ref.0").write_text("mine")
    assert main(["generate", "--out", "d", *SMALL]) == 2
    assert "d/ref.0: already exists" in capsys.readouterr().err
    assert Path("d/ref.0").read_text() == "mine"
    assert main(["generate", "--out", "d", *SMALL, "--overwrite"]) == 0
    assert Path("d/ref.0").read_text() != "mine"


def test_jsonl_has_a_metric_column() -> None:
    assert main(["generate", "--out", "d", *SMALL, "--jsonl", "--sparse", "100"]) == 0
    rows = [json.loads(line) for line in Path("d/nbest.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    for row in rows:
        assert len(row["references"]) == 4
        assert len({candidate["text"] for candidate in row["candidates"]}) == 5
        for candidate in row["candidates"]:
            assert 0 <= candidate["metrics"]["quality"] <= 100
            words = candidate["text"].split()
            for name, value in candidate["features"].items():
                if name.startswith("word:"):
                    assert words.count(name[5:]) == value
