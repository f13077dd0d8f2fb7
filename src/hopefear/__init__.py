"""hopefear learns the weights of linear translation models by optimising translation quality directly.

The public names are those of ``__init__.pyi``, which type checkers read too. They are loaded when they are first used,
so that ``import hopefear`` is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"


def _public() -> dict[str, str]:
    """Public name -> module that defines it: the lines ``from MODULE import NAME as NAME, ...`` of the stub."""
    with open(__file__.removesuffix(".py") + ".pyi", encoding="utf-8") as stub:  # noqa: PTH123  (pathlib takes time)
        text = stub.read().replace("(\n", "").replace(",\n", ",").replace(")", "")
    imports = [line.split(" import ") for line in text.splitlines() if line.startswith("from ")]
    return {name.split()[0]: where[5:] for where, names in imports for name in names.split(",") if name.strip()}


_PUBLIC = _public()
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        found = getattr(importlib.import_module(_PUBLIC[name]), name)
        globals()[name] = found
        return found
    try:  # hf.metrics, hf.formats
        return importlib.import_module(f"hopefear.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'hopefear' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
