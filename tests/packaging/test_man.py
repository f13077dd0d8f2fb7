"""Manual pages: every command, every option, and no word that the formatter trips over."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from hopefear import commands

ROOT = Path(__file__).parents[2]


def load(name: str) -> ModuleType:
    """A script of packaging/ as a module."""
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", ROOT / "packaging" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    load("man").write(folder)
    return folder


def test_every_command_has_a_page(pages: Path) -> None:
    assert {path.name for path in pages.iterdir()} == {
        "hopefear.1",
        *(f"hopefear-{name}.1" for name in commands.names()),
    }
    text = (pages / "hopefear-tune.1").read_text()
    for option in ("nbest", "trainer", "seed"):
        assert f"\n.B \\-\\-{option} " in text
    assert "\\-\\-trainer kbmira" in text.partition(".SH EXAMPLES")[2]


def test_lines_are_no_requests() -> None:
    roff = load("man").roff
    assert roff(".SH evil\n'x\na\\b - c") == "\\&.SH evil\n\\&'x\na\\eb \\- c"


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff here")
def test_they_can_be_set(pages: Path) -> None:
    for path in pages.iterdir():
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", str(path)], capture_output=True, text=True)
        assert done.stderr == ""
        plain = re.sub(".\b", "", done.stdout)  # bold is a letter over itself
        assert "\nEXAMPLES\n" in plain
