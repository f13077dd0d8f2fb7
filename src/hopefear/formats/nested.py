"""Candidates as JSON has them: a list in each object, or an object for each; as rows of a table.

    {"prompt": "...", "candidates": [{"text": "...", "logprob": -3.1, "reward_a": 0.7, "comet": 0.85}, ...]}
    {"id": "7", "candidates": [{"text": "...", "features": {"lm": -3.1}, "metrics": {"comet": 0.85}}]}
    {"id": "chatcmpl-1", "choices": [{"message": {"content": "..."}, "logprobs": {"content": [{"logprob": -0.2}]}}]}

Every number of a candidate is a column, whether it stands in the candidate, in ``features`` or in ``metrics``; of token
log probabilities the sum, the mean and the least. What stands outside the list is repeated for each candidate.
Sentences without an id are numbered in the column ``id``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hopefear.errors import InputError

#: Where programs that generate text have the candidates of a prompt.
LISTS = (
    *("candidates", "choices", "outputs", "hypotheses", "generations", "beams", "responses"),
    *("completions", "samples", "answers", "hyps", "nbest"),
)
TEXTS = ("text", "generated_text", "translation", "output", "hypothesis", "content", "response")
TOKENS = ("token_logprobs", "logprobs", "transition_scores", "token_scores", "tokens_logprobs")
INNER = ("features", "metrics", "scores")
ORDER = ("index", "rank")  # numbers of a candidate that are no scores

Row = dict[str, Any]


def list_key(record: Mapping[str, Any]) -> str | None:
    """The key of the candidates of an object; None if the object is a row itself."""
    for name in LISTS:
        value = record.get(name)
        if isinstance(value, list) and value and all(isinstance(item, Mapping | str) for item in value):
            return name
    return None


def rows_of(records: Iterable[Any], name: str = "data") -> list[Row]:
    """A row for each candidate of these objects."""
    rows: list[Row] = []
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            finding = f"entry {number} is {type(record).__name__}"
            raise InputError(f"{name}: {finding}. Give an object for each sentence or candidate")
        inner = record.get("response")
        if isinstance(inner, Mapping) and isinstance(inner.get("body"), Mapping):  # a line of a batch
            record = {**inner["body"], "id": record.get("custom_id")}
        key = list_key(record)
        if key is None:
            rows.append(_flat(record))
            continue
        shared = {label: value for label, value in record.items() if label != key and is_cell(value)}
        shared |= _references(record)
        if shared.get("id") is None:
            shared["id"] = str(number)
        rows += [{**shared, **_candidate(candidate, name, number)} for candidate in with_parallel(record, key)]
    return rows


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; None where a row has no such value."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def with_parallel(record: Mapping[str, Any], key: str) -> list[Any]:
    """The candidates of an object; texts with the values of parallel lists.

    >>> with_parallel({"candidates": ["a", "b"], "comet": [0.8, 0.7]}, "candidates")
    [{'text': 'a', 'comet': 0.8}, {'text': 'b', 'comet': 0.7}]
    """
    candidates: list[Any] = record[key]
    if not all(isinstance(text, str) for text in candidates):
        return candidates
    columns = {
        str(label): value
        for label, value in record.items()
        if label not in (key, "references") and isinstance(value, list) and len(value) == len(candidates)
    }
    columns = {label: value for label, value in columns.items() if all(map(is_cell, value))}
    return [
        {"text": text, **{label: value[position] for label, value in columns.items()}}
        for position, text in enumerate(candidates)
    ]


def _candidate(value: Any, name: str, number: int) -> Row:
    row = _flat({label: each for label, each in value.items() if label not in ORDER})
    if "text" not in row:
        text = next((value[label] for label in TEXTS if isinstance(value.get(label), str)), None)
        message = value.get("message")
        if text is None and isinstance(message, Mapping):
            text = message.get("content")
        if text is None:
            raise InputError(f'{name}: a candidate of entry {number} has no text. Write it as "text"')
        row["text"] = text
    return row


def _flat(record: Mapping[str, Any]) -> Row:
    """Cells of an object, with the content of ``features`` and ``metrics`` as cells of their own."""
    row: Row = {}
    for label, value in record.items():
        if label in TOKENS:
            row |= _token_scores(value)
        elif label in INNER and isinstance(value, Mapping):
            row |= {str(name): number for name, number in value.items() if is_cell(number)}
        elif is_cell(value):
            row[str(label)] = value
    return row | _references(record)


def _references(record: Mapping[str, Any]) -> Row:
    """Several references become columns ``reference_0``, ``reference_1``."""
    several = record.get("references")
    if not isinstance(several, list):
        return {}
    return {f"reference_{k}": str(text) for k, text in enumerate(several)}


def _token_scores(value: Any) -> Row:
    """Sum, mean and least of the tokens' log probabilities, in the shapes that servers give them."""
    if isinstance(value, Mapping):
        value = value.get("token_logprobs", value.get("content"))
    if not isinstance(value, list):
        return {}
    values = [entry.get("logprob") if isinstance(entry, Mapping) else entry for entry in value]
    numbers = [float(entry) for entry in values if isinstance(entry, int | float) and math.isfinite(entry)]
    if not numbers:
        return {}
    return token_sums(numbers)


def token_sums(numbers: Sequence[float], name: str = "logprob") -> dict[str, float]:
    """Sum, mean and least of the tokens' log probabilities; 0 without tokens."""
    total = math.fsum(numbers)
    mean = total / len(numbers) if numbers else 0.0
    return {f"{name}_sum": total, f"{name}_mean": mean, f"{name}_min": min(numbers, default=0.0)}


def is_score(name: str, value: Any) -> bool:
    """Whether a value of a candidate is a score: a number or a truth value, and not its index or rank."""
    return isinstance(value, int | float) and name not in ORDER


def is_cell(value: Any) -> bool:
    """Whether a value fits into a cell of a table."""
    return value is None or isinstance(value, str | int | float)
