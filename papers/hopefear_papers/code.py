"""A digest of the source code that determines a result.

It is part of every cache key, so that a result of older code is never read as one of this code. It covers the C++ of
the core (``packaging/digest.cmake`` compiles its digest in) and the Python of hopefear and of the experiments, except
for user interface and reports. It is conservative: a changed comment changes it, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import hopefear
from hopefear import _core

#: Parts of ``src/hopefear`` that do not determine results: user interface and reports.
INTERFACE = ("cli", "commands", "commands.py", "display.py", "reports", "sklearn.py")


def digest_of(folders: Iterable[Path], without: Iterable[str] = ()) -> str:
    """SHA-256 of the names and contents of the Python files below some folders, ``without`` these entries."""
    total = hashlib.sha256()
    for number, folder in enumerate(folders):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder)
            if name.parts[0] not in without:
                total.update(f"{number}/{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


@cache
def code_digest() -> str:
    """The digest of this installation: Python and the compiled core."""
    library, own = Path(hopefear.__file__).parent, Path(__file__).parent
    folders = [library] if own.is_relative_to(library) else [library, own]
    return hashlib.sha256(f"{digest_of(folders, INTERFACE)} {_core.sources}".encode()).hexdigest()
