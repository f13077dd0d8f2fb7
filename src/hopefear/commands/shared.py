"""Options that several commands have, each written once: ``cluster: str | None = cluster()``."""

from __future__ import annotations

from typing import Any

from hopefear.commands.base import Command, R_co, arg
from hopefear.errors import OptionError

POLICIES = ("error", "zero", "mean", "drop", "indicator")  # formats/missing.py, which takes long to import
DECODINGS = 10  # of a loop of decoding and learning
HELD_OUT = 0.1  # share of the sentences


class WritesFiles(Command[R_co]):
    """A command that writes files into a folder."""

    out: str = arg("The directory to write to; created if needed.", metavar="DIR")
    overwrite: bool = arg("Replace existing files.", default=False)


def check_group(command: Any) -> None:
    """Raise an OptionError for a table without a group."""
    if command.given("table") and not command.group:
        raise OptionError("--table needs --group, the column that says which candidates compete.")


def candidate_format(**more: Any) -> Any:
    text = "Format of lists or forests (see convert)."
    return arg(text, default=None, metavar="NAME", shown="detected", **more)


def cluster() -> Any:
    text = "Run on a Ray cluster; auto: the one this machine belongs to, local: this machine."
    return arg(text, default=None, metavar="ADDRESS")


def features(**more: Any) -> Any:
    text = "The scores, by name or pattern."
    return arg(text, default=(), metavar="GLOB", shown="all other columns of numbers", **more)


def group() -> Any:
    text = "A column of the table: rows with the same value compete."
    return arg(text, default=None, metavar="COLUMN", needs="table", decides=True)


def initial() -> Any:
    return arg("Weights to start from.", default=None, file=True)


def lm_text(what: str) -> Any:
    return arg(f"More text of the target language, {what}.", default=(), file=True)


def lowercase() -> Any:
    return arg("The metric ignores case.", default=False)


def missing(**more: Any) -> Any:
    text = "How to treat a missing score: stop, use 0 or the mean; in tables also drop the row or add a feature."
    return arg(text, default=None, choices=POLICIES, shown=POLICIES[0], **more)


def new_model() -> Any:
    return arg("The model directory to create.", metavar="MODEL")


def overwrite_model() -> Any:
    return arg("Replace an existing model.", default=False)


def protect() -> Any:
    return arg("Regular expressions; text that they match stays as it is.", default=(), metavar="REGEX")


def references(**more: Any) -> Any:
    return arg("Reference texts, the same in all rows of a group.", default=(), metavar="COLUMN", needs="table", **more)


def scale(**more: Any) -> Any:
    return arg(
        "With --mbr: p is exp(X w.h) over its sum.", default=1.0, least=0, most=1e6, metavar="X", needs="mbr", **more
    )


def source_language(**more: Any) -> Any:
    return arg("The language to translate from: de, es, gn.", metavar="CODE", **more)


def table() -> Any:
    return arg("A table: CSV, TSV, JSON lines, Parquet or Arrow.", default=None, file=True, folder=True)


def target_language(**more: Any) -> Any:
    return arg("The language to translate to.", metavar="CODE", **more)


def tokenize() -> Any:
    text = "The metric's tokenizer; by default, the text is not tokenised."
    return arg(text, default=None, metavar="NAME")


def trainer_options() -> Any:
    text = "Options of the trainer; hopefear trainers NAME lists them."
    return arg(text, default=(), metavar="NAME=VALUE", several=True)


def weights(**more: Any) -> Any:
    return arg("Weights, e.g. the weights.txt of a run.", file=True, **more)
