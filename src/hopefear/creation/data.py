"""The first stage: a corpus read, cleaned and split, as plain files that the other stages read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hopefear.corpus import Pair, clean, read_pairs, split, write_plain
from hopefear.corpus.checks import SEEN, check_sides
from hopefear.corpus.languages import check_languages
from hopefear.creation.dev_text import keep_dev_text, nearest_domain, own_pairs
from hopefear.creation.options import CreateOptions
from hopefear.creation.target_text import keep_target_text
from hopefear.errors import InputError, input_error
from hopefear.learning.export import write_tmx
from hopefear.runs.session import Session
from hopefear.trainers.data import Corpus
from hopefear.translator.translator import Translator
from hopefear.util.files import PathLike, atomic_write, path_name
from hopefear.util.messages import plural

FEWEST = 100  # pairs that anything can be learnt from
_PUNCTUATION = re.compile("[.,;:?!\u061f\u060c\u3002\uff01\uff1f\u0964]")
_TOLD = 1 << 12  # pairs between two messages of progress


def prepare(options: CreateOptions, folder: Path, run: Session) -> dict[str, Any]:
    """Read, clean, split, write; the record has the counts and the files."""
    languages = check_languages(options.source_language, options.target_language)
    own = _own_parts(options, languages)
    pairs = read_pairs(
        [*options.corpus, *_corrections(options, folder, run)],
        *languages,
        source_files=options.source,
        target_files=options.target,
        columns=options.columns,
        run=run,
    )
    kept, report = clean(_counted(pairs, run), *languages, options.rules)
    others = (line for corpus in own.values() if corpus is not None for lines in corpus.references for line in lines)
    given_dev, given_test = own["dev"] is not None, own["test"] is not None
    parts = split(
        kept,
        options.seed,
        test=_as_pairs(own["test"]) if own["test"] is not None else None,
        test_lines=(*others, *(line for c in (own["dev"],) if c is not None for line in c.lines)),
        size=None,
        dev=not given_dev,
    )
    if len(parts.train) < FEWEST:
        held_out = sum(len(part) for part, given in ((parts.dev, given_dev), (parts.test, given_test)) if not given)
        lost = {**report.dropped, "the same as others except for digits, case and punctuation": parts.near_copies}
        lost["held out for tests"] = held_out
        why = ", ".join(f"{count:,} {reason}" for reason, count in lost.items() if count) or "nothing was dropped"
        raise InputError(f"{len(parts.train)} pairs are left of {report.read:,} ({why}). {FEWEST} are needed at least")
    files = write_plain(parts.train, folder, "train", *languages)
    dev = own["dev"] or _of_pairs(parts.dev)
    test = own["test"] or _of_pairs(parts.test)
    dev_pairs = own_pairs(dev, nearest_domain(files, dev)) if given_dev else parts.dev
    _write_part(folder, "dev", dev)
    _write_part(folder, "test", test)
    return {
        "pairs": {"read": report.read, "kept": report.kept, "dropped": report.dropped, "repaired": report.repaired},
        "samples": report.samples,
        "train": {
            "source": [path.name for path in files.source],
            "target": [path.name for path in files.target],
            "domains": list(files.domains),
            "pairs": list(files.pairs),
        },
        "references": {"dev": len(dev.references), "test": len(test.references)},
        "sentences": {"train": len(parts.train), "dev": len(dev), "test": len(test)},
        "own": {"dev": given_dev, "test": given_test},
        "near_copies": parts.near_copies,
        "target_text": keep_target_text(
            options.lm_text, languages[1], (*dev.references, *test.references), folder, run
        ),
        "dev_text": keep_dev_text(dev_pairs, test, folder, languages, options.rules) if options.dev_text else {},
        "documents": parts.documents,
        "punctuation": {"train": _punctuated(pair.source for pair in parts.train), "test": _punctuated(test.lines)},
    }


def read_part(folder: Path, part: str, references: int) -> Corpus:
    """Sentences for development or tests, as :func:`prepare` wrote them."""
    return Corpus.read(folder / f"{part}.source", [folder / f"{part}.ref.{n}" for n in range(references)])


def _corrections(options: CreateOptions, folder: Path, run: Session) -> list[Path]:
    """The corrections that are to be built in, as a file of the corpus."""
    if options.with_corrections is None:
        return []
    translator = Translator(options.with_corrections, jobs=options.jobs)
    if (translator.source, translator.target) != (options.source_language, options.target_language):
        finding = f"translates from {translator.source} to {translator.target}"
        raise input_error(options.with_corrections, None, f"{finding}. Use corrections for the same languages")
    path = folder / "corrections.tmx"
    count = write_tmx(path, translator.corrections, translator.source, translator.target)
    run.note(f"{options.with_corrections}: {plural(count, 'correction')}")
    return [path] if count else []


def _own_parts(options: CreateOptions, languages: tuple[str, str]) -> dict[str, Corpus | None]:
    """Development and test sentences that the user gives, if their sides are what they should be."""
    parts: dict[str, Corpus | None] = {}
    for part in ("dev", "test"):
        source, refs = getattr(options, f"{part}_source"), getattr(options, f"{part}_refs")
        corpus = parts[part] = _own(source, refs)
        if corpus is not None:
            check_sides(_as_pairs(corpus)[:SEEN], path_name(source), languages, path_name(refs[0]))
    return parts


def _own(source: PathLike | None, refs: Sequence[PathLike]) -> Corpus | None:
    return None if source is None else Corpus.read(source, refs)


def _as_pairs(corpus: Corpus) -> list[Pair]:
    return [Pair(f, e, None, "own", "own") for f, e in zip(corpus.lines, corpus.references[0], strict=True)]


def _of_pairs(pairs: Sequence[Pair]) -> Corpus:
    return Corpus([pair.source for pair in pairs], [[pair.target for pair in pairs]])


def _write_part(folder: Path, part: str, corpus: Corpus) -> None:
    names = [f"{part}.source", *(f"{part}.ref.{n}" for n in range(len(corpus.references)))]
    for name, lines in zip(names, (corpus.lines, *corpus.references), strict=True):
        with atomic_write(folder / name) as file:
            file.writelines(f"{line}\n" for line in lines)


def _counted(pairs: Iterable[Pair], run: Session) -> Iterator[Pair]:
    update = run.progress("read")
    number = 0
    for number, pair in enumerate(pairs, 1):
        if number % _TOLD == 0:
            update(number)
        yield pair
    update(number, number)


def _punctuated(lines: Iterable[str]) -> float:
    """The share of lines with punctuation."""
    hits = [bool(_PUNCTUATION.search(line)) for line in lines]
    return sum(hits) / max(len(hits), 1)
