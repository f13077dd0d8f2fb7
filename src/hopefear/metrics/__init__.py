"""Metrics: additive statistics computed in the core, and a function of their sum."""

from __future__ import annotations

from typing import Any

from hopefear._core import OracleDocument
from hopefear.errors import InputError
from hopefear.metrics.base import Metric
from hopefear.metrics.bleu import Bleu
from hopefear.metrics.chrf import Chrf
from hopefear.metrics.external import External
from hopefear.metrics.rouge import RougeS
from hopefear.metrics.ter import Ter, Wer

METRICS: dict[str, type[Metric]] = {metric.name: metric for metric in (Bleu, Chrf, Ter, Wer, RougeS, External)}

__all__ = [
    "METRICS",
    "Bleu",
    "Chrf",
    "External",
    "Metric",
    "OracleDocument",
    "RougeS",
    "Ter",
    "Wer",
    "by_name",
]


def by_name(name: str, **options: Any) -> Metric:
    """A metric by its name and options: ``by_name("bleu", lowercase=True)``."""
    if name not in METRICS:
        raise InputError(f"there is no metric {name}. Choose one of {', '.join(METRICS)}")
    try:
        return METRICS[name](**options)
    except TypeError as error:
        raise InputError(f"metric {name}: {error}") from None
