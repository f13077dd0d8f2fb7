"""The sentences that weights were learnt from, as text for the final model: they are of the kind that matters most.

Weights are learnt with a model that has never seen them. Then the model is built again, from these sentences too, and
keeps the weights. Each reference makes a pair. Near copies of test sentences are left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hopefear.corpus import CleaningRules, Pair, clean, write_plain
from hopefear.corpus.plain import PlainFiles
from hopefear.corpus.splitting import letters
from hopefear.trainers.data import Corpus
from hopefear.util.files import atomic_write, iter_lines

NAME = "dev.text"


def keep_dev_text(
    pairs: Iterable[Pair], test: Corpus, folder: Path, languages: tuple[str, str], rules: CleaningRules
) -> dict[str, int]:
    """Write the usable pairs as files of their domains; the record has the number of each domain."""
    near = {letters(line) for lines in (test.lines, *test.references) for line in lines}
    kept, _ = clean(pairs, *languages, rules)
    rest = (pair for pair in kept if not near & {letters(pair.source), letters(pair.target)})
    files = write_plain(rest, folder, NAME, *languages)
    return dict(zip(files.domains, files.pairs, strict=True))


def own_pairs(dev: Corpus, domain: str) -> Iterator[Pair]:
    """A pair for each reference of sentences that the user gave."""
    for number, line in enumerate(dev.lines, 1):
        for reference in dev.references:
            yield Pair(line, reference[number - 1], None, domain, f"dev:{number}")


def nearest_domain(files: PlainFiles, dev: Corpus) -> str:
    """The domain whose words are most like those of the references; of equals the first."""
    if len(files.domains) == 1:
        return files.domains[0]
    wanted = Counter(word for reference in dev.references for line in reference for word in line.lower().split())

    def likelihood(path: Path) -> float:
        counts = Counter(word for line in iter_lines(path) for word in line.lower().split())
        total = sum(counts.values()) + len(counts.keys() | wanted.keys())
        return sum(count * math.log((counts[word] + 1) / total) for word, count in wanted.items())

    return max(zip(files.domains, map(likelihood, files.target), strict=True), key=lambda each: each[1])[0]


def joined(data: Mapping[str, Any], folder: Path) -> tuple[list[Path], list[Path]]:
    """The files to build from, with these pairs behind those of their domains."""
    source, target = ([_joined(folder, name) for name in data["train"][side]] for side in ("source", "target"))
    return source, target


def _joined(folder: Path, name: str) -> Path:
    ending = name.removeprefix("train")  # domain and language
    paths = [path for path in (folder / name, folder / f"{NAME}{ending}") if path.exists()]
    with atomic_write(whole := folder / f"all{ending}") as file:
        file.writelines(f"{line}\n" for path in paths for line in iter_lines(path))
    return whole
