"""Small C++ programs over the core that ThreadSanitizer fails on any data race."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLAGS = ["-std=c++20", "-O1", "-fsanitize=thread", "-pthread"]


def run_with_threads(name: str, core: list[str], folder: Path) -> None:
    """Compiles tests/native/NAME.cc with these files of the core and runs it with the folder: it must print "same"."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    empty = folder / "empty.cc"
    empty.write_text("int main() {}\n")
    for command in ([compiler, *FLAGS, empty, "-o", folder / "empty"], [folder / "empty"]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs ThreadSanitizer")
    sources = [ROOT / "tests" / "native" / f"{name}.cc", *(ROOT / "core" / f"{each}.cc" for each in core)]
    subprocess.run([compiler, *FLAGS, "-I", ROOT / "core", *sources, "-o", folder / name], check=True)
    run = subprocess.run([folder / name, folder], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "same\n"), run.stderr[:2000]
