"""``--metric NAME[:OPTION=VALUE,...]``, ``--lowercase``, ``--tokenize``: which metric is meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.options import one_of

if TYPE_CHECKING:
    from hopefear.metrics import Metric


def value_of(text: str, default: Any, what: str) -> Any:
    """A value in the type of its default."""
    try:
        if isinstance(default, bool):
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (KeyError, ValueError):
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise click.UsageError(f"{what}: {text!r} is not {kind}.", click.get_current_context(silent=True)) from None
    return text


def parse_metric(
    text: str, lowercase: bool = False, tokenize: str | None = None, columns: Sequence[str] = ()
) -> Metric:
    """The metric of a text such as ``bleu`` or ``chrf:word_order=2``."""
    from hopefear.metrics import METRICS, by_name

    name, _, rest = text.partition(":")
    if name not in METRICS:
        known = ", ".join([*METRICS, *columns])
        raise click.UsageError(
            f"--metric: there is no metric {name!r}.{one_of(name, [*METRICS, *columns])} There are: {known}."
        )
    fields: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(METRICS[name])}  # type: ignore[arg-type]
    options: dict[str, Any] = {}
    if lowercase and "lowercase" in fields:
        options["lowercase"] = True
    if tokenize is not None and "tokenize" in fields:
        options["tokenize"] = tokenize
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if key not in fields or not equals:
            known = ", ".join(fields)
            raise click.UsageError(
                f"--metric: {name} has no option {part!r}.{one_of(key, fields)} Write one of: {known}=..."
            )
        options[key] = value_of(value, fields[key], f"--metric {name}: {key}")
    return by_name(name, **options)
