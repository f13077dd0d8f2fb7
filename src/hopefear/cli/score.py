"""``hopefear score``: metrics of systems, and whether they differ."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import FileError, InputFile, Many, Positional, count, no_such_file

if TYPE_CHECKING:
    from hopefear.evaluation.scores import Score, System

PARAMS = [
    Positional(["hyp"], nargs=-1, metavar="HYP [HYP...]"),
    Many(["--refs"], type=InputFile(), required=True, help="References, a file each."),
    click.Option(
        ["--metric"],
        multiple=True,
        default=["bleu"],
        metavar="NAME",
        help="bleu, chrf, ter, ...; may be repeated. [bleu]",
    ),
    click.Option(["--lowercase"], is_flag=True, help="Ignore case."),
    click.Option(["--tokenize"], metavar="NAME", help="Of BLEU: 13a, intl, zh, char, none, ... [13a]"),
    click.Option(["--json"], is_flag=True, help="Everything as JSON, in full precision."),
    count("--samples", 1000, "Of the significance tests."),
    click.Option(
        ["--test"],
        type=click.Choice(["bootstrap", "randomization", "both", "none"]),
        default="both",
        help="Which test. [both]",
    ),
]

EXAMPLES = """
hopefear score output.txt --refs ref.0 ref.1 ref.2 ref.3
hopefear score baseline.txt new.txt --refs ref --metric bleu --metric chrf:word_order=2
hopefear score base=b1.txt,b2.txt,b3.txt new=n1.txt,n2.txt,n3.txt --refs ref     # replicates
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    hyp: tuple[str, ...],
    refs: tuple[str, ...],
    metric: tuple[str, ...],
    lowercase: bool,
    tokenize: str | None,
    json: bool,
    samples: int,
    test: str,
    seed: int,
    jobs: int,
) -> None:
    """Score outputs against references; several outputs are compared with the first.

    The numbers are sacreBLEU's (for BLEU: tokenizer 13a, mixed case, smoothing exp), and so are the signatures.
    NAME=F,F,F is one system with replicates (runs under several seeds): it is scored by their mean and compared by a
    test that takes their spread into account. An empty line in a reference file is a missing reference where other
    files have one.
    """
    from hopefear.evaluation.scores import TESTS, evaluate
    from hopefear.metrics import from_text
    from hopefear.util.files import read_lines

    if not hyp:
        raise click.UsageError(
            "no HYP. Put the outputs first: hopefear score HYP --refs F", click.get_current_context()
        )
    metrics = [
        from_text(text, lowercase, tokenize or ("13a" if text.split(":")[0] == "bleu" else None)) for text in metric
    ]
    references = [read_lines(path) for path in refs]
    for path, lines in zip(refs, references, strict=True):
        if not lines:
            raise FileError(f"{path}: the file is empty. Give a reference for each line of the output.")
        if len(lines) != len(references[0]):
            raise FileError(
                f"{path}: has {len(lines)} lines, but {refs[0]} has {len(references[0])}. Use references of one source."
            )
    systems = [system_of(text) for text in hyp]
    names = [name for name, _ in systems]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise click.UsageError(
            f"{twice!r} is given twice. Give systems different names: NAME=F", click.get_current_context()
        )
    loaded = [_load(name, files) for name, files in systems]
    tests = TESTS if test == "both" else () if test == "none" else (test,)
    table = [evaluate(loaded, references, one, tests=tests, samples=samples, seed=seed, jobs=jobs) for one in metrics]
    if json:
        click.echo(_as_json(systems, [one.name for one in metrics], table))
        return
    for scores in table:
        _print(names, scores, samples)
    _warn_if_tokenised(console, loaded, metrics)


def system_of(text: str) -> tuple[str, list[str]]:
    """The name and the files of ``F``, ``F,F`` or ``NAME=F,F``."""
    if text == "-" or os.path.exists(text):  # noqa: PTH110
        return text, [text]
    name, equals, rest = text.rpartition("=")
    files = rest.split(",")
    if not equals and len(files) == 1:
        raise FileError(no_such_file(text))
    check = InputFile()
    return name or text, [check.convert(file, None, None) for file in files]


def _load(name: str, files: list[str]) -> System:
    from hopefear.evaluation.scores import System
    from hopefear.util.files import read_lines

    return System(name, [read_lines(file) for file in files])


def _as_json(systems: Sequence[tuple[str, list[str]]], keys: Sequence[str], table: Sequence[Sequence[Score]]) -> str:
    rows = []
    for i, (name, files) in enumerate(systems):
        row: dict[str, Any] = {"name": name}
        for key, scores in zip(keys, table, strict=True):
            row[key] = scores[i].value
        row["signature"] = table[0][i].signature
        row["signatures"] = {key: scores[i].signature for key, scores in zip(keys, table, strict=True)}
        row["details"] = {key: scores[i].details for key, scores in zip(keys, table, strict=True) if scores[i].details}
        if len(files) > 1:
            row["replicates"] = [
                {"file": file} | {key: scores[i].replicates[k] for key, scores in zip(keys, table, strict=True)}
                for k, file in enumerate(files)
            ]
            row["deviation"] = {key: scores[i].deviation for key, scores in zip(keys, table, strict=True)}
        compared = {key: scores[i].comparison for key, scores in zip(keys, table, strict=True)}
        if any(compared.values()):
            row["compared_with"] = systems[0][0]
            row["comparison"] = {
                key: {"delta": found.delta, "interval": found.interval, "p": found.p}
                for key, found in compared.items()
                if found is not None
            }
        rows.append(row)
    return json.dumps({"systems": rows}, indent=2, ensure_ascii=False)


def _print(names: Sequence[str], scores: Sequence[Score], samples: int) -> None:
    """One system: sacreBLEU's line. Several: a table, then the line without the number."""
    label, signature = scores[0].label, scores[0].signature
    if len(scores) == 1 and len(scores[0].replicates) == 1:
        click.echo(f"{label}|{signature} = {scores[0].value:.2f} {scores[0].details}".rstrip())
        return
    tests = sorted({test for score in scores if score.comparison for test in score.comparison.p})
    deviations = any(len(score.replicates) > 1 for score in scores)
    header = ["system", label, *(["sd", "runs"] if deviations else []), *(["difference", "95 %"] if tests else [])]
    rows = [[*header, *(f"p {test}" for test in tests)]]
    for name, score in zip(names, scores, strict=True):
        row = [name, f"{score.value:.2f}"]
        if deviations:
            several = len(score.replicates) > 1
            row += [f"{score.deviation:.2f}" if several else "", str(len(score.replicates))]
        if found := score.comparison:
            low_high = f"{found.interval[0]:+.2f} to {found.interval[1]:+.2f}" if found.interval else ""
            row += [f"{found.delta:+.2f}", low_high, *(_p(found.p.get(test)) for test in tests)]
        rows.append(row + [""] * (len(rows[0]) - len(row)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first = row[0].ljust(widths[0])
        click.echo(
            "  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]).rstrip()
        )
    click.echo(f"{label}|{signature}")
    if tests:
        click.echo(f"* differs from {names[0]} at p < 0.05 ({samples} samples)")
    click.echo()


def _p(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}{'*' if p < 0.05 else ' '}"


def _warn_if_tokenised(console: Console, systems: Sequence[System], metrics: Sequence[Any]) -> None:
    if not any(metric.name == "bleu" and metric.tokenize == "13a" for metric in metrics):
        return
    for system in systems:
        if sum(line.endswith(" .") for output in system.outputs for line in output) >= 100:
            console.warn(
                f"{system.name}: many lines end in ' .': is it tokenised? Then --tokenize none, or score raw text"
            )
            return
