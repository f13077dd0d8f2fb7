"""A model that is built on the way to a translator: whenever that is interrupted, the same call builds it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from hopefear.creation.building import build_pruned
from hopefear.model import BuildOptions, Model
from hopefear.model.directory import INFO
from hopefear.runs.session import SILENT
from hopefear.util import leftovers

OPTIONS = BuildOptions(tokenizer="none", lm_order=2)


def built(folder: Path) -> None:
    build_pruned([folder / "f"], [folder / "e"], folder / "m", OPTIONS, 0.1, 1, 1, SILENT)


def killed(folder: Path, event: int) -> bool:
    """Kill the build at an event that removes something, after the model was written."""
    process = os.fork()
    if process == 0:
        count = 0

        def hook(name: str, args: tuple[Any, ...]) -> None:
            nonlocal count
            if name in ("os.remove", "os.rmdir", "os.rename") and (folder / "m").exists():
                count += 1
                if count == event:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        built(folder)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def test_a_kill_while_the_whole_model_is_removed(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a b\nb c d\nc a\n" * 4)
    (tmp_path / "e").write_text("x y\ny z w\nz x\n" * 4)
    for event in (6, 7):  # the last ones of a removal file by file
        assert killed(tmp_path, event)
        whole = tmp_path / "m.whole"
        assert not whole.exists() or (whole / INFO).is_file(), event
    leftovers._SWEPT.clear()  # as another process would
    built(tmp_path)
    assert len(Model.open(tmp_path / "m").grammar)
    assert {path.name for path in tmp_path.iterdir()} == {"f", "e", "m"}
