"""Pairs as plain files, one sentence a line and one pair of files per domain: what :func:`hopefear.build` reads."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hopefear.corpus.pair import Pair
from hopefear.util.files import output


@dataclass(frozen=True)
class PlainFiles:
    """Parallel files, in the order of their domains."""

    source: tuple[Path, ...]
    target: tuple[Path, ...]
    domains: tuple[str, ...]
    pairs: tuple[int, ...]  #: of each domain


def write_plain(pairs: Iterable[Pair], folder: Path, name: str, source: str, target: str) -> PlainFiles:
    """Write ``NAME.DOMAIN.SOURCE`` and ``NAME.DOMAIN.TARGET`` for each domain, as the pairs come."""
    counts: dict[str, int] = {}
    files: dict[str, tuple[IO[Any], IO[Any]]] = {}
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for pair in pairs:
            if pair.domain not in files:
                paths = (folder / f"{name}.{pair.domain}.{language}" for language in (source, target))
                first, second = (stack.enter_context(output(path)) for path in paths)
                files[pair.domain] = first, second
            counts[pair.domain] = counts.get(pair.domain, 0) + 1
            for file, text in zip(files[pair.domain], (pair.source, pair.target), strict=True):
                file.write(text + "\n")
    return PlainFiles(
        tuple(folder / f"{name}.{domain}.{source}" for domain in counts),
        tuple(folder / f"{name}.{domain}.{target}" for domain in counts),
        tuple(counts),
        tuple(counts.values()),
    )
