"""The example in docs/outer-loop.md runs, and docs/diagnosis.md has every code."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import hopefear.evaluation.diagnosis

ROOT = Path(__file__).parents[2]


def test_the_example_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "outer-loop.md").read_text()
    block = textwrap.dedent(re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)[0])
    assert "hopefear tune --decoder-command" in block
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", block], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    before, after = (float(line.split()[1]) for line in done.stdout.splitlines()[1:3])
    assert after > before + 5


def test_every_code_is_explained() -> None:
    source = Path(hopefear.evaluation.diagnosis.__file__).read_text()
    codes = set(re.findall(r'Finding\(\s*"([a-z-]+)"', source))
    explained = set(re.findall(r"^\| `([a-z-]+)`", (ROOT / "docs" / "diagnosis.md").read_text(), re.MULTILINE))
    assert codes == explained and len(codes) == 19
