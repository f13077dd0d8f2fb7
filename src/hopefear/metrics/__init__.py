"""Metrics: additive statistics computed in the core, and a function of their sum."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from hopefear._core import OracleDocument
from hopefear.errors import InputError, OptionError
from hopefear.metrics.base import Metric
from hopefear.metrics.bleu import Bleu
from hopefear.metrics.chrf import Chrf
from hopefear.metrics.counts import BleuCounts
from hopefear.metrics.external import External
from hopefear.metrics.rank import Map, Mrr, Ndcg, RecallAt
from hopefear.metrics.ratio import FBeta, Precision, Rate, Recall
from hopefear.metrics.rouge import RougeS
from hopefear.metrics.ter import Ter, Wer
from hopefear.util.values import value_of
from hopefear.util.words import one_of

METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (
        *(Bleu, Chrf, Ter, Wer, RougeS, External),
        *(BleuCounts, Precision, Recall, FBeta, Rate),
        *(Ndcg, Mrr, Map, RecallAt),
    )
}

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
    "Rate",
    "Recall",
    "RecallAt",
    "RougeS",
    "Ter",
    "Wer",
    "by_name",
    "from_record",
    "from_text",
    "split_text",
]


def by_name(name: str, **options: Any) -> Metric:
    """A metric by its name and options: ``by_name("bleu", lowercase=True)``."""
    if name not in METRICS:
        raise InputError(f"there is no metric {name}. Choose one of {', '.join(METRICS)}")
    try:
        return METRICS[name](**options)
    except TypeError as error:
        raise InputError(f"metric {name}: {error}") from None


def from_record(record: Mapping[str, Any]) -> Metric:
    """The metric of a record."""
    return by_name(str(record["name"]), **record["options"])


def split_text(text: str, columns: Sequence[str] = ()) -> tuple[str, str]:
    """The metric's name and the options in a text: of ``ndcg@10:column=grade``, ndcg and k=10,column=grade."""
    name, _, rest = text.partition(":")
    if name in columns:
        name, rest = "external", f"column={name}" + (f",{rest}" if rest else "")
    elif "@" in name:
        name, _, k = name.partition("@")
        name, rest = {"recall": "recall-at"}.get(name, name), f"k={k}" + (f",{rest}" if rest else "")
    return name, rest


def from_text(text: str, lowercase: bool = False, tokenize: str | None = None, columns: Sequence[str] = ()) -> Metric:
    """The metric of a text: ``bleu``, ``chrf:word_order=2``, ``ndcg@10:column=grade``; a name in ``columns`` is that
    column of the lists.

    ``lowercase`` and ``tokenize`` are for metrics that have such options.
    """
    name, rest = split_text(text, columns)
    if name not in METRICS:
        known = [*METRICS, *columns]
        if "," in text and all(one.partition("@")[0] in known for one in text.split(",")):
            each = " ".join(f"--metric {one}" for one in text.split(","))
            raise OptionError(f"--metric {text}: several metrics are named one by one: {each}.")
        raise OptionError(f"--metric: there is no metric {name!r}.{one_of(name, known)} There are: {', '.join(known)}.")
    fields: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(METRICS[name])}  # type: ignore[arg-type]
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
                f"--metric: {name} has no option {part!r}.{one_of(key, known)} Write one of: {', '.join(known)}=..."
            )
        options[key] = value_of(value, fields[key], f"--metric {name}: {key}")
    return by_name(name, **options)
