"""TREC runs and judgements as a table: one row per query and document, one column per run.

    run:    query Q0 document rank score name
    qrels:  query 0 document grade

A document that a run did not retrieve has the lowest score of that run for the query: it stood below all others. A
relevant document that no run retrieved has 0 in the column ``retrieved``; metrics of whole orders count it for the
ideal order, and never rank it. Documents without a judgement have grade 0; queries without any judgement are left out,
as trec_eval does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from hopefear.errors import InputError, input_error
from hopefear.formats.table import Table
from hopefear.formats.table_columns import as_objects
from hopefear.util.files import iter_lines, path_name
from hopefear.util.values import finite_number

GROUP, DOCUMENT, GRADE, RETRIEVED = "query", "document", "grade", "retrieved"


def read_run(path: str) -> dict[str, dict[str, float]]:
    """Query -> document -> score."""
    scores: dict[str, dict[str, float]] = {}
    name = path_name(path)
    for number, words in _rows(path):
        if len(words) != 6:
            finding = f"has {len(words)} words, and a line of a run has 6"
            raise input_error(name, number, f"{finding}: query Q0 document rank score name")
        documents = scores.setdefault(words[0], {})
        if words[2] in documents:
            raise input_error(name, number, f"document {words[2]} occurs twice for query {words[0]}. Drop one")
        documents[words[2]] = _number(words[4], name, number, "score")
    if not scores:
        raise input_error(name, None, "the run is empty")
    return scores


def read_qrels(path: str) -> dict[str, dict[str, float]]:
    """Query -> document -> grade."""
    judgements: dict[str, dict[str, float]] = {}
    name = path_name(path)
    lines: dict[tuple[str, str], int] = {}
    for number, words in _rows(path):
        if len(words) != 4:
            finding = f"has {len(words)} words, and a judgement has 4"
            raise input_error(name, number, f"{finding}: query 0 document grade")
        query, _, document, grade = words
        given = _number(grade, name, number, "grade")
        first = lines.setdefault((query, document), number)
        if judgements.setdefault(query, {}).setdefault(document, given) != given:
            finding = f"document {document} of query {query} has the grade {grade} here and another in line {first}"
            raise input_error(name, number, f"{finding}. Keep one of the two judgements")
    if not judgements:
        raise input_error(name, None, "there are no judgements")
    return judgements


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that has some, with its number."""
    for number, line in enumerate(iter_lines(path), 1):
        if "\0" in line:
            raise input_error(path_name(path), number, "has a null byte. Is this a text file?")
        if words := line.split():
            yield number, words


def _number(text: str, name: str, line: int, what: str) -> float:
    try:
        return finite_number(text)
    except ValueError:
        raise input_error(name, line, f"{what} {text!r} is not a finite number. Fix it") from None


def read_trec(runs: Sequence[str | Path], qrels: str | Path) -> Table:
    """Runs and their judgements as a table with the columns query, document, grade, retrieved and one per run."""
    names = _names([str(path) for path in runs])
    scores = {name: read_run(str(path)) for name, path in zip(names, runs, strict=True)}
    judged = read_qrels(str(qrels))
    queries = [query for query in judged if any(query in run for run in scores.values())]
    if not queries:
        raise InputError(f"{path_name(str(qrels))}: judges no query of the runs. Are these the right files?")
    rows: list[tuple[str, str, float, float]] = []
    columns: dict[str, list[float]] = {name: [] for name in names}
    for query in queries:
        ranked = dict.fromkeys(document for run in scores.values() for document in run.get(query, {}))
        missed = [doc for doc, grade in judged[query].items() if grade > 0 and doc not in ranked]
        documents = sorted(ranked) + missed
        rows += [(query, doc, judged[query].get(doc, 0.0), float(doc in ranked)) for doc in documents]
        for name, run in scores.items():
            own = run.get(query, {})
            least = min(own.values(), default=0.0)
            columns[name] += [own.get(doc, least) for doc in documents]
    return Table(
        {
            GROUP: as_objects([row[0] for row in rows]),
            DOCUMENT: as_objects([row[1] for row in rows]),
            GRADE: np.array([row[2] for row in rows]),
            RETRIEVED: np.array([row[3] for row in rows]),
            **{name: np.array(column) for name, column in columns.items()},
        },
        ", ".join(path_name(str(path)) for path in runs),
    )


def _names(paths: Sequence[str]) -> list[str]:
    """The files' names without their endings; whole paths where these are the same."""
    short = [Path(path).name.partition(".")[0] for path in paths]
    names = short if len({*short}) == len(short) else list(paths)
    if len({*names}) < len(names):
        raise InputError(f"{paths[0]}: a run is given twice. Give each once")
    return [f"run_{name}" if name in (GROUP, DOCUMENT, GRADE, RETRIEVED) else name for name in names]
