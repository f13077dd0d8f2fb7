"""Parallel text of a generated language in files."""

from __future__ import annotations

from pathlib import Path

from hopefear.data.language import SyntheticParallel
from hopefear.model.options import BuildOptions

DATA = SyntheticParallel(seed=2)


NONE = BuildOptions(tokenizer="none")


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path
