"""The digest of the code that decides a result."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hopefear import _core
from hopefear_papers import Lab, base, code

ROOT = Path(__file__).parent.parent.parent


def test_any_change_of_a_source_changes_the_digest(tmp_path: Path) -> None:
    (tmp_path / "a" / "cli").mkdir(parents=True)
    for name, text in (("one.py", "x = 1\n"), ("two.py", "y = 2\n"), ("cli/three.py", "z = 3\n")):
        (tmp_path / "a" / name).write_text(text)
    digests = [code.digest_of([tmp_path / "a"], code.INTERFACE)]

    def changed() -> bool:
        digests.append(code.digest_of([tmp_path / "a"], code.INTERFACE))
        return digests[-1] not in digests[:-1]

    (tmp_path / "a" / "one.py").write_text("x = 2\n")
    assert changed()
    (tmp_path / "a" / "one.py").rename(tmp_path / "a" / "four.py")
    assert changed()
    (tmp_path / "a" / "empty.py").touch()
    assert changed()
    (tmp_path / "a" / "cli" / "three.py").write_text("z = 4\n")  # it shows
    (tmp_path / "a" / "__pycache__").mkdir()
    (tmp_path / "a" / "__pycache__" / "one.pyc").write_bytes(b"3")
    assert not changed()


def test_what_shows_results_is_there() -> None:
    """A name that is gone would be a typing error, or hide a module that decides."""
    folder = Path(code.hopefear.__file__).parent
    determining = {each.name for each in folder.iterdir()} - set(code.INTERFACE)
    assert determining >= {"trainers", "decode", "train", "evaluation"}


def test_other_code_computes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def compute() -> dict[str, Any]:
        calls.append(1)
        return {"value": len(calls)}

    lab = Lab(tmp_path)
    assert lab.cached("a", {"seed": 1}, compute) == {"value": 1}
    assert lab.cached("a", {"seed": 1}, compute) == {"value": 1}
    monkeypatch.setattr(base, "code_digest", lambda: "other code")
    assert lab.cached("a", {"seed": 1}, compute) == {"value": 2}


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_the_core_knows_its_sources(tmp_path: Path) -> None:
    """A digest of core/ and bindings/ is compiled in: another byte there, another digest."""
    assert re.fullmatch("[0-9a-f]{64}", _core.sources)

    def digest() -> str:
        out, script = tmp_path / "digest.h", ROOT / "packaging" / "digest.cmake"
        subprocess.run(["cmake", f"-DROOT={tmp_path}", f"-DOUT={out}", "-P", script], check=True, capture_output=True)
        return out.read_text()

    for folder in ("core/sub", "bindings"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "core" / "sub" / "a.cc").write_text("1")
    seen = [digest()]
    (tmp_path / "bindings" / "b.h").write_text("2")
    seen.append(digest())
    (tmp_path / "core" / "sub" / "a.cc").write_text("3")
    seen.append(digest())
    assert len(set(seen)) == 3
    assert re.search('HOPEFEAR_SOURCES "[0-9a-f]{64}"', seen[0])
