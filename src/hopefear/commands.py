"""The commands as functions: ``hf.tune(nbest=["dev.nbest"], refs=["ref"], trainer="kbmira", out="run")``.

Keyword arguments are the options of the command, by the same names. What the command would print on standard error as a
warning is a Python warning here; progress is not shown. ``hf.report`` is the package of that name, which can be called.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from hopefear.decode.ranking import RankConfig, Ranked, rank_table
from hopefear.decode.reranking import rerank as _rerank, rerank_forests as _rerank_forests
from hopefear.errors import OptionError
from hopefear.evaluation.scores import ScoreConfig, Scored, score as _score
from hopefear.runs.events import Event, Warned
from hopefear.runs.session import Session
from hopefear.train.tuning import TuneConfig, Tuned, tune as _tune
from hopefear.util.files import PathLike

Options = ParamSpec("Options")
Config = TypeVar("Config")
Found = TypeVar("Found")


def _warn(event: Event) -> None:
    if isinstance(event, Warned):
        warnings.warn(event.text, stacklevel=2)


def _function(config: Callable[Options, Config]) -> Callable[[Callable[[Config], Found]], Callable[Options, Found]]:
    """Makes a function of a config one whose keyword arguments are the fields of the config."""

    def make(run: Callable[[Config], Found]) -> Callable[Options, Found]:
        @functools.wraps(run)
        def call(*args: Options.args, **options: Options.kwargs) -> Found:
            return run(config(*args, **options))

        call.__signature__ = inspect.signature(config)  # type: ignore[attr-defined]
        return call

    return make


@_function(TuneConfig)
def tune(config: TuneConfig) -> Tuned:
    """Learn weights from lists, forests, a table or a decoder, and leave a run directory: ``hopefear tune``."""
    return _tune(config, _warn)


@_function(ScoreConfig)
def score(config: ScoreConfig) -> Scored:
    """Score outputs, or the best candidates of tables; others are compared with the first: ``hopefear score``.

    ``record()`` of the result is what ``--json`` prints: ``hf.score(hyp="out.txt", refs="ref").record()[0]["bleu"]``.
    """
    return _score(config)


@overload
def rerank(
    *,
    weights: PathLike | Mapping[str, float],
    nbest: PathLike | Sequence[PathLike],
    mbr: str | None = None,
    scale: float = 1.0,
    jobs: int = 0,
) -> list[str]: ...
@overload
def rerank(*, weights: PathLike | Mapping[str, float], forests: PathLike) -> list[str]: ...
@overload
def rerank(
    *,
    weights: PathLike | Mapping[str, float],
    table: Any,
    group: str,
    features: Sequence[str] = (),
    missing: str = "error",
    out: PathLike | None = None,
) -> Ranked: ...
def rerank(
    *,
    weights: PathLike | Mapping[str, float],
    nbest: PathLike | Sequence[PathLike] | None = None,
    forests: PathLike | None = None,
    table: Any = None,
    **columns: Any,
) -> list[str] | Ranked:
    """The best candidates of lists or forests; or score and rank of every row of a table: ``hopefear rerank``."""
    if [nbest is not None, forests is not None, table is not None].count(True) != 1:
        raise OptionError("give one of nbest, forests, table.")
    if forests is not None:
        return _rerank_forests(forests, weights, Session(_warn), **columns)
    if nbest is not None:
        return list(_rerank(nbest, weights, Session(_warn), **columns))
    return rank_table(RankConfig(table=table, weights=weights, **columns), Session(_warn))
