"""Levenshtein distance by its recurrence."""

from typing import Any


def edit_distance(a: Any, b: Any) -> Any:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]
