"""From any format that is read to any that is written: what ``hopefear convert`` does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hopefear._core import Pool
from hopefear.errors import InputError, OptionError, input_error
from hopefear.formats.forests import FOREST_FORMATS, forests_begin, read_forests, write_forests
from hopefear.formats.lattices import LATTICE_FORMATS, share_prefixes, write_lattices
from hopefear.formats.nbest import LIST_FORMATS, NBEST_FORMATS, read_nbest, write_nbest
from hopefear.formats.weights import read_weights, write_weights
from hopefear.util.files import PathLike, path_name

READ = (*LIST_FORMATS, *(name for name in FOREST_FORMATS if name not in LIST_FORMATS), "weights")
WRITTEN = (*NBEST_FORMATS, *(name for name in FOREST_FORMATS if name not in NBEST_FORMATS), "weights")

#: What a name ends in, before .gz and its like.
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".nbest": "moses",
    ".forests": "native",
    ".plf": "plf",
    ".slf": "slf",
    ".fst": "openfst",
    ".lat": "kaldi",
    ".weights": "weights",
}


@dataclass(frozen=True, kw_only=True)
class ConvertConfig:
    """The options of ``hopefear convert``; ``source`` and ``target`` are ``--from`` and ``--to``."""

    input: PathLike
    out: PathLike
    source: str | None = None
    target: str | None = None
    refs: Sequence[PathLike] = ()
    sources: PathLike | None = None
    share_prefixes: bool = False

    def __post_init__(self) -> None:
        for option, format, known in (("--from", self.source, READ), ("--to", self.target, WRITTEN)):
            if format is not None and format.partition(":")[0] not in known:
                raise OptionError(f"{option}: no format is called {format!r}. Choose one of {', '.join(known)}.")


def convert(config: ConvertConfig) -> str:
    """Read one, write the other; returns the name of the format that was written."""
    target = config.target or _by_name(config.out)
    if "weights" in (target, config.source):
        if (config.source or "weights") != "weights" or (target or "weights") != "weights":
            raise OptionError("weights are only converted to weights: --from weights --to weights.")
        write_weights(read_weights(config.input), config.out)
        return "weights"
    pool = _read(config)
    if config.share_prefixes:
        pool = share_prefixes(pool)
    if target is None:
        target = "moses" if pool.is_lists else "native"
    if target in NBEST_FORMATS and (pool.is_lists or target == "jsonl"):
        if not pool.is_lists:
            finding = "forests are no lists. Get the best of them by hopefear rerank --forests --nbest-out"
            raise input_error(path_name(config.input), None, finding)
        write_nbest(pool, config.out, target)
    elif target in LATTICE_FORMATS:
        write_lattices(pool, config.out, target)
    else:
        write_forests(pool, config.out, target)
    return target


def _read(config: ConvertConfig) -> Pool:
    """Lists or forests: the format tells, or where both have one of that name, the beginning of the file."""
    references = list(config.refs) or None
    name = (config.source or "").partition(":")[0]
    if name in LIST_FORMATS and name not in FOREST_FORMATS:
        forests = False
    elif name in FOREST_FORMATS and name not in LIST_FORMATS:
        forests = True
    elif os.path.isdir(config.input):  # noqa: PTH112
        forests = not any((Path(config.input) / name).exists() for name in ("1best_recog", "acwt", "lmwt"))
    elif os.fspath(config.input) == "-":
        raise InputError("standard input: what it holds cannot be told. Name its format by --from")
    else:
        forests = forests_begin(config.input)
    if forests:
        return read_forests(config.input, references, config.source, config.sources)
    return read_nbest(config.input, references, config.source, config.sources)


def _by_name(path: PathLike) -> str | None:
    suffixes = [suffix for suffix in Path(path).suffixes if suffix in _SUFFIXES]
    return _SUFFIXES[suffixes[-1]] if suffixes else None
