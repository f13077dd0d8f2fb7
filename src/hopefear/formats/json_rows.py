"""Objects of a file of JSON: one on each line, or an array of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hopefear.errors import input_error
from hopefear.util.files import PathLike, open_text, path_name


def objects(path: PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects, and the line of each; those of an array have the line where it begins."""
    name = path_name(path)
    with open_text(path) as file:
        lines: Iterator[tuple[int, str]] = ((number, line) for number, line in enumerate(file, 1) if line.strip())
        for number, line in lines:
            array = line.lstrip().startswith("[")
            text = line + "".join(rest for _, rest in lines) if array else line
            try:
                row = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise input_error(name, number, f"not JSON ({error}). Write one object per line") from None
            for record in row if array else [row]:
                if not isinstance(record, dict):
                    raise input_error(name, number, "not an object. Write one object per line: a row of the table")
                yield number, record


def is_array(path: PathLike) -> bool:
    """Whether a file of JSON is an array."""
    with open_text(path) as file:
        return next((line for line in file if line.strip()), "").lstrip().startswith("[")
