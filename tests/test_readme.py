"""The README does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
COMMANDS = [text for language, text in BLOCKS if not language and text.startswith("hopefear ")]
PYTHON = [text for language, text in BLOCKS if language == "python"]
SHOWN = [text.rstrip("\n") for language, text in BLOCKS if language == "text"]
#: The last line of a ``create`` that takes minutes; docs/create.md has its data and figures.
CREATED = next(text for text in SHOWN if text.startswith("translator"))
assert CREATED in (ROOT / "docs" / "create.md").read_text(encoding="utf-8")


def test_the_commands_and_the_python_run_as_printed(tmp_path: Path) -> None:
    assert len(COMMANDS) == 2
    assert len(PYTHON) == 1
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed: list[str] = []
    for text in COMMANDS:
        done = subprocess.run(["bash", "-euc", text], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
        printed += done.stdout.splitlines()
    assert {text for text in SHOWN if text not in printed} == {CREATED}
    for run in ("run", "compared"):
        assert (tmp_path / run / "weights.txt").exists()
    done = subprocess.run([sys.executable, "-c", PYTHON[0]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) > 46


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(page: Path) -> None:
    made = re.findall(r'^    "(.+\.html)": \(', (ROOT / "packaging" / "gallery.py").read_text(), re.MULTILINE)
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        there = (page.parent / link).exists() or link.removeprefix("gallery/") in made  # while the site is built
        assert link.startswith("https://") or there, link
