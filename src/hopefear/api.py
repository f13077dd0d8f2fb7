"""The commands as functions: ``hf.tune(nbest=["dev.nbest"], refs=["ref"], trainer="kbmira", out="run")``.

Keyword arguments are the options of the command, by the same names. The first argument may be the data themselves: a
pool, a frame, a list of dicts, or a path. What the command would print on standard error as a warning is a Python
warning here; progress is not shown. Commands that share their name with a package (train, corpus) have no function
here: ``commands.train.Train(...).run(Session())`` does the same.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import docstring, function, run_here
from hopefear.commands.combine import Combine
from hopefear.commands.compare import Compare
from hopefear.commands.convert import Convert
from hopefear.commands.create import Create
from hopefear.commands.export import Export
from hopefear.commands.features import Features
from hopefear.commands.generate import Generate
from hopefear.commands.import_ import Import
from hopefear.commands.inspect import Inspect
from hopefear.commands.pack import Pack
from hopefear.commands.report import Report
from hopefear.commands.rerank import Rerank
from hopefear.commands.score import Score
from hopefear.commands.tune import Tune
from hopefear.commands.weigh import Weigh

add_features = function(Features)
combine = function(Combine)
compare = function(Compare)
convert = function(Convert)
create = function(Create)
export = function(Export)
features = function(Features)
generate = function(Generate)
import_ = function(Import)
inspect = function(Inspect)
pack = function(Pack)
report = function(Report)
weigh = function(Weigh)

if TYPE_CHECKING:
    from hopefear.decode.ranking import Ranked
    from hopefear.evaluation.scores import Scored
    from hopefear.train.tuning import Tuned

TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


def tune(data: Any = None, *, trainer: Any = "auto", out: Any = None, **options: Any) -> Tuned:
    """Learn weights from candidates of any origin; see ``hopefear tune``.

    ``data`` is a pool, a frame (with ``group=``), a list of dicts or a path. ``trainer`` is a name, or an object such
    as ``hf.Mert(restarts=5)``. Without ``out``, no run directory is left.

    >>> hf.tune(frame, group="prompt", outcome="reward").weights           # doctest: +SKIP
    >>> hf.tune(pool, trainer=hf.Kbmira(C=0.02)).predict(other_pool)       # doctest: +SKIP
    """
    given = {**options, "trainer": trainer, **_data(data)}
    if out is not None:
        return run_here(Tune, {**given, "out": out})  # type: ignore[no-any-return]
    with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
        tuned: Tuned = run_here(Tune, {**given, "out": Path(folder) / "run"})
        return dataclasses.replace(tuned, path=None)


def rerank(data: Any = None, weights: Any = None, **options: Any) -> list[str] | Ranked | Any:
    """The best candidates of lists or forests; or score and rank of every row of a table; see ``hopefear rerank``.

    ``data`` is a pool, a frame, a matrix, a list of dicts or a path; ``weights`` a mapping, a file, or a result of
    learning.

    >>> hf.rerank(new_frame, hf.tune(frame, group="id", outcome="comet"), group="id")      # doctest: +SKIP
    """
    from hopefear.reranker import Reranker, Scoring

    if isinstance(weights, Scoring):
        weights = weights.reranker
    if isinstance(data, str | os.PathLike):
        options = {**options, ("table" if _is_table(data, options) else "nbest"): data}
    elif data is not None:
        reranker = weights if isinstance(weights, Reranker) else _reranker(weights)
        if missing := options.pop("missing", None):
            reranker = dataclasses.replace(reranker, missing=missing)
        return reranker.rerank(data, **options)
    if isinstance(weights, Reranker):
        weights = dict(weights.weights)
    return run_here(Rerank, {**options, **({} if weights is None else {"weights": weights})})


def score(hyp: Any = (), refs: Any = (), **options: Any) -> Scored:
    """Score outputs against references; several outputs are compared with the first; see ``hopefear score``.

    ``hyp`` and ``refs`` are files; or lines of text: ``hf.score(["a cat"], [["a cat"]])`` with ``refs`` as one list of
    lines for each translator, or one list of references for each line.

    >>> hf.score(["the cat sat"], [["the cat sat"]]).record()[0]["bleu"]
    100.0
    """
    if isinstance(refs, Sequence) and refs and all(isinstance(each, list | tuple) for each in refs):
        return run_here(Score, {**options, "lines": hyp, "line_references": refs})  # type: ignore[no-any-return]
    return run_here(Score, {**options, "hyp": hyp, "refs": refs})  # type: ignore[no-any-return]


def _data(data: Any) -> dict[str, Any]:
    """The option that data given without a name stand for."""
    from hopefear._core import Pool

    if data is None:
        return {}
    if isinstance(data, Pool):
        return {"pool": data}
    if isinstance(data, str | os.PathLike):
        return {"table" if _is_table(data, {}) else "nbest": data}
    if isinstance(data, Sequence) and data and isinstance(data[0], str | os.PathLike):
        return {"nbest": data}
    return {"table": data}


def _is_table(path: str | os.PathLike[str], options: Mapping[str, Any]) -> bool:
    return "group" in options or os.fspath(path).endswith(TABLES)


def _reranker(weights: Any) -> Any:
    from hopefear.errors import InputError
    from hopefear.reranker import Reranker

    if weights is None:
        raise InputError("rerank() needs weights: a mapping, a file, or a result of learning")
    return Reranker(weights) if isinstance(weights, Mapping) else Reranker.load(weights)


for _function, _command in ((tune, Tune), (rerank, Rerank), (score, Score)):
    _function.__doc__ = f"{_function.__doc__}\n{docstring(_command).partition('Options:')[2]}"
