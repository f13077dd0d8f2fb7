"""The stages of a long piece of work, each done once: what was interrupted goes on with the stage that was not done."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hopefear import __version__
from hopefear.errors import input_error
from hopefear.runs.session import Session
from hopefear.util.files import PathLike, atomic_write

_SETTINGS = "settings.json"


class Work:
    """A folder for what is made on the way, next to the result: ``OUT.work``."""

    def __init__(self, out: PathLike, settings: Mapping[str, Any], run: Session) -> None:
        place = Path(out).absolute()
        self.folder = place.with_name(f"{place.name}.work")
        self._run = run
        text = json.dumps({"hopefear": __version__, **settings}, sort_keys=True, indent=1) + "\n"
        known = self.folder / _SETTINGS
        if self.folder.exists() and not known.is_file() and any(self.folder.iterdir()):
            raise input_error(self.folder, None, "exists and is not ours. Move it, or take another --out")
        if known.is_file() and known.read_text(encoding="utf-8") == text:
            run.note(f"going on with what {self.folder} has")
            return
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True)
        with atomic_write(known) as file:
            file.write(text)

    def stage(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The record of a stage, made now or when the work was begun; with the seconds that it took."""
        file = self.folder / f"{name}.json"
        with suppress(OSError, ValueError):
            record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return record
        begun = time.perf_counter()
        try:
            made = make()
        except BaseException:
            if {path.name for path in self.folder.glob("*.json")} == {_SETTINGS}:  # nothing to go on with
                self.remove()
            raise
        made["seconds"] = time.perf_counter() - begun
        with atomic_write(file) as out:
            out.write(json.dumps(made, ensure_ascii=False, indent=1) + "\n")
        self._run.note(f"{name}: {made['seconds']:.0f} s")
        return made

    def remove(self) -> None:
        """The result is there, or nothing is."""
        shutil.rmtree(self.folder)
