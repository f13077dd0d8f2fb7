"""corpus as a command."""

from pathlib import Path

import pytest

from hopefear.cli.main import main


def test_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for version in ("ylt", "web", "asv", "kjv"):
        pytest.importorskip(f"pythonbible_{version}")
    assert main(["corpus", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith(f"{tmp_path}/train.*\t")
    assert "hopefear build" in err
    assert main(["corpus", "--out", str(tmp_path)]) == 2
