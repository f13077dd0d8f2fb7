"""Parallel text from files: read, cleaned, tokenised; pairs that cannot be used are left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from hopefear.errors import InputError, input_error
from hopefear.model.casing import begins_small
from hopefear.model.options import BuildOptions
from hopefear.model.text import TextPipeline
from hopefear.util.files import PathLike, iter_lines, path_name


@dataclass
class Bitext:
    """Sentence pairs, tokens joined by blanks."""

    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    spelled: list[str] = field(default_factory=list)  #: the target side before lower-casing, if it is lower-cased
    small: list[bool] = field(default_factory=list)  #: then also: whether the source begins with a small letter
    links: list[str] = field(default_factory=list)  #: alignments, as in their file if there is one
    places: list[tuple[str, int]] = field(default_factory=list)  #: file and line of each alignment
    ends: list[int] = field(default_factory=list)  #: after each file, the number of pairs so far
    lines: int = 0  #: pairs read
    skipped: Counter[str] = field(default_factory=Counter)  #: reason -> pairs

    def __len__(self) -> int:
        return len(self.source)


def read_bitext(
    source: Sequence[PathLike],
    target: Sequence[PathLike],
    source_text: TextPipeline,
    target_text: TextPipeline,
    max_words: int = BuildOptions.max_words,
    align: Sequence[PathLike] = (),
) -> Bitext:
    """Pairs of lines of parallel files. Files must be as long as their counterparts.

    Pairs with an empty side, or with more than ``max_words`` words on a side, are skipped and counted.
    """
    if len(source) != len(target) or (align and len(align) != len(source)):
        counts = f"{len(source)} source, {len(target)} target" + (f", {len(align)} alignment" if align else "")
        raise InputError(f"{counts} files were given. Each source file needs its target file, in the same order")
    bitext = Bitext()
    as_spelled = replace(target_text, lowercase=False)
    for i, files in enumerate(zip(source, target, strict=True)):
        for number, lines in _in_step([*files, *align[i : i + 1]]):
            bitext.lines += 1
            f, spelled = source_text.tokens(lines[0]), as_spelled.tokens(lines[1])
            e = [word.lower() for word in spelled] if target_text.lowercase else spelled
            if not f or not e:
                bitext.skipped["an empty side"] += 1
            elif max(len(f), len(e)) > max_words:
                bitext.skipped[f"more than {max_words} words"] += 1
            else:
                bitext.source.append(" ".join(f))
                bitext.target.append(" ".join(e))
                if target_text.lowercase:
                    bitext.spelled.append(" ".join(spelled))
                    bitext.small.append(begins_small(lines[0]))
                if align:
                    bitext.links.append(lines[2])
                    bitext.places.append((path_name(align[i]), number))
        bitext.ends.append(len(bitext))
    if not bitext.source:
        why = ", ".join(f"{count} with {reason}" for reason, count in bitext.skipped.items()) or "the files are empty"
        raise input_error(path_name(source[0]) if source else "source", None, f"no sentence pair can be used ({why})")
    return bitext


def _in_step(paths: Sequence[PathLike]) -> Iterator[tuple[int, list[str]]]:
    """The lines of files that must have the same number of them."""
    readers = [iter_lines(path) for path in paths]
    number = 0
    while True:
        lines = [next(reader, None) for reader in readers]
        if None in lines:
            break
        number += 1
        yield number, [line for line in lines if line is not None]
    lengths = [
        number + (line is not None) + sum(1 for _ in reader) for line, reader in zip(lines, readers, strict=True)
    ]
    for path, length in zip(paths, lengths, strict=True):
        if length != lengths[0]:
            finding = f"has {length} lines, {path_name(paths[0])} has {lengths[0]}"
            raise input_error(path_name(path), None, f"{finding}. Parallel files must have the same number of lines")


def read_text(paths: Sequence[PathLike], pipeline: TextPipeline) -> list[str]:
    """Monolingual text; empty lines are left out."""
    lines = (pipeline.text(line) for path in paths for line in iter_lines(path))
    return [line for line in lines if line]
