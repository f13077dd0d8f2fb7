"""Paths of the command line: files to read must exist, and messages suggest what may have been meant."""

from __future__ import annotations

import difflib
import errno
import os
from pathlib import Path

from hopefear.errors import InputError


def input_file(path: str, folders: bool = False) -> str:
    """A file to read (``-`` is standard input, URLs are left alone); with ``folders`` a directory will do as well."""
    from hopefear.util.files import is_remote  # which needs the core; help and manual pages do not

    if path == "-" or is_remote(path):
        return path
    if not path:
        raise InputError("'': an empty file name. Check the path.")
    if not Path(path).exists():
        raise InputError(no_such_file(path))
    if Path(path).is_dir() and not folders:
        raise InputError(f"{path}: is a directory. A file is needed here.")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path}: {os.strerror(errno.EACCES).lower()}. Make it readable.")
    return path


def no_such_file(path: str) -> str:
    """The finding and the cure for a path that does not exist."""
    folder, name = Path(path).parent, Path(path).name
    if not folder.is_dir():
        return f"{path}: no such file: there is no directory {str(folder)!r}. Check the path."
    if Path(path).is_symlink():
        return f"{path}: is a link that leads to no file. Check where it leads."
    from hopefear.metrics import METRICS

    if path in METRICS:
        return f"{path}: no such file. If it is a metric, write --metric {path}; repeat --metric for each metric."
    close = difflib.get_close_matches(name, [entry.name for entry in folder.iterdir()], n=1, cutoff=0.6)
    return f"{path}: no such file. " + (f"Did you mean {str(folder / close[0])!r}?" if close else "Check the path.")
