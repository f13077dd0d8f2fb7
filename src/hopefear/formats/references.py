"""References and source sentences for a pool, from files with one line per sentence."""

from __future__ import annotations

from hopefear._core import Pool, set_references, set_sources
from hopefear.errors import input_error
from hopefear.util.files import PathLike, PathsLike, path_list, path_name, read_lines, read_references


def attach(pool: Pool, name: str, references: PathsLike | None, sources: PathLike | None = None) -> None:
    """Gives the sentences of a pool, which was read from ``name``, the references and sources in these files."""
    if references is not None:
        lines = read_references(references)
        if len(lines[0]) < len(pool):
            first = path_list(references)[0]
            finding = f"the reference file is too short: it has {len(lines[0])} lines, {name} has {len(pool)} sentences"
            raise input_error(path_name(first), None, f"{finding}. Use the references of these sentences")
        if len(lines[0]) > len(pool):
            finding = f"there are only {len(pool)} sentences, but the references have {len(lines[0])} lines"
            raise input_error(name, None, f"{finding}. Was the file cut off?")
        set_references(pool, lines)
    if sources is not None:
        texts = read_lines(sources)
        if len(texts) != len(pool):
            finding = f"has {len(texts)} lines, but {name} has {len(pool)} sentences. Use the source of these sentences"
            raise input_error(path_name(sources), None, finding)
        set_sources(pool, texts)
