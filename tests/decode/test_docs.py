"""The examples of docs/decoder.md and docs/blocks.md."""

import re
from pathlib import Path

import pytest


def test_examples_of_the_hierarchical_decoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "decoder.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:  # later ones go on where the first ended
        exec(compile(block, "docs/decoder.md", "exec"), names)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert capsys.readouterr().out == shown


def test_examples_of_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "blocks.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "docs/blocks.md", "exec"), {})
