"""From any format that is read to any that is written: what ``hopefear convert`` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hopefear._core import Pool
from hopefear.errors import InputError, OptionError, input_error
from hopefear.formats import lattices
from hopefear.formats.forests import FOREST_FORMATS, forests_begin, read_forests, write_forests
from hopefear.formats.nbest import LIST_FORMATS, NBEST_FORMATS, is_list_format, list_formats, read_nbest, write_nbest
from hopefear.formats.weights import read_weights, write_weights
from hopefear.util.files import PathLike, path_name

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


def convert(
    path: PathLike,
    out: PathLike,
    source: str | None = None,
    target: str | None = None,
    *,
    refs: Sequence[PathLike] = (),
    sources: PathLike | None = None,
    share_prefixes: bool = False,
    listen: Callable[[Pool], None] | None = None,
) -> str:
    """Read one format, write another; returns the name of the format that was written.

    A ``source`` of None is seen from the file, a ``target`` of None from the name of ``out``. ``listen`` is given what
    was read.
    """
    read = [*dict.fromkeys([*list_formats(), *FOREST_FORMATS]), "weights"] if source is not None else []
    for option, format, known in (("--from", source, read), ("--to", target, WRITTEN)):
        if format is not None and format.partition(":")[0] not in known:
            raise OptionError(f"{option}: there is no format {format!r}. Choose one of {', '.join(known)}.")
    target = target or _by_name(out)
    if "weights" in (target, source):
        if (source or "weights") != "weights" or (target or "weights") != "weights":
            raise OptionError("weights are only converted to weights: --from weights --to weights.")
        write_weights(read_weights(path), out)
        return "weights"
    pool = _read(path, source, list(refs) or None, sources)
    if listen is not None:
        listen(pool)
    if share_prefixes:
        pool = lattices.share_prefixes(pool)
    target = target or ("moses" if pool.is_lists else "native")
    _write(pool, path, out, target)
    return target


def _write(pool: Pool, path: PathLike, out: PathLike, target: str) -> None:
    if target in NBEST_FORMATS and (pool.is_lists or target == "jsonl"):
        if not pool.is_lists:
            finding = "forests are not lists. Get the best candidates with hopefear rerank --forests --nbest-out"
            raise input_error(path_name(path), None, finding)
        write_nbest(pool, out, target)
    elif target in lattices.LATTICE_FORMATS:
        lattices.write_lattices(pool, out, target)
    else:
        write_forests(pool, out, target)


def _read(path: PathLike, source: str | None, references: Sequence[PathLike] | None, sources: PathLike | None) -> Pool:
    """Lists or forests: the format tells, or where both have one of that name, the beginning of the file."""
    name = (source or "").partition(":")[0]
    if source is not None and is_list_format(source) and name not in FOREST_FORMATS:
        forests = False
    elif name in FOREST_FORMATS and name not in LIST_FORMATS:
        forests = True
    elif os.path.isdir(path):  # noqa: PTH112
        forests = not any((Path(path) / name).exists() for name in ("1best_recog", "acwt", "lmwt"))
    elif os.fspath(path) == "-":
        raise InputError("standard input: cannot detect its format. Give it with --from")
    else:
        forests = forests_begin(path)
    return (read_forests if forests else read_nbest)(path, references, source, sources)


def _by_name(path: PathLike) -> str | None:
    suffixes = [suffix for suffix in Path(path).suffixes if suffix in _SUFFIXES]
    return _SUFFIXES[suffixes[-1]] if suffixes else None
