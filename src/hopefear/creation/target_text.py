"""More text of the target language: what a second language model learns from.

Lines that are held-out references, or near copies of them, are left out: a language model that has seen the answers
makes the score of the translator too high.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from hopefear.corpus import refuse_markup
from hopefear.corpus.languages import looks_like
from hopefear.corpus.splitting import letters
from hopefear.errors import input_error
from hopefear.model.options import BuildOptions
from hopefear.runs.session import Session
from hopefear.util.files import PathLike, atomic_write, iter_lines

NAME = "target.text"


SEEN = 2000  # lines whose language is looked at


def keep_target_text(
    paths: Sequence[PathLike], language: str, references: Iterable[Sequence[str]], folder: Path, run: Session
) -> dict[str, int]:
    """Write the usable lines of these files into the folder; the record has the number of lines."""
    counts = {"read": 0, "kept": 0, "held_out": 0}
    if not paths:
        return counts
    held_out = {letters(line) for lines in references for line in lines} - {""}
    with atomic_write(folder / NAME) as file:
        for path in paths:
            refuse_markup(path)
            if found := looks_like(islice(iter_lines(path), SEEN), language):
                raise input_error(
                    path, None, f"what should be {language} is {found}. Check --to, and which file is which"
                )
            kept_before = counts["kept"]
            for line in iter_lines(path):
                counts["read"] += 1
                text = line.strip()
                if not text or len(text.split()) > BuildOptions.max_words:
                    continue
                if letters(text) in held_out:
                    counts["held_out"] += 1
                    continue
                counts["kept"] += 1
                file.write(f"{text}\n")
            if counts["kept"] == kept_before:
                raise input_error(path, None, "has no line to learn a language model from. Give a file with sentences")
    run.note(
        f"{counts['kept']:,} of {counts['read']:,} lines of target text are used; "
        f"{counts['held_out']:,} are like held-out sentences"
    )
    return counts


def more_text(data: Mapping[str, Any], folder: Path) -> list[Path]:
    """The file that :func:`keep_target_text` wrote, if there was anything to write."""
    return [folder / NAME] if data["target_text"]["kept"] else []
