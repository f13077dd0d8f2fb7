"""Plug-ins: entry points of other packages, and ``module:Class`` on the command line.

A package that declares, in its ``pyproject.toml``, ::

    [project.entry-points."hopefear.trainers"]
    mine = "my_package.trainer:Mine"

adds a trainer ``mine``. The groups are ``hopefear.trainers``, ``hopefear.metrics``, ``hopefear.commands`` and
``hopefear.trackers`` (classes), and ``hopefear.formats`` (functions that read lists:
``hopefear.formats.list_formats``). Our own names come first. Only what is installed, or named by the user, is ever
imported.
"""

from __future__ import annotations

import functools
import importlib
import sys
from pathlib import Path
from typing import Any

from hopefear.errors import OptionError


@functools.cache
def entry_points(group: str) -> dict[str, Any]:
    """Name -> entry point, of all installed packages."""
    return {point.name: point for point in _all() if point.group == group}


@functools.cache
def _all() -> list[Any]:
    """Entry points of the packages that have some of ours; ``importlib.metadata`` would read those of all packages."""
    folders: list[Path] = []
    for folder in map(Path, sys.path):
        if folder.is_file():  # an archive, which has its metadata inside
            from importlib import metadata

            return list(metadata.entry_points())
        files = folder.glob("*-info/entry_points.txt")
        folders += [file.parent for file in files if b"[hopefear." in file.read_bytes()]
    if not folders:
        return []
    from importlib.metadata import PathDistribution

    found: dict[str, PathDistribution] = {}
    for distribution in map(PathDistribution, folders):  # as there, the first of several copies counts
        found.setdefault(distribution.name.lower().replace("-", "_"), distribution)
    return [point for distribution in found.values() for point in distribution.entry_points]


def load(group: str, name: str, kind: type[Any] = object) -> Any:
    """The object of an entry point; a class must be derived from ``kind``."""
    point = entry_points(group)[name]
    package = point.dist.name if point.dist is not None else point.value
    try:
        loaded = point.load()
    except Exception as error:  # whatever it is that a foreign module does when it is imported
        raise OptionError(f"{name}: the package {package} could not be loaded: {error}.") from error
    if kind is not object and not (isinstance(loaded, type) and issubclass(loaded, kind)):
        raise OptionError(f"{name}: {point.value} of the package {package} is not a {kind.__name__}.")
    return loaded


def is_path(name: str) -> bool:
    """Whether a name is ``module:Class``."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load_path(name: str, kind: type[Any], option: str) -> Any:
    """The class that ``module:Class`` names; modules of the working directory are found too."""
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        loaded = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise OptionError(f"{option} {name}: there is no module {error.name!r}. Is its package installed?") from error
    except AttributeError:
        raise OptionError(f"{option} {name}: the module {module} has no {attribute!r}.") from None
    if not (isinstance(loaded, type) and issubclass(loaded, kind)):
        raise OptionError(f"{option} {name}: {attribute} is not a {kind.__name__}. Derive it from that class.")
    return loaded
