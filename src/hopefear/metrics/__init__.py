"""Metrics: additive statistics computed in the core, and a function of their sum.

Packages add metrics through the entry-point group ``hopefear.metrics``; ``module:Class`` names one that is not
installed.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear._core import OracleDocument, Pool
from hopefear.errors import InputError, OptionError
from hopefear.metrics.base import Metric
from hopefear.metrics.bleu import Bleu
from hopefear.metrics.chrf import Chrf
from hopefear.metrics.counts import BleuCounts
from hopefear.metrics.custom import CustomMetric, PythonMetric
from hopefear.metrics.external import External, usual_scale
from hopefear.metrics.rank import Map, Mrr, Ndcg, RecallAt
from hopefear.metrics.ratio import FBeta, Precision, Rate, Recall
from hopefear.metrics.rouge import RougeS
from hopefear.metrics.ter import Ter, Wer
from hopefear.util import plugins
from hopefear.util.messages import some, suggestion
from hopefear.util.values import value_of


def _built_in() -> Iterator[type[Metric]]:
    """The metrics of this folder that can be made from a name: a class with a name in any file is one."""
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = importlib.import_module(f"{__name__}.{path.stem}")
        for kind in vars(module).values():
            own = isinstance(kind, type) and kind.__module__ == module.__name__
            if own and issubclass(kind, Metric) and "name" in vars(kind) and kind is not CustomMetric:
                yield kind


METRICS: dict[str, type[Metric]] = {metric.name: metric for metric in _built_in()}

GROUP = "hopefear.metrics"

__all__ = [
    "METRICS",
    "Bleu",
    "BleuCounts",
    "Chrf",
    "External",
    "FBeta",
    "Map",
    "Metric",
    "Mrr",
    "Ndcg",
    "OracleDocument",
    "Precision",
    "PythonMetric",
    "Rate",
    "Recall",
    "RecallAt",
    "RougeS",
    "Ter",
    "Wer",
    "as_metric",
    "by_name",
    "find",
    "from_record",
    "from_text",
    "is_metric",
    "is_whole",
    "metric_for",
    "names",
    "split_text",
    "usual",
]


def names() -> list[str]:
    """The names of all metrics, ours and those of installed packages."""
    return list(dict.fromkeys([*METRICS, *plugins.entry_points(GROUP)]))


def find(name: str) -> type[Metric] | None:
    """The metric of a name, or of ``module:Class``; None if there is none."""
    if name.lower() in METRICS:
        return METRICS[name.lower()]
    kind: type[Metric] | None = None
    if plugins.is_path(name):
        kind = plugins.load_path(name, Metric, "--metric")
    elif name in plugins.entry_points(GROUP):
        kind = plugins.load(GROUP, name, Metric)
    return kind


def by_name(name: str, **options: Any) -> Metric:
    """A metric by its name and options: ``by_name("bleu", lowercase=True)``."""
    kind = find(name)
    if kind is None:
        raise InputError(f"there is no metric {name}. Choose one of {', '.join(names())}")
    try:
        return kind(**options)
    except TypeError as error:
        raise InputError(f"metric {name}: {error}") from None


def as_metric(given: Any) -> Metric:
    """A metric that was given as an object; a class stands for its defaults."""
    if isinstance(given, type) and issubclass(given, Metric):
        given = given()
    if not isinstance(given, Metric):
        raise InputError(
            f"--metric is a name, hf.Chrf() or the like, or hf.CustomMetric(...) of functions, not {given!r}"
        )
    return given


def from_record(record: Mapping[str, Any]) -> Metric:
    """The metric of a record."""
    return by_name(str(record["name"]), **record["options"])


def split_text(text: str, columns: Sequence[str] = ()) -> tuple[str, str]:
    """The metric's name and the options in a text: of ``ndcg@10:column=grade``, ndcg and k=10,column=grade.

    A name may be ``module:Class``, with options after a second colon.
    """
    name, _, rest = text.partition(":")
    path, _, options = rest.partition(":")
    if name not in columns and name.partition("@")[0].lower() in METRICS:
        name = name.lower()
    if name not in METRICS and name not in columns and plugins.is_path(f"{name}:{path}"):
        return f"{name}:{path}", options
    if name in columns:
        name, rest = "external", f"column={name}" + (f",{rest}" if rest else "")
    elif "@" in name:
        name, _, k = name.partition("@")
        name, rest = {"recall": "recall-at"}.get(name, name), f"k={k}" + (f",{rest}" if rest else "")
    return name, rest


def is_metric(text: str) -> bool:
    """Whether a text names a metric, and not a column."""
    return find(split_text(text)[0]) is not None


def is_whole(text: str) -> bool:
    """Whether the text alone makes a metric: it may lack the column, which then comes from the candidates."""
    name, rest = split_text(text)
    kind = find(name)
    return kind is not None and ("column=" in rest or not _needs_column(kind))


def _needs_column(kind: type[Metric]) -> bool:
    own = {each.name: each.default for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return own.get("column") is dataclasses.MISSING


def from_text(text: str, lowercase: bool = False, tokenize: str | None = None, columns: Sequence[str] = ()) -> Metric:
    """The metric of a text: ``bleu``, ``chrf:word_order=2``, ``ndcg@10:column=grade``; a name in ``columns`` is that
    column of the lists, and the only one is the column of a metric that needs one.

    ``lowercase`` and ``tokenize`` are for metrics that have such options.
    """
    name, rest = split_text(text, columns)
    kind = find(name)
    if kind is None:
        known = [*names(), *columns]
        if "," in text and all(item.partition("@")[0] in known for item in text.split(",")):
            each = " ".join(f"--metric {item}" for item in text.split(","))
            raise OptionError(f"--metric {text}: several metrics are named one by one: {each}.")
        raise OptionError(f"there is no metric {name!r}.{suggestion(name, known)} There are: {', '.join(known)}.")
    fields: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    options: dict[str, Any] = {}
    if lowercase and "lowercase" in fields:
        options["lowercase"] = True
    if tokenize is not None and "tokenize" in fields:
        options["tokenize"] = tokenize
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if key not in fields or not equals:
            known = list(fields)
            raise OptionError(
                f"--metric: {name} has no option {part!r}.{suggestion(key, known)} Write one of: {', '.join(known)}=..."
            )
        options[key] = value_of(value, fields[key], f"--metric {name}: {key}")
    if _needs_column(kind) and "column" not in options:
        if len(columns) != 1:
            choices = f", one of {some(columns)}" if columns else ""
            raise OptionError(f"--metric {text}: which column has the numbers? Add column=NAME{choices}.")
        options["column"] = columns[0]
    return by_name(name, **options)


def usual(pool: Pool) -> str:
    """The metric if none is named: BLEU, or the one column of numbers of candidates without references."""
    numbers = pool.number_names
    return numbers[0] if len(numbers) == 1 and len(pool) and not pool.references(0) else "bleu"


def metric_for(text: str, lowercase: bool = False, tokenize: str | None = None, pool: Pool | None = None) -> Metric:
    """A metric by its name. A name that is not built in is a column of the lists, now or later."""
    name, rest = split_text(text)
    kind = find(name)
    columns = pool.number_names if pool is not None else [name] if kind is None else []
    if pool is not None and not columns and kind is None and "," not in text:
        finding = (
            f"there is no metric {name!r}, and the candidates have no columns of numbers.{suggestion(name, names())}"
        )
        cure = 'Your own scores come as "metrics" in JSON lines, or with --table and --outcome'
        raise OptionError(f"{finding} {cure}.")
    metric = from_text(text, lowercase, tokenize, columns)
    if pool is not None and metric.name == "external" and "scale=" not in rest:
        metric = dataclasses.replace(metric, scale=usual_scale(metric.stats(pool)[:, 0]))  # type: ignore[type-var]
    return metric
