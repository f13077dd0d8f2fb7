"""The candidate lists that come with the package: 300 verses, 30 translations of each, and three references.

The sentences are Young's Literal Translation of 1862 (Ruth, 1 Samuel, 2 Corinthians), the references the World English
Bible, the American Standard Version and the King James Version, all in the public domain. The candidates are those of
a model that ``hopefear build`` made from other books. ``packaging/example_lists.py`` made the file.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hopefear.util.files import PathLike, files_together

LISTS = Path(__file__).with_name("verses.jsonl.xz")
REFERENCES = 3
#: Weights set by hand, those with which Moses would begin.
INITIAL = {
    "lm": 0.5,
    "phrase_ef": 0.2,
    "phrase_fe": 0.2,
    "lexical_ef": 0.2,
    "lexical_fe": 0.2,
    "rule": 0.2,
    "word": 1.0,
}


def read_sentences() -> Iterator[dict[str, Any]]:
    """Sentences as JSON lines have them: id, source, references, candidates."""
    with lzma.open(LISTS, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def paths(folder: PathLike) -> dict[str, Path]:
    """The files that ``write_lists`` makes."""
    names = {"nbest": "nbest.txt", "source": "source.txt", "initial": "initial.txt"}
    names |= {f"ref.{k}": f"ref.{k}" for k in range(REFERENCES)}
    return {name: Path(folder) / file for name, file in names.items()}


def write_lists(folder: PathLike, overwrite: bool = False) -> dict[str, Path]:
    """Candidates in Moses' format, sources, references and initial weights, all of them or none."""
    files = paths(folder)
    with files_together(files, overwrite) as out:
        out["initial"].writelines(f"{name} {weight!r}\n" for name, weight in INITIAL.items())
        for sentence in read_sentences():
            out["source"].write(sentence["source"] + "\n")
            for k, reference in enumerate(sentence["references"]):
                out[f"ref.{k}"].write(reference + "\n")
            candidates = sorted(sentence["candidates"], key=lambda candidate: -_score(candidate["features"]))
            out["nbest"].writelines(_line(sentence["id"], candidate) for candidate in candidates)
    return files


def _score(features: dict[str, float]) -> float:
    return sum(weight * features[name] for name, weight in INITIAL.items())


def _line(number: str, candidate: dict[str, Any]) -> str:
    features = candidate["features"]
    values = " ".join(f"{name}= {value}" for name, value in features.items())
    return f"{number} ||| {candidate['text']} ||| {values} ||| {_score(features):.4f}\n"
