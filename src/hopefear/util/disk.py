"""A memory limit: what exceeds it goes to disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from hopefear._core import close_array_store, open_array_store
from hopefear.util.files import PathLike


@contextmanager
def on_disk(folder: PathLike, memory: float = 0.0) -> Iterator[None]:
    """Pools and language models larger than memory: those that are made inside take ``memory`` GB at most.

    What is beyond that, arrays of candidates, their statistics, n-grams and their counts, lives in mapped files of a
    folder, which have no name and are deleted after their last use. Results are the same.
    """
    open_array_store(os.fspath(folder), int(memory * 1e9))
    try:
        yield
    finally:
        close_array_store()
