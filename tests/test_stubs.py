"""The stubs of the core and of the package agree with what is imported (mypy's stubtest)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hopefear

FOLDER = Path(hopefear.__file__).parent
#: Only the two stubs are read: what they import is checked by mypy itself.
CONFIG = "[mypy]\nfollow_imports = skip\nfollow_imports_for_stubs = True\ndisable_error_code = overload-cannot-match\n"
#: nanobind has its own types of functions and classes, which stubtest does not know; other modules have no stubs.
EXPECTED = re.compile(
    r"hopefear\._core\.\S+ is (?:not a function|inconsistent, (?:metaclass differs|stub is a staticmethod but runtime "
    r"is not|stub does not have \*args parameter \"args\"))"
    r"|hopefear\.[\w.]+ failed to find stubs|hopefear\.__all__ is not present in stub"
)


def differences(folder: Path) -> list[str]:
    """Where the stubs in a folder differ from the package."""
    config = folder / "mypy.ini"
    config.write_text(CONFIG)
    options = ["--concise", "--ignore-disjoint-bases", "--mypy-config-file", config]
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *options, "hopefear"],
        env=os.environ | {"MYPYPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert "hopefear._core.mert is not a function" in done.stdout, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if not EXPECTED.match(line)]


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """The two stubs alone, so that stubtest does not read the modules."""
    if not (FOLDER / "_core.pyi").exists():
        pytest.skip("the stub of the core is written by the build: ./run setup")
    package = tmp_path / "hopefear"
    package.mkdir()
    for stub in ("__init__.pyi", "_core.pyi"):
        shutil.copy(FOLDER / stub, package)
    return tmp_path


def test_stubs_agree_with_the_package(stubs: Path) -> None:
    assert differences(stubs) == []


def test_differences_are_found(stubs: Path) -> None:
    core = stubs / "hopefear" / "_core.pyi"
    core.write_text(core.read_text() + "\ndef not_there() -> int: ...\n")
    package = stubs / "hopefear" / "__init__.pyi"
    package.write_text(package.read_text().replace("    tune as tune,\n", ""))
    assert differences(stubs) == [
        "hopefear.tune is not present in stub",
        "hopefear._core.not_there is not present at runtime",
    ]
