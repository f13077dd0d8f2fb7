"""Which code a result comes from: a digest of the sources that decide it.

The cache of experiments has it in every key, so that nobody reads a number of older code as one of today's. It covers
the C++ of the core (``packaging/digest.cmake`` compiles its digest in), and the Python of hopefear and of the
experiments but for the parts that show or ask and decide nothing. It errs on the side of computing again: a comment
counts, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import hopefear
from hopefear import _core

#: Below ``src/hopefear``: what shows results, or asks for them.
SHOW = ("cli", "commands", "commands.py", "display.py", "reports", "sklearn.py")


def digest_of(folders: Iterable[Path], without: Iterable[str] = ()) -> str:
    """SHA-256 of the Python files below some folders, their names among it; ``without`` these entries of a folder."""
    total = hashlib.sha256()
    for number, folder in enumerate(folders):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder)
            if name.parts[0] not in without:
                total.update(f"{number}/{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


@cache
def code_digest() -> str:
    """Of this program: Python and the compiled core."""
    library, own = Path(hopefear.__file__).parent, Path(__file__).parent
    folders = [library] if own.is_relative_to(library) else [library, own]
    return hashlib.sha256(f"{digest_of(folders, SHOW)} {_core.sources}".encode()).hexdigest()
