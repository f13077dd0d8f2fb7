"""inspect as a command."""

from pathlib import Path

import pytest

from hopefear.cli.main import main


def test_inspect_what_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path)]) == 2
    assert "is not a model: it has no model.json" in capsys.readouterr().err
