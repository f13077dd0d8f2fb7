"""Vocabularies: ids, and threads that read while one adds."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hopefear import Vocab

ROOT = Path(__file__).parent.parent.parent


def test_ids_are_dense_and_strings_come_back() -> None:
    vocab = Vocab()
    names = [f"{i % 7}-{i}" for i in range(5000)]
    assert [vocab.add(name) for name in names] == list(range(5000))
    assert [vocab.add(name) for name in names] == list(range(5000))
    assert [vocab.find(name) for name in names] == list(range(5000))
    assert vocab.names() == names
    assert vocab.find("none of them") == -1


def test_lists_are_written_while_another_thread_adds_words(tmp_path: Path) -> None:
    """ThreadSanitizer fails the program on any data race."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    flags = ["-std=c++20", "-O1", "-fsanitize=thread", "-pthread"]
    empty = tmp_path / "empty.cc"
    empty.write_text("int main() {}\n")
    for command in ([compiler, *flags, empty, "-o", tmp_path / "empty"], [tmp_path / "empty"]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs ThreadSanitizer")
    core = [ROOT / "core" / name for name in ("formats/write_nbest.cc", "formats/json.cc", "forest/forest.cc")]
    program = tmp_path / "vocab_threads"
    source = ROOT / "tests" / "native" / "vocab_threads.cc"
    subprocess.run([compiler, *flags, "-I", ROOT / "core", source, *core, "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "same\n"), run.stderr[:2000]
