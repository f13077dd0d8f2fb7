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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear._core import Pool
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
from hopefear.errors import InputError
from hopefear.formats.missing import LIST_POLICIES
from hopefear.formats.nbest import read_nbest
from hopefear.formats.records import Records, is_table, lists_in, several
from hopefear.util.files import PathLike

add_features = function(Features)
convert = function(Convert)
create = function(Create)
export = function(Export)
generate = function(Generate)
import_ = function(Import)
inspect = function(Inspect)
pack = function(Pack)
report = function(Report)

if TYPE_CHECKING:
    from hopefear.decode.evidence import Added
    from hopefear.evaluation.comparison import Compared
    from hopefear.evaluation.scores import Scored
    from hopefear.evaluation.weighed import Weighed
    from hopefear.train.replicates import Tuned


def tune(
    data: Any = None,
    group: str | None = None,
    outcome: str | Sequence[str] = (),
    *,
    trainer: Any = "auto",
    out: PathLike | None = None,
    **options: Any,
) -> Tuned:
    """Learn weights from candidates of any origin; see ``hopefear tune``.

    ``data`` is a pool, a frame or rows (with ``group``, the column that says which candidates compete), records with a
    list of candidates each, or a path. ``trainer`` is a name, or an object such as ``hf.Mert(restarts=5)``. Without
    ``out``, no run directory is left.

    >>> rows = [{"id": i, "lm": -float(k), "tm": k * i % 7, "comet": 1 - 0.2 * k} for i in range(30) for k in range(4)]
    >>> tuned = hf.tune(rows, "id", "comet", trainer="mert")
    >>> tuned.weights["lm"] > 0
    True
    >>> tuned.rerank(rows)[0]["comet"]
    1.0
    """
    _no_trainer("tune", group)
    _own_option(trainer, options)
    given = {**options, **_columns(group, outcome), "trainer": trainer}
    with _folder(out) as run:
        tuned: Tuned = run_here(Tune, {**_candidates(data, given), "out": run})
    return tuned if out is not None else dataclasses.replace(tuned, path=None)


def compare(
    data: Any = None,
    group: str | None = None,
    outcome: str | Sequence[str] = (),
    *,
    trainers: Any,
    out: PathLike | None = None,
    **options: Any,
) -> Compared:
    """Compare trainers on the same candidates over several seeds; see ``hopefear compare``.

    ``data`` is what :func:`tune` takes; ``trainers`` are names, in one text or several, or objects of trainers.

    >>> rows = [{"id": i, "lm": -float(k), "tm": k * i % 7, "comet": 1 - 0.2 * k} for i in range(60) for k in range(4)]
    >>> compared = hf.compare(rows, "id", "comet", trainers=["mert", hf.Kbmira(C=0.1)], seeds=2)
    >>> sorted(recipe.name for recipe in compared.recipes)
    ['kbmira', 'mert']
    """
    given = {**options, **_columns(group, outcome), "trainers": trainers}
    with _folder(out) as run:
        compared: Compared = run_here(Compare, {**_candidates(data, given), "out": run})
    return compared


def weigh(table: Any = None, group: str | None = None, outcome: str | None = None, **options: Any) -> Weighed:
    """Learn weights for scores, and test what they are worth; see ``hopefear weigh``.

    ``table`` is a frame, rows or a file with ``group``, the column that says which candidates compete; or it has lists
    of candidates and needs none: a pool, records, or a path.

    >>> rows = [{"id": i, "lm": -float(k), "tm": k * i % 7, "comet": 1 - 0.2 * k} for i in range(60) for k in range(4)]
    >>> hf.weigh(rows, "id", "comet").better_than_equal
    True
    """
    options |= _columns(group, outcome)
    if table is None:
        return run_here(Weigh, options)  # type: ignore[no-any-return]
    table = several(table)
    if group is None and (lists := lists_in(table)) is not None:
        table = lists if isinstance(lists, Pool) else read_nbest(Records(lists), missing=_list_policy(options))
    return run_here(Weigh, {**options, "table": table})  # type: ignore[no-any-return]


def rerank(data: Any = None, weights: Any = None, group: str | None = None, **options: Any) -> Any:
    """The best candidates of lists or forests, or a table with score and rank; see ``hopefear rerank``.

    ``data`` is a pool, a frame, a matrix, rows or records, or a path; ``weights`` a mapping, a file, or a result of
    learning. The result is of the same kind as the data (:meth:`Reranker.rerank`); of lists the best texts.

    >>> hf.rerank([{"text": "a cat", "lm": -2.0}, {"text": "cat", "lm": -4.0}], {"lm": 1.0})[0]["text"]
    'a cat'
    """
    from hopefear.reranker import Reranker, Scoring

    if isinstance(weights, Scoring):
        weights = weights.reranker
    path = isinstance(data, str | os.PathLike)
    if path and group is None and isinstance(weights, str | os.PathLike) and is_table(data):
        weights = Reranker.load(weights)
    if data is not None and not path and not {*options} - {"missing"}:
        reranker = weights if isinstance(weights, Reranker) else _reranker(weights)
        if missing := options.get("missing"):
            reranker = dataclasses.replace(reranker, missing=missing)
        return reranker.rerank(data, group)
    if isinstance(weights, Reranker):
        if weights.missing != "error":
            options.setdefault("missing", weights.missing)
        if path and is_table(data):
            group = group or weights.group
        weights = dict(weights.weights)
    given = {**options, **_columns(group, ()), **({} if weights is None else {"weights": weights})}
    return run_here(Rerank, _files(data, given))


def score(hyp: Any = (), refs: Any = (), **options: Any) -> Scored:
    """Score outputs against references; several outputs are compared with the first; see ``hopefear score``.

    ``hyp`` and ``refs`` are files; or lines of text: ``hf.score(["a cat"], [["a cat"]])`` with ``refs`` as one list of
    lines for each translator, or one list of references for each line. A frame is a table of candidates.

    >>> hf.score(["the cat sat down"], [["the cat sat down"]]).scores
    {'bleu': 100.0}
    """
    if isinstance(refs, Sequence) and refs and all(isinstance(each, list | tuple) for each in refs):
        return run_here(Score, {**options, "lines": hyp, "line_references": refs})  # type: ignore[no-any-return]
    if "group" in options and len(hyp):
        return run_here(Score, {**options, "table": hyp})  # type: ignore[no-any-return]
    try:
        return run_here(Score, {**options, "hyp": hyp, "refs": refs})  # type: ignore[no-any-return]
    except InputError as error:
        lines = isinstance(hyp, list | tuple) and any(" " in str(each) for each in hyp)
        cure = ' For lines of text, give refs as lists: hf.score(["a cat"], [["a cat"]])' if lines else ""
        raise type(error)(f"{error}{cure}") from None


def features(list: Any, out: PathLike | None = None, **options: Any) -> Added | Pool:
    """Add columns of evidence to candidates; see ``hopefear features``.

    ``list`` is a path, a pool or records. Without ``out``, the lists come back as a pool.

    >>> candidates = [{"text": "a cat", "lm": -2.5}, {"text": "cat", "lm": -1.0}]
    >>> pool = hf.features([{"source": "une chatte", "candidates": candidates}])
    >>> pool.feature_names[:2]
    ['lm', 'text_words']
    """
    source = _lists("features", list)
    if out is not None:
        return run_here(Features, {**options, "list": source, "out": out})  # type: ignore[no-any-return]
    with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
        path = Path(folder) / "lists.jsonl"
        run_here(Features, {**options, "list": source, "out": path})
        return read_nbest(path)


def combine(*lists: Any, out: PathLike | None = None, **options: Any) -> Sequence[str] | Pool:
    """Combine the lists of several systems; see ``hopefear combine``.

    ``lists`` are paths, pools or records. Without ``out``, the combined lists come back as a pool.

    >>> neural = [{"candidates": [{"text": "a cat", "logprob": -1.5}, {"text": "cat", "logprob": -2.5}]}]
    >>> rules = [{"candidates": [{"text": "a cat", "lm": -3.5}, {"text": "one cat", "lm": -2.5}]}]
    >>> pool = hf.combine(neural, rules, names=["neural", "rules"])
    >>> [pool.text(0, k) for k in range(3)]
    ['a cat', 'cat', 'one cat']
    """
    if len(lists) == 1 and isinstance(lists[0], Sequence) and not isinstance(lists[0], str):
        lists = tuple(lists[0])
    given = {**options, "lists": [_lists("combine", each) for each in lists or options.get("lists", ())]}
    if out is not None:
        return run_here(Combine, {**given, "out": out})  # type: ignore[no-any-return]
    with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
        path = Path(folder) / "lists.jsonl"
        run_here(Combine, {**given, "out": path})
        return read_nbest(path)


@contextmanager
def _folder(out: PathLike | None) -> Iterator[PathLike]:
    """Where a run goes; without ``out``, a folder that is gone afterwards."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
        yield Path(folder) / "run"


def _columns(group: str | None, outcome: str | Sequence[str] | None) -> dict[str, Any]:
    """The columns that were named."""
    return {name: value for name, value in (("group", group), ("outcome", outcome)) if value}


def _candidates(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with that one that data given without a name stand for."""
    data = several(data)
    if "group" not in options and (lists := lists_in(data)) is not None:
        pool = lists if isinstance(lists, Pool) else read_nbest(Records(lists), missing=_list_policy(options))
        return {**options, "pool": pool}
    return _files(data, options)


def _files(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The same for paths, and for what is a table."""
    if data is None:
        return options
    paths = data if isinstance(data, list) else [data]
    if not paths or not all(isinstance(each, str | os.PathLike) for each in paths):
        return {**options, "table": data}
    if "group" in options or any(is_table(each) for each in paths):
        return {**options, "table": data}
    if "refs" not in options and "references" in options:  # what read_nbest calls them
        options["refs"] = options.pop("references")
    return {**options, "nbest": data}


def _lists(name: str, data: Any) -> Any:
    """Lists of candidates as what reads them takes it: a path, or records."""
    lists = lists_in(several(data))
    if lists is None and not isinstance(data, str | os.PathLike):
        raise InputError(f"{name}() takes lists of candidates: a path, a pool, or records with a list each")
    return data if lists is None else Records(lists)


def _list_policy(options: Mapping[str, Any]) -> str:
    missing = options.get("missing") or "error"
    return missing if missing in LIST_POLICIES else "error"


def _no_trainer(name: str, group: Any) -> None:
    """A trainer may stand where the group goes."""
    from hopefear.trainers.base import Trainer
    from hopefear.trainers.registry import by_name

    kind = isinstance(group, type) and issubclass(group, Trainer)
    if kind or isinstance(group, Trainer) or (isinstance(group, str) and group in by_name()):
        raise InputError(f"{name}(): {group!r} stands where the column of the groups goes. Write trainer={group!r}")


def _own_option(trainer: Any, options: Mapping[str, Any]) -> None:
    """Options of the trainer do not go among those of the command."""
    from hopefear.trainers.registry import find_batch, settable

    wrong = [name for name in options if name not in {each.name for each in dataclasses.fields(Tune)}]
    if wrong and trainer != "auto" and wrong[0] in settable(kind := find_batch(trainer)):
        name, value = wrong[0], options[wrong[0]]
        cure = f'Write set={{"{name}": {value!r}}}, or trainer={kind.__name__}({name}={value!r})'
        raise InputError(f"tune(): {name} is an option of {kind.name}. {cure}")


def _reranker(weights: Any) -> Any:
    from hopefear.reranker import Reranker

    if weights is None:
        raise InputError("rerank() needs weights: a mapping, a file, or a result of learning")
    return Reranker(weights) if isinstance(weights, Mapping) else Reranker.load(weights)


for _function, _command in (
    (tune, Tune),
    (rerank, Rerank),
    (score, Score),
    (compare, Compare),
    (weigh, Weigh),
    (features, Features),
    (combine, Combine),
):
    _function.__doc__ = f"{cleandoc(_function.__doc__ or '')}\n\nOptions:{docstring(_command).partition('Options:')[2]}"
