"""The notebooks run from the first cell to the last, and are kept without what they print."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hopefear

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("nbmake")
    package = str(Path(hopefear.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "JUPYTER_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "--nbmake", "--nbmake-timeout=900", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
