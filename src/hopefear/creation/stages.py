"""The stages of a long piece of work, each done once: interrupted work continues with the first unfinished stage."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hopefear import __version__
from hopefear.errors import input_error
from hopefear.runs.session import Session
from hopefear.util.files import PathLike, atomic_folder, atomic_write, read_whole, refuse_links, scratch_folder

_SETTINGS = "settings.json"


class Work:
    """A folder for what is made on the way, next to the result: ``OUT.work``."""

    def __init__(self, out: PathLike, settings: Mapping[str, Any], run: Session) -> None:
        self.folder = folder_of(out)
        self._run = run
        text = json.dumps({"hopefear": __version__, **settings}, sort_keys=True, indent=1) + "\n"
        known = self.folder / _SETTINGS
        if self.folder.is_symlink() or (self.folder.exists() and any(self.folder.iterdir())):
            _check_ours(self.folder)
            if known.read_text(encoding="utf-8") == text:
                run.note(f"continuing with {self.folder}")
                return
            self.remove()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with atomic_folder(self.folder) as new:
            (new / _SETTINGS).write_text(text, encoding="utf-8")

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
        remove(self.folder)


def folder_of(out: PathLike) -> Path:
    """Where the stages of a result are."""
    place = Path(out).absolute()
    return place.with_name(f"{place.name}.work")


def remove(folder: Path) -> None:
    """Remove a folder in one step: of what a kill leaves, nothing can be taken for it."""
    with scratch_folder(folder) as aside:
        folder.rename(aside / "work")


def _check_ours(folder: Path) -> None:
    """Complains about a folder of the user's, and about one with links in it."""
    refuse_links(folder, "Remove it, or choose another --out")
    settings: Any = None
    with suppress(OSError, ValueError, RecursionError):
        settings = json.loads(read_whole(folder / _SETTINGS))
    if not isinstance(settings, dict) or "hopefear" not in settings:
        raise input_error(folder, None, "exists and was not made by hopefear. Move it, or choose another --out")
