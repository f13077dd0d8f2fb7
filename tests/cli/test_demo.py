"""demo as a command, on generated text in place of the verses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.data.language import SyntheticParallel


def write_text(out: str, overwrite: bool) -> dict[str, int]:
    folder, data = Path(out), SyntheticParallel(seed=3)
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {"train": 300, "tune": 20, "dev": 12, "test": 12}
    for stream, (part, count) in enumerate(sizes.items()):
        pairs = data.pairs(count, stream=stream)
        (folder / f"{part}.source").write_text("".join(pair.source + "\n" for pair in pairs))
        if part == "train":
            (folder / "train.target").write_text("".join(pair.target + "\n" for pair in pairs))
            continue
        ways = [data.references(pair, 3) for pair in pairs]
        for k in range(3):
            (folder / f"{part}.ref.{k}").write_text("".join(way[k] + "\n" for way in ways))
    return sizes


def test_from_text_to_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hopefear.data.verses.write_verses", write_text)
    assert main(["demo", "--epochs", "1"]) == 0
    output = capsys.readouterr()
    *_, dev, test, report = output.out.splitlines()
    final = json.loads(Path("hopefear-demo/run/run.json").read_text())["final"]
    for name, line in (("dev", dev), ("test", test)):
        before, after = final["before"][name]["bleu"], final[name]["bleu"]
        assert line == f"{name}: BLEU {before:.2f} before training, {after:.2f} after"
    assert report == "report: hopefear-demo/report.html"
    assert "<html" in Path("hopefear-demo/report.html").read_text()
    assert "$ hopefear build" in output.err
    assert main(["demo", "--epochs", "1"]) == 0  # again: what is there is replaced, the model is used again
    assert "already exists" in capsys.readouterr().err
