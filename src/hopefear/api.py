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
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.commands.base import docstring, function, no_option, run_here
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
from hopefear.errors import InputError, OptionError
from hopefear.formats.inputs import Names, lists_of, pool_of
from hopefear.formats.nbest import read_nbest
from hopefear.formats.pool import GROUP, as_table
from hopefear.formats.records import Records, is_table, lists_in, several
from hopefear.formats.references import are_lines, are_texts
from hopefear.formats.scorable import is_columns
from hopefear.formats.weights import write_weights
from hopefear.reranker import Reranker, Scoring
from hopefear.util.files import PathLike, read_lines, read_references

add_features = function(Features)
convert = function(Convert)
create = function(Create)
export = function(Export)
generate = function(Generate)
import_ = function(Import)
inspect = function(Inspect)
pack = function(Pack)
report = function(Report)

ORIGINS = ("nbest", "forests", "pool", "decoder_command", "data_sets")
ARRAYS = "Put it into the table; hopefear.sklearn.Weigher takes arrays"

if TYPE_CHECKING:
    from hopefear.decode.evidence import Added
    from hopefear.evaluation.comparison import Compared
    from hopefear.evaluation.scores import Scored
    from hopefear.evaluation.weigh_result import Weighed
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
    data = several(data)
    if _is_trainer(group, data):
        group, trainer = None, group
    options = _with_settings(trainer, options)
    given = {**options, **_columns(data, group, outcome), "trainer": trainer}
    with _folder(out) as run, _weights_file(given):
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
    data = several(data)
    given = {**options, **_columns(data, group, outcome), "trainers": trainers}
    with _folder(out) as run, _weights_file(given):
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
    if "trainer" in options or "trainers" in options:
        raise OptionError("weigh() compares trainers and selects one. To choose one yourself, use tune() or compare()")
    table = several(table)
    options |= _columns(table, group, outcome)
    if table is None:
        return run_here(Weigh, options)  # type: ignore[no-any-return]
    if "group" not in options and lists_in(table) is not None:
        table = pool_of(table, missing=options.get("missing", "error"))
    return run_here(Weigh, {**options, "table": table})  # type: ignore[no-any-return]


@overload
def rerank(data: Pool, weights: Any, group: str | None = None, **options: Any) -> list[str]: ...
@overload
def rerank(data: NDArray[Any], weights: Any, group: str | None = None, **options: Any) -> NDArray[np.int64]: ...
@overload
def rerank(data: Any = None, weights: Any = None, group: str | None = None, **options: Any) -> Any: ...


def rerank(data: Any = None, weights: Any = None, group: str | None = None, **options: Any) -> Any:
    """The best candidates of lists or forests, or a table with score and rank; see ``hopefear rerank``.

    ``data`` is a pool, a frame, a matrix, rows or records, or a path; ``weights`` a mapping, a file, or a result of
    learning. The result is of the same kind as the data (:meth:`Reranker.rerank`); of lists the best texts.

    >>> hf.rerank([{"text": "a cat", "lm": -2.0}, {"text": "cat", "lm": -4.0}], {"lm": 1.0})[0]["text"]
    'a cat'
    """
    if isinstance(weights, Scoring):
        weights = weights.reranker
    data = several(data)
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
    given = {**options, **_columns(data, group, ()), **({} if weights is None else {"weights": weights})}
    lists = lists_in(data)
    return run_here(Rerank, _files(data, given) if lists is None else {**given, "nbest": [Records(lists)]})


def score(
    hyp: Any = (), refs: Any = None, outcome: Names = (), *, group: str | None = None, metric: Any = (), **options: Any
) -> Scored:
    """Score outputs against references; several outputs are compared with the first; see ``hopefear score``.

    ``hyp`` and ``refs`` are files; or lines of text: ``hf.score(["a cat"], [["a cat"]])`` with ``refs`` as one list of
    lines for each translator, one list of references for each line, or one reference for each; several systems as a
    dict, ``{"old": lines, "new": lines}``. Of candidates (a frame
    or rows with ``group``, a pool, records) the best of each group or list is scored: the one with the highest
    ``score``, or the first.

    >>> hf.score(["the cat sat down"], [["the cat sat down"]]).scores
    {'bleu': 100.0}
    """
    hyp = several(next((options.pop(name) for name in ("predictions", "hypotheses", "table") if name in options), hyp))
    rows = isinstance(hyp, list) and bool(hyp) and isinstance(hyp[0], Mapping)
    if isinstance(refs, str) and (outcome or ((rows or hasattr(hyp, "columns")) and lists_in(hyp) is None)):
        group, refs = refs, None
    refs = options.pop("references", ()) if refs is None and not group else () if refs is None else refs
    options |= {"metric": options.pop("metrics", metric)} | _columns(hyp, group, outcome)
    lists = None if group else lists_in(hyp)
    if lists is not None:
        pool = pool_of(lists, references=refs if are_texts(refs) or refs else None)
        if outcome:
            return run_here(Score, {**options, "table": as_table(pool, "the candidates"), "group": GROUP})  # type: ignore[no-any-return]
        sentences = range(len(pool))
        hyp, refs = [pool.text(i, 0) for i in sentences], [pool.references(i) for i in sentences]
    elif group or outcome:
        one = rows and not is_columns(hyp[0])
        return run_here(Score, {**options, "table": [hyp] if one else hyp})  # type: ignore[no-any-return]
    refs, texts = several(refs), isinstance(hyp, Mapping) or are_lines(hyp)
    if (
        not isinstance(refs, str | os.PathLike)
        and len(refs)
        and len(hyp)
        and (are_texts(refs) or (texts and are_lines(refs)))
    ):
        return run_here(Score, {**options, "lines": _outputs(hyp), "line_references": refs})  # type: ignore[no-any-return]
    hyp, refs = ([each] if isinstance(each, str | os.PathLike) else each for each in (hyp, refs))
    if not len(hyp) or not len(refs):
        raise OptionError('score() needs outputs and references: hf.score(["a cat"], [["a cat"]]), or files')
    if texts:
        references = refs if are_lines(refs) else read_references(refs)
        return run_here(Score, {**options, "lines": _outputs(hyp), "line_references": references})  # type: ignore[no-any-return]
    return run_here(Score, {**options, "hyp": hyp, "refs": refs})  # type: ignore[no-any-return]


@overload
def features(list: Any, out: None = None, **options: Any) -> Pool: ...
@overload
def features(list: Any, out: PathLike, **options: Any) -> Added: ...


def features(list: Any, out: PathLike | None = None, **options: Any) -> Added | Pool:
    """Add columns of evidence to candidates; see ``hopefear features``.

    ``list`` is a path, a pool, records, or a frame or rows with ``group`` and ``text``.
    Without ``out``, the lists come back as a pool.

    >>> candidates = [{"text": "a cat", "lm": -2.5}, {"text": "cat", "lm": -1.0}]
    >>> pool = hf.features([{"source": "une chatte", "candidates": candidates}])
    >>> pool.feature_names[:2]
    ['lm', 'text_words']
    """
    source = _records(list, options)
    if out is not None:
        return run_here(Features, {**options, "list": source, "out": out})  # type: ignore[no-any-return]
    with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
        path = Path(folder) / "lists.jsonl"
        run_here(Features, {**options, "list": source, "out": path})
        return read_nbest(path)


@overload
def combine(*lists: Any, out: None = None, **options: Any) -> Pool: ...
@overload
def combine(*lists: Any, out: PathLike, **options: Any) -> Sequence[str]: ...


def combine(*lists: Any, out: PathLike | None = None, **options: Any) -> Sequence[str] | Pool:
    """Combine the lists of several systems; see ``hopefear combine``.

    ``lists`` are paths, pools, records, or frames or rows with ``group`` and ``text``.
    Without ``out``, the combined lists come back as a pool.

    >>> neural = [{"candidates": [{"text": "a cat", "logprob": -1.5}, {"text": "cat", "logprob": -2.5}]}]
    >>> rules = [{"candidates": [{"text": "a cat", "lm": -3.5}, {"text": "one cat", "lm": -2.5}]}]
    >>> pool = hf.combine(neural, rules, names=["neural", "rules"])
    >>> [pool.text(0, k) for k in range(3)]
    ['a cat', 'cat', 'one cat']
    """
    if len(lists) == 1 and isinstance(lists[0], Sequence) and not isinstance(lists[0], str):
        lists = tuple(lists[0])
    given = {**options, "lists": [_records(each, options) for each in lists or options.get("lists", ())]}
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


@contextmanager
def _weights_file(given: dict[str, Any]) -> Iterator[None]:
    """Initial weights that are a mapping or a result, as the file that commands read."""
    initial = given.get("initial")
    if initial is None or isinstance(initial, str | os.PathLike):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
        given["initial"] = str(Path(folder) / "initial.txt")
        write_weights(_reranker(initial).weights, given["initial"])
        yield


def _columns(data: Any, group: Any, outcome: Any) -> dict[str, Any]:
    """The columns that were named."""
    if isinstance(group, list | tuple) and len(group) == 1:
        group = group[0]
    group, outcome = (str(each) if type(each) is int else each for each in (group, outcome))  # of pandas without names
    for name, value in (("group", group), ("outcome", outcome)):
        names = [value] if isinstance(value, str) or value is None else value
        if not isinstance(names, list | tuple) or (name == "group" and not isinstance(value, str | None)):
            cure = "Join the columns into one" if isinstance(value, list | tuple) else ARRAYS
            raise InputError(f"{name} is the name of a column, not {type(value).__name__}. {cure}")
    return {name: value for name, value in (("group", group), ("outcome", outcome)) if value}


def _candidates(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with that one that data given without a name stand for."""
    if isinstance(data, list) and not data:
        raise InputError("there are no candidates: the list is empty")
    if isinstance(options.get("group"), str) and _are_references(options["group"], data):
        options["refs"] = options.pop("group")
    if data is None and not any(options.get(name) for name in ORIGINS) and options.get("table") is None:
        raise OptionError('there are no candidates: hf.tune(frame, "group", "outcome"), or a pool, records or a path')
    if data is None or "group" in options:
        return _files(data, options)
    if "refs" not in options and "references" in options:  # what read_nbest calls them
        options["refs"] = options.pop("references")
    texts = are_texts(options.get("refs"))
    if lists_in(data) is None and not texts:
        return _files(data, options)
    references, missing = options.pop("refs", None), options.get("missing") or "error"
    return {**options, "pool": pool_of(data, references=references, missing=missing)}


def _files(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The same for paths, and for what is a table."""
    if data is None:
        return options
    paths = data if isinstance(data, list) else [data]
    if not paths or not all(isinstance(each, str | os.PathLike) for each in paths):
        return {**options, "table": data}
    if "group" in options or any(is_table(each) for each in paths):
        return {**options, "table": data}
    return {**options, "nbest": data}


def _are_references(group: str, data: Any) -> bool:
    """Whether a file of references stands where the group goes, after lists of candidates."""
    if not os.path.isfile(group):  # noqa: PTH113
        return False
    paths = data if isinstance(data, list) else [data]
    files = all(isinstance(each, str | os.PathLike) for each in paths)
    return not any(map(is_table, paths)) if files else lists_in(data) is not None


def _records(data: Any, options: dict[str, Any]) -> Any:
    """Lists of candidates as what reads them takes it: a path, or records."""
    if isinstance(data, str | os.PathLike):
        return data
    return lists_of(data, options.get("group"), options.get("text"), options.get("missing") or "error")


def _outputs(hyp: Any) -> Any:
    """Lines of text by the name of the system, or of one system."""
    return {str(name): _lines(lines) for name, lines in hyp.items()} if isinstance(hyp, Mapping) else _lines(hyp)


def _lines(hyp: Any) -> list[str]:
    """Lines of text, or those of a file."""
    if isinstance(hyp, str | os.PathLike):
        return read_lines(hyp) if os.path.exists(hyp) or isinstance(hyp, os.PathLike) else [hyp]  # noqa: PTH110
    lines = list(hyp.tolist() if hasattr(hyp, "tolist") else hyp)
    wrong = next((number for number, line in enumerate(lines) if not isinstance(line, str)), None)
    if wrong is not None:
        raise InputError(
            f"line {wrong} of the output is {lines[wrong]!r}, not text. An empty text stands for no output"
        )
    return lines


def _is_trainer(group: Any, data: Any) -> bool:
    """Whether a trainer stands where the group goes, of candidates that need none."""
    from hopefear.trainers.base import Trainer
    from hopefear.trainers.registry import by_name

    if isinstance(group, Trainer) or (isinstance(group, type) and issubclass(group, Trainer)):
        return True
    return isinstance(group, str) and group.lower() in by_name() and lists_in(data) is not None


def _with_settings(trainer: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the command; those of a trainer that was named are among its settings."""
    from hopefear.trainers.registry import find_batch, settable

    known = {each.name for each in dataclasses.fields(Tune)}
    others = [name for name in options if name not in known and name != "references"]
    if not others or not isinstance(trainer, str):
        return options
    settings = settable(find_batch(trainer))
    own = {name: options[name] for name in others if name in settings}
    if wrong := next((name for name in others if name not in settings), None):
        raise no_option("tune", wrong, [*known, *settings])
    given = options.get("set") or {}
    both = {**given, **own} if isinstance(given, Mapping) else [*given, *(f"{n}={v}" for n, v in own.items())]
    return {**{name: value for name, value in options.items() if name not in own}, **({"set": both} if own else {})}


def _reranker(weights: Any) -> Any:
    if weights is None:
        raise InputError("rerank() needs weights: a mapping, a file, or a result of learning")
    return Reranker.load(weights) if isinstance(weights, str | os.PathLike) else Reranker(weights)


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
